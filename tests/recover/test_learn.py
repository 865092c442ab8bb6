"""The learner as a whole: what it recovers, what it asks, what it refuses, and how it draws again.

Truth is a model whose heads were written down first; conditions are judged by evaluating b^T W u and v·u of that model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations
from random import Random
from typing import Any

import pytest
from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.conditions import Grid
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError, NoInterpolant, Undecided
from exactmha.fields import ExponentialField, RationalField, RationalValue
from exactmha.heads import Head
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model
from exactmha.recover.learn import Recovery, Redraw, Sampled, learn
from exactmha.sequences import Token

FIELDS = ["exponential", "rational", "radical"]
LEARN = "exactmha.recover.learn"


def oracle_of(model: Model) -> Oracle:
    return Oracle(Attention(model), model.field, model.dim, keep_transcript=True)


def queries_formula(told: int, dim: int) -> int:
    return 4 * told * dim**2 - 2 * told + 1


def exponential_model(*heads: tuple[list[list[int]], list[int]]) -> Model:
    built = tuple(Head((tuple(tuple(map(fmpq, row)) for row in W),), tuple((fmpq(x),) for x in v)) for W, v in heads)
    return Model(ExponentialField(1, 1), len(heads[0][1]), tuple(sorted(built, key=Head.sort_key)))


# --- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of heads and heads_bound"),
        ({"heads": 1, "heads_bound": 1}, "exactly one of heads and heads_bound"),
        ({"heads": 0, "heads_bound": 0}, "exactly one of heads and heads_bound"),
        ({"heads": -1}, "heads: must be an integer ≥ 0"),
        ({"heads_bound": -5}, "heads_bound: must be an integer ≥ 0"),
        ({"heads": "2"}, "heads: must be an integer ≥ 0"),
        ({"heads": 2.0}, "heads: must be an integer ≥ 0"),
        ({"heads": True}, "heads: must be an integer ≥ 0"),
        ({"heads": 1, "seed": None}, "seed: must be an integer ≥ 0"),
        ({"heads": 1, "failure_bound": 0.5}, "failure_bound: must be a positive Fraction"),
        ({"heads": 1, "grid": Grid(1, 9)}, "at least 2 values"),
        ({"heads": 1, "failure_bound": Fraction(0)}, "failure"),
        ({"heads": 1, "failure_bound": Fraction(-1, 2)}, "failure"),
    ],
)
def test_unusable_arguments_are_refused_before_any_query(options: dict[str, Any], message: str) -> None:
    oracle = oracle_of(random_model(1, 2, "exponential", 0))
    with pytest.raises(InputError, match=message):
        learn(oracle, **options)
    assert oracle.queries == 0


# --- what is recovered, and what is asked ----------------------------------------------------------------


def planned_queries(recovery: Recovery) -> Iterator[list[tuple[int, ...]]]:
    """Every query of the algorithm in order, from the tokens alone."""

    def profile(b: Sequence[int], u: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
        for k in range(1, 2 * recovery.told + 1):
            yield [tuple(x + y for x, y in zip(b, u, strict=True))] * k + [tuple(b)]

    def plus(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
        return tuple(a + b for a, b in zip(x, y, strict=True))

    (b1, *bs), (u1, *us) = recovery.b, recovery.u
    yield [b1]
    yield from profile(b1, u1)
    for u in us:
        yield from profile(b1, u)
        yield from profile(b1, plus(u1, u))
    for b in bs:
        for u in recovery.u:
            yield from profile(b, u)
            yield from profile(plus(b1, b), u)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (3, 1), (1, 3), (2, 2), (4, 2)])
def test_asks_exactly_the_planned_queries_in_order(heads: int, dim: int, field: str) -> None:
    model = random_model(heads, dim, field, 9)
    oracle = oracle_of(model)
    recovery = learn(oracle, heads=heads, seed=3)
    assert recovery.heads == model.heads
    assert all(redraw.conditions == ("C1",) for redraw in recovery.redraws)  # a dependent token is seen before asking
    assert [list(x) for x, _ in oracle.transcript or ()] == list(planned_queries(recovery))
    assert oracle.queries == recovery.queries == recovery.queries_total == queries_formula(heads, dim)
    assert oracle.max_length == recovery.max_length == 2 * heads + 1
    assert (recovery.head_count, recovery.told, recovery.is_bound, recovery.seed) == (heads, heads, False, 3)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("extra", [0, 1, 3])
@pytest.mark.parametrize(("heads", "dim"), [(0, 2), (1, 1), (1, 2), (2, 2), (3, 1), (2, 3)])
def test_a_bound_on_the_heads_is_enough(heads: int, dim: int, extra: int, field: str) -> None:
    model, bound = random_model(heads, dim, field, 2), heads + extra
    oracle = oracle_of(model)
    recovery = learn(oracle, heads_bound=bound)
    assert recovery.heads == model.heads
    assert (recovery.head_count, recovery.told, recovery.is_bound) == (heads, bound, True)
    assert recovery.queries == queries_formula(bound, dim)
    assert oracle.queries == recovery.queries_total
    assert oracle.max_length == 2 * bound + 1


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("dim", [1, 3])
def test_no_heads_need_one_query(field: str, dim: int) -> None:
    oracle = oracle_of(random_model(0, dim, field, 0))
    recovery = learn(oracle, heads=0)
    assert (recovery.heads, oracle.queries, oracle.max_length) == ((), 1, 1)
    assert recovery.readout_sum == ((fmpq(0),) * oracle.field.degree,) * dim
    assert recovery.ledger == (1, 0, 0, 0, 0, 0)


def test_more_heads_than_dimensions_of_low_rank_and_parallel_readouts() -> None:
    heads = [([[h, 0], [0, 0]], [2, 3]) for h in range(4)] + [([[0, 0], [0, 1]], [-2, -3]), ([[1, 1], [1, 1]], [4, 6])]
    model = exponential_model(*heads)
    assert learn(oracle_of(model), heads=6).heads == model.heads


def test_the_head_with_w_zero_is_recovered() -> None:
    model = exponential_model(([[0, 0], [0, 0]], [1, 0]), ([[0, 1], [0, 0]], [0, 1]))
    assert learn(oracle_of(model), heads=2).heads == model.heads


def test_labelled_heads_and_the_readout_sum() -> None:
    model = random_model(4, 2, "exponential", 6)
    recovery = learn(oracle_of(model), heads=4)
    assert set(recovery.labelled_heads) == set(recovery.heads)
    assert len(recovery.labelled_heads) == 4
    assert recovery.readout_sum == tuple((sum((h.v[i][0] for h in model.heads), fmpq(0)),) for i in range(2))


class LiteralSoftmax:
    """A user's own oracle over Q: exp(log(2)·m) is 2^m; nothing of the package but the value type."""

    field, dim = RationalField((2, 3)), 2
    heads = (
        ([[(1, 0), (0, -1)], [(2, 1), (0, 0)]], (Fraction(1), Fraction(-1, 2))),
        ([[(0, 1), (1, 1)], [(-1, 0), (0, 2)]], (Fraction(3), Fraction(5))),
    )

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, sequence: Sequence[Token]) -> RationalValue:
        self.asked += 1
        total = Fraction(0)
        for W, v in self.heads:
            weights = []
            for x in sequence:
                weight = Fraction(1)
                for i, p in ((i, p) for i in range(2) for p in range(2)):
                    n = sum(int(sequence[-1][j]) * W[j][i][p] for j in range(2)) * int(x[i])
                    weight *= Fraction((2, 3)[p]) ** n
                weights.append(weight)
            values = [sum(a * int(b) for a, b in zip(v, x, strict=True)) for x in sequence]
            total += sum(w * y for w, y in zip(weights, values, strict=True)) / sum(weights)
        return self.field.embed((fmpq(total.numerator, total.denominator),))


