"""The rational field: W made of integer combinations of logs of positive rationals, K = Q.

exp(b^T W u) is a product of powers of pairwise coprime integers, which are multiplicatively
independent; values are fractions, so equality is decided by comparing them (`proofs/zero-test-rational`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from flint import arb, fmpq, fmpz

from exactmha.fields.interface import Exponent, Scalar
from exactmha.fields.model_field import HeadWeights
from exactmha.fields.values import ExactValue, linear_combination
from exactmha.modular.places import Place, PublicPrimes, rational_image
from exactmha.outcome import Outcome


class RationalValue(ExactValue):
    """A rational number as an opaque value."""

    __slots__ = ("q",)

    def __init__(self, q: fmpq) -> None:
        self.q = q

    def __add__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.q + other.q)

    def __sub__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.q - other.q)

    def __mul__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.q * other.q)

    def __truediv__(self, other: RationalValue) -> RationalValue:
        return RationalValue(self.q / other.q)

    def is_zero(self) -> Outcome:
        """Decide whether the value is 0."""
        return Outcome.of(self.q == 0)

    def image(self, place: Place) -> int:
        """Return q mod p^k."""
        return int(rational_image(self.q, place))

    def bits(self) -> int:
        """Return the size of the fraction in bits."""
        return self.q.height_bits()

    def ball(self) -> arb:
        """Return an enclosure at the working precision."""
        return arb(self.q)

    def __str__(self) -> str:
        return str(self.q)


@dataclass(frozen=True)
class RationalField:
    """K = Q with the monomials Π base_j^{e_j}; `base` holds pairwise coprime integers > 1."""

    base: tuple[int, ...]
    logit_bits: int = field(default=1, compare=False)

    name = "rational"
    degree = 1
    denominator = 1

    @property
    def rank(self) -> int:
        """Number of base numbers."""
        return len(self.base)

    def weight_bits(self, exponent: Sequence[int]) -> int:
        """Bound the bits of the monomial of an exponent."""
        return sum(abs(e) * b.bit_length() for e, b in zip(exponent, self.base, strict=True))

    def embed(self, scalar: Scalar) -> RationalValue:
        """Return the value of a rational."""
        return RationalValue(scalar[0])

    def monomial(self, exponent: Exponent) -> RationalValue:
        """Return Π base_j^{e_j}."""
        result = fmpq(1)
        for b, e in zip(self.base, exponent, strict=True):
            result *= fmpq(b) ** e
        return RationalValue(result)

    def place(self, index: int, precision: int) -> Place:
        """Return the index-th public prime not dividing the base, with q ↦ q mod p^k."""
        return Place(_public_primes(self.base)[index], precision, self.base, (1,))

    def attention(self, counts: Sequence[int], heads: Iterable[HeadWeights]) -> RationalValue:
        """Return Σ_h Σ_i m_i w_{h,i} y_{h,i} / Σ_i m_i w_{h,i}, w the monomials of the exponents."""
        total = fmpq(0)
        for exponents, values in heads:
            weights = [m * w for m, w in zip(counts, self._integral_weights(exponents), strict=True)]
            top = sum((w * y for w, (y,) in zip(weights, values, strict=True)), fmpq(0))
            total += top / sum(weights, fmpz(0))
        return RationalValue(total)

    def _integral_weights(self, exponents: Sequence[Exponent]) -> Iterator[fmpz]:
        lowest = [min(column) for column in zip(*exponents, strict=True)]
        for exponent in exponents:
            weight = fmpz(1)
            for b, e, low in zip(self.base, exponent, lowest, strict=True):
                weight *= fmpz(b) ** (e - low)
            yield weight

    def log_text(self, coordinates: Sequence[fmpq]) -> str:
        """Return Σ coordinates_j·log(base_j) in the instance grammar."""
        return linear_combination(coordinates, [f"log({b})" for b in self.base])

    def log_ball(self, coordinates: Sequence[fmpq]) -> arb:
        """Enclose Σ coordinates_j·log(base_j) at the working precision."""
        return sum((arb(c) * arb(b).log() for c, b in zip(coordinates, self.base, strict=True)), arb(0))

    def scalar_text(self, scalar: Scalar) -> str:
        """Return a scalar in the instance grammar."""
        return str(scalar[0])


@cache
def _public_primes(base: tuple[int, ...]) -> PublicPrimes:
    return PublicPrimes(lambda p: all(b % p for b in base) and Place(p, 2, base, (1,)).is_regular)
