"""The theorem on many instances, and what a verification says when something is wrong.

A claim that cannot fail proves nothing: the learner's result is tampered with, and the one claim concerned must fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.conditions import Grid
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError, LimitError, NoInterpolant
from exactmha.heads import Head
from exactmha.instance import from_dict
from exactmha.limits import Limits
from exactmha.oracle import Oracle
from exactmha.outcome import Evidence, Outcome, exit_status
from exactmha.random_instance import example, random_model
from exactmha.recover.learn import Recovery, learn
from exactmha.sequences import Token
from exactmha.verification import Verification, bound_text, fresh_sequences, verify

FIELDS = ["exponential", "rational", "radical"]
HOLDS, FAILS, UNDECIDED = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED


def outcomes(result: Verification) -> dict[str, Outcome]:
    return {claim.name: claim.outcome for claim in result.claims}


def failing(result: Verification) -> set[str]:
    return {name for name, outcome in outcomes(result).items() if outcome is not HOLDS}


def statement(result: Verification, name: str) -> str:
    return next(claim.statement for claim in result.claims if claim.name == name)


def evidence(result: Verification, name: str) -> str:
    return next(claim.evidence for claim in result.claims if claim.name == name)


# --- the theorem ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", range(5))
@pytest.mark.parametrize("field", FIELDS)
def test_the_theorem_holds(field: str, heads: int) -> None:
    """H ≤ 4, d ≤ 4, ten seeds each."""
    redraws = 0
    for dim, seed in product(range(1, 5), range(10)):
        model = random_model(heads, dim, field, seed)
        result = verify(model, seed=seed)
        recovery, expected = result.recovery, 4 * heads * dim**2 - 2 * heads + 1
        assert failing(result) == set(), (dim, seed)
        assert recovery is not None
        assert recovery.heads == model.heads
        assert recovery.queries == result.expected_queries == expected
        assert sum(row.used for row in result.ledger) == expected
        assert [row.used for row in result.ledger] == [row.expected for row in result.ledger]
        assert result.oracle_max_length == result.expected_max_length == 2 * heads + 1
        assert result.oracle_queries == expected + sum(redraw.queries for redraw, _ in result.diagnoses)
        assert len(result.diagnoses) == len(recovery.redraws)
        assert [row.checked for row in result.conditions] == [row.count for row in result.conditions]
        redraws += len(result.diagnoses)
    assert redraws == 0 if field == "exponential" else redraws <= 5


def test_eight_heads_in_eight_dimensions_take_well_under_ten_seconds() -> None:
    model = random_model(8, 8, "exponential", 0)
    start = time.monotonic()
    result = verify(model)
    assert time.monotonic() - start < 5
    assert failing(result) == set()
    assert result.recovery is not None
    assert result.recovery.heads == model.heads
    assert (result.oracle_queries, result.oracle_max_length) == (2033, 17)  # 4·8·64 − 16 + 1
    assert result.failure_bound <= Fraction(1, 2**40)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("grid", [Grid(3, 3), Grid(4, 7)])
def test_small_grids_re_draw_and_still_hold(field: str, grid: Grid) -> None:
    redraws = 0
    for seed in range(10):
        result = verify(random_model(2, 2, field, seed), grid=grid, seed=seed)
        if result.recovery is None:
            continue  # some heads are never visible on so small a grid
        assert failing(result) == set()
        assert result.oracle_queries == 29 + sum(redraw.queries for redraw, _ in result.diagnoses)
        assert "failure-bound" not in outcomes(result)  # above 1 it would say nothing
        redraws += len(result.diagnoses)
    assert redraws > 5


def test_the_teaching_example_by_hand() -> None:
    # b = 1, u = −1: the copies are 0, weights 2^−1 and 3^−1 against 1: f_k = 1/(1 + k/2) + 2/(1 + k/3)
    found = example("two-heads-1d")
    result = verify(found.model, grid=found.grid)
    assert failing(result) == set()
    assert [(list(x), str(y)) for x, y in result.transcript] == [
        ([(0,)] * k + [(1,)], str(1 / (1 + Fraction(k, 2)) + 2 / (1 + Fraction(k, 3)))) for k in range(5)
    ]


def test_only_small_runs_keep_their_transcript() -> None:
    assert verify(random_model(2, 2, "exponential", 0)).transcript == ()


def test_progress_and_recorder_are_passed_on() -> None:
    seen: list[int] = []
    result = verify(random_model(1, 2, "exponential", 0), progress=seen.append)
    assert seen[-1] == result.oracle_queries == 15


# --- only a bound ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "bound"), [(0, 0), (0, 2), (1, 3), (2, 2), (2, 5)])
def test_only_a_bound(field: str, heads: int, bound: int) -> None:
    result = verify(random_model(heads, 2, field, 1), heads_bound=bound)
    assert failing(result) == set()
    assert (result.told, result.is_bound) == (bound, True)
    assert result.oracle_max_length == 2 * bound + 1
    queries = 4 * bound * 4 - 2 * bound + 1
    assert result.recovery is not None
    assert result.recovery.queries == result.expected_queries == queries
    assert statement(result, "query-count") == f"exactly 4H_0d² − 2H_0 + 1 = {queries} queries"
    assert statement(result, "max-length") == f"no query is longer than 2H_0 + 1 = {2 * bound + 1}"
    assert (
        statement(result, "uniqueness")
        == f"no other model with at most {heads} canonical head{'s' * (heads != 1)} gives these {queries} answers"
    )
    caveat = f"rivals with {heads + 1} to {bound} heads are excluded only with probability one"
    assert (caveat in evidence(result, "uniqueness")) == (bound > heads)


def test_a_bound_below_the_number_of_heads_is_bad_input() -> None:
    with pytest.raises(InputError, match="below the number of canonical heads, 3"):
        verify(random_model(3, 2, "exponential", 1), heads_bound=2)


# --- wording and levels ------------------------------------------------------------------------------------------


def test_claims_their_statements_and_levels() -> None:
    result = verify(random_model(3, 2, "exponential", 0))
    assert {claim.name: claim.level for claim in result.claims} == {
        "recovered": Evidence.CERTIFIED,
        "conditions": Evidence.CERTIFIED,
        "query-count": Evidence.COMPUTED,
        "max-length": Evidence.COMPUTED,
        "uniqueness": Evidence.CERTIFIED,
        "reproduces-oracle": Evidence.SAMPLED,
        "failure-bound": Evidence.PROVED,
    }
    assert statement(result, "query-count") == "exactly 4Hd² − 2H + 1 = 43 queries"
    assert statement(result, "max-length") == "no query is longer than 2H + 1 = 7"
    assert statement(result, "uniqueness") == "no other model with at most 3 canonical heads gives these 43 answers"
    assert "probability one" not in evidence(result, "uniqueness")
    assert evidence(result, "conditions") == "86 of 86 instances checked exactly"  # 2 + 7·3 + 3·3 + 3·9·2


def test_evidence_levels_are_ordered() -> None:
    assert Evidence.SAMPLED < Evidence.COMPUTED < Evidence.CERTIFIED < Evidence.PROVED


def test_a_failure_bound_is_claimed_as_requested() -> None:
    result = verify(random_model(2, 2, "exponential", 0), failure_bound=Fraction(1, 1000))
    assert statement(result, "failure-bound").endswith("with probability at most 2^-9")  # 2^−10 < 1/1000 < 2^−9
    assert Fraction(1, 1001) < result.failure_bound <= Fraction(1, 1000)


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 2**40), "2^-40"),
        (Fraction(1, 2**40 + 1), "2^-40"),
        (Fraction(1, 2**40 - 1), "2^-39"),
        (Fraction(1, 8), "2^-3"),
        (Fraction(1, 4), "0.25"),
        (Fraction(2401, 10000), "0.25"),
        (Fraction(24, 100), "0.24"),
        (Fraction(99, 100), "0.99"),
        (Fraction(1), "vacuous"),
        (Fraction(7), "vacuous"),
    ],
)
def test_bounds_are_rounded_up(bound: Fraction, text: str) -> None:
    assert bound_text(bound) == text


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("dim", [1, 3])
def test_fresh_sequences_have_distinct_tokens(field: str, dim: int) -> None:
    sequences = fresh_sequences(random_model(1, dim, field, 0), 5)
    assert len(sequences) == 8
    assert all(2 <= len(set(x)) == len(x) <= 5 for x in sequences)
    assert len({len(x) for x in sequences}) > 1


# --- instances that are not canonical -------------------------------------------------------------------------------


def instance(*heads: tuple[list[list[str]], list[str]], field: str | None = None) -> Model:
    content = {
        "format": "exactmha/instance/1",
        "dim": len(heads[0][1]),
        "heads": [{"W": W, "v": v} for W, v in heads],
        **({"field": field} if field else {}),
    }
    return from_dict(content)


A, B, C = ([["1", "2"], ["3", "4"]], [["0", "1/2"], ["-1", "0"]], [["5", "0"], ["0", "-5"]])


def test_equal_matrices_are_merged_and_zero_sums_discarded() -> None:
    model = instance((A, ["1", "2"]), (B, ["1", "1"]), (A, ["3", "-1"]), (C, ["7", "0"]), (C, ["-7", "0"]))
    result = verify(model)
    assert failing(result) == set()
    assert result.expected_queries == result.oracle_queries == 29  # two heads
    assert result.recovery is not None
    assert {tuple(str(x[0]) for x in head.v) for head in result.recovery.heads} == {("4", "1"), ("1", "1")}
    assert sorted(result.canonical.groups) == [(0, 2), (1,)]
    assert result.canonical.discarded == ((3, 4),)


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
def test_nothing_may_remain(field: str) -> None:
    W = [["0"]] if field == "exponential" else [["log(2)"]]
    result = verify(instance((W, ["1"]), (W, ["2"]), (W, ["-3"]), field=field))
    assert failing(result) == set()
    assert (result.expected_queries, result.oracle_queries, result.oracle_max_length) == (1, 1, 1)
    assert result.recovery is not None
    assert result.recovery.heads == ()


# --- tampering: the claim concerned fails, and no other ---------------------------------------------------------------


Learner = Callable[..., Recovery]
VERIFY = import_module("exactmha.verification")


def tampered(monkeypatch: pytest.MonkeyPatch, change: Callable[[Recovery], Recovery], field: str) -> Verification:
    monkeypatch.setattr(VERIFY, "learn", lambda oracle, **options: change(learn(oracle, **options)))
    return verify(random_model(2, 2, field, 2), seed=1)


def with_head(recovery: Recovery, position: int, head: Head) -> Recovery:
    heads = list(recovery.heads)
    heads[position] = head
    return replace(recovery, heads=tuple(heads))


def shifted_v(recovery: Recovery) -> Recovery:
    head = recovery.heads[1]
    first = (head.v[0][0] + fmpq(1, 10**50), *head.v[0][1:])
    return with_head(recovery, 1, replace(head, v=(first, *head.v[1:])))


def shifted_w(recovery: Recovery) -> Recovery:
    head = recovery.heads[0]
    (first, *rest), *others = head.W
    unit = fmpq(1)
    return with_head(recovery, 0, replace(head, W=(((first[0] + unit, *first[1:]), *rest), *others)))


def transposed(recovery: Recovery) -> Recovery:
    head = recovery.heads[0]
    return with_head(recovery, 0, replace(head, W=tuple(tuple(zip(*matrix, strict=True)) for matrix in head.W)))


def swapped(recovery: Recovery) -> Recovery:
    one, other = recovery.heads
    return replace(recovery, heads=(replace(one, v=other.v), replace(other, v=one.v)))


WRONG_HEADS: dict[str, Callable[[Recovery], Recovery]] = {
    "v off by 10^−50": shifted_v,
    "W off by one unit": shifted_w,
    "W transposed": transposed,
    "v of the other head": swapped,
    "a head missing": lambda recovery: replace(recovery, heads=recovery.heads[:1]),
    "no head": lambda recovery: replace(recovery, heads=()),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", WRONG_HEADS)
def test_wrong_heads_are_caught_twice(name: str, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = tampered(monkeypatch, WRONG_HEADS[name], field)
    assert failing(result) == {"recovered", "reproduces-oracle"}
    assert outcomes(result)["recovered"] is outcomes(result)["reproduces-oracle"] is FAILS


def test_a_head_too_many_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    result = tampered(monkeypatch, lambda r: replace(r, heads=(*r.heads, r.heads[0])), "exponential")
    assert failing(result) == {"recovered", "reproduces-oracle"}


@pytest.mark.parametrize(
    "change",
    [
        lambda r: replace(r, ledger=(*r.ledger[:-1], r.ledger[-1] + 1)),
        lambda r: replace(r, ledger=(*r.ledger[:-1], r.ledger[-1] - 1)),
        lambda r: replace(r, ledger=(0, *r.ledger[1:])),
    ],
)
def test_a_wrong_ledger_is_caught(change: Callable[[Recovery], Recovery], monkeypatch: pytest.MonkeyPatch) -> None:
    assert failing(tampered(monkeypatch, change, "exponential")) == {"query-count"}


def replaced_learner(monkeypatch: pytest.MonkeyPatch, learner: Learner) -> Verification:
    monkeypatch.setattr(VERIFY, "learn", learner)
    return verify(random_model(2, 2, "exponential", 2), seed=1)


@pytest.mark.parametrize("length", [1, 5])
def test_a_query_on_the_side_is_caught(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def learner(oracle: Oracle, **options: Any) -> Recovery:
        oracle.ask([(0, 0)] * length)
        return learn(oracle, **options)

    assert failing(replaced_learner(monkeypatch, learner)) == {"query-count"}


def test_a_query_that_is_too_long_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def learner(oracle: Oracle, **options: Any) -> Recovery:
        recovery = learn(oracle, **options)
        oracle.ask([(0, 0)] * 6)
        return recovery

    result = replaced_learner(monkeypatch, learner)
    assert failing(result) == {"query-count", "max-length"}
    assert evidence(result, "max-length") == "the oracle saw a largest length of 6"


def test_answers_that_were_never_asked_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def learner(oracle: Oracle, **options: Any) -> Recovery:
        private = Oracle(Attention(random_model(2, 2, "exponential", 2)), oracle.field, oracle.dim)
        return learn(private, **options)

    assert failing(replaced_learner(monkeypatch, learner)) == {"query-count"}


def test_invented_re_draws_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(2, 2, "exponential", 2)
    runs = (learn(Oracle(Attention(model), model.field, 2), heads=2, grid=Grid(3, 3), seed=s) for s in range(20))
    redraws = next(run.redraws for run in runs if run.queries_total > run.queries)
    assert failing(tampered(monkeypatch, lambda r: replace(r, redraws=redraws), "exponential")) == {"query-count"}


@pytest.mark.parametrize("condition", ["C1", "C2", "C3", "C4"])
def test_a_check_left_out_is_noticed(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(recovery: Recovery) -> Recovery:
        return replace(recovery, checked={**recovery.checked, condition: recovery.checked[condition] - 1})

    result = tampered(monkeypatch, change, "exponential")
    assert {name: outcomes(result)[name] for name in failing(result)} == {
        "conditions": UNDECIDED,
        "uniqueness": UNDECIDED,
    }
    assert [row.name for row in result.conditions if row.outcome is UNDECIDED] == [condition]


# --- a learner that gives up ------------------------------------------------------------------------------------------


def raising(error: Exception) -> Learner:
    def learner(_oracle: Oracle, **_options: Any) -> Recovery:
        raise error

    return learner


def test_no_interpolant_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    result = replaced_learner(monkeypatch, raising(NoInterpolant("nothing was found")))
    assert set(outcomes(result).values()) == {HOLDS, UNDECIDED}
    assert outcomes(result)["recovered"] is UNDECIDED
    assert "nothing was found" in evidence(result, "recovered")
    assert exit_status(outcomes(result).values()) == 3


def test_inconsistent_answers_refute_the_recovery(monkeypatch: pytest.MonkeyPatch) -> None:
    result = replaced_learner(monkeypatch, raising(InconsistentAnswers("no model has them")))
    assert outcomes(result)["recovered"] is FAILS
    assert result.outcome is FAILS
    assert exit_status(outcomes(result).values()) == 1


@pytest.mark.parametrize(
    ("names", "rows"),
    [(("C4",), {"C4": FAILS}), (("C2", "C3"), {"C2": UNDECIDED, "C3": UNDECIDED})],
)
def test_a_failed_condition_is_named(
    names: tuple[str, ...], rows: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = ConditionFailed(names, profile="(b_1, u_2)", witness="seen so")
    result = replaced_learner(monkeypatch, raising(failure))
    assert outcomes(result)["conditions"] is FAILS
    assert evidence(result, "conditions") == f"{' or '.join(names)} fails in (b_1, u_2): seen so"
    assert {row.name: row.outcome for row in result.conditions if row.name in names} == rows
    assert outcomes(result)["recovered"] is UNDECIDED
    assert result.outcome is FAILS


def test_without_redraw_a_real_failure_is_named_and_located() -> None:
    # v ⟂ u for u with first coordinate 0; one head alone shares no pole
    model, kinds = instance((A, ["1", "0"])), set()
    for seed in range(30):
        result = verify(model, grid=Grid(5, 5), seed=seed, redraw=False)
        if isinstance(result.failure, ConditionFailed):
            assert outcomes(result)["conditions"] is FAILS
            kinds.add(result.failure.conditions)
            ((redraw, reason),) = result.diagnoses
            if redraw.conditions != ("C1",):
                assert reason == "C3: v_1·u = 0"
                assert {row.name for row in result.conditions if row.outcome is FAILS} == {"C3"}
                assert redraw.u[0] == 0
        else:
            assert failing(result) == set()
    assert {("C1",), ("C2", "C3")} <= kinds


def test_the_diagnosis_tells_shared_poles_from_hidden_heads() -> None:
    # W_1 − W_2 = e_1 e_1^T; no small u hides v
    model, reasons = instance(([["1", "2"], ["3", "4"]], ["1", "100"]), ([["0", "2"], ["3", "4"]], ["100", "1"])), set()
    for seed in range(10):
        result = verify(model, grid=Grid(3, 3), seed=seed)
        assert failing(result) == set()
        reasons |= {reason for redraw, reason in result.diagnoses if redraw.conditions != ("C1",)}
    assert "C2: heads 1 and 2 share a pole" in reasons
    assert not any("C3" in reason for reason in reasons)


def test_limits_are_errors_not_outcomes() -> None:
    with pytest.raises(LimitError, match="need more than 5 bits"):
        verify(random_model(2, 2, "rational", 0), limits=Limits(value_bits=5))


# --- models built against a known design: the claims are about the conditions ------------------------------------


def design(heads: int, grid: Grid, seed: int) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """The tokens drawn for (seed, grid): they do not depend on the model as long as nothing is drawn again."""
    model = random_model(heads, 2, "exponential", 0)
    recovery = learn(Oracle(Attention(model), model.field, 2), heads=heads, grid=grid, seed=seed)
    assert not recovery.redraws
    return list(recovery.b), list(recovery.u)


def queries(B: Sequence[Sequence[int]], U: Sequence[Sequence[int]], heads: int) -> list[list[Token]]:
    (b1, b2), (u1, u2) = B, U

    def plus(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
        return tuple(a + b for a, b in zip(x, y, strict=True))

    pairs = [(b, u) for b in B for u in U] + [(b1, plus(u1, u2)), (plus(b1, b2), u1), (plus(b1, b2), u2)]
    return [[tuple(b1)], *([plus(b, u)] * k + [tuple(b)] for b, u in pairs for k in range(1, 2 * heads + 1))]


HeadText = tuple[list[list[str]], list[str]]


def over_one_field(one: Sequence[HeadText], other: Sequence[HeadText]) -> tuple[Model, Model]:
    both = instance(*one, *other)
    return replace(both, heads=both.heads[: len(one)]), replace(both, heads=both.heads[len(one) :])


def same_answers(one: Model, other: Model, asked: Sequence[Sequence[Token]]) -> bool:
    left, right = Attention(one), Attention(other)
    return all(left(x) == right(x) for x in asked)


def inverse(M: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    (a, b), (c, d) = M
    det = Fraction(a * d - b * c)
    return [[d / det, -b / det], [-c / det, a / det]]


def times(M: Sequence[Sequence[Any]], N: Sequence[Sequence[Any]]) -> list[list[Fraction]]:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*N, strict=True)]
        for row in M
    ]


def texts(M: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[str(x) for x in row] for row in M]


GRID, SEED = Grid(60, 60), 3


def test_with_fixed_tokens_two_models_answer_alike_and_c3_says_so() -> None:
    """v_1 ⟂ u_1 and W_1' = W_1 + x y^T, x ⟂ b_1, y·u_1 = 1, y ⟂ u_2: the same 29 answers, different functions."""
    (b1, b2), (u1, u2) = design(2, GRID, SEED)
    x = (-b1[1], b1[0])
    y = [row[0] for row in inverse([u1, u2])]  # y·u_1 = 1, y·u_2 = 0
    rival_A = [[int(A[i][j]) + x[i] * y[j] for j in range(2)] for i in range(2)]
    v1, second = [str(-u1[1]), str(u1[0])], (B, ["1", "1"])
    one, rival = over_one_field([(A, v1), second], [(texts(rival_A), v1), second])
    asked = queries([b1, b2], [u1, u2], 2)
    assert len(asked) == 29
    assert same_answers(one, rival, asked)
    assert not same_answers(one, rival, [[(2, 1), (1, -1)]])
    for model in (one, rival):
        stopped = verify(model, grid=GRID, seed=SEED, redraw=False)
        assert isinstance(stopped.failure, ConditionFailed)
        assert (stopped.failure.conditions, stopped.failure.profile) == (("C2", "C3"), "(b_1, u_1)")
        assert outcomes(stopped)["recovered"] is outcomes(stopped)["uniqueness"] is UNDECIDED
        redrawn = verify(model, grid=GRID, seed=SEED)
        assert failing(redrawn) == set()
        assert redrawn.diagnoses[0][1].startswith("C3: v_")