@pytest.mark.parametrize("told", [{"heads": 2}, {"heads_bound": 2}, {"heads_bound": 3}])
def test_a_user_s_own_oracle(told: dict[str, int]) -> None:
    oracle = LiteralSoftmax()
    recovery = learn(oracle, grid=Grid(5, 9), **told)
    expected = {
        (
            tuple(tuple(tuple(fmpq(entry[p]) for entry in row) for row in W) for p in range(2)),
            tuple((fmpq(x.numerator, x.denominator),) for x in v),
        )
        for W, v in LiteralSoftmax.heads
    }
    assert {(head.W, head.v) for head in recovery.heads} == expected
    assert oracle.asked == recovery.queries_total
    assert recovery.queries == queries_formula(recovery.told, 2)


def test_progress_counts_every_query() -> None:
    seen: list[int] = []
    recovery = learn(oracle_of(random_model(2, 2, "exponential", 1)), heads=2, grid=Grid(4, 4), progress=seen.append)
    assert seen == sorted(set(seen))
    assert seen[-1] == recovery.queries_total


# --- told a wrong number ------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("true", "told"), [(1, 2), (2, 3), (2, 5), (0, 1)])
@pytest.mark.parametrize("dim", [1, 2])
def test_told_too_many_names_c2_and_c3(true: int, told: int, dim: int, field: str) -> None:
    oracle = oracle_of(random_model(true, dim, field, 4))
    with pytest.raises(ConditionFailed, match=f"{true} of {told} heads are told apart") as caught:
        learn(oracle, heads=told, redraw=False, seed=1)
    assert caught.value.conditions == ("C2", "C3")
    assert caught.value.profile == "(b_1, u_1)"


