"""The numeric learner on real-valued black boxes: doubles, noise, mpmath, and answers that are no numbers."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp
from typing import Any

import pytest
import sympy
from flint import acb, arb, arf, ctx, fmpq, fmpz
from mpmath import iv, mp, mpf

import exactmha
from exactmha.approximate.balls import largest
from exactmha.approximate.choose import draw, scale_for
from exactmha.approximate.doubles import double_oracle
from exactmha.approximate.numbers import Reading, positive_rational, reading
from exactmha.approximate.numeric import BlackBox, NumericRecovery, learn_numeric
from exactmha.approximate.stability import weight_bound
from exactmha.approximate.truth import ordered_truth
from exactmha.attention import Attention, Model
from exactmha.errors import InputError, LimitError
from exactmha.heads import Head
from exactmha.instance import from_dict
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
                    gap = abs(exact_number(model, tokens) - arb(reading(oracle(tokens), "f").centre))
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


NO_NUMBERS = [
    float("nan"), float("inf"), "many", "0.5", b"0.5", None, True, 1j, [1.0], arb("nan"), acb(1), mpf("nan"),
    mpf("-inf"),
    mp.mpc(1), mp.pi, Decimal("NaN"), Decimal("sNaN"), sympy.pi, sympy.Float("0.1", 30), iv.mpf(1),
]  # fmt: skip
TOO_LARGE = [
    Decimal("1e10000000000"), Decimal("1e-10000000000"), mpf("1e10000000000"), mpf("-1e-10000000000"),
    arb(2) ** (10**10), arb(0, arb(2) ** (10**10)), arb(2) ** (-(10**10)), 10**30000, Fraction(1, 10**30000),
]  # fmt: skip


@pytest.mark.parametrize("answer", NO_NUMBERS, ids=str)
def test_answers_that_are_no_exact_numbers(answer: Any) -> None:
    with pytest.raises(InputError, match="an answer: must be a finite real number"):
        learn_numeric(lambda _: answer, heads=1, dim=1, epsilon=fmpq(1, 100))


@pytest.mark.parametrize("answer", TOO_LARGE, ids=range(len(TOO_LARGE)))
def test_answers_that_are_too_large_to_write_down(answer: Any) -> None:
    with pytest.raises(LimitError, match="digits"):
        learn_numeric(lambda _: answer, heads=1, dim=1, epsilon=fmpq(1, 100))


@pytest.mark.parametrize(
    ("number", "exact"),
    [
        (0.1, fmpq(3602879701896397, 36028797018963968)),
        (Fraction(1, 3), fmpq(1, 3)),
        (sympy.Rational(1, 3), fmpq(1, 3)),
        (sympy.Integer(7), fmpq(7)),
        (Decimal("0.1"), fmpq(1, 10)),
        (Decimal("-1e-60"), fmpq(-1, 10**60)),
        (mpf("0.5"), fmpq(1, 2)),
        (mpf("-0.5"), fmpq(-1, 2)),
        (-(mpf(2) ** 100) - 1, fmpq(-(2**100))),
        (arf(-0.375), fmpq(-3, 8)),
        (fmpz(2) ** 60 + 1, fmpq(2**60 + 1)),
        (2**60 + 1, fmpq(2**60 + 1)),
        (7, fmpq(7)),
        (0.0, fmpq(0)),
    ],
)
def test_numbers_are_taken_as_they_are(number: Any, exact: fmpq) -> None:
    assert reading(number, "x") == Reading(exact)


def test_numbers_of_numpy_are_taken_as_they_are() -> None:
    numpy = pytest.importorskip("numpy")
    assert reading(numpy.int64(2**60 + 1), "x").centre == 2**60 + 1
    assert reading(numpy.float32(0.1), "x").centre == fmpq(13421773, 2**27)
    long = numpy.longdouble(1) + numpy.finfo(numpy.longdouble).eps
    assert reading(long, "x").centre == 1 + fmpq(*map(int, numpy.finfo(numpy.longdouble).eps.as_integer_ratio()))
    for wrong in (numpy.bool_(True), numpy.array(1.0), numpy.longdouble("inf")):
        with pytest.raises(InputError, match="must be a finite real number"):
            reading(wrong, "x")


def decimal_answers(model: Model, digits: int) -> BlackBox:
    def answer(tokens: list[list[Fraction]]) -> Decimal:
        value = exact_number(model, tokens).mid().fmpq()
        with localcontext() as context:
            context.prec = digits
            return Decimal(int(value.numerator)) / Decimal(int(value.denominator))

    return answer


def test_long_decimals_are_not_rounded_to_doubles() -> None:
    model = exactmha.random_model(2, 1, "exponential", seed=0)
    found = learn_numeric(decimal_answers(model, 60), heads=2, dim=1, epsilon="1e-50")
    assert found.outcome is Outcome.HOLDS
    assert error(model, found) <= float(found.run.enclosure.parameters.radius) < 1e-40


def test_balls_keep_their_radius() -> None:
    centre, radius = reading(arb(1, 0.25), "x")
    assert centre == 1
    assert fmpq(1, 4) <= radius < fmpq(1, 4) + fmpq(1, 10**8)  # FLINT rounds radii up
    assert positive_rational(arb(1, 0.25), "epsilon") == centre + radius
    model = exactmha.random_model(1, 1, "exponential", seed=0)

    def wide(tokens: list[list[Fraction]]) -> arb:
        return exact_number(model, tokens).mid() + arb("1e-8") + arb(0, arb("1.5e-8"))

    found = learn_numeric(wide, heads=1, dim=1, epsilon="1e-30")
    assert found.run.enclosure is not None
    with ctx.workprec(256):
        truth = ordered_truth(model, found.design).entries()
        boxes = found.run.enclosure.parameters.entries()
        assert all(box.contains(x) for box, x in zip(boxes, truth, strict=True))


@pytest.mark.parametrize("precision", [2, 10, 53, 300])
def test_the_double_box_does_not_depend_on_the_ambient_precision(precision: int) -> None:
    model = exactmha.random_model(2, 2, "rational", seed=0)
    tokens = [[Fraction(1, 2), Fraction(3)], [Fraction(-1), Fraction(1, 4)]]
    expected = double_oracle(model)(tokens)
    with ctx.workprec(precision):
        assert double_oracle(model)(tokens) == expected
    exact = exact_number(model, [[x * 1 for x in token] for token in [[Fraction(1), Fraction(2)], [Fraction(0)] * 2]])
    rounded = double_oracle(model)([[Fraction(1), Fraction(2)], [Fraction(0)] * 2])
    assert abs(float(exact) - rounded) < 1e-13


def test_doubles_are_correct_where_logarithms_cancel() -> None:
    # W = log((10^30 + 1)/10^30), a sum of logarithms that cancel to 30 digits; with x = 10^15, x·W·x = 1
    name = f"log({10**30 + 1}/{10**30})"
    heads = [{"W": [[name]], "v": ["1"]}]
    model = from_dict({"format": "exactmha/instance/1", "field": "rational", "dim": 1, "heads": heads})
    found = double_oracle(model)([[Fraction(0)], [Fraction(10**15)]])
    assert abs(found / 10**15 - exp(1) / (1 + exp(1))) < 1e-14


def test_parameters_that_are_no_doubles_are_refused() -> None:
    model = exactmha.random_model(1, 1, "exponential", seed=0)
    head = Head(model.heads[0].W, tuple((x[0] * fmpq(10) ** 400, *x[1:]) for x in model.heads[0].v))
    with pytest.raises(InputError, match="too large for a double"):
        double_oracle(Model(model.field, 1, (head,)))


def test_two_designs_whose_boxes_have_no_model_in_common_are_a_contradiction() -> None:
    first, second = (exactmha.random_model(2, 1, "exponential", seed=seed) for seed in (0, 5))
    asked: list[int] = []

    def turncoat(tokens: list[list[Fraction]]) -> fmpq:
        asked.append(1)
        return exact_number(first if len(asked) <= 5 else second, tokens).mid().fmpq()

    found = learn_numeric(turncoat, heads=2, dim=1, epsilon="1e-30", draws=2)
    assert found.outcome is Outcome.FAILS
    assert found.run.step == "draws"
    assert found.queries == 10
    one = learn_numeric(lambda tokens: exact_number(first, tokens), heads=2, dim=1, epsilon="1e-30", draws=2)
    assert one.outcome is Outcome.HOLDS


@pytest.mark.parametrize("bad", [0, 1])
def test_a_contradiction_in_any_draw_wins(bad: int) -> None:
    model = exactmha.random_model(2, 1, "exponential", seed=0)
    asked: list[int] = []

    def answer(tokens: list[list[Fraction]]) -> fmpq:
        asked.append(1)
        shift = 1 if (len(asked) - 1) // 5 == bad else 0
        return exact_number(model, tokens).mid().fmpq() + shift

    assert learn_numeric(answer, heads=2, dim=1, epsilon="1e-30", draws=2).outcome is Outcome.FAILS


def test_a_constant_black_box_has_no_heads_to_certify() -> None:
    found = learn_numeric(lambda _: 0.0, heads=2, dim=2, epsilon=fmpq(1, 10**10))
    assert found.outcome is Outcome.UNDECIDED
    assert found.estimate is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"heads": 0}, {"heads": "2"}, {"heads": None}, {"heads": 2.0}, {"heads": True}, {"heads": 10**9},
        {"dim": 0}, {"dim": "1"}, {"dim": 1.0}, {"draws": 0}, {"draws": 10**6}, {"draws": 1.5}, {"seed": -1},
        {"seed": "a"}, {"kind": "foo"}, {"kind": None}, {"scale": 0}, {"scale": -1}, {"scale": "abc"},
        {"scale": float("nan")}, {"epsilon": fmpq(0)}, {"epsilon": None}, {"epsilon": float("nan")}, {"epsilon": -1.0},
        {"epsilon": "abc"}, {"epsilon": True}, {"epsilon": float("inf")}, {"epsilon": 1j},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_requests_name_the_argument(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        learn_numeric(lambda _: 0.0, **{"heads": 1, "dim": 1, "epsilon": fmpq(1, 10), **wrong})
    assert str(caught.value).startswith(f"{next(iter(wrong))}: ")


class Module:
    """What a layer of PyTorch looks like from outside."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def __call__(self, *_: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize("oracle", [Module(), None, 3])
def test_an_oracle_must_be_a_function_of_tokens(oracle: Any) -> None:
    with pytest.raises(InputError, match="oracle: must be a function of a list of tokens"):
        learn_numeric(oracle, heads=1, dim=1)


def test_integer_tokens_use_no_scale() -> None:
    with pytest.raises(InputError, match="scale: is not used"):
        learn_numeric(lambda _: 0.0, heads=1, dim=1, epsilon="1e-3", kind="integer", scale=1)


@pytest.mark.parametrize("scale", [0.5, "1/2", Fraction(1, 2), fmpq(1, 2), mpf("0.5"), Decimal("0.5"), None])
def test_any_exact_number_is_a_scale(scale: Any) -> None:
    model = exactmha.random_model(1, 1, "exponential", seed=0)
    found = learn_numeric(double_oracle(model), heads=1, dim=1, epsilon=1e-13, scale=scale)
    assert found.design.b == ((fmpq(1, 2),),) or found.design.b == ((fmpq(-1, 2),),)


def test_an_undecided_run_says_what_to_try() -> None:
    found = learn_numeric(lambda _: 0.0, heads=1, dim=1, epsilon="1e-3")
    assert found.outcome is Outcome.UNDECIDED
    assert "scale (here 1/2)" in found.run.reason
