"""Identities in Q(t), t = e^{α/N} transcendental, each derived by hand in a comment or by partial fractions.

All public places send t to 3, so t − 3 is the non-zero element that no image can tell from 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import pairwise

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactmha.errors import Undecided
from exactmha.fields import ExponentialField, ExponentialValue, RadicalField, exponential
from exactmha.outcome import Outcome

FIELD = ExponentialField(1, 1)
HUGE = 10**60
modest = settings(derandomize=True, deadline=None, max_examples=25)


def number(q: Fraction | int) -> ExponentialValue:
    return FIELD.embed((fmpq(Fraction(q).numerator, Fraction(q).denominator),))


def power(n: int | Fraction) -> ExponentialValue:
    return FIELD.power(fmpq(Fraction(n).numerator, Fraction(n).denominator))


def binomial(kappa: Fraction | int, n: int | Fraction) -> ExponentialValue:
    return number(1) + number(kappa) * power(n)


def reciprocal(kappa: Fraction | int, n: int | Fraction) -> ExponentialValue:
    return number(1) / binomial(kappa, n)


def total(values: list[ExponentialValue]) -> ExponentialValue:
    return reduce(lambda a, b: a + b, values, number(0))


def product(values: list[ExponentialValue]) -> ExponentialValue:
    return reduce(lambda a, b: a * b, values, number(1))


ONE = number(1)
kappas = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)
powers = st.integers(1, 6) | st.sampled_from([10**20, HUGE, HUGE + 1])


class TestBinomials:
    @modest
    @given(kappas, powers)
    def test_negative_exponents_reflect(self, kappa: Fraction, n: int) -> None:
        assert reciprocal(kappa, -n).equals(ONE - reciprocal(1 / kappa, n)) is Outcome.HOLDS
        assert reciprocal(kappa, -n).equals(ONE - reciprocal(2 / kappa, n)) is Outcome.FAILS

    def test_exponent_zero_is_a_constant(self) -> None:
        assert reciprocal(Fraction(2, 3), 0).equals(number(Fraction(3, 5))) is Outcome.HOLDS

    @modest
    @given(
        st.dictionaries(st.tuples(kappas, powers), st.integers(-9, 9).filter(bool), min_size=1, max_size=12),
        st.integers(-3, 3),
    )
    def test_distinct_poles_are_independent(self, poles: dict[tuple[Fraction, int], int], constant: int) -> None:
        value = total([number(c) * reciprocal(*pole) for pole, c in poles.items()]) + number(constant)
        assert value.is_zero() is Outcome.FAILS

    @modest
    @given(st.lists(st.tuples(kappas, st.integers(-3, 3), st.integers(-3, 3)), max_size=8))
    def test_terms_cancel_in_any_order(self, terms: list[tuple[Fraction, int, int]]) -> None:
        values = [number(c) * reciprocal(kappa, n) for kappa, n, c in terms]
        opposite = [number(-c) * (ONE - reciprocal(1 / kappa, -n)) for kappa, n, c in reversed(terms)]
        assert total([*values, *opposite]).is_zero() is Outcome.HOLDS

    def test_forty_poles_cancel_without_expansion(self) -> None:
        # κ t^n/(1 + κ t^n) + 1/(1 + κ t^n) = 1; multiplied out, forty poles would pass every budget
        pieces = [number(n) * power(n) / binomial(n, n) for n in range(1, 41)]
        pieces += [ONE / (ONE + power(-n) / number(n)) for n in range(1, 41)]
        pieces += [number(2) * reciprocal(n, n) for n in range(1, 41)]
        assert total(pieces).equals(number(80)) is Outcome.HOLDS
        assert total(pieces[1:]).equals(number(80)) is Outcome.FAILS

    def test_a_difference_below_every_float_is_seen(self) -> None:
        assert reciprocal(1, HUGE).is_zero() is Outcome.FAILS
        assert reciprocal(1, HUGE).equals(reciprocal(1, HUGE + 1)) is Outcome.FAILS
        assert reciprocal(1, -HUGE).equals(ONE) is Outcome.FAILS


class TestProducts:
    @modest
    @given(kappas, kappas, powers)
    def test_partial_fractions_of_two_poles(self, a: Fraction, b: Fraction, n: int) -> None:
        # (a − b)/((1 + a x)(1 + b x)) = a/(1 + a x) − b/(1 + b x)
        left = number(a - b) * reciprocal(a, n) * reciprocal(b, n)
        right = number(a) * reciprocal(a, n) - number(b) * reciprocal(b, n)
        assert left.equals(right) is Outcome.HOLDS
        assert left.equals(right + reciprocal(a, n)) is Outcome.FAILS

    def test_a_product_of_binomials_equals_its_expansion(self) -> None:
        # (1 + t²)(1 + 2t³)(1 + 3t⁷) multiplied out
        expanded = [(1, 0), (1, 2), (2, 3), (2, 5), (3, 7), (3, 9), (6, 10), (6, 12)]
        polynomial = total([number(c) * power(n) for c, n in expanded])
        factors = [binomial(1, 2), binomial(2, 3), binomial(3, 7)]
        assert product(factors).equals(polynomial) is Outcome.HOLDS
        assert product([ONE / f for f in factors]).equals(ONE / polynomial) is Outcome.HOLDS
        assert (ONE / polynomial * factors[0] * factors[2]).equals(ONE / factors[1]) is Outcome.HOLDS

    def test_a_geometric_sum_telescopes(self) -> None:
        # (1 − t)(1 + t + … + t¹⁹) = 1 − t²⁰
        sum_of_powers = total([power(n) for n in range(20)])
        assert (sum_of_powers * binomial(-1, 1)).equals(binomial(-1, 20)) is Outcome.HOLDS
        assert (binomial(-1, 20) / binomial(-1, 1)).equals(sum_of_powers) is Outcome.HOLDS

    def test_half_powers_multiply_to_whole_ones(self) -> None:
        # (1 + √t)(1 − √t) = 1 − t
        half = Fraction(1, 2)
        assert (reciprocal(1, half) * reciprocal(-1, half)).equals(reciprocal(-1, 1)) is Outcome.HOLDS
        assert (power(half) * power(Fraction(1, 3))).equals(power(Fraction(5, 6))) is Outcome.HOLDS
        assert (power(half) * power(half)).equals(power(1)) is Outcome.HOLDS
        assert reciprocal(1, half).equals(reciprocal(1, Fraction(1, 3))) is Outcome.FAILS


@st.composite
def softmax_exponents(draw: st.DrawFn) -> list[int]:
    size = draw(st.integers(3, 6))
    return draw(
        st.lists(st.integers(-9, 9) | st.sampled_from([HUGE, -HUGE]), min_size=size, max_size=size, unique=True)
    )


def softmax(exponents: list[int]) -> list[ExponentialValue]:
    weights = [power(n) for n in exponents]
    return [w / total(weights) for w in weights]


class TestGeneralDenominators:
    @modest
    @given(softmax_exponents())
    def test_probabilities_sum_to_one(self, exponents: list[int]) -> None:
        p = softmax(exponents)
        assert total(p).equals(ONE) is Outcome.HOLDS
        assert total(p[1:]).equals(ONE) is Outcome.FAILS

    @modest
    @given(softmax_exponents(), st.integers(-9, 9))
    def test_softmax_is_invariant_under_shifts(self, exponents: list[int], shift: int) -> None:
        shifted = softmax([n + shift for n in exponents])
        for p, q in zip(softmax(exponents), shifted, strict=True):
            assert p.equals(q) is Outcome.HOLDS

    @modest
    @given(softmax_exponents())
    def test_ratios_of_probabilities_are_monomials(self, exponents: list[int]) -> None:
        p = softmax(exponents)
        for (m, n), (a, b) in zip(pairwise(exponents), pairwise(p), strict=True):
            assert (a / b).equals(power(m - n)) is Outcome.HOLDS
            assert (a / b).equals(power(m - n + 1)) is Outcome.FAILS

    def test_two_softmaxes_cancel_only_by_expansion(self) -> None:
        # 1/A − 1/B = (B − A)/(A B) with A = 1 + t + t³, B = 2 + t² + t³
        a = ONE + power(1) + power(3)
        b = number(2) + power(2) + power(3)
        assert (ONE / a - ONE / b).equals((b - a) / (a * b)) is Outcome.HOLDS
        assert (ONE / a - ONE / b).equals((b - a + ONE) / (a * b)) is Outcome.FAILS


class TestBlindImages:
    """Elements that vanish at t = 3, where every public place looks."""

    @pytest.mark.parametrize(
        "value",
        [
            power(1) - number(3),
            power(2) - number(9),
            (power(1) - number(3)) / (ONE + power(1) + power(2)),
            power(1) / (ONE + power(2)) - number(Fraction(3, 10)),
            reciprocal(1, 1) - number(Fraction(1, 4)),
            product([reciprocal(1, 1), reciprocal(1, 2)]) - number(Fraction(1, 40)),
        ],
        ids=str,
    )
    def test_nonzero_despite_zero_images(self, value: ExponentialValue) -> None:
        assert value.image(FIELD.place(0, 3)) == 0
        assert value.is_zero() is Outcome.FAILS


def test_forty_poles_that_vanish_at_three_are_nonzero() -> None:
    # no image shows it and the expansion is out of reach: only their independence decides
    value = total([reciprocal(1, n) for n in range(1, 41)])
    value -= number(sum((Fraction(1, 1 + 3**n) for n in range(1, 41)), Fraction(0)))
    assert value.image(FIELD.place(0, 3)) == 0
    assert value.is_zero() is Outcome.FAILS


def hidden_zero() -> ExponentialValue:
    """2/((1 + t)(1 + t²)) − 1/(1 + t) − (1 − t)/(1 + t²) = 0, with three different denominators."""
    left = number(2) * reciprocal(1, 1) * reciprocal(1, 2)
    return left - reciprocal(1, 1) - binomial(-1, 1) * reciprocal(1, 2)


class TestBudget:
    def test_a_zero_that_needs_expansion_is_found_within_the_budget(self) -> None:
        value = hidden_zero()
        assert value.terms
        assert value.is_zero() is Outcome.HOLDS

    def test_beyond_the_budget_it_is_undecided(self, monkeypatch: pytest.MonkeyPatch) -> None:
        value = hidden_zero()
        monkeypatch.setattr(exponential, "_EXPANSION_BUDGET", 4)
        assert value.is_zero() is Outcome.UNDECIDED
        assert value.equals(number(0)) is Outcome.UNDECIDED
        with pytest.raises(Undecided):
            assert value == number(0)

    def test_dividing_by_an_undecided_value_is_undecided(self, monkeypatch: pytest.MonkeyPatch) -> None:
        value = hidden_zero()
        monkeypatch.setattr(exponential, "_EXPANSION_BUDGET", 4)
        with pytest.raises(Undecided):
            ONE / value

    def test_the_budget_does_not_limit_collected_or_imaged_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        different = hidden_zero() + power(5)
        many = total([reciprocal(k, k) for k in range(1, 100)])
        monkeypatch.setattr(exponential, "_EXPANSION_BUDGET", 1)
        assert different.is_zero() is Outcome.FAILS
        assert many.is_zero() is Outcome.FAILS
        assert (many - many).is_zero() is Outcome.HOLDS

    def test_a_zero_with_sixty_denominators_is_undecided_at_once(self) -> None:
        # Σ_k [2/((1 + x)(1 + x²)) − 1/(1 + x) − (1 − x)/(1 + x²)], x = t^{4k + 1}: every summand is 0
        value = number(0)
        for n in range(1, 80, 4):
            value += number(2) * reciprocal(1, n) * reciprocal(1, 2 * n)
            value -= reciprocal(1, n) + binomial(-1, n) * reciprocal(1, 2 * n)
        assert value.is_zero() is Outcome.UNDECIDED

    def test_a_product_of_large_sums_is_refused(self) -> None:
        left, right = (total([power(k * n) for n in range(1, 301)]) for k in (1, 1000))
        with pytest.raises(Undecided):
            left * right


class TestHugeExponents:
    def test_terms_do_not_grow_with_the_exponents(self) -> None:
        small, huge = (
            total([number(c) * reciprocal(c, c * n) for c in range(1, 9)]) * (ONE - reciprocal(3, n))
            + softmax([0, n, 5 * n])[1]
            for n in (7, HUGE)
        )
        assert len(small.terms) == len(huge.terms)
        assert [len(d) for _, (d, _) in small.terms] == [len(d) for _, (d, _) in huge.terms]
        assert sorted(map(str, small.terms.values())) == sorted(map(str, huge.terms.values()))

    def test_expansion_with_huge_exponents(self) -> None:
        left = product([binomial(k, HUGE + 2**k) for k in range(1, 9)])
        right = product([binomial(k, HUGE + 2**k) for k in range(8, 0, -1)])
        assert len(left.terms) == 2**8
        assert left.equals(right) is Outcome.HOLDS
        assert (ONE / left).equals(ONE / right + power(-HUGE)) is Outcome.FAILS


class TestContrastWithTheRadicalField:
    """With γ² = 2, 1 + 2γ = 1 + γ³: there (κ, n) = (2, 1) and (1, 3) are one element, in Q(t) they are two."""

    def test_equal_in_the_radical_field(self) -> None:
        field = RadicalField(fmpq(2), 2)
        one, two = (field.embed((fmpq(q), fmpq(0))) for q in (1, 2))
        left, right = one / (one + two * field.monomial((1,))), one / (one + field.monomial((3,)))
        assert left.equals(right) is Outcome.HOLDS
        # 1/(1 + 2√2) = (2√2 − 1)/7
        assert left.equals(field.embed((fmpq(-1, 7), fmpq(2, 7)))) is Outcome.HOLDS
        assert left.equals(one / (one + field.monomial((5,)))) is Outcome.FAILS

    def test_different_in_the_exponential_field(self) -> None:
        assert reciprocal(2, 1).equals(reciprocal(1, 3)) is Outcome.FAILS