def test_told_too_many_gives_up_after_re_drawing() -> None:
    redraws: list[Redraw] = []
    oracle = oracle_of(random_model(1, 1, "exponential", 0))
    with pytest.raises(ConditionFailed, match="1 of 2 heads are told apart"):
        learn(oracle, heads=2, on_redraw=redraws.append)
    assert len(redraws) > 100
    assert sum(redraw.queries for redraw in redraws) == oracle.queries


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("true", "told"), [(1, 0), (2, 1), (3, 1), (3, 2), (5, 4)])
@pytest.mark.parametrize("dim", [1, 2])
def test_told_too_few_never_gives_a_recovery(true: int, told: int, dim: int, field: str) -> None:
    for seed in range(5):
        model = random_model(true, dim, field, seed)
        if told == 0 and not any(any(x) for x in model.heads[0].v):
            continue
        for options in ({"heads": told}, {"heads_bound": told}):
            with pytest.raises((NoInterpolant, InconsistentAnswers)):
                learn(oracle_of(model), seed=seed, **options)


def test_one_head_that_fits_three_answers_of_two_heads_is_caught_by_the_base_value() -> None:
    # d = 1, b·u = 1, r = 2 and 3, c = −135 and 224 (times u). With g_k = (f_k − f_0)/k:
    # g_1 = −135·2/3 + 224·3/4 = 78 and g_2 = −135·2/5 + 224·3/7 = 42. One head, g_k = c·r/(1 + k r), needs
    # r = (g_1 − g_2)/(2 g_2 − g_1) = 36/6 = 6, a monomial of 2 and 3, and c = 78·7/6 = 91.
    # Only f_0 = s·b tells, with s = 224 − 135 = 89 and not 91.
    field = RationalField((2, 3))
    heads = (
        Head((((fmpq(1),),), ((fmpq(0),),)), ((fmpq(-135),),)),
        Head((((fmpq(0),),), ((fmpq(1),),)), ((fmpq(224),),)),
    )
    outcomes = []
    for seed in range(30):
        with pytest.raises((NoInterpolant, InconsistentAnswers)) as caught:
            learn(oracle_of(Model(field, 1, heads)), heads=1, grid=Grid(3, 3), seed=seed)
        outcomes.append(str(caught.value))
    assert "f(b_1) differs from s·b_1: these answers have no model with 1 head" in outcomes


# --- answers that no model gives --------------------------------------------------------------------------------


class WrongOnce:
    """An oracle that adds 1/3 to one of its answers."""

    def __init__(self, model: Model, wrong: int) -> None:
        self.field, self.dim = model.field, model.dim
        self._truth, self._wrong, self._asked = Attention(model), wrong, -1

    def ask(self, sequence: Sequence[Token]) -> Any:
        self._asked += 1
        change = fmpq(1, 3) if self._asked == self._wrong else fmpq(0)
        return self._truth(sequence) + self.field.embed((change, *[fmpq(0)] * (self.field.degree - 1)))


