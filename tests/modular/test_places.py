"""Places against definitions: p-adic logarithms by their series in Fractions, residues by Python's `pow`."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest
import sympy
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exactmha.errors import BadPlace
from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.fields.values import ExactValue
from exactmha.modular.places import Place, inverse, lift_root, root_modulo

modest = settings(derandomize=True, deadline=None, max_examples=30)

FIELDS = [
    RationalField((2, 3)),
    ExponentialField(2, 3),
    RadicalField(fmpq(2), 3),
    RadicalField(fmpq(3, 2), 8),
    RadicalField(fmpq(6), 1),
]
LARGEST = int(sympy.prevprime(2**62))
HUGE = 10**60
five_generators = RationalField((2, 3, 5, 7, 11))


def residue(q: Fraction, modulus: int) -> int:
    return q.numerator * pow(q.denominator, -1, modulus) % modulus


def number(field: ExactField, q: int) -> ExactValue:
    return field.embed((fmpq(q), *[fmpq(0)] * (field.degree - 1)))


class TestPublicPrimes:
    @pytest.mark.parametrize("field", FIELDS, ids=str)
    def test_distinct_primes_of_62_bits(self, field: ExactField) -> None:
        primes = [field.place(i, 1).prime for i in range(6)]
        assert primes == sorted(set(primes), reverse=True)
        assert all(p.bit_length() == 62 and sympy.isprime(p) for p in primes)

    @pytest.mark.parametrize("field", FIELDS, ids=str)
    def test_the_list_does_not_depend_on_use(self, field: ExactField) -> None:
        fourth = field.place(4, 2)
        assert [field.place(i, 2).prime for i in (4, 0)] == [fourth.prime, field.place(0, 1).prime]
        assert field.place(4, 2).generators == fourth.generators

    def test_the_list_starts_below_two_to_the_62(self) -> None:
        expected = [LARGEST]
        for _ in range(4):
            expected.append(int(sympy.prevprime(expected[-1])))
        assert [RationalField((2,)).place(i, 1).prime for i in range(5)] == expected

    def test_divisors_of_the_base_are_left_out(self) -> None:
        second = int(sympy.prevprime(LARGEST))
        assert RationalField((2, LARGEST)).place(0, 1).prime == second
        assert RationalField((2 * LARGEST,)).place(0, 1).prime == second

    @pytest.mark.parametrize(("beta", "order"), [(Fraction(2), 3), (Fraction(3, 2), 8), (Fraction(5), 7)])
    def test_exactly_the_primes_with_a_root_are_taken(self, beta: Fraction, order: int) -> None:
        field = RadicalField(fmpq(beta.numerator, beta.denominator), order)
        last = field.place(3, 1).prime
        expected, p = [], LARGEST
        while p >= last:
            if sympy.is_nthpow_residue(residue(beta, p), order, p):
                expected.append(p)
            p = int(sympy.prevprime(p))
        assert [field.place(i, 1).prime for i in range(4)] == expected

    @pytest.mark.parametrize("field", FIELDS, ids=str)
    def test_places_are_regular(self, field: ExactField) -> None:
        place = field.place(0, 2)
        generator = int(place.generators[0])
        assert place.is_regular
        assert pow(generator, place.prime - 1, place.prime**2) != 1


@pytest.fixture(params=[0, 2], ids=["prime 0", "prime 2"])
def prime(request: pytest.FixtureRequest) -> int:
    return RationalField((2,)).place(request.param, 1).prime


def place_at(prime: int, precision: int) -> Place:
    return Place(prime, precision, (3,), (1,))


class TestLogarithm:
    @pytest.mark.parametrize("precision", [1, 2, 3, 6])
    def test_additive(self, prime: int, precision: int) -> None:
        place = place_at(prime, precision)
        modulus = prime ** (precision - 1)

        @modest
        @given(*[st.integers(1, prime**precision - 1).filter(lambda x: x % prime)] * 2)
        def check(a: int, b: int) -> None:
            total = place.logarithm(a) + place.logarithm(b)
            assert (place.logarithm(a * b % prime**precision) - total) % modulus == 0
            assert (place.logarithm(pow(a, -1, prime**precision)) + place.logarithm(a)) % modulus == 0

        check()

    @pytest.mark.parametrize("precision", [2, 4])
    @pytest.mark.parametrize("unit", [-1, 2, 3, 12345678901234567])
    def test_zero_on_roots_of_unity(self, prime: int, precision: int, unit: int) -> None:
        root_of_unity = pow(unit, prime ** (precision - 1), prime**precision)
        assert pow(root_of_unity, prime - 1, prime**precision) == 1
        assert place_at(prime, precision).logarithm(root_of_unity) == 0
        assert place_at(prime, precision).logarithm(root_of_unity * (1 + prime)) != 0

    @pytest.mark.parametrize("precision", [2, 3, 5, 8])
    @pytest.mark.parametrize("y", [1, -1, 12345, 10**18])
    def test_series_on_principal_units(self, prime: int, precision: int, y: int) -> None:
        # log((1 + p y)^{p−1}) / p = (p − 1)·(y − p y²/2 + p² y³/3 − …)
        series = sum(Fraction((-1) ** (i + 1) * prime ** (i - 1) * y**i, i) for i in range(1, precision + 1))
        expected = residue((prime - 1) * series, prime ** (precision - 1))
        assert place_at(prime, precision).logarithm((1 + prime * y) % prime**precision) == expected


class TestExponents:
    @pytest.mark.parametrize("exponent", [0, 1, -1, 10**6, 2**61, HUGE, -HUGE, 10**100 + 7])
    @pytest.mark.parametrize("field", FIELDS[1:], ids=str)
    def test_found_once_the_precision_suffices(self, field: ExactField, exponent: int) -> None:
        for precision in range(1, 9):
            place = field.place(0, precision)
            generator = int(place.generators[0])
            unit = pow(generator, exponent, place.prime**precision)
            enough = place.prime ** (precision - 1) > 2 * abs(exponent)
            assert place.exponent_of(unit) == ((exponent,) if enough else None)

    @modest
    @given(st.lists(st.integers(-200, 200), min_size=5, max_size=5), st.integers(0, 1))
    def test_five_generators(self, exponent: list[int], index: int) -> None:
        exact = prod((Fraction(b) ** e for b, e in zip((2, 3, 5, 7, 11), exponent, strict=True)), start=Fraction(1))
        for precision in (1, 2, 3, 7):
            place = five_generators.place(index, precision)
            found = place.exponent_of(residue(exact, place.prime**precision))
            assert found in (tuple(exponent), None)
        assert found == tuple(exponent)

    @pytest.mark.parametrize("exponent", [(HUGE, 0, -1, 0, 3), (HUGE, -HUGE, HUGE + 1, 5, HUGE // 3)])
    def test_five_huge_exponents_need_precision(self, exponent: tuple[int, ...]) -> None:
        for precision, expected in ((2, None), (10, None), (25, exponent)):
            place = five_generators.place(0, precision)
            modulus = place.prime**precision
            unit = prod(pow(b, e, modulus) for b, e in zip((2, 3, 5, 7, 11), exponent, strict=True)) % modulus
            assert place.exponent_of(unit) == expected

    @modest
    @given(st.integers(2, 2**62 - 100))
    def test_a_unit_that_is_no_small_power_is_not_one(self, unit: int) -> None:
        # the logarithm of a root of unity is 0, and 3⁰ = 1 is the only power that small
        place = ExponentialField(1, 1).place(0, 3)
        root_of_unity = pow(unit, place.prime**2, place.prime**3)
        assert place.exponent_of(root_of_unity) is None

    def test_no_generators(self) -> None:
        place = RationalField(()).place(0, 3)
        assert place.is_regular
        assert place.exponent_of(1) == ()
        assert place.exponent_of(2) is None


class TestScalars:
    @pytest.mark.parametrize("q", [Fraction(0), Fraction(-7), Fraction(22, 7), Fraction(10**30 + 1, 3**50)])
    @pytest.mark.parametrize("field", FIELDS, ids=str)
    def test_rationals(self, field: ExactField, q: Fraction) -> None:
        scalar = (fmpq(q.numerator, q.denominator), *[fmpq(0)] * (field.degree - 1))
        for precision in range(1, 7):
            place = field.place(1, precision)
            found = place.scalar_of(residue(q, place.prime**precision))
            assert found in (scalar, None)
        assert found == scalar

    def test_a_large_rational_is_not_guessed_from_few_digits(self) -> None:
        q = Fraction(10**30 + 1, 3**50)
        for precision in (1, 2, 3):
            place = RationalField((2,)).place(0, precision)
            assert place.scalar_of(residue(q, place.prime**precision)) is None

    @modest
    @given(st.lists(st.fractions(-50, 50, max_denominator=12), min_size=3, max_size=3), st.integers(0, 2))
    def test_combinations_of_powers_of_a_root(self, scalar: list[Fraction], index: int) -> None:
        field = RadicalField(fmpq(2), 3)
        expected = tuple(fmpq(x.numerator, x.denominator) for x in scalar)
        for precision in (1, 2, 8):
            place = field.place(index, precision)
            modulus = place.prime**precision
            gamma = int(place.generators[0])
            image = sum(residue(x, modulus) * gamma**i for i, x in enumerate(scalar)) % modulus
            found = place.scalar_of(image)
            assert found in (expected, None)
        assert found == expected

    @modest
    @given(st.integers(2**60, 2**61), st.integers(2**60, 2**61))
    def test_fractions_of_61_bits_are_not_guessed_from_124(self, numerator: int, denominator: int) -> None:
        # fewer than 2^93 fractions have a height below 2^46: a residue of 124 bits near one of them is chance
        place = RationalField((2,)).place(0, 2)
        q = Fraction(numerator, denominator)
        assume(max(q.numerator, q.denominator) > 2**46)
        assert place.scalar_of(residue(q, place.prime**2)) is None


class TestArithmetic:
    def test_inverse(self) -> None:
        place = place_at(10007, 3)
        assert int(inverse(2, place)) * 2 % 10007**3 == 1
        for bad in (10007, 0, 5 * 10007**2):
            with pytest.raises(BadPlace):
                inverse(bad, place)

    @pytest.mark.parametrize("field", FIELDS[1:], ids=str)
    def test_powers_of_the_only_generator(self, field: ExactField) -> None:
        place = field.place(0, 3)
        modulus = place.prime**3
        for exponent in (0, 5, -5, HUGE, 5):
            expected = pow(int(place.generators[0]), exponent, modulus)
            assert place.power(exponent) == place.monomial((exponent,)) == expected

    @pytest.mark.parametrize("precision", [1, 2, 3, 4, 7, 16])
    def test_lifted_roots_are_roots(self, precision: int) -> None:
        # (y − 2)(y − 1/3)(y + 5) modulo 10007
        modulus = 10007**precision
        third = pow(3, -1, modulus)
        # constant term −(2)(1/3)(−5) = 10/3; linear term 2/3 − 10 − 5/3 = −11; square term −2 − 1/3 + 5
        coefficients = [10 * third % modulus, -11 % modulus, (3 - third) % modulus, 1]
        for root in (2, third, -5 % modulus):
            assert lift_root(coefficients, root % 10007, 10007, precision) == root

    def test_roots_modulo_a_prime_power(self) -> None:
        # 2 is no square modulo 5; 4² = 2 modulo 7, and 3 is the least root
        assert root_modulo(fmpq(2), 2, 5, 4) is None
        assert root_modulo(fmpq(2), 2, 7, 1) == 3
        lifted = root_modulo(fmpq(2), 2, 7, 20)
        assert lifted is not None
        assert (lifted * lifted - 2) % 7**20 == 0
        assert lifted % 7 == 3


class TestBadPlaces:
    """A denominator that p divides, in each field."""

    def test_rational_field(self) -> None:
        prime = RationalField((2,)).place(0, 1).prime
        field = RationalField((prime - 1,))
        value = number(field, 1) / (number(field, 1) + field.monomial((1,)))
        with pytest.raises(BadPlace):
            value.image(field.place(0, 3))
        assert value.image(field.place(1, 1)) * prime % field.place(1, 1).prime == 1

    def test_exponential_field(self) -> None:
        field = ExponentialField(1, 1)
        place = field.place(0, 2)
        kappa = -pow(3, -1, place.prime) % place.prime
        value = number(field, 1) / (number(field, 1) + number(field, kappa) * field.monomial((1,)))
        with pytest.raises(BadPlace):
            value.image(place)
        other = field.place(1, 2)
        assert value.image(other) * (1 + 3 * kappa) % other.prime**2 == 1

    def test_radical_field(self) -> None:
        field = RadicalField(fmpq(2), 3)
        place = field.place(0, 2)
        root = int(place.generators[0]) % place.prime
        value = number(field, 1) / (field.monomial((1,)) - number(field, root))
        with pytest.raises(BadPlace):
            value.image(place)

    @pytest.mark.parametrize("field", FIELDS, ids=str)
    def test_a_rational_with_p_in_its_denominator(self, field: ExactField) -> None:
        place = field.place(0, 2)
        value = number(field, 1) / number(field, 2 * place.prime)
        with pytest.raises(BadPlace):
            value.image(place)

    def test_fractional_powers_have_no_image(self) -> None:
        field = ExponentialField(1, 2)
        with pytest.raises(BadPlace):
            field.power(fmpq(1, 2)).image(field.place(0, 1))
