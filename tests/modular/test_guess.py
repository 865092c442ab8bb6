"""The guess on synthetic samples f_k = σ + Σ_h c_h·k r_h/(1 + k r_h), evaluated with Python integers modulo p^k."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

import pytest
import sympy
from flint import fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from exactmha.errors import BadPlace
from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.modular.guess import Guess, MorePrecision, guess_profile
from exactmha.modular.places import Place
from exactmha.modular.pole_polynomial import head_rank, moments, pole_polynomial, slopes

modest = settings(derandomize=True, deadline=None, max_examples=40)
BASE = (2, 3)
FIELD = RationalField(BASE)


def residue(q: Fraction | int, modulus: int) -> int:
    return Fraction(q).numerator * pow(Fraction(q).denominator, -1, modulus) % modulus


def profile_samples(sigma: Fraction, heads: Sequence[tuple[Fraction, Fraction]], count: int) -> list[Fraction]:
    """f_0, …, f_{2·count} for heads (r, c)."""
    return [sigma + sum((c * k * r / (1 + k * r) for r, c in heads), Fraction(0)) for k in range(2 * count + 1)]


def modular_samples(sigma: int, heads: Sequence[tuple[int, int]], count: int, place: Place) -> list[int]:
    modulus = place.prime**place.precision
    return [
        (sigma + sum(c * k * r * pow(1 + k * r, -1, modulus) for r, c in heads)) % modulus for k in range(2 * count + 1)
    ]


def images(samples: Sequence[Fraction], place: Place) -> list[int]:
    return [residue(f, place.prime**place.precision) for f in samples]


def monomial(exponent: Sequence[int]) -> Fraction:
    return prod((Fraction(b) ** e for b, e in zip(BASE, exponent, strict=True)), start=Fraction(1))


exponents = st.tuples(st.integers(-20, 20), st.integers(-20, 20))
residues = st.fractions(-100, 100, max_denominator=30).filter(bool)
profiles = st.dictionaries(exponents, residues, max_size=6)


class TestRationalField:
    @modest
    @given(profiles, st.fractions(max_denominator=100), st.integers(0, 2), st.integers(0, 3))
    def test_recovers_the_profile_and_its_number_of_heads(
        self, profile: dict[tuple[int, int], Fraction], sigma: Fraction, index: int, spare: int
    ) -> None:
        heads = [(monomial(e), c) for e, c in profile.items()]
        samples = profile_samples(sigma, heads, len(heads) + spare)
        place = FIELD.place(index, 4)
        expected = sorted(profile.items())
        assert guess_profile(images(samples, place), place) == Guess(
            tuple(e for e, _ in expected), tuple((fmpq(c.numerator, c.denominator),) for _, c in expected)
        )

    @modest
    @given(profiles, st.integers(0, 3))
    def test_rank_counts_visible_heads(self, profile: dict[tuple[int, int], Fraction], spare: int) -> None:
        heads = [(monomial(e), c) for e, c in profile.items()]
        place = FIELD.place(0, 1)
        samples = images(profile_samples(Fraction(5), heads, len(heads) + spare), place)
        mu = moments(slopes(samples, place), len(heads) + spare, place)
        assert head_rank(mu, place) == len(heads)

    def test_hidden_and_merged_heads_are_not_counted(self) -> None:
        # c = 0 hides a head; two heads with one pole look like one with the sum of their c
        heads = [(Fraction(2), Fraction(3)), (Fraction(9), Fraction(0)), (Fraction(2), Fraction(-1, 2))]
        place = FIELD.place(0, 3)
        samples = images(profile_samples(Fraction(0), heads, 3), place)
        assert guess_profile(samples, place) == Guess(((1, 0),), ((fmpq(5, 2),),))

    def test_a_constant_function_has_no_heads(self) -> None:
        place = FIELD.place(0, 2)
        assert guess_profile([7] * 9, place) == Guess((), ())
        assert guess_profile([7], place) == Guess((), ())

    def test_fewer_samples_than_heads_give_another_profile_or_none(self) -> None:
        heads = [(Fraction(2), Fraction(1)), (Fraction(3), Fraction(1)), (Fraction(6), Fraction(1))]
        place = FIELD.place(0, 4)
        samples = images(profile_samples(Fraction(0), heads, 2), place)
        with pytest.raises((BadPlace, MorePrecision)):
            guess_profile(samples, place)


class TestPolePolynomial:
    def test_coefficients_by_hand(self) -> None:
        # (1 + 2x)(1 + x/3) = 1 + 7x/3 + 2x²/3
        place = FIELD.place(0, 3)
        modulus = place.prime**3
        heads = [(Fraction(2), Fraction(1)), (Fraction(1, 3), Fraction(-4))]
        g = slopes(images(profile_samples(Fraction(1), heads, 2), place), place)
        expected = [residue(q, modulus) for q in (1, Fraction(7, 3), Fraction(2, 3))]
        assert pole_polynomial(moments(g, 2, place), place).coeffs() == expected

    def test_moments_by_hand(self) -> None:
        # n = 1: w = (−1, 1), so Σ_k w_k g_k k^s with g = (5, 7) is 2, 9, 23
        assert moments([fmpz(5), fmpz(7)], 1, FIELD.place(0, 1)) == [2, 9, 23]

    def test_slopes_by_hand(self) -> None:
        # f = 1, 3, 0: (3 − 1)/1 and (0 − 1)/2
        place = FIELD.place(0, 2)
        assert slopes([1, 3, 0], place) == [2, residue(Fraction(-1, 2), place.prime**2)]

    def test_a_singular_system_is_an_error(self) -> None:
        place = FIELD.place(0, 2)
        g = slopes(images(profile_samples(Fraction(0), [(Fraction(2), Fraction(1))], 2), place), place)
        with pytest.raises(ZeroDivisionError):
            pole_polynomial(moments(g, 2, place), place)


class TestOtherFields:
    @pytest.mark.parametrize("scale", [1, 10**15])
    def test_exponential_field(self, scale: int) -> None:
        field = ExponentialField(1, 1)
        place = field.place(0, 3)
        modulus = place.prime**3
        profile = {(-3 * scale,): Fraction(1, 2), (0,): Fraction(-7), (5 * scale,): Fraction(22, 7)}
        heads = [(pow(3, n, modulus), residue(c, modulus)) for (n,), c in profile.items()]
        found = guess_profile(modular_samples(11, heads, 4, place), place)
        assert found == Guess(tuple(profile), ((fmpq(1, 2),), (fmpq(-7),), (fmpq(22, 7),)))

    def test_radical_field_with_residues_outside_Q(self) -> None:
        field = RadicalField(fmpq(2), 3)
        place = field.place(1, 6)
        modulus = place.prime**6
        gamma = int(place.generators[0])
        half = pow(2, -1, modulus)
        # c = 1/2 + γ² and c = −3
        heads = [(pow(gamma, 4, modulus), half + gamma**2), (pow(gamma, -7, modulus), -3)]
        found = guess_profile(modular_samples(0, heads, 2, place), place)
        assert found == Guess(((-7,), (4,)), ((fmpq(-3), fmpq(0), fmpq(0)), (fmpq(1, 2), fmpq(0), fmpq(1))))

    def test_five_generators(self) -> None:
        field = RationalField((2, 3, 5, 7, 11))
        place = field.place(0, 6)
        rs = [Fraction(2**9 * 5**4, 3**7 * 11**2), Fraction(7**5, 2**3), Fraction(1, 11)]
        samples = profile_samples(Fraction(1, 3), [(r, Fraction(i, 3)) for i, r in enumerate(rs, 1)], 3)
        found = guess_profile(images(samples, place), place)
        assert found == Guess(
            ((-3, 0, 0, 5, 0), (0, 0, 0, 0, -1), (9, -7, 4, 0, -2)),
            ((fmpq(2, 3),), (fmpq(1),), (fmpq(1, 3),)),
        )


class TestPrecision:
    def test_large_exponents_need_more(self) -> None:
        field = ExponentialField(1, 1)
        exponent = 10**60
        for precision, enough in ((1, False), (2, False), (4, False), (5, True)):
            place = field.place(0, precision)
            heads = [(pow(3, exponent, place.prime**precision), 1)]
            samples = modular_samples(0, heads, 1, place)
            if enough:
                assert guess_profile(samples, place) == Guess(((exponent,),), ((fmpq(1),),))
            else:
                with pytest.raises(MorePrecision, match=f"precision {precision}"):
                    guess_profile(samples, place)

    def test_large_residues_need_more(self) -> None:
        c = Fraction(10**20 + 1, 7**25)
        samples = profile_samples(Fraction(0), [(Fraction(2), c)], 1)
        with pytest.raises(MorePrecision):
            guess_profile(images(samples, FIELD.place(0, 2)), FIELD.place(0, 2))
        found = guess_profile(images(samples, FIELD.place(0, 4)), FIELD.place(0, 4))
        assert found == Guess(((1, 0),), ((fmpq(c.numerator, c.denominator),),))

    def test_poles_that_agree_modulo_p_do_not_lift(self) -> None:
        # r and r + p: one pole modulo p, so the system for one head is solved by no monomial
        place = FIELD.place(0, 3)
        with pytest.raises(MorePrecision):
            guess_profile(modular_samples(0, [(2, 1), (2 + place.prime, 1)], 2, place), place)

    def test_a_pole_that_is_no_monomial_does_not_lift(self) -> None:
        place = FIELD.place(0, 4)
        samples = profile_samples(Fraction(0), [(Fraction(5), Fraction(1))], 1)
        with pytest.raises(MorePrecision):
            guess_profile(images(samples, place), place)


def from_slopes(slope: Sequence[int], place: Place) -> list[int]:
    """f_k = k·g_k, f_0 = 0."""
    return [0, *(k * g % place.prime**place.precision for k, g in enumerate(slope, 1))]


class TestBadPlaces:
    @pytest.fixture
    def place(self) -> Place:
        return FIELD.place(0, 3)

    def test_a_double_pole(self, place: Place) -> None:
        # g = 1/(1 + 2x)²
        modulus = place.prime**3
        g = [pow(1 + 2 * x, -2, modulus) for x in range(1, 5)]
        with pytest.raises(BadPlace):
            guess_profile(from_slopes(g, place), place)

    def test_two_poles_that_meet_modulo_p(self, place: Place) -> None:
        # c/(1 + 2x) − c/(1 + (2 + p)x) with c = 1/p: modulo p the double pole x/(1 + 2x)²
        p, modulus = place.prime, place.prime**3
        g = [
            residue(Fraction(1, p) * (Fraction(1, 1 + 2 * x) - Fraction(1, 1 + (2 + p) * x)), modulus)
            for x in range(1, 5)
        ]
        assert head_rank(moments([fmpz(x) for x in g], 2, place), place) == 2
        with pytest.raises(BadPlace):
            guess_profile(from_slopes(g, place), place)

    def test_poles_outside_the_prime_field(self, place: Place) -> None:
        # g = 1/(1 − n x²) with n no square modulo p
        modulus = place.prime**3
        n = next(n for n in range(2, 100) if not sympy.is_quad_residue(n, place.prime))
        g = [pow(1 - n * x * x, -1, modulus) for x in range(1, 5)]
        with pytest.raises(BadPlace):
            guess_profile(from_slopes(g, place), place)

    @pytest.mark.parametrize("polynomial", [lambda x: x, lambda _: 1, lambda x: x * x - 5])
    def test_a_pole_at_infinity(self, place: Place, polynomial: object) -> None:
        # a polynomial g has no finite poles, so no profile has it as its slopes
        g = [polynomial(x) % place.prime**3 for x in range(1, 9)]  # type: ignore[operator]  # a lambda
        with pytest.raises(BadPlace):
            guess_profile(from_slopes(g, place), place)

    def test_a_sample_whose_image_is_undefined(self) -> None:
        field: ExactField = RationalField((FIELD.place(0, 1).prime - 1,))
        one, r = field.embed((fmpq(1),)), field.monomial((1,))
        samples = [one - one / (one + field.embed((fmpq(k),)) * r) for k in range(3)]
        with pytest.raises(BadPlace):
            [sample.image(field.place(0, 2)) for sample in samples]
        place = field.place(1, 2)
        found = guess_profile([sample.image(place) for sample in samples], place)
        assert found == Guess(((1,),), ((fmpq(1),),))
