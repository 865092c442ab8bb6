"""Places: homomorphisms from an exact field to Z/p^k, and the way back (`proofs/p-adic-guess`).

A place fixes a 62-bit prime p, a precision k and the images of the field's generators in Z/p^k.
Everything that is lifted back through a place is a *guess*; the learner proves it in K afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from flint import fmpq, fmpz, fmpz_mat, fmpz_mod_ctx, fmpz_mod_poly_ctx, nmod_poly

from exactmha.errors import BadPlace

_PRIME_BITS = 62
_KEPT = 4096
_MARGIN_BITS = 32
"""A lifted number is only believed when it is this much smaller than chance would make it."""


class PublicPrimes:
    """The public list of primes of a field: those below 2^62, downwards, that `accept` lets pass."""

    def __init__(self, accept: Callable[[int], bool]) -> None:
        self._source = (p for p in _primes_downwards() if accept(p))
        self._known: list[int] = []

    def __getitem__(self, index: int) -> int:
        while len(self._known) <= index:
            self._known.append(next(self._source))
        return self._known[index]


def _primes_downwards() -> Iterator[int]:
    candidate = fmpz(2) ** _PRIME_BITS
    while True:
        candidate -= 1
        if candidate.is_prime():
            yield int(candidate)


def inverse(unit: fmpz | int, place: Place) -> fmpz:
    """Return 1/unit in Z/p^k; raises `BadPlace` when p divides it (FLINT itself would abort the process)."""
    if unit % place.prime == 0:
        raise BadPlace(f"a denominator is divisible by {place.prime}")
    return pow(fmpz(unit), -1, place.modulus)


def lift_root(polynomial: Sequence[fmpz | int], root: int, prime: int, precision: int) -> int:
    """Lift a simple root mod p to the root mod p^k above it, by Newton's iteration.

    `polynomial` holds coefficients in Z/p^k, constant term first.
    """
    digits, lifted = 1, fmpz(root)
    modulus = fmpz(prime)
    while True:
        value, slope = fmpz(0), fmpz(0)
        for coefficient in reversed(polynomial):
            slope = (slope * lifted + value) % modulus
            value = (value * lifted + coefficient) % modulus
        if value != 0:
            lifted = (lifted - value * pow(slope, -1, modulus)) % modulus
        if digits >= precision:
            return int(lifted)
        digits = min(2 * digits, precision)
        modulus = fmpz(prime) ** digits


def root_modulo(value: fmpq, order: int, prime: int, precision: int) -> int | None:
    """Return the least N-th root of `value` mod p, lifted to Z/p^k, or None when there is none."""
    modulus = fmpz(prime) ** precision
    target = value.numerator * pow(value.denominator, -1, modulus) % modulus
    roots = nmod_poly([int(-target % prime), *[0] * (order - 1), 1], prime).roots()
    if not roots:
        return None
    smallest = min(int(root) for root, _ in roots)
    return lift_root([-target % modulus, *[0] * (order - 1), 1], smallest, prime, precision)


class Place:
    """A homomorphism φ from the p-integral elements of a field K to Z/p^k.

    `generators` are the images of the generators of the monomials, `scalars` those of the basis
    1, γ, … of the coefficient field.
    """

    def __init__(self, prime: int, precision: int, generators: Sequence[int], scalars: Sequence[int]) -> None:
        self.prime, self.precision = prime, precision
        self.modulus = fmpz(prime) ** precision
        self.generators = tuple(fmpz(g) for g in generators)
        self.scalars = tuple(fmpz(s) for s in scalars)
        self._powers: dict[int | Fraction, fmpz] = {}
        self._scalars: dict[int, tuple[fmpq, ...]] = {}

    @cached_property
    def ring(self) -> fmpz_mod_ctx:
        """FLINT's Z/p^k."""
        return fmpz_mod_ctx(self.modulus)

    @cached_property
    def polynomials(self) -> fmpz_mod_poly_ctx:
        """FLINT's (Z/p^k)[x]."""
        return fmpz_mod_poly_ctx(self.ring)

    def power(self, exponent: int | Fraction) -> fmpz:
        """Return φ(generator^exponent) for the only generator; the latest powers are remembered.

        Raises `BadPlace` for a fractional exponent.
        """
        found = self._powers.get(exponent)
        if found is None:
            if exponent.denominator != 1:
                raise BadPlace("a fractional power of the generator has no image")
            if len(self._powers) >= _KEPT:
                self._powers.clear()
            found = self._powers[exponent] = pow(self.generators[0], int(exponent), self.modulus)
        return found

    def monomial(self, exponent: Sequence[int]) -> fmpz:
        """Return φ(Π generator_j^{e_j})."""
        if len(self.generators) == 1:
            (e,) = exponent
            return self.power(e) if e >= 0 else pow(self.power(-e), -1, self.modulus)
        result = fmpz(1)
        for generator, e in zip(self.generators, exponent, strict=True):
            result = result * pow(generator, e, self.modulus) % self.modulus
        return result

    def logarithm(self, unit: fmpz) -> fmpz:
        """Return log_p(unit^{p−1})/p mod p^{k−1}: additive, and 0 exactly on roots of unity."""
        x = pow(unit, self.prime - 1, self.modulus) - 1
        total = fmpz(0)
        for coefficient in self._logarithm_series:
            total = (total + coefficient) * x % self.modulus
        return total // self.prime

    @cached_property
    def _logarithm_series(self) -> list[fmpz]:
        """The coefficients of log(1 + x) in Z/p^k, from that of x^{k−1} down to that of x."""
        return [pow(fmpz(i if i % 2 else -i), -1, self.modulus) for i in range(self.precision - 1, 0, -1)]

    @cached_property
    def _logarithms(self) -> tuple[fmpz, ...]:
        return tuple(self.logarithm(g) for g in self.generators)

    @cached_property
    def _inverse_logarithm(self) -> fmpz:
        return pow(self._logarithms[0], -1, self.modulus // self.prime)

    @property
    def is_regular(self) -> bool:
        """True when the first generator's logarithm is a unit, so that exponents can be read modulo p^{k−1}."""
        return not self.generators or self._logarithms[0] % self.prime != 0

    def exponent_of(self, unit: fmpz) -> tuple[int, ...] | None:
        """Guess the exponent e with φ(monomial e) = unit; None when this precision shows none.

        The logarithm ignores the part of `unit` mod p, so agreement there is an independent check.
        """
        modulus = self.modulus // self.prime
        target = self.logarithm(unit)
        if len(self.generators) == 1:
            e = target * self._inverse_logarithm % modulus
            found: tuple[int, ...] | None = (int(e - modulus if 2 * e > modulus else e),)
        elif self.generators:
            found = _integer_relation(self._logarithms, target, modulus)
        else:
            found = ()
        return found if found is not None and self.monomial(found) == unit else None

    def scalar_of(self, residue: fmpz) -> tuple[fmpq, ...] | None:
        """Guess the scalar with image `residue`, small in height; None when this precision shows none.

        The latest scalars are remembered: all rows of a run show the same ones.
        """
        key = int(residue)
        found = self._scalars.get(key)
        if found is None:
            if len(self._scalars) >= _KEPT:
                self._scalars.clear()
            found = self._lift_scalar(residue)
            if found is not None:
                self._scalars[key] = found
        return found

    def _lift_scalar(self, residue: fmpz) -> tuple[fmpq, ...] | None:
        zeros = (fmpq(0),) * (len(self.scalars) - 1)
        rational = _rational_relation(self.scalars[:1], residue, self.modulus)
        if rational is not None:
            return rational + zeros
        return _rational_relation(self.scalars, residue, self.modulus) if zeros else None


def _short_vectors(columns: Sequence[fmpz | int], modulus: fmpz) -> list[list[fmpz]]:
    """Return an LLL-reduced basis of the integer vectors x with Σ x_j columns_j ≡ 0; columns_0 must be a unit."""
    size = len(columns)
    scale = -pow(fmpz(columns[0]), -1, modulus)
    rows: list[list[int | fmpz]] = [[modulus, *[0] * (size - 1)]]
    rows += [[scale * columns[i] % modulus, *(int(i == j) for j in range(1, size))] for i in range(1, size)]
    return list(fmpz_mat(rows).lll().tolist())


def _integer_relation(logarithms: Sequence[fmpz], target: fmpz, modulus: fmpz) -> tuple[int, ...] | None:
    """Return small integers e with Σ e_j logarithms_j ≡ target."""
    for *exponents, w in _short_vectors([*logarithms, -target], modulus):
        if abs(w) == 1:
            return tuple(int(e * w) for e in exponents)
    return None


def _rational_relation(basis: Sequence[fmpz], target: fmpz, modulus: fmpz) -> tuple[fmpq, ...] | None:
    """Return rationals a with Σ a_j basis_j ≡ target, when they are convincingly small."""
    for *numerators, w in _short_vectors([*basis, -target], modulus):
        height = max(abs(x) for x in (*numerators, w))
        if w != 0 and height.bit_length() * (len(basis) + 1) + _MARGIN_BITS < modulus.bit_length():
            return tuple(fmpq(a, w) for a in numerators)
    return None
