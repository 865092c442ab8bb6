"""The guess of one profile from its image at a place (`proofs/p-adic-guess`); the proof comes later, in K."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz, fmpz_mod_ctx, fmpz_mod_mat, nmod_poly

from exactmha.errors import BadPlace, ExactMHAError
from exactmha.modular.places import Place, inverse, lift_root
from exactmha.modular.pole_polynomial import head_rank, moments, pole_polynomial, slopes


class MorePrecision(ExactMHAError):
    """The place shows no convincing lift; a higher p-adic precision may."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Unproved poles (as exponents, increasing) and residues of one profile."""

    exponents: tuple[tuple[int, ...], ...]
    residues: tuple[tuple[fmpq, ...], ...]


def guess_profile(samples: Sequence[int], place: Place) -> Guess:
    """Guess the profile with f_k ≡ samples[k], k = 0..2n, and as few heads as the rank modulo p shows.

    Raises `BadPlace` when the pole polynomial does not split into distinct linear factors modulo p,
    `MorePrecision` when poles or residues do not lift at this precision.
    """
    g = slopes(samples, place)
    mu = moments(g, len(g) // 2, place)
    heads = head_rank(mu, place)
    if heads == 0:
        return Guess((), ())
    if 2 * heads < len(g):
        mu = moments(g, heads, place)
    try:
        poles = _poles(pole_polynomial(mu, place), place)
        residues = _residues(g, poles, place)
    except ZeroDivisionError:
        raise BadPlace(f"the system is singular modulo {place.prime}") from None
    lifted = []
    for pole, residue in zip(poles, residues, strict=True):
        exponent, scalar = place.exponent_of(pole), place.scalar_of(residue)
        if exponent is None or scalar is None:
            raise MorePrecision(f"no lift at precision {place.precision}")
        lifted.append((exponent, scalar))
    lifted.sort(key=lambda pair: pair[0])
    return Guess(tuple(e for e, _ in lifted), tuple(c for _, c in lifted))


def _poles(q: Sequence[fmpz], place: Place) -> list[int]:
    """Return the r_h with Q(x) = Π (1 + x r_h): the negated roots of Σ_j q_j y^{H−j}."""
    reversed_q = list(reversed(q))
    roots = nmod_poly([int(c % place.prime) for c in reversed_q], place.prime).roots()
    if len(roots) != len(q) - 1 or any(int(root) == 0 for root, _ in roots):
        raise BadPlace(f"the pole polynomial does not split into distinct factors modulo {place.prime}")
    return [
        int(-lift_root(reversed_q, int(root), place.prime, place.precision) % place.modulus)
        for root in sorted(int(root) for root, _ in roots)
    ]


def _residues(g: Sequence[fmpz], poles: Sequence[int], place: Place) -> list[int]:
    """Solve g_k = Σ_h c_h r_h/(1 + k r_h), k = 1..H, for the c_h."""
    size = len(poles)
    context = fmpz_mod_ctx(place.modulus)
    cauchy = [r * inverse((1 + k * r) % place.modulus, place) for k in range(1, size + 1) for r in poles]
    solution = fmpz_mod_mat(size, size, cauchy, context).solve(fmpz_mod_mat(size, 1, list(g[:size]), context))
    return [int(x) for x in solution.entries()]