@pytest.mark.parametrize(("heads", "dim"), [(2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("field", FIELDS)
def test_every_single_answer_matters(heads: int, dim: int, field: str) -> None:
    model, queries = random_model(heads, dim, field, 12), queries_formula(heads, dim)
    assert learn(WrongOnce(model, queries), heads=heads).heads == model.heads
    for wrong in range(queries):
        with pytest.raises((NoInterpolant, InconsistentAnswers)):
            learn(WrongOnce(model, wrong), heads=heads)


W = ((1, -2), (0, 1))
v = (3, 1)


def bilinear(b: Sequence[int], u: Sequence[int]) -> int:
    return sum(b[i] * W[i][j] * u[j] for i in range(2) for j in range(2))


def linear(x: Sequence[int]) -> int:
    return v[0] * x[0] + v[1] * x[1]


def softmax(
    logit: Callable[[Sequence[int], Sequence[int]], int], value: Callable[[Sequence[int], Sequence[int]], int]
) -> Callable[[Any], Fraction]:
    """Σ_i p_i value(x_n, x_i), p_i ∝ 2^logit(x_n, x_i)."""

    def answer(X: Any) -> Fraction:
        weights = [Fraction(2) ** logit(X[-1], x) for x in X]
        return sum((w * value(X[-1], x) for w, x in zip(weights, X, strict=True)), Fraction(0)) / sum(weights)

    return answer


NOT_ATTENTION: dict[str, Callable[[Any], Fraction]] = {
    "random": lambda X: Fraction(Random(str(list(X))).randint(-99, 99), 7),
    "one": lambda _: Fraction(1),
    "parity of the length": lambda X: Fraction(len(X) % 2),
    "length": lambda X: Fraction(len(X)),
    "sum of the tokens": lambda X: Fraction(sum(map(linear, X))),
    "hard maximum": lambda X: Fraction(linear(max(X, key=lambda x: bilinear(X[-1], x)))),
    "no softmax": lambda X: sum((Fraction(2) ** bilinear(X[-1], x) * linear(x) for x in X), Fraction(0)),
    "only the first token": lambda X: Fraction(linear(X[0])),
    "biased output": lambda X: softmax(bilinear, lambda _, x: linear(x))(X) + 1,
    "biased by the last token": softmax(bilinear, lambda b, x: linear(x) + b[0] ** 2),
    "readout scaled by the last token": softmax(bilinear, lambda b, x: linear(x) * b[0]),
    "quadratic readout": softmax(bilinear, lambda _, x: linear(x) + x[0] * x[1]),
    "logits quadratic in x_i": softmax(lambda b, x: bilinear(b, x) + x[0] ** 2, lambda _, x: linear(x)),
    "logits quadratic in x_n": softmax(lambda b, x: bilinear(b, x) + b[0] ** 2 * x[1], lambda _, x: linear(x)),
    "last token left out": lambda X: softmax(bilinear, lambda _, x: linear(x))([*X[:-1], X[0]]),
    "square of attention": lambda X: softmax(bilinear, lambda _, x: linear(x))(X) ** 2,
}


def learned(answer: Callable[[Any], Fraction], **options: Any) -> Recovery:
    field = RationalField((2, 3))

    def embedded(X: Sequence[Token]) -> RationalValue:
        f = answer([tuple(int(x) for x in token) for token in X])
        return field.embed((fmpq(f.numerator, f.denominator),))

    return learn(Oracle(embedded, field, 2), grid=Grid(9, 11), **options)


def test_the_softmax_of_these_tests_is_recovered_as_it_stands() -> None:
    (head,) = learned(softmax(bilinear, lambda _, x: linear(x)), heads=1).heads
    assert head.W[0] == tuple(tuple(map(fmpq, row)) for row in W)
    assert head.v == ((fmpq(3),), (fmpq(1),))


@pytest.mark.parametrize("name", NOT_ATTENTION)
@pytest.mark.parametrize("told", [{"heads": 1}, {"heads": 2}, {"heads_bound": 1}, {"heads_bound": 3}])
def test_other_functions_never_give_a_recovery(name: str, told: dict[str, int]) -> None:
    for seed in range(2):
        with pytest.raises((NoInterpolant, InconsistentAnswers, ConditionFailed)):
            learned(NOT_ATTENTION[name], seed=seed, redraw=seed == 0, **told)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("biased output", "f(b_1) differs from s·b_1"),
        ("quadratic readout", "the residues do not fit"),
        ("logits quadratic in x_i", "the poles are not products"),
        ("logits quadratic in x_n", "the poles are not products"),
    ],
)
def test_the_reason_is_named(name: str, message: str) -> None:
    with pytest.raises(InconsistentAnswers) as caught:
        learned(NOT_ATTENTION[name], heads=1)
    assert message in str(caught.value)


# --- small grids: every re-draw is right, named and counted ---------------------------------------------------------


def logits(model: Model, b: Sequence[int], u: Sequence[int]) -> list[tuple[fmpq, ...]]:
    """b^T W_h u for every head, one coordinate per logarithmic unit."""
    return [
        tuple(sum((b[i] * M[i][j] * u[j] for i in range(len(b)) for j in range(len(u))), fmpq(0)) for M in head.W)
        for head in model.heads
    ]


def residues(model: Model, u: Sequence[int]) -> list[tuple[fmpq, ...]]:
    return [
        tuple(sum((u[i] * head.v[i][c] for i in range(len(u))), fmpq(0)) for c in range(model.field.degree))
        for head in model.heads
    ]


def visible(model: Model, b: Sequence[int], u: Sequence[int]) -> int:
    """How many poles with a residue remain when heads with one pole are added up."""
    total: dict[tuple[fmpq, ...], list[fmpq]] = {}
    for pole, c in zip(logits(model, b, u), residues(model, u), strict=True):
        total[pole] = [x + y for x, y in zip(total.get(pole, [fmpq(0)] * len(c)), c, strict=True)]
    return sum(any(x != 0 for x in c) for c in total.values())


def hits(model: Model, profiles: Sequence[tuple[Sequence[int], Sequence[int]]]) -> int:
    first, other, both = (logits(model, b, u) for b, u in profiles)
    return sum(tuple(x + y for x, y in zip(p, q, strict=True)) in both for p in first for q in other)


def plus(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(x, y, strict=True))


def minus(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def conditions_hold(model: Model, B: Sequence[Any], U: Sequence[Any]) -> dict[str, int]:
    """Check C2–C4 for a design, from the model; return how many instances there are (C1 is checked by `learn`)."""
    (b1, *bs), (u1, *us), H = B, U, len(model.heads)
    profiles = [*((b, u) for b in B for u in U), *((b1, plus(u1, u)) for u in us)]
    profiles += [(plus(b1, b), u) for b in bs for u in U]
    for b, u in profiles:
        assert all(x != y for x, y in combinations(logits(model, b, u), 2))
    displacements = [*U, *(plus(u1, u) for u in us)]
    for u in displacements:
        assert all(any(x != 0 for x in c) for c in residues(model, u))
    triples = [((b1, u1), (b1, u), (b1, plus(u1, u))) for u in us]
    triples += [((b1, u), (b, u), (plus(b1, b), u)) for b in bs for u in U]
    assert all(hits(model, triple) == H for triple in triples)
    pairs = len(list(combinations(range(H), 2)))
    return {"C1": 2, "C2": pairs * len(profiles), "C3": H * len(displacements), "C4": len(triples) * H**2 * (H - 1)}


class Judge:
    """Compares every re-draw, as it happens, with the true model."""

    def __init__(self, model: Model, oracle: Oracle, told: int, *, is_bound: bool = False) -> None:
        self.model, self.oracle, self.told, self.is_bound = model, oracle, told, is_bound
        self.names: list[tuple[str, ...]] = []
        self.surprises = 0
        self.last: tuple[tuple[str, ...], str, str] | None = None

    def last_profiles(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The pairs (b, u) of the last two profiles asked."""
        asked = self.oracle.transcript or []
        return [(x[-1], minus(x[0], x[-1])) for x, _ in (asked[-1 - 2 * self.told], asked[-1])]

    def __call__(self, redraw: Redraw) -> None:
        self.names.append(redraw.conditions)
        failure = (redraw.conditions, redraw.profile, redraw.witness)
        if redraw.b == () and redraw.profile != f"token {redraw.token}":
            assert (redraw.token, failure) == ("b_1", self.last)  # the whole design is given up for the same failure
        elif redraw.conditions == ("C1",):
            assert redraw.queries == 0
        elif redraw.conditions == ("C4",):
            (b, u), (b_sum, u_sum) = self.last_profiles()
            first = (b, minus(u_sum, u)) if b == b_sum else (minus(b_sum, b), u)
            assert hits(self.model, [first, (b, u), (b_sum, u_sum)]) > len(self.model.heads)
        elif "before" in redraw.witness or "at least" in redraw.witness:
            # heads were hidden in the profiles so far, which only happens when nobody said how many there are
            assert self.is_bound
            assert redraw.token == "b_1"
            assert set(redraw.conditions) <= {"C2", "C3"}
            self.surprises += 1
        else:
            (b, u) = self.last_profiles()[1]
            assert (redraw.b, redraw.u) == (b, u)
            assert redraw.conditions == (
                ("C2",) if redraw.profile.startswith(("(b_2", "(b_3", "(b_1+")) else ("C2", "C3")
            )
            seen = visible(self.model, b, u)
            assert redraw.witness.startswith(f"{seen} of ")
            assert self.is_bound or redraw.witness == f"{seen} of {self.told} heads are told apart"
            assert self.is_bound or seen < len(self.model.heads)
        self.last = failure


SMALL = [
    (heads, dim, grid, seed)
    for heads, dim in ((1, 2), (2, 1), (2, 2), (3, 2), (2, 3))
    for grid in (Grid(3, 3), Grid(4, 3), Grid(5, 6))
    for seed in range(4)
]


@pytest.mark.parametrize("field", FIELDS)
def test_small_grids_known_number_of_heads(field: str) -> None:
    redraws = 0
    for heads, dim, grid, seed in SMALL:
        model = random_model(heads, dim, field, seed)
        oracle = oracle_of(model)
        judge = Judge(model, oracle, heads)
        try:
            recovery = learn(oracle, heads=heads, grid=grid, seed=seed, on_redraw=judge)
        except ConditionFailed:
            assert len(judge.names) > 100
            continue
        assert recovery.heads == model.heads, (heads, dim, grid, seed)
        assert recovery.checked == conditions_hold(model, recovery.b, recovery.u)
        assert recovery.queries == queries_formula(heads, dim)
        assert recovery.queries_total == oracle.queries
        assert recovery.max_length == oracle.max_length == 2 * heads + 1
        assert len(recovery.redraws) == len(judge.names)
        half = (grid.b_values // 2, grid.u_values // 2)
        assert max(abs(x) for x in chain(*recovery.b)) <= half[0]
        assert max(abs(x) for x in chain(*recovery.u)) <= half[1]
        redraws += len(judge.names)
    assert redraws > len(SMALL)


@pytest.mark.parametrize("field", FIELDS)
def test_small_grids_only_a_bound(field: str) -> None:
    """Answers of a true model with H ≤ H_0 heads are never called inconsistent."""
    for heads, dim, grid, seed in [*SMALL[::2], *((3, 2, Grid(2, 2), seed) for seed in range(8))]:
        model = random_model(heads, dim, field, seed)
        oracle = oracle_of(model)
        judge = Judge(model, oracle, heads + 1, is_bound=True)
        try:
            recovery = learn(oracle, heads_bound=heads + 1, grid=grid, seed=seed, on_redraw=judge)
        except ConditionFailed:
            continue
        assert recovery.heads == model.heads, (heads, dim, grid, seed)
        assert recovery.queries == queries_formula(heads + 1, dim)
        assert recovery.queries_total == oracle.queries


@pytest.mark.parametrize(("field", "seed"), [("exponential", 7), ("rational", 1)])
def test_heads_hidden_in_turn_are_no_contradiction_when_only_a_bound_is_known(field: str, seed: int) -> None:
    # two of the three heads show in each of (b_1, u_1), (b_1, u_2) and (b_1, u_1 + u_2), but not the same two
    model = random_model(3, 2, field, seed)
    try:
        recovery = learn(oracle_of(model), heads_bound=3, grid=Grid(2, 2), seed=seed)
    except ConditionFailed:
        return
    assert recovery.heads == model.heads


def run_until(model: Model, condition: tuple[str, ...], grid: Grid, heads: int) -> tuple[Redraw, Recovery]:
    """Return the first re-draw with `condition` over the seeds, every re-draw having been judged."""
    for seed in range(60):
        oracle = oracle_of(model)
        recovery = learn(oracle, heads=heads, grid=grid, seed=seed, on_redraw=Judge(model, oracle, heads))
        assert recovery.heads == model.heads
        assert recovery.queries_total == oracle.queries
        for redraw in recovery.redraws:
            if redraw.conditions == condition:
                return redraw, recovery
    raise AssertionError(f"{condition} never failed")


def test_planted_c1() -> None:
    redraw, _ = run_until(exponential_model(([[1, 0], [0, 1]], [1, 9])), ("C1",), Grid(2, 2), 1)
    assert redraw.queries == 0
    assert "depends linearly on the earlier" in redraw.witness


def test_planted_c2_in_the_first_row_and_later() -> None:
    # W_1 − W_2 = e_1 e_1^T: poles meet where b or u has first coordinate 0; v·u ≠ 0 for small u ≠ 0
    model = exponential_model(([[1, 2], [3, 4]], [1, 100]), ([[0, 2], [3, 4]], [100, 1]))
    redraw, _ = run_until(model, ("C2", "C3"), Grid(3, 3), 2)
    assert redraw.b[0] * redraw.u[0] == 0
    assert redraw.queries in {4, 5, 8}  # one profile of 2H queries, with f(b_1), or two profiles
    redraw, _ = run_until(model, ("C2",), Grid(3, 3), 2)
    assert redraw.b[0] * redraw.u[0] == 0
    assert redraw.token == "b_2"


def test_planted_c3() -> None:
    # one head has no other to share a pole with; v = e_1 is hidden by u with first coordinate 0
    model = exponential_model(([[1, 2], [3, 4]], [1, 0]))
    redraw, _ = run_until(model, ("C2", "C3"), Grid(5, 5), 1)
    assert redraw.u[0] == 0
    assert redraw.witness == "0 of 1 heads are told apart"


def test_planted_c4() -> None:
    # 0, e_1 e_1^T and e_2 e_2^T: products of small weights meet often, and no small u hides a head
    model = exponential_model(([[0, 0], [0, 0]], [1, 100]), ([[1, 0], [0, 0]], [100, 1]), ([[0, 0], [0, 1]], [1, -100]))
    redraw, _ = run_until(model, ("C4",), Grid(7, 7), 3)
    assert redraw.profile.startswith(("(b_1, u_1+u_2)", "(b_1+b_2, u_"))
    assert "products match: r_" in redraw.witness


# --- without re-drawing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
def test_without_redraw_the_first_failure_is_raised(field: str) -> None:
    failures = 0
    for seed in range(25):
        model = random_model(2, 2, field, seed)
        drawn, plain = oracle_of(model), oracle_of(model)
        first: list[tuple[Redraw, int]] = []
        recovery = learn(
            drawn, heads=2, grid=Grid(5, 5), seed=seed, on_redraw=lambda r, o=drawn, f=first: f.append((r, o.queries))
        )
        if not first:
            assert learn(plain, heads=2, grid=Grid(5, 5), seed=seed, redraw=False) == recovery
            continue
        failures += 1
        redraw, queries = first[0]
        with pytest.raises(ConditionFailed) as caught:
            learn(plain, heads=2, grid=Grid(5, 5), seed=seed, redraw=False)
        failure = caught.value
        assert (failure.conditions, failure.profile, failure.witness) == (
            redraw.conditions,
            redraw.profile,
            redraw.witness,
        )
        assert plain.queries == queries
    assert 5 < failures < 25


# --- giving up a whole design ---------------------------------------------------------------------------------


class Tape:
    """Keeps what the final proof uses; a restart empties it."""

    def __init__(self) -> None:
        self.profiles: list[Sampled] = []
        self.restarts = 0

    def profile(self, sampled: Sampled) -> None:
        self.profiles.append(sampled)

    def restart(self) -> None:
        self.profiles.clear()
        self.restarts += 1


@pytest.mark.parametrize("field", FIELDS)
def test_restarts_are_counted_and_void_what_was_recorded(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{LEARN}.MOST_REDRAWS", 1)
    restarts = 0
    for seed in range(12):
        model = random_model(2, 2, field, seed)
        oracle, tape = oracle_of(model), Tape()
        recovery = learn(oracle, heads=2, grid=Grid(4, 5), seed=seed, recorder=tape)
        restarts += tape.restarts
        assert recovery.heads == model.heads
        assert recovery.queries == queries_formula(2, 2)
        assert recovery.queries_total == oracle.queries
        assert recovery.checked == conditions_hold(model, recovery.b, recovery.u)
        assert len(tape.profiles) == 2 * 2**2 - 1
        assert [list(x) for x, _ in oracle.transcript or ()][-29:] == list(planned_queries(recovery))
    assert restarts >= 3


def test_a_design_that_can_never_work_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{LEARN}.MOST_RESTARTS", 2)
    # coordinates −1 and 0: two independent displacements and their sum always hold one with v·u = 0
    model = exponential_model(([[1, 0], [0, 1]], [1, -1]))
    oracle, redraws = oracle_of(model), list[Redraw]()
    with pytest.raises(ConditionFailed, match="0 of 1 heads are told apart"):
        learn(oracle, heads=1, grid=Grid(2, 2), on_redraw=redraws.append)
    assert sum(redraw.queries for redraw in redraws) == oracle.queries


def test_a_later_profile_with_more_heads_restarts_when_only_a_bound_is_known() -> None:
    model, surprises = exponential_model(([[1, 2], [3, 4]], [1, 0]), ([[-1, 2], [1, 0]], [30, 7])), 0
    for seed in range(20):
        oracle, tape = oracle_of(model), Tape()
        judge = Judge(model, oracle, 2, is_bound=True)
        recovery = learn(oracle, heads_bound=2, grid=Grid(3, 3), seed=seed, recorder=tape, on_redraw=judge)
        assert recovery.heads == model.heads
        assert recovery.queries_total == oracle.queries
        assert len(tape.profiles) == 7
        assert tape.restarts >= judge.surprises
        surprises += judge.surprises
    assert surprises


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim"), [(2, 1), (3, 2), (2, 3)])
def test_recorded_profiles_are_those_of_the_labelled_heads(heads: int, dim: int, field: str) -> None:
    model, tape = random_model(heads, dim, field, 8), Tape()
    recovery = learn(oracle_of(model), heads=heads, grid=Grid(9, 12), recorder=tape)
    labelled = Model(model.field, dim, recovery.labelled_heads)
    assert sorted(labelled.heads, key=Head.sort_key) == list(model.heads)
    assert [s.stage for s in tape.profiles] == [1] + [2, 3] * (dim - 1) + [4, 5] * (dim * (dim - 1))
    for sampled in tape.profiles:
        units = [
            tuple(int(x * model.field.denominator) for x in pole) for pole in logits(labelled, sampled.b, sampled.u)
        ]
        assert list(sampled.profile.exponents) == units
        assert list(sampled.profile.residues) == residues(labelled, sampled.u)
        assert len(sampled.answers) == 2 * heads
    assert sum(len(s.answers) for s in tape.profiles) + 1 == queries_formula(heads, dim)


def test_an_error_of_the_oracle_passes_through() -> None:
    def answer(_: object) -> Any:
        raise RuntimeError("the line is dead")

    with pytest.raises(RuntimeError, match="the line is dead"):
        learn(Oracle(answer, RationalField((2,)), 2), heads=1)


def test_a_base_value_that_cannot_be_compared_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RationalValue, "equals", lambda _self, _other: Outcome.UNDECIDED)
    with pytest.raises(Undecided, match="cannot be decided"):
        learn(oracle_of(random_model(0, 2, "rational", 0)), heads=0)


def test_an_oracle_refuses_an_empty_query_and_does_not_count_it() -> None:
    oracle = oracle_of(random_model(1, 2, "exponential", 0))
    with pytest.raises(InputError, match="at least one token"):
        oracle.ask([])
    assert (oracle.queries, oracle.max_length, oracle.transcript) == (0, 0, [])
