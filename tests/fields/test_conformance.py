"""One suite for all exact fields: axioms, text, places, enclosures.

An element is drawn as a recipe, a sum of products of rationals, scalars, monomials r and reciprocals
1/(1 + k r), k ≥ 0. The recipe is built once in the field and once in real numbers by mpmath, where
γ = β^{1/N} and t = exp(√n/N) are computed from their definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.fields.text import parse_value
from exactmha.fields.values import ExactValue
from exactmha.outcome import Outcome

REALS = mpmath.mp.clone()
REALS.dps = 70
DIGITS = 50

FIELDS = [
    pytest.param(RationalField((3, 10, 77)), id="Q-3,10,77"),
    pytest.param(RationalField(()), id="Q-no-generator"),
    pytest.param(RadicalField(fmpq(2), 1), id="radical-2-1"),
    pytest.param(RadicalField(fmpq(2), 2), id="radical-2-2"),
    pytest.param(RadicalField(fmpq(3, 2), 2), id="radical-3/2-2"),
    pytest.param(RadicalField(fmpq(12), 5), id="radical-12-5"),
    pytest.param(RadicalField(fmpq(6), 24), id="radical-6-24"),
    pytest.param(ExponentialField(1, 1), id="exponential-1-1"),
    pytest.param(ExponentialField(2, 6), id="exponential-2-6"),
]
CORNERS = [Fraction(q) for q in ("0", "1", "-1", "2", "1/2", "-2/3", "7/5", "1000003")]
HUGE = [10**6, -(10**6), 10**60, 1 - 10**60]
every_field = pytest.mark.parametrize("field", FIELDS)


def examples(count: int) -> Callable[[Any], Any]:
    return settings(derandomize=True, deadline=None, max_examples=count)


@dataclass(frozen=True)
class Reciprocal:
    """1/(1 + k r)."""

    k: Fraction
    exponent: tuple[int, ...]


@dataclass(frozen=True)
class Monomial:
    exponent: tuple[int, ...]


@dataclass(frozen=True)
class Element:
    """Σ coefficient · Π factors, a factor being a scalar (a tuple), a monomial or a reciprocal."""

    terms: tuple[tuple[Fraction, tuple[Any, ...]], ...]


def exponents(field: ExactField, *, huge: bool) -> st.SearchStrategy[tuple[int, ...]]:
    one = st.integers(-3, 3)
    if field.name == "exponential" and huge:
        one |= st.sampled_from(HUGE)
    elif field.name != "exponential":
        one |= st.integers(-30, 30)
    return st.tuples(*[one] * field.rank)


def scalars(field: ExactField) -> st.SearchStrategy[tuple[Fraction, ...]]:
    return st.tuples(*[st.sampled_from(CORNERS[:-1])] * field.degree)


def elements(field: ExactField, *, huge: bool = True, most: int = 2) -> st.SearchStrategy[Element]:
    exponent = exponents(field, huge=huge)
    factor = (
        st.builds(Monomial, exponent)
        | st.builds(Reciprocal, st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3)]), exponent)
        | scalars(field)
    )
    term = st.tuples(st.sampled_from(CORNERS), st.lists(factor, max_size=2).map(tuple))
    return st.lists(term, max_size=most).map(lambda terms: Element(tuple(terms)))


def fraction(q: Fraction) -> fmpq:
    return fmpq(q.numerator, q.denominator)


def embedded(field: ExactField, q: Fraction | int) -> ExactValue:
    return field.embed((fraction(Fraction(q)), *[fmpq(0)] * (field.degree - 1)))


def exact_ring(field: ExactField) -> SimpleNamespace:
    return SimpleNamespace(
        number=lambda q: embedded(field, q),
        scalar=lambda xs: field.embed(tuple(fraction(x) for x in xs)),
        monomial=field.monomial,
    )


def real_monomial(field: ExactField, exponent: tuple[int, ...]) -> mpmath.mpf:
    match field:
        case RationalField():
            return REALS.fprod(REALS.mpf(b) ** e for b, e in zip(field.base, exponent, strict=True))
        case RadicalField():
            beta = REALS.mpf(int(field.beta.numerator)) / int(field.beta.denominator)
            return beta ** (REALS.mpf(exponent[0]) / field.denominator)
        case ExponentialField():
            return REALS.exp(exponent[0] * REALS.sqrt(field.radicand) / field.denominator)
    raise AssertionError


def real_ring(field: ExactField, sign: Callable[[Any], Any] = lambda x: x) -> SimpleNamespace:
    """Real numbers; with `sign=abs`, a bound on every intermediate result."""

    def number(q: Fraction | int) -> mpmath.mpf:
        return sign(REALS.mpf(Fraction(q).numerator) / Fraction(q).denominator)

    def scalar(xs: tuple[Fraction, ...]) -> mpmath.mpf:
        powers = [real_monomial(field, (i,)) if i else REALS.mpf(1) for i in range(len(xs))]
        return REALS.fsum(number(x) * power for x, power in zip(xs, powers, strict=True))

    return SimpleNamespace(number=number, scalar=scalar, monomial=lambda e: real_monomial(field, e))


def built(element: Element, ring: SimpleNamespace) -> Any:
    total, one = ring.number(0), ring.number(1)
    for coefficient, factors in element.terms:
        term = ring.number(coefficient)
        for factor in factors:
            match factor:
                case Monomial(exponent):
                    term = term * ring.monomial(exponent)
                case Reciprocal(k, exponent):
                    term = term * (one / (one + ring.number(k) * ring.monomial(exponent)))
                case _:
                    term = term * ring.scalar(factor)
        total = total + term
    return total


def drawn(data: st.DataObject, field: ExactField, count: int, *, huge: bool = True, most: int = 2) -> list[ExactValue]:
    ring = exact_ring(field)
    return [built(data.draw(elements(field, huge=huge, most=most)), ring) for _ in range(count)]


def holds(left: ExactValue, right: ExactValue) -> bool:
    return left.equals(right) is Outcome.HOLDS and right.equals(left) is Outcome.HOLDS


def exact_real(x: Any) -> mpmath.mpf:
    mantissa, exponent = x.man_exp()
    return REALS.ldexp(REALS.mpf(int(mantissa)), int(exponent))


@every_field
class TestAxioms:
    @examples(12)
    @given(st.data())
    def test_addition_is_a_commutative_group(self, field: ExactField, data: st.DataObject) -> None:
        x, y, z = drawn(data, field, 3)
        zero = embedded(field, 0)
        assert holds(x + y, y + x)
        assert holds((x + y) + z, x + (y + z))
        assert holds(x + zero, x)
        assert holds((x - y) + y, x)
        assert holds(zero - (x - y), y - x)

    @examples(12)
    @given(st.data())
    def test_multiplication_is_commutative_with_unit(self, field: ExactField, data: st.DataObject) -> None:
        x, y = drawn(data, field, 2)
        assert holds(x * y, y * x)
        assert holds(x * embedded(field, 1), x)
        assert holds(x * embedded(field, 0), embedded(field, 0))

    @examples(10)
    @given(st.data())
    def test_multiplication_is_associative(self, field: ExactField, data: st.DataObject) -> None:
        x, y, z = drawn(data, field, 3, most=1)
        assert holds((x * y) * z, x * (y * z))

    @examples(12)
    @given(st.data())
    def test_multiplication_distributes(self, field: ExactField, data: st.DataObject) -> None:
        x, y, z = drawn(data, field, 3)
        assert holds(x * (y + z), x * y + x * z)
        assert holds((x - y) * z, x * z - y * z)

    @examples(12)
    @given(st.data())
    def test_division_undoes_multiplication(self, field: ExactField, data: st.DataObject) -> None:
        (x,) = drawn(data, field, 1, most=1)
        (y,) = drawn(data, field, 1)
        assume(y.is_zero() is Outcome.FAILS)
        assert holds(x / y * y, x)
        assert holds(y / y, embedded(field, 1))
        assert holds(embedded(field, 1) / (embedded(field, 1) / y), y)

    @examples(10)
    @given(st.data())
    def test_division_by_zero_is_an_error(self, field: ExactField, data: st.DataObject) -> None:
        x, y = drawn(data, field, 2)
        for hidden_zero in (embedded(field, 0), y - y, (x + y) - (y + x)):
            with pytest.raises(ZeroDivisionError):
                x / hidden_zero

    @examples(12)
    @given(st.data())
    def test_monomials_multiply_by_adding_exponents(self, field: ExactField, data: st.DataObject) -> None:
        a, b = (data.draw(exponents(field, huge=True)) for _ in range(2))
        total = tuple(x + y for x, y in zip(a, b, strict=True))
        assert holds(field.monomial(a) * field.monomial(b), field.monomial(total))
        assert holds(
            embedded(field, 1) / field.monomial(a),
            field.monomial(tuple(-x for x in a)),
        )

    @examples(8)
    @given(st.data())
    def test_embedding_is_a_homomorphism(self, field: ExactField, data: st.DataObject) -> None:
        p, q = (data.draw(st.fractions(max_denominator=10**6)) for _ in range(2))
        assert holds(embedded(field, p) + embedded(field, q), embedded(field, p + q))
        assert holds(embedded(field, p) * embedded(field, q), embedded(field, p * q))


@every_field
class TestValues:
    @examples(12)
    @given(st.data())
    def test_equality_has_definite_outcomes(self, field: ExactField, data: st.DataObject) -> None:
        x, y = drawn(data, field, 2)
        tiny = embedded(field, Fraction(1, 10**40))
        assert x.equals(x + tiny) is Outcome.FAILS
        assert (x - x).is_zero() is Outcome.HOLDS
        assert x == (x + y) - y
        assert x != x + embedded(field, 1)

    @examples(5)
    @given(st.data())
    def test_values_are_unhashable(self, field: ExactField, data: st.DataObject) -> None:
        (x,) = drawn(data, field, 1)
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)

    def test_values_are_unequal_to_other_types(self, field: ExactField) -> None:
        assert embedded(field, 1) != 1
        assert embedded(field, 1) != "1"

    @examples(12)
    @given(st.data())
    def test_operations_leave_their_operands_alone(self, field: ExactField, data: st.DataObject) -> None:
        x, y = drawn(data, field, 2)
        before = str(x), str(y)
        for result in (x + y, x - y, x * y):
            result + x
        if y.is_zero() is Outcome.FAILS:
            x / y
        x.equals(y)
        x.image(field.place(0, 2))
        alias = x
        alias += y
        alias *= y
        assert (str(x), str(y)) == before

    @examples(25)
    @given(st.data())
    def test_text_round_trip(self, field: ExactField, data: st.DataObject) -> None:
        (x,) = drawn(data, field, 1, most=3)
        assert parse_value(str(x), field) == x

    def test_text_of_small_values(self, field: ExactField) -> None:
        assert str(embedded(field, 0)) == "0"
        assert str(embedded(field, Fraction(-2, 3))) == "-2/3"
        assert str(embedded(field, 1)) == "1"


@every_field
class TestPlaces:
    @examples(8)
    @given(st.data())
    def test_image_is_a_ring_homomorphism(self, field: ExactField, data: st.DataObject) -> None:
        place = field.place(data.draw(st.integers(0, 2)), data.draw(st.sampled_from([1, 2, 5])))
        x, y = drawn(data, field, 2)
        a, b = x.image(place), y.image(place)
        modulus = place.prime**place.precision
        assert 0 <= a < modulus
        assert (x + y).image(place) == (a + b) % modulus
        assert (x - y).image(place) == (a - b) % modulus
        assert (x * y).image(place) == a * b % modulus
        if y.is_zero() is Outcome.FAILS:
            assert (x / y).image(place) * b % modulus == a

    @examples(8)
    @given(st.data())
    def test_image_of_a_rational(self, field: ExactField, data: st.DataObject) -> None:
        place = field.place(0, 3)
        q = data.draw(st.fractions(max_denominator=10**9))
        image = embedded(field, q).image(place)
        assert (image * q.denominator - q.numerator) % place.prime**3 == 0

    @examples(8)
    @given(st.data())
    def test_image_of_a_monomial(self, field: ExactField, data: st.DataObject) -> None:
        place = field.place(data.draw(st.integers(0, 2)), data.draw(st.sampled_from([1, 2, 4])))
        exponent = data.draw(exponents(field, huge=True))
        modulus = place.prime**place.precision
        expected = 1
        for generator, e in zip(place.generators, exponent, strict=True):
            expected = expected * pow(int(generator), e, modulus) % modulus
        assert field.monomial(exponent).image(place) == place.monomial(exponent) == expected

    @pytest.mark.parametrize("index", [0, 1, 2])
    def test_generators_satisfy_the_field_relations(self, field: ExactField, index: int) -> None:
        place = field.place(index, 3)
        assert (len(place.generators), len(place.scalars)) == (field.rank, field.degree)
        match field:
            case RationalField():
                assert tuple(int(g) for g in place.generators) == field.base
            case ExponentialField():
                assert place.generators == (3,)
            case RadicalField():
                power = pow(int(place.generators[0]), field.denominator, place.prime**3)
                assert (power * field.beta.denominator - field.beta.numerator) % place.prime**3 == 0

    @examples(10)
    @given(st.data())
    def test_exponent_of_inverts_monomial(self, field: ExactField, data: st.DataObject) -> None:
        place = field.place(data.draw(st.integers(0, 1)), 6)
        exponent = data.draw(exponents(field, huge=True))
        assert place.exponent_of(place.monomial(exponent)) == exponent

    @examples(10)
    @given(st.data())
    def test_scalar_of_inverts_embed(self, field: ExactField, data: st.DataObject) -> None:
        place = field.place(data.draw(st.integers(0, 1)), 9)
        scalar = tuple(fraction(x) for x in data.draw(scalars(field)))
        assert place.scalar_of(field.embed(scalar).image(place)) == scalar


@every_field
class TestEnclosures:
    @examples(20)
    @given(st.data())
    def test_enclosure_holds_the_real_value(self, field: ExactField, data: st.DataObject) -> None:
        element = data.draw(elements(field, huge=False, most=3))
        exact = built(element, exact_ring(field))
        ball = exact.enclosure(DIGITS)
        error = built(element, real_ring(field, abs)) * REALS.mpf(10) ** -60
        distance = abs(exact_real(ball.mid()) - built(element, real_ring(field)))
        assert distance <= exact_real(ball.rad()) + error
        assert ball.is_exact() or ball.rel_accuracy_bits() >= DIGITS * 3.32

    @examples(10)
    @given(st.data())
    def test_enclosures_are_compatible_with_arithmetic(self, field: ExactField, data: st.DataObject) -> None:
        x, y = drawn(data, field, 2, huge=False)
        a, b = x.enclosure(40), y.enclosure(40)
        assert (x + y).enclosure(40).overlaps(a + b)
        assert (x - y).enclosure(40).overlaps(a - b)
        assert (x * y).enclosure(40).overlaps(a * b)
        if y.is_zero() is Outcome.FAILS:
            assert (x / y).enclosure(40).overlaps(a / b)

    def test_enclosure_of_zero_is_exact(self, field: ExactField) -> None:
        r = field.monomial((2,) * field.rank)
        assert ((embedded(field, 1) + r) * r - r - r * r).enclosure(10) == 0
