"""The numeric learner on real-valued black boxes: doubles, noise, mpmath, and answers that are no numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from mpmath import mp, mpf

import exactmha
from exactmha.approximate.balls import largest
from exactmha.approximate.choose import draw, scale_for
from exactmha.approximate.doubles import double_oracle
from exactmha.approximate.numeric import BlackBox, NumericRecovery, as_rational, learn_numeric
from exactmha.approximate.stability import weight_bound
from exactmha.approximate.truth import ordered_truth
from exactmha.attention import Attention, Model
from exactmha.errors import InputError
from exactmha.outcome import Outcome
from exactmha.randomness import Stream
from exactmha.sequences import Token

DOUBLE_ERROR = fmpq(1, 10**14)


def exact_number(model: Model, tokens: list[list[Fraction]]) -> arb:
    sequence: list[Token] = [tuple(fmpq(x.numerator, x.denominator) for x in token) for token in tokens]
    with ctx.workprec(400):
        return Attention(model)(sequence).ball()


def noisy(model: Model, epsilon: Fraction) -> BlackBox:
    """Exact answers, wrong by a reproducible amount of at most ε."""
    stream = Stream(0, "noise")

    def answer(tokens: list[list[Fraction]]) -> fmpq:
        value = exact_number(model, tokens).mid().fmpq()
        return value + fmpq(epsilon.numerator, epsilon.denominator) * fmpq(stream.between(-999, 999), 1000)

    return answer


def error(model: Model, found: NumericRecovery) -> float:
    assert found.estimate is not None
    with ctx.workprec(256):
        truth = ordered_truth(model, found.design).entries()
        return float(largest([abs(x - y) for x, y in zip(found.estimate.entries(), truth, strict=True)]))


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_noise_within_epsilon_is_certified(heads: int, dim: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed=1)
    scale = scale_for(heads, weight_bound(model))
    epsilon = Fraction(1, 10**20)
    found = learn_numeric(noisy(model, epsilon), heads=heads, dim=dim, epsilon=fmpq(1, 10**20), scale=scale)
    assert found.outcome is Outcome.HOLDS
    assert found.queries == 4 * heads * dim**2 - 2 * heads + 1
    assert found.run.enclosure is not None
    with ctx.workprec(256):
        truth = ordered_truth(model, found.design).entries()
        boxes = found.run.enclosure.parameters.entries()
        assert all(box.contains(x) for box, x in zip(boxes, truth, strict=True))
    assert 0 < error(model, found) <= float(found.run.enclosure.parameters.radius)


def test_noise_larger_than_claimed_is_refuted_or_misses_the_truth() -> None:
    # ε is the user's claim: where it is false, the boxes may miss the truth, or no model fits at all
    model = exactmha.random_model(2, 2, "exponential", seed=1)
    found = learn_numeric(noisy(model, Fraction(1, 10**12)), heads=2, dim=2, epsilon=fmpq(1, 10**25))
    assert found.outcome is Outcome.FAILS
    assert "no model" in found.run.reason


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("heads", "dim"), [(1, 2), (2, 1)])
def test_doubles_are_enough_for_few_heads(heads: int, dim: int, seed: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed)
    scale = scale_for(heads, weight_bound(model))
    found = learn_numeric(double_oracle(model), heads=heads, dim=dim, epsilon=DOUBLE_ERROR, scale=scale)
    assert found.outcome is Outcome.HOLDS
    assert error(model, found) <= float(found.run.enclosure.parameters.radius) < 1e-4


@pytest.mark.parametrize("heads", [4, 5])
def test_doubles_stop_being_enough(heads: int) -> None:
    model = exactmha.random_model(heads, 2, "exponential", seed=0)
    found = learn_numeric(double_oracle(model), heads=heads, dim=2, epsilon=DOUBLE_ERROR)
    assert found.outcome is Outcome.UNDECIDED
    assert found.run.step


def test_the_error_of_doubles_is_what_the_tests_claim() -> None:
    for seed in range(5):
        model = exactmha.random_model(3, 2, "exponential", seed)
        design, oracle = draw("orthogonal", 2, 0, 0), double_oracle(model)
        for planned in design.profiles:
            for query in planned.queries(3):
                tokens = [[Fraction(int(fmpq(x).numerator), int(fmpq(x).denominator)) for x in t] for t in query]
                assert all(Fraction(float(x)) == x for token in tokens for x in token)
                with ctx.workprec(256):
                    gap = abs(exact_number(model, tokens) - arb(as_rational(oracle(tokens))))
                assert gap < arb(DOUBLE_ERROR)


def test_an_oracle_in_mpmath() -> None:
    model = exactmha.random_model(2, 1, "exponential", seed=0)

    def answer(tokens: list[list[Fraction]]) -> Any:
        with mp.workdps(40):
            points = [mpf(t[0].numerator) / t[0].denominator for t in tokens]
            total = mpf(0)
            for head in model.heads:
                w = mpf(int(head.W[0][0][0].numerator)) / int(head.W[0][0][0].denominator)
                v = mpf(int(head.v[0][0].numerator)) / int(head.v[0][0].denominator)
                weights = [mp.exp(points[-1] * w * x) for x in points]
                total += v * sum(a * x for a, x in zip(weights, points, strict=True)) / sum(weights)
            return total

    found = learn_numeric(answer, heads=2, dim=1, epsilon=fmpq(1, 10**35))
    assert found.outcome is Outcome.HOLDS
    assert error(model, found) < 1e-25


def test_more_draws_are_never_worse() -> None:
    model = exactmha.random_model(2, 2, "exponential", seed=3)
    one = learn_numeric(double_oracle(model), heads=2, dim=2, epsilon=DOUBLE_ERROR)
    four = learn_numeric(double_oracle(model), heads=2, dim=2, epsilon=DOUBLE_ERROR, draws=4)
    assert four.queries == 4 * one.queries
    assert four.run.enclosure is not None
    assert one.run.enclosure is None or four.run.enclosure.constant <= one.run.enclosure.constant


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), "many", None, arb("nan"), mpf("nan"), mpf("-inf")])
def test_answers_that_are_no_numbers(answer: Any) -> None:
    with pytest.raises(InputError, match="finite real number"):
        learn_numeric(lambda _: answer, heads=1, dim=1, epsilon=fmpq(1, 100))


def test_numbers_are_taken_as_they_are() -> None:
    assert as_rational(0.1) == fmpq(3602879701896397, 36028797018963968)
    assert as_rational(Fraction(1, 3)) == fmpq(1, 3)
    assert as_rational(mpf("0.5")) == fmpq(1, 2)
    assert as_rational(mpf("-0.5")) == fmpq(-1, 2)
    assert as_rational(7) == 7


def test_a_constant_black_box_has_no_heads_to_certify() -> None:
    found = learn_numeric(lambda _: 0.0, heads=2, dim=2, epsilon=fmpq(1, 10**10))
    assert found.outcome is Outcome.UNDECIDED
    assert found.estimate is None


@pytest.mark.parametrize("wrong", [{"heads": 0}, {"dim": 0}, {"epsilon": fmpq(0)}, {"draws": 0}])
def test_impossible_requests(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        learn_numeric(lambda _: 0.0, **{"heads": 1, "dim": 1, "epsilon": fmpq(1, 10), **wrong})
