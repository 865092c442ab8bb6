"""The rational field: W made of integer combinations of logs of positive rationals, K = Q.

exp(b^T W u) is a product of powers of pairwise coprime integers, which are multiplicatively
independent; values are fractions, so equality is decided by comparing them (`proofs/zero-test-rational`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import gcd, lcm

from flint import arb, fmpq, fmpz

from exactmha.errors import InputError
from exactmha.fields.interface import Exponent, Scalar
from exactmha.fields.model_field import HeadWeights
from exactmha.fields.values import ExactValue, linear_combination
from exactmha.modular.places import Place, PublicPrimes, inverse
from exactmha.outcome import Outcome


class RationalValue(ExactValue):
    """A rational number as an opaque value: an unreduced fraction, since gcds of long integers cost most of all."""

    __slots__ = ("bottom", "top")

    def __init__(self, top: fmpz, bottom: fmpz) -> None:
        self.top, self.bottom = top, bottom

    @property
    def q(self) -> fmpq:
        """The number in lowest terms."""
        return fmpq(self.top, self.bottom)

    def __add__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __sub__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.top * other.bottom - other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.top * other.top, self.bottom * other.bottom)

    def __truediv__(self, other: RationalValue) -> RationalValue:
        if other.top == 0:
            raise ZeroDivisionError("division by zero in Q")
        return RationalValue(self.top * other.bottom, self.bottom * other.top)

    def is_zero(self) -> Outcome:
        """Decide whether the value is 0."""
        return Outcome.of(self.top == 0)

    def equals(self, other: RationalValue) -> Outcome:
        """Decide equality by cross-multiplication."""
        return Outcome.of(self.top * other.bottom == other.top * self.bottom)

    def image(self, place: Place) -> fmpz:
        """Return q mod p^k."""
        return self.top * inverse(self.bottom, place) % place.modulus

    def bits(self) -> int:
        """Return the size of the fraction in bits."""
        return self.q.height_bits()

    def ball(self) -> arb:
        """Return an enclosure at the working precision."""
        return arb(self.q)

    def __str__(self) -> str:
        return str(self.q)


def _sum(fractions: list[tuple[fmpz, fmpz]]) -> RationalValue:
    """Add fractions in pairs, so that numbers of like size are multiplied."""
    while len(fractions) > 1:
        odd = fractions[-1:] if len(fractions) % 2 else []
        pairs = zip(fractions[::2], fractions[1::2], strict=False)
        fractions = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs] + odd
    return RationalValue(*fractions[0]) if fractions else RationalValue(fmpz(0), fmpz(1))


@dataclass(frozen=True)
class RationalField:
    """K = Q with the monomials Π base_j^{e_j}; `base` holds pairwise coprime integers > 1."""

    base: tuple[int, ...]
    logit_bits: int = field(default=1, compare=False)

    name = "rational"
    degree = 1
    denominator = 1

    def __post_init__(self) -> None:
        for i, b in enumerate(self.base):
            if b < 2 or any(gcd(b, c) != 1 for c in self.base[:i]):
                raise InputError("must consist of pairwise coprime integers above 1", field="base", value=self.base)

    @property
    def rank(self) -> int:
        """Number of base numbers."""
        return len(self.base)

    def weight_bits(self, exponent: Sequence[int]) -> int:
        """Bound the bits of the monomial of an exponent."""
        return sum(abs(e) * b.bit_length() for e, b in zip(exponent, self.base, strict=True))

    def embed(self, scalar: Scalar) -> RationalValue:
        """Return the value of a rational."""
        return RationalValue(scalar[0].numerator, scalar[0].denominator)

    def monomial(self, exponent: Exponent) -> RationalValue:
        """Return Π base_j^{e_j}."""
        return RationalValue(*_weight(self.base, tuple(exponent)))

    def place(self, index: int, precision: int) -> Place:
        """Return the index-th public prime not dividing the base, with q ↦ q mod p^k."""
        return _place(self.base, index, precision)

    def profile_values(
        self, most: int, base: RationalValue, exponents: Sequence[Exponent], residues: Sequence[Scalar]
    ) -> Iterator[RationalValue]:
        """Yield base + Σ_h c_h·k r_h/(1 + k r_h), k = 1..most: what the value operations give, in fewer steps."""
        heads = []
        for exponent, (c,) in zip(exponents, residues, strict=True):
            top, bottom = _weight(self.base, exponent)
            heads.append((c.numerator * top, top, c.denominator, bottom))
        for k in range(1, most + 1):
            yield _sum([(k * product, scale * (bottom + k * top)) for product, top, scale, bottom in heads]) + base

    def attention(self, counts: Sequence[int], heads: Iterable[HeadWeights]) -> RationalValue:
        """Return Σ_h Σ_i m_i w_{h,i} y_{h,i} / Σ_i m_i w_{h,i}, w the monomials of the exponents."""
        terms = []
        for exponents, values in heads:
            weights = [m * w for m, w in zip(counts, self._integral_weights(exponents), strict=True)]
            scale = lcm(*(int(y.denominator) for (y,) in values))
            top = sum((w * (y * scale).numerator for w, (y,) in zip(weights, values, strict=True)), fmpz(0))
            terms.append((top, scale * sum(weights, fmpz(0))))
        return _sum(terms)

    def _integral_weights(self, exponents: Sequence[Exponent]) -> list[fmpz]:
        """Return integers proportional to the weights."""
        lowest = [min(column) for column in zip(*exponents, strict=True)]
        shifted = [tuple(e - low for e, low in zip(exponent, lowest, strict=True)) for exponent in exponents]
        return [_weight(self.base, exponent)[0] for exponent in shifted]

    def log_text(self, coordinates: Sequence[fmpq]) -> str:
        """Return Σ coordinates_j·log(base_j) in the instance grammar."""
        return linear_combination(coordinates, [f"log({fmpz(b)})" for b in self.base])

    def scalar_text(self, scalar: Scalar) -> str:
        """Return a scalar in the instance grammar."""
        return str(scalar[0])


@lru_cache(maxsize=256)
def _weight(base: tuple[int, ...], exponent: tuple[int, ...]) -> tuple[fmpz, fmpz]:
    """Return (top, bottom), coprime, with top/bottom = Π base_j^{e_j}; the latest weights are remembered."""
    top, bottom = fmpz(1), fmpz(1)
    for b, e in zip(base, exponent, strict=True):
        if e >= 0:
            top *= fmpz(b) ** e
        else:
            bottom *= fmpz(b) ** -e
    return top, bottom


@cache
def _place(base: tuple[int, ...], index: int, precision: int) -> Place:
    return Place(_public_primes(base)[index], precision, base, (1,))


@cache
def _public_primes(base: tuple[int, ...]) -> PublicPrimes:
    return PublicPrimes(lambda p: all(b % p for b in base) and Place(p, 2, base, (1,)).is_regular)
