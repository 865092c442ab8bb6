"""The exponential field: true softmax, K = Q(t), t = e^{α/N}, α = √n.

t is transcendental (Lindemann–Weierstrass). A value is a collected sum of c·t^m/D with sparse
denominators D, so exponents may have any size. The functions 1 and 1/(1 + κ t^n), κ > 0, n > 0, are
linearly independent, so a sum of those vanishes only if its coefficients do (`proofs/zero-test-exponential`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import gcd, lcm, prod

from flint import arb, fmpq, fmpq_mpoly_ctx, fmpz

from exactmha.errors import BadPlace, InputError, Undecided
from exactmha.fields.interface import Exponent, Scalar
from exactmha.fields.model_field import HeadWeights
from exactmha.fields.values import ExactValue, linear_combination
from exactmha.modular.places import Place, PublicPrimes, inverse
from exactmha.outcome import Outcome

Power = int | Fraction
"""An exponent of t; fractions occur only for tokens with denominators."""
Polynomial = dict[Power, fmpq]
"""A Laurent polynomial in t, without zero coefficients."""
Denominator = tuple[tuple[Power, ...], tuple[int, ...]]
"""((n_1, n_2, …), (c_0, c_1, …)) is c_0 + c_1 t^{n_1} + …, 0 < n_1 < n_2 < …, coprime integers c, the last one > 0."""
Terms = dict[tuple[Power, Denominator], fmpq]
"""Σ terms[m, D]·t^m/D, without zero coefficients."""

ONE: Denominator = ((), (1,))
_T_IMAGE = 3
_EXPANSION_BUDGET = 1 << 16
_PLACES_TRIED = 3


def _add_term(terms: Terms, shift: Power, denominator: Denominator, coefficient: fmpq) -> None:
    """Add coefficient·t^shift/D to `terms`, splitting off the polynomial part where shift is deg D or −n_1."""
    powers, integers = denominator
    if powers and shift == powers[-1]:
        top = coefficient / integers[-1]
        _add_term(terms, 0, ONE, top)
        for n, c in zip((0, *powers[:-1]), integers, strict=False):
            _add_term(terms, n, denominator, -top * c)
        return
    if powers and shift == -powers[0]:
        low = coefficient / integers[0]
        _add_term(terms, shift, ONE, low)
        for n, c in zip(powers, integers[1:], strict=True):
            _add_term(terms, n + shift, denominator, -low * c)
        return
    _collect(terms, (shift, denominator), coefficient)


def _collect(terms: Terms, key: tuple[Power, Denominator], coefficient: fmpq) -> None:
    """Add coefficient·t^m/D, key = (m, D), keeping `terms` free of zeros."""
    if key not in terms:
        if coefficient:
            terms[key] = coefficient
        return
    total = terms[key] + coefficient
    if total:
        terms[key] = total
    else:
        del terms[key]


def _add_share(terms: Terms, scale: fmpq, count: int, others: int, n: Power) -> fmpq:
    """Add scale·m t^n/(o + m t^n), m = `count`, o = `others`; the constant part is returned, not added."""
    common = gcd(count, others)
    m, o = count // common, others // common
    if n == 0:
        return scale * fmpq(m, m + o)
    if n > 0:  # scale·(1 − o/(o + m t^n))
        key, coefficient, constant = (0, ((n,), (o, m))), -scale * o, scale
    else:  # scale·m/(m + o t^{−n})
        key, coefficient, constant = (0, ((-n,), (m, o))), scale * m, fmpq(0)
    _collect(terms, key, coefficient)
    return constant


def _normalised(polynomial: Mapping[Power, fmpq]) -> tuple[Power, fmpq, Denominator]:
    """Write a non-zero Laurent polynomial as scale·t^shift·D; return (shift, scale, D)."""
    powers = sorted(polynomial)
    shift = powers[0]
    common = fmpz(1)
    for n in powers:
        common = common.lcm(polynomial[n].denominator)
    integers = [(polynomial[n] * common).numerator for n in powers]
    content = fmpz(0)
    for c in integers:
        content = content.gcd(c)
    if integers[-1] < 0:
        content = -content
    denominator = (tuple(n - shift for n in powers[1:]), tuple(int(c // content) for c in integers))
    return shift, fmpq(content, common), denominator


def _polynomial(denominator: Denominator) -> Polynomial:
    return {n: fmpq(c) for n, c in zip((0, *denominator[0]), denominator[1], strict=True)}


def _expanded(polynomials: Sequence[Mapping[Power, fmpq]]) -> Polynomial:
    """Multiply out Laurent polynomials with FLINT, or raise `Undecided` beyond the size budget."""
    if prod(len(p) for p in polynomials) > _EXPANSION_BUDGET:
        raise Undecided("expanding a product of exact values would exceed the size budget")
    scale = lcm(*(n.denominator for p in polynomials for n in p)) if polynomials else 1
    ring, result, shift = _ring(), _ring().constant(1), 0
    for p in polynomials:
        low = int(min(p) * scale)
        shift += low
        result *= ring.from_dict({(int(n * scale) - low,): c for n, c in p.items()})
    return {_exponent(int(n) + shift, scale): c for (n,), c in result.to_dict().items()}


def _exponent(numerator: int, scale: int) -> Power:
    if scale == 1:
        return numerator
    fraction = Fraction(numerator, scale)
    return fraction.numerator if fraction.denominator == 1 else fraction


@cache
def _ring() -> fmpq_mpoly_ctx:
    return fmpq_mpoly_ctx.get(("t",), "lex")


class ExponentialValue(ExactValue):
    """An element of Q(t) as a collected sum of sparse fractions."""

    __slots__ = ("field", "terms")

    def __init__(self, field: ExponentialField, terms: Terms) -> None:
        self.field, self.terms = field, terms

    def _combined(self, other: ExponentialValue, sign: int) -> ExponentialValue:
        terms = dict(self.terms)
        for key, c in other.terms.items():
            _collect(terms, key, c if sign > 0 else -c)
        return ExponentialValue(self.field, terms)

    def __add__(self, other: ExponentialValue) -> ExponentialValue:
        return self._combined(other, 1)

    def __sub__(self, other: ExponentialValue) -> ExponentialValue:
        return self._combined(other, -1)

    def __mul__(self, other: ExponentialValue) -> ExponentialValue:
        if len(self.terms) * len(other.terms) > _EXPANSION_BUDGET:
            raise Undecided("multiplying two exact values would exceed the size budget")
        terms: Terms = {}
        for (m1, d1), c1 in self.terms.items():
            for (m2, d2), c2 in other.terms.items():
                if d1[0] and d2[0]:
                    # products of primitive polynomials are primitive (Gauss), so this only re-packs
                    shift, scale, both = _normalised(_expanded([_polynomial(d1), _polynomial(d2)]))
                    _add_term(terms, m1 + m2 - shift, both, c1 * c2 / scale)
                else:
                    _add_term(terms, m1 + m2, d1 if d1[0] else d2, c1 * c2)
        return ExponentialValue(self.field, terms)

    def __truediv__(self, other: ExponentialValue) -> ExponentialValue:
        return self * other._inverse()

    def _common_fraction(self) -> tuple[Polynomial, list[Denominator]]:
        """Return (numerator, denominators) over the product of the distinct denominators."""
        numerators: dict[Denominator, Polynomial] = {}
        for (m, d), c in self.terms.items():
            numerators.setdefault(d, {})[m] = c
        denominators = [d for d in numerators if d[0]]
        total: Polynomial = {}
        for d, numerator in numerators.items():
            others = [_polynomial(other) for other in denominators if other != d]
            for n, c in _expanded([numerator, *others]).items():
                total[n] = total.get(n, fmpq(0)) + c
        return {n: c for n, c in total.items() if c != 0}, denominators

    def _inverse(self) -> ExponentialValue:
        if self.terms and all(d == ONE for _, d in self.terms):  # a Laurent polynomial: nothing to expand
            shift, scale, new = _normalised({m: c for (m, _), c in self.terms.items()})
            terms: Terms = {}
            _add_term(terms, -shift, new, 1 / scale)
            return ExponentialValue(self.field, terms)
        outcome = self.is_zero()
        if outcome is Outcome.UNDECIDED:
            raise Undecided("whether a divisor is zero is beyond the size budget")
        if outcome is Outcome.HOLDS:
            raise ZeroDivisionError("division by zero in Q(t)")
        numerator, denominators = self._common_fraction()
        shift, scale, new = _normalised(numerator)
        terms = {}
        for n, c in _expanded([_polynomial(d) for d in denominators]).items():
            _add_term(terms, n - shift, new, c / scale)
        return ExponentialValue(self.field, terms)

    def equals(self, other: ExponentialValue) -> Outcome:
        """Decide whether two values are the same element of K; those written alike are the same at once."""
        return Outcome.HOLDS if self.terms == other.terms else super().equals(other)

    def _is_independent(self) -> bool:
        """True when every term is a constant or c/(a + b t^n) with a, b > 0: these are independent over Q."""
        return all(m == 0 and len(powers) <= 1 and integers[0] > 0 for m, (powers, integers) in self.terms)

    def is_zero(self) -> Outcome:
        """Decide whether the value is 0: collected terms, then images, then expansion within the budget."""
        if not self.terms:
            return Outcome.HOLDS
        if self._is_independent() or self._has_nonzero_image():
            return Outcome.FAILS
        try:
            return Outcome.of(not self._common_fraction()[0])
        except Undecided:
            return Outcome.UNDECIDED

    def _has_nonzero_image(self) -> bool:
        scale = lcm(*(part.denominator for key in self.terms for part in _powers(key)))
        terms = self.terms if scale == 1 else {_rescaled(key, scale): c for key, c in self.terms.items()}
        for index in range(_PLACES_TRIED):
            try:
                if _image(terms, self.field.place(index, 1)) != 0:
                    return True
            except BadPlace:
                continue
        return False

    def image(self, place: Place) -> fmpz:
        """Return the image in Z/p^k under t ↦ 3; fractional powers of t, from tokens with denominators, have none."""
        return _image(self.terms, place)

    def bits(self) -> int:
        """Return the size of the largest coefficient in bits."""
        return max((c.height_bits() for c in self.terms.values()), default=0)

    def ball(self) -> arb:
        """Return an enclosure at the working precision."""
        unit = self.field.unit_ball()
        total = arb(0)
        for (m, d), c in self.terms.items():
            # divide through by the highest power: all exponentials are then at most 1 for m ≤ top
            top = d[0][-1] if d[0] else 0
            bottom = sum((arb(c_n) * _exponential(n - top, unit) for n, c_n in _polynomial(d).items()), arb(0))
            total += arb(c) * _exponential(m - top, unit) / bottom
        return total

    def __str__(self) -> str:
        pieces: list[tuple[fmpq, str]] = []
        for (m, d), c in sorted(self.terms.items(), key=lambda item: (len(item[0][1][0]), item[0][1], item[0][0])):
            polynomial = _polynomial(d)
            bottom = linear_combination(list(polynomial.values()), [self.field.power_text(n) for n in polynomial])
            unit = self.field.power_text(m)
            pieces.append((c, f"{unit}/({bottom})" if d[0] else unit))
        return linear_combination([c for c, _ in pieces], [unit for _, unit in pieces])


def _powers(key: tuple[Power, Denominator]) -> tuple[Power, ...]:
    return (key[0], *key[1][0])


def _rescaled(key: tuple[Power, Denominator], scale: int) -> tuple[Power, Denominator]:
    m, (powers, integers) = key
    return int(m * scale), (tuple(int(n * scale) for n in powers), integers)


def _image(terms: Mapping[tuple[Power, Denominator], fmpq], place: Place) -> fmpz:
    """Return Σ c·t^m/D under t ↦ 3; raises `BadPlace` for a fractional power."""
    power, modulus = place.power, place.modulus
    top, bottom = fmpz(0), fmpz(1)  # one fraction, so that one inversion is enough
    for (m, (powers, integers)), c in terms.items():
        numerator, denominator = c.numerator, c.denominator
        if powers:
            value = integers[0] + integers[1] * power(powers[0])
            for i in range(1, len(powers)):
                value += integers[i + 1] * power(powers[i])
            denominator *= value
        if m:
            numerator *= power(m)
        top = (top * denominator + bottom * numerator) % modulus
        bottom = bottom * denominator % modulus
    return top * inverse(bottom, place) % modulus


def _exponential(n: Power, unit: arb) -> arb:
    return (arb(fmpq(n.numerator, n.denominator)) * unit).exp() if n else arb(1)


@dataclass(frozen=True)
class ExponentialField:
    """K = Q(t), t = exp(√radicand / N); exponent n is t^n, `radicand` a squarefree positive integer."""

    radicand: int
    denominator: int

    name = "exponential"
    rank = 1
    degree = 1
    logit_bits = 0

    def __post_init__(self) -> None:
        if self.radicand < 1 or self.denominator < 1:
            raise InputError("radicand and denominator must be positive", value=(self.radicand, self.denominator))
        if any(multiplicity > 1 for _, multiplicity in fmpz(self.radicand).factor()):
            raise InputError("must be squarefree", field="radicand", value=self.radicand)

    def embed(self, scalar: Scalar) -> ExponentialValue:
        """Return the value of a rational."""
        return ExponentialValue(self, {(0, ONE): scalar[0]} if scalar[0] != 0 else {})

    def monomial(self, exponent: Exponent) -> ExponentialValue:
        """Return t^n."""
        return ExponentialValue(self, {(exponent[0], ONE): fmpq(1)})

    def power(self, n: fmpq) -> ExponentialValue:
        """Return t^n for a rational n."""
        return ExponentialValue(self, {(_exponent(int(n.numerator), int(n.denominator)), ONE): fmpq(1)})

    def unit_radical(self) -> tuple[tuple[int, Fraction], ...]:
        """Return √radicand as a product of primes to exponents ½."""
        return tuple((int(p), Fraction(1, 2)) for p, _ in fmpz(self.radicand).factor()) if self.radicand > 1 else ()

    def place(self, index: int, precision: int) -> Place:
        """Return the index-th public prime, with t ↦ 3."""
        return _place(index, precision)

    def profile_values(
        self, most: int, base: ExponentialValue, exponents: Sequence[Exponent], residues: Sequence[Scalar]
    ) -> Iterator[ExponentialValue]:
        """Yield base + Σ_h c_h·k r_h/(1 + k r_h), k = 1..most: what the value operations give, in fewer steps."""
        heads = [(n, c) for (n,), (c,) in zip(exponents, residues, strict=True) if c]
        rising = [((n,), -c) for n, c in heads if n > 0]  # c − c/(1 + k t^n)
        falling = [((-n,), c) for n, c in heads if n < 0]  # c·k/(k + t^{−n})
        limit = sum((c for n, c in heads if n > 0), fmpq(0))
        level = sum((c for n, c in heads if n == 0), fmpq(0))
        for k in range(1, most + 1):
            terms = dict(base.terms)
            _collect(terms, (0, ONE), limit + level * fmpq(k, k + 1) if level else limit)
            for powers, c in rising:
                _collect(terms, (0, (powers, (1, k))), c)
            for powers, c in falling:
                _collect(terms, (0, (powers, (k, 1))), c * k)
            yield ExponentialValue(self, terms)

    def attention(self, counts: Sequence[int], heads: Iterable[HeadWeights]) -> ExponentialValue:
        """Return Σ_h Σ_i m_i w_{h,i} y_{h,i} / Σ_i m_i w_{h,i}, w the monomials of the exponents."""
        terms: Terms = {}
        if len(counts) == 2:  # copies of one token, then the last one
            constant = fmpq(0)
            for ((n,), _), ((y,), (y_last,)) in heads:
                constant += y_last + _add_share(terms, y - y_last, counts[0], counts[1], n)
            _add_term(terms, 0, ONE, constant)
            return ExponentialValue(self, terms)
        for exponents, values in heads:
            bottom: Polynomial = {}
            top: Polynomial = {}
            for m, (n,), (y,) in zip(counts, exponents, values, strict=True):
                bottom[n] = bottom.get(n, fmpq(0)) + m
                top[n] = top.get(n, fmpq(0)) + m * y
            shift, scale, denominator = _normalised(bottom)
            for n, c in top.items():
                _add_term(terms, n - shift, denominator, c / scale)
        return ExponentialValue(self, terms)

    def weight_bits(self, exponent: Sequence[Power]) -> int:  # noqa: ARG002  # costs nothing here
        """Exponents stay symbolic: a weight costs nothing."""
        return 0

    def unit_ball(self) -> arb:
        """Enclose √radicand / N, the logarithm of t, at the working precision."""
        return arb(self.radicand).sqrt() / self.denominator

    def _unit_text(self) -> str:
        return "1" if self.radicand == 1 else f"sqrt({self.radicand})"

    def power_text(self, n: Power) -> str:
        """Return t^n in the grammar of exact values: exp(q) or exp(q*sqrt(n)); "1" for n = 0."""
        if n == 0:
            return "1"
        return f"exp({linear_combination([fmpq(n.numerator, n.denominator) / self.denominator], [self._unit_text()])})"

    def log_text(self, coordinates: Sequence[fmpq]) -> str:
        """Return coordinates_0·√radicand in the instance grammar."""
        return linear_combination(coordinates, [self._unit_text()])

    def scalar_text(self, scalar: Scalar) -> str:
        """Return a scalar in the instance grammar."""
        return str(scalar[0])


@cache
def _place(index: int, precision: int) -> Place:
    return Place(_public_primes()[index], precision, (_T_IMAGE,), (1,))


@cache
def _public_primes() -> PublicPrimes:
    return PublicPrimes(lambda p: Place(p, 2, (_T_IMAGE,), (1,)).is_regular)