def test_told_only_a_bound_a_rival_with_more_heads_may_give_the_same_answers() -> None:
    """Logits [[1, 2], [3, 9]], [[1, 2], [8, 4]] and residues (1, 0), (0, 1), against [[1, 2], [3, 4]] and (1, 1)."""
    tokens_b, tokens_u = design(2, GRID, SEED)
    left, right = inverse(tokens_b), inverse([list(column) for column in zip(*tokens_u, strict=True)])

    def head(L: list[list[int]], c: tuple[int, int]) -> HeadText:
        v = times(inverse(tokens_u), [[x] for x in c])  # u_i·v = c_i
        return texts(times(times(left, L), right)), [str(x[0]) for x in v]

    single, double = over_one_field(
        [head([[1, 2], [3, 4]], (1, 1))], [head([[1, 2], [3, 9]], (1, 0)), head([[1, 2], [8, 4]], (0, 1))]
    )
    asked = queries(tokens_b, tokens_u, 2)
    assert same_answers(single, double, asked)
    assert not same_answers(single, double, [[tuple(tokens_u[0]), tuple(tokens_u[1]), tuple(tokens_b[1])]])
    truth, deceived = (verify(model, heads_bound=2, grid=GRID, seed=SEED) for model in (single, double))
    assert failing(truth) == set()
    assert deceived.recovery is not None
    assert deceived.recovery.head_count == 1
    assert failing(deceived) == {"recovered", "reproduces-oracle"}
    # what is certified is true of both: no other model with at most one head; one with two heads there is
    assert statement(deceived, "uniqueness") == "no other model with at most 1 canonical head gives these 29 answers"
    assert "rivals with 2 to 2 heads are excluded only with probability one" in evidence(deceived, "uniqueness")
    # known to have two heads, the same model is drawn again and recovered
    known = verify(double, grid=GRID, seed=SEED)
    assert failing(known) == set()
    assert known.diagnoses
