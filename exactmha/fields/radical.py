"""The radical field: W made of rational multiples of log β, K = Q(γ), γ = β^{1/N} real.

t^N − β is irreducible because the positive rational β is no perfect power, so the coordinates on
1, γ, …, γ^{N−1} decide equality (`proofs/zero-test-radical`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm

from flint import arb, fmpq, fmpq_poly, fmpz

from exactmha.errors import InputError
from exactmha.fields.interface import Exponent, Scalar
from exactmha.fields.model_field import HeadWeights
from exactmha.fields.values import ExactValue, linear_combination
from exactmha.modular.places import Place, PublicPrimes, inverse, root_modulo
from exactmha.outcome import Outcome


class RadicalValue(ExactValue):
    """An element of Q(γ), a polynomial in γ of degree < N."""

    __slots__ = ("field", "poly")

    def __init__(self, field: RadicalField, poly: fmpq_poly) -> None:
        self.field, self.poly = field, poly

    def __add__(self, other: RadicalValue) -> RadicalValue:
        return RadicalValue(self.field, self.poly + other.poly)

    def __sub__(self, other: RadicalValue) -> RadicalValue:
        return RadicalValue(self.field, self.poly - other.poly)

    def __mul__(self, other: RadicalValue) -> RadicalValue:
        return RadicalValue(self.field, self.field.reduced(self.poly * other.poly))

    def __truediv__(self, other: RadicalValue) -> RadicalValue:
        return self * self.field.inverse(other)

    def is_zero(self) -> Outcome:
        """Decide whether the value is 0: all coordinates vanish."""
        return Outcome.of(not self.poly.coeffs())

    def image(self, place: Place) -> fmpz:
        """Return the image in Z/p^k, γ going to a root of t^N − β."""
        total = sum((c * s for c, s in zip(self.poly.numer().coeffs(), place.scalars, strict=False)), fmpz(0))
        return total * inverse(self.poly.denom(), place) % place.modulus

    def bits(self) -> int:
        """Return the size of the largest coordinate in bits."""
        return max((c.height_bits() for c in self.poly.coeffs()), default=0)

    def ball(self) -> arb:
        """Return an enclosure at the working precision."""
        gamma, total = self.field.gamma_ball(), arb(0)
        for c in reversed(self.poly.coeffs()):
            total = total * gamma + arb(c)
        return total

    def __str__(self) -> str:
        return self.field.scalar_text(self.field.scalar(self))


@dataclass(frozen=True)
class RadicalField:
    """K = Q(β^{1/N}) for a positive rational β ≠ 1 that is no perfect power; exponent n is γ^n."""

    beta: fmpq
    denominator: int
    logit_bits: int = field(default=1, compare=False)

    name = "radical"
    rank = 1

    def __post_init__(self) -> None:
        if self.denominator < 1:
            raise InputError("must be positive", field="denominator", value=self.denominator)
        if self.beta <= 0 or self.beta == 1:
            raise InputError("must be a positive rational other than 1", field="beta", value=str(self.beta))
        for n in range(2, self.denominator + 1):
            root = fmpq(self.beta.numerator.root(n), self.beta.denominator.root(n))
            if self.denominator % n == 0 and root**n == self.beta:
                raise InputError("must be no perfect power of an order dividing N", field="beta", value=str(self.beta))

    @property
    def degree(self) -> int:
        """The degree N of K over Q."""
        return self.denominator

    def weight_bits(self, exponent: Sequence[int]) -> int:
        """Bound the bits of the monomial of an exponent."""
        # 1/(1 + k γ^n) is computed with the rational γ^{nM} = β^{n/gcd(n, N)}
        return abs(exponent[0]) * self.beta.height_bits() // gcd(exponent[0], self.denominator)

    @cached_property
    def modulus(self) -> fmpq_poly:
        """The minimal polynomial t^N − β."""
        return fmpq_poly([-self.beta, *[0] * (self.denominator - 1), 1])

    def reduced(self, poly: fmpq_poly) -> fmpq_poly:
        """Reduce a polynomial in γ modulo t^N − β."""
        return poly % self.modulus if poly.degree() >= self.denominator else poly

    def _power(self, n: int) -> fmpq_poly:
        whole, rest = divmod(n, self.denominator)
        return fmpq_poly([*[0] * rest, self.beta**whole])

    def inverse(self, value: RadicalValue) -> RadicalValue:
        """Return 1/value; monomials and binomials in closed form, others by the extended Euclidean algorithm."""
        terms = [(i, c) for i, c in enumerate(value.poly.coeffs()) if c != 0]
        if not terms:
            raise ZeroDivisionError("division by zero in Q(γ)")
        low, constant = terms[0]
        monomial = self._power(-low) * (1 / constant)
        if len(terms) == 1:
            return RadicalValue(self, monomial)
        if len(terms) > 2:
            return RadicalValue(self, fmpq_poly(value.poly.xgcd(self.modulus)[1]))
        # 1/(1 − y) = (1 + y + … + y^{M−1}) / (1 − y^M), where y^M is rational
        step, slope = terms[1][0] - low, -terms[1][1] / constant
        order = self.denominator // gcd(self.denominator, step)
        series = sum((self._power(step * j) * slope**j for j in range(order)), fmpq_poly([0]))
        rational = 1 - slope**order * self.beta ** (step * order // self.denominator)
        return RadicalValue(self, self.reduced(monomial * series) * (1 / rational))

    def embed(self, scalar: Scalar) -> RadicalValue:
        """Return Σ scalar_i γ^i."""
        return RadicalValue(self, fmpq_poly(list(scalar)))

    def scalar(self, value: RadicalValue) -> Scalar:
        """Return the coordinates of a value (for the model's side; a learner does not look inside)."""
        return tuple(value.poly[i] for i in range(self.degree))

    def monomial(self, exponent: Exponent) -> RadicalValue:
        """Return γ^n."""
        return RadicalValue(self, self._power(exponent[0]))

    def monomial_of_radical(self, radical: Sequence[tuple[int, Fraction]]) -> tuple[fmpq, int] | None:
        """Return (c, n) with c rational and c·γ^n = Π p^{e_p}, or None when there is none."""
        order = lcm(self.denominator, *(e.denominator for _, e in radical))
        target = fmpq(1)
        for p, e in radical:
            target *= fmpq(p) ** int(e * order)
        for n in range(self.denominator):
            power = target / self.beta ** (n * order // self.denominator)
            root = fmpq(power.numerator.root(order), power.denominator.root(order))
            if root**order == power:
                return root, n
        return None

    def place(self, index: int, precision: int) -> Place:
        """Return the index-th public prime at which β has an N-th root; γ goes to the least one, lifted."""
        return _place(self.beta, self.denominator, index, precision)

    def attention(self, counts: Sequence[int], heads: Iterable[HeadWeights]) -> RadicalValue:
        """Return Σ_h Σ_i m_i w_{h,i} y_{h,i} / Σ_i m_i w_{h,i}, w the monomials of the exponents."""
        total = RadicalValue(self, fmpq_poly([0]))
        for exponents, values in heads:
            top, bottom = fmpq_poly([0]), fmpq_poly([0])
            for m, (n,), y in zip(counts, exponents, values, strict=True):
                weight = self._power(n) * m
                bottom += weight
                top += self.reduced(weight * fmpq_poly(list(y)))
            total += RadicalValue(self, top) / RadicalValue(self, bottom)
        return total

    def log_text(self, coordinates: Sequence[fmpq]) -> str:
        """Return coordinates_0·log(β) in the instance grammar."""
        return linear_combination(coordinates, [f"log({self.beta})"])

    def gamma_ball(self) -> arb:
        """Enclose γ at the working precision."""
        return arb(self.beta).root(self.denominator)

    def scalar_text(self, scalar: Scalar) -> str:
        """Return a scalar in the instance grammar, γ^i written root(β, N)^i."""
        root = f"root({self.beta},{self.denominator})"
        units = ["1", root, *(f"{root}^{i}" for i in range(2, self.degree))]
        return linear_combination(scalar, units[: self.degree])


@cache
def _place(beta: fmpq, order: int, index: int, precision: int) -> Place:
    prime = _public_primes(beta, order)[index]
    gamma = root_modulo(beta, order, prime, precision)
    if gamma is None:
        raise AssertionError("the public list holds only primes with a root")
    scalars, modulus = [1], prime**precision
    for _ in range(order - 1):
        scalars.append(scalars[-1] * gamma % modulus)
    return Place(prime, precision, (gamma,), scalars)


def _reduction(beta: fmpq, prime: int) -> Place:
    """Return Z/p² with β as the only generator: γ is regular where β is, since log γ = (log β)/N."""
    modulus = prime**2
    residue = int(beta.numerator) * pow(int(beta.denominator), -1, modulus) % modulus
    return Place(prime, 2, (residue,), (1,))


@cache
def _public_primes(beta: fmpq, order: int) -> PublicPrimes:
    def accept(p: int) -> bool:
        if beta.numerator % p == 0 or beta.denominator % p == 0 or order % p == 0:
            return False
        residue = int(beta.numerator * pow(int(beta.denominator), -1, p) % p)
        has_root = pow(residue, (p - 1) // gcd(order, p - 1), p) == 1
        return has_root and _reduction(beta, p).is_regular

    return PublicPrimes(accept)
