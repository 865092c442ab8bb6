"""The guess of one profile from its image at a place (`proofs/p-adic-guess`); the proof comes later, in K."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz, fmpz_mod, fmpz_mod_poly, nmod_poly

from exactmha.errors import BadPlace, ExactMHAError
from exactmha.modular.places import Place
from exactmha.modular.pole_polynomial import head_rank, moments, numerator, pole_polynomial, slopes


class MorePrecision(ExactMHAError):
    """The place shows no convincing lift; a higher p-adic precision may."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Unproved poles (as exponents, increasing) and residues of one profile."""

    exponents: tuple[tuple[int, ...], ...]
    residues: tuple[tuple[fmpq, ...], ...]


def guess_profile(samples: Sequence[fmpz], place: Place) -> Guess:
    """Guess the profile with f_k ≡ samples[k], k = 0..2n, and as few heads as the rank modulo p shows.

    Raises `BadPlace` when the pole polynomial does not split into distinct linear factors modulo p,
    `MorePrecision` when poles or residues do not lift at this precision.
    """
    g = slopes(samples, place)
    try:
        heads, q = _least_pole_polynomial(g, place)
        if heads == 0:
            return Guess((), ())
        lifted = []
        for pole, residue in _poles_and_residues(q, heads, g, place):
            exponent, scalar = place.exponent_of(fmpz(int(pole))), place.scalar_of(fmpz(int(residue)))
            if exponent is None or scalar is None:
                raise MorePrecision(f"no lift at precision {place.precision}")
            lifted.append((exponent, scalar))
    except ZeroDivisionError:
        raise BadPlace(f"the system is singular modulo {place.prime}") from None
    lifted.sort(key=lambda pair: pair[0])
    return Guess(tuple(e for e, _ in lifted), tuple(c for _, c in lifted))


def _least_pole_polynomial(g: Sequence[fmpz_mod], place: Place) -> tuple[int, fmpz_mod_poly]:
    """Return (n, Q) for n = len(g)/2 or, where the system for that is singular, for the rank modulo p."""
    most = len(g) // 2
    mu = moments(g, most, place)
    try:
        return most, pole_polynomial(mu, place)
    except ZeroDivisionError:
        heads = head_rank(mu, place)
        if heads == most:
            raise
        return heads, pole_polynomial(moments(g, heads, place), place)


def _poles_and_residues(
    q: fmpz_mod_poly, heads: int, g: Sequence[fmpz_mod], place: Place
) -> Iterator[tuple[fmpz_mod, fmpz_mod]]:
    """Yield (r_h, c_h), h = 1..H: r_h is a negated root of Q*(y) = y^H Q(1/y) = Π (y + r_h).

    With N*(y) = y^{H−1} (Q·g)(1/y), partial fractions give c_h = N*(−r_h) / (r_h Q*'(−r_h)).
    """
    reversed_q = q.reverse(heads)
    slope = reversed_q.derivative()
    found = roots(reversed_q, slope, place)
    tops = numerator(q, g, heads, place).reverse(heads - 1).multipoint_evaluate(found)
    for root, top, bottom in zip(found, tops, slope.multipoint_evaluate(found), strict=True):
        yield -root, -top / (root * bottom)


def roots(polynomial: fmpz_mod_poly, slope: fmpz_mod_poly, place: Place) -> list[fmpz_mod]:
    """Return all roots in Z/p^k, by Newton's iteration from those modulo p, which must be simple and not 0."""
    modulo_p = nmod_poly([int(c) % place.prime for c in polynomial.coeffs()], place.prime).roots()
    if len(modulo_p) != polynomial.degree() or any(int(root) == 0 for root, _ in modulo_p):
        raise BadPlace(f"the pole polynomial does not split into distinct factors modulo {place.prime}")
    found = [place.ring(root) for root in sorted(int(root) for root, _ in modulo_p)]
    digits = 1
    while digits < place.precision:
        values, slopes_there = polynomial.multipoint_evaluate(found), slope.multipoint_evaluate(found)
        found = [y - value / d for y, value, d in zip(found, values, slopes_there, strict=True)]
        digits *= 2
    return found
