"""The learner: the whole form from answers alone, its ledger, and every condition named when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq

from exactmha.errors import ConditionFailed, ExactMHAError, InconsistentAnswers, InputError, NoInterpolant
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.transformer import cells as cells_module
from exactmha.transformer import learn as learn_module
from exactmha.transformer.cells import stays, unproved
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.form import Line
from exactmha.transformer.instance import from_dict
from exactmha.transformer.learn import TransformerRecovery, learn_transformer
from exactmha.transformer.model import Transformer
from exactmha.transformer.random_transformer import random_transformer
from exactmha.transformer.verification import diagnose, verify_transformer

FIELDS = ["exponential", "rational", "radical"]
SHAPES = [(1, 1, 1, 1), (3, 1, 2, 1), (2, 2, 2, 3), (3, 2, 3, 4), (1, 3, 2, 3), (2, 3, 4, 2), (0, 2, 1, 0)]


def run(model: Transformer, **told: Any) -> tuple[TransformerRecovery, Oracle]:
    form = model.canonical()
    oracle = Oracle(TransformerAnswer(model), model.field, model.dim)
    return learn_transformer(oracle, **{"heads": len(form.W), "lines": len(form.lines), **told}), oracle


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 7])
def test_everything_is_recovered(field: str, shape: tuple[int, int, int, int], seed: int) -> None:
    model = random_transformer(*shape, field, seed)
    recovery, oracle = run(model, seed=seed)
    form, dim = model.canonical(), model.dim
    heads, lines = len(form.W), len(form.lines)
    assert recovery.form == form
    assert recovery.is_complete
    assert recovery.ledger["symmetry"] == 2 * (4 * heads * dim**2 - 2 * heads + 1)
    assert recovery.ledger["gradients"] == lines * (heads + 1) * dim
    assert recovery.ledger["hidden heads"] == 0
    assert recovery.queries_total == oracle.queries
    assert oracle.max_length <= 2 * heads + 1
    assert recovery.memberships == lines * dim * lines


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("seed", range(2))
def test_all_claims_hold(field: str, seed: int) -> None:
    result = verify_transformer(random_transformer(2, 2, 3, 3, field, seed), seed=seed)
    assert result.outcome is Outcome.HOLDS, result.claims
    assert {claim.name for claim in result.claims} == {
        "equivalent", "conditions", "query-count", "max-length", "uniqueness", "reproduces-oracle", "realisation",
    }  # fmt: skip


def pairs_only(model: Transformer) -> Transformer:
    """Give every neuron its opposite: only |·| is left, Λ = 0."""
    return replace(model, w=(*model.w, *(tuple(-x for x in row) for row in model.w)), a=(*model.a, *model.a))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("shape", [(1, 2, 2, 2), (2, 2, 2, 3)])
def test_heads_that_the_odd_part_does_not_show_are_found_in_a_cell(
    field: str, shape: tuple[int, int, int, int]
) -> None:
    model = pairs_only(random_transformer(*shape, field, 1))
    result = verify_transformer(model)
    assert result.recovery is not None
    assert result.recovery.form == model.canonical()
    assert result.recovery.odd.heads == ()
    assert result.recovery.ledger["hidden heads"] == 4 * shape[0] * shape[1] ** 2 - 2 * shape[0] + 1
    assert result.recovery.queries_total == result.oracle_queries
    row = next(row for row in result.conditions if row.name == "F1")
    assert row.outcome is Outcome.FAILS
    assert "found inside the cells" in row.witness
    runs, (heads, dim) = len(result.recovery.hidden), shape[:2]
    inside = {row.name: row for row in result.conditions if row.name.endswith("in a cell")}
    assert [*inside] == ["C1 in a cell", "C2 in a cell", "C3 in a cell", "C4 in a cell"]
    assert all(row.outcome is Outcome.HOLDS and row.checked == row.count for row in inside.values())
    assert inside["C1 in a cell"].count == 2 * runs > 0
    cells = next(row for row in result.conditions if row.name == "F4")
    profiles = 1 + 2 * (dim - 1) + 2 * dim * (dim - 1)  # (b_1, u_1); u_i and u_1 + u_i; b_j and b_1 + b_j with every u
    lines = len(result.truth.lines)
    assert cells.count == cells.checked == lines * (lines * dim + runs * profiles)
    assert result.not_claimed == f"F1 fails, Λ = 0 for head {', '.join(str(h + 1) for h in range(heads))}, and " + (
        "uniqueness is proved only where F1 holds"
    )
    assert result.outcome is Outcome.HOLDS
    assert "uniqueness" not in {claim.name for claim in result.claims}


def built(heads: Sequence[Sequence[Sequence[str]]], w: list[list[str]], a: list[str], dim: int = 2) -> Transformer:
    W = [[["1", "0"], ["2", "-1"]], [["-1", "1"], ["0", "1/2"]], [["0", "2"], ["1", "0"]]]
    listed = [{"W": [row[:dim] for row in W[h][:dim]], "O": list(map(list, rows))} for h, rows in enumerate(heads)]
    return from_dict({"format": "exactmha/instance/1", "dim": dim, "heads": listed, "ffn": {"w": w, "a": a}})


def test_one_hidden_head_among_visible_ones() -> None:
    # z = (A_1 first, A_2 first, A_1 second + A_2 second): head 1 and the sum in the odd part, head 3 in |·| only
    model = built(
        [
            [["1", "0"], ["0", "1"], ["0", "0"]],
            [["0", "0"], ["1", "2"], ["0", "0"]],
            [["0", "0"], ["0", "0"], ["1", "-1"]],
        ],
        [["1", "0", "0"], ["1", "1", "0"], ["0", "0", "1"], ["0", "0", "-1"]],
        ["1", "2", "3", "3"],
    )
    recovery, _ = run(model)
    assert recovery.form == model.canonical()
    assert len(recovery.odd.heads) == 2
    assert len(recovery.hidden) == 1


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        # w_1 sees (1, 1) of head 1, w_2 sees (1, 1) of head 2
        (built([[["1", "1"], ["0", "0"]], [["0", "0"], ["1", "1"]]], [["1", "0"], ["0", "1"]], ["1", "2"]), "parallel"),
        # ν = (1, 0) ⊕ (−1, 0) has n = 0
        (
            built([[["1", "0"], ["0", "1"]], [["-1", "0"], ["0", "2"]]], [["1", "0"], ["0", "1"]], ["1", "2"]),
            "invisible",
        ),
    ],
)
def test_F2_is_named_and_located(model: Transformer, reason: str) -> None:
    result = verify_transformer(model)
    assert result.recovery is None
    row = next(row for row in result.conditions if row.name == "F2")
    assert row.outcome is Outcome.FAILS
    assert reason in row.witness
    claims = {claim.name: claim for claim in result.claims}
    assert claims["conditions"].outcome is Outcome.FAILS
    assert "single tokens" in claims["conditions"].evidence
    assert claims["equivalent"].outcome is Outcome.UNDECIDED


HUGE = "9" * 60
CLOSE = built(
    [[[HUGE, "1"], ["1/" + "7" * 60, "2"]]],
    [["1", "2"], ["-1", "1/" + "3" * 50]],
    ["1", "1" + "0" * 80],
)
"""F2 holds, but the two bends are about 10^-50 apart."""


def test_bends_too_close_are_undecided_and_finished_stages_are_kept() -> None:
    assert diagnose(CLOSE.canonical()) == {}
    result = verify_transformer(CLOSE)
    assert result.recovery is None
    rows = {row.name: row for row in result.conditions}
    claims = {claim.name: claim for claim in result.claims}
    assert rows["F2"].outcome is rows["F3"].outcome is claims["conditions"].outcome is Outcome.UNDECIDED
    assert all("too close to tell apart" in x for x in (rows["F2"].witness, claims["conditions"].evidence))
    # the odd part was finished before
    assert all(rows[name].outcome is Outcome.HOLDS for name in ("C1", "C2", "C3", "C4", "F1"))
    assert rows["F1"].checked == rows["F1"].count == 1
    assert [row.used for row in result.ledger] == [30, 0, 0, 0]
    assert result.oracle_queries == 30 + sum(retry.queries for retry in result.retries)
    assert len(result.retries) == 6


def test_a_failing_odd_part_is_a_failing_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two conditions that are named, it is not said which one fails."""

    def fails(*_: Any, **__: Any) -> None:
        raise ConditionFailed(named, profile="a profile", witness="seen")

    monkeypatch.setattr(learn_module, "learn", fails)
    for named in (("C2",), ("C2", "C3")):
        result = verify_transformer(random_transformer(2, 2, 2, 2, "rational", 0))
        rows = {row.name: row.outcome for row in result.conditions}
        assert rows["C2"] is (Outcome.FAILS if len(named) == 1 else Outcome.UNDECIDED)
        assert rows["C1"] is rows["F2"] is Outcome.UNDECIDED
        assert {claim.name: claim.outcome for claim in result.claims}["conditions"] is Outcome.FAILS


@pytest.mark.parametrize(("shape", "value"), [((2, 2, 3, 3), None), ((1, 1, 1, 1), 2), ((0, 2, 1, 0), 0)])
def test_the_ledger_has_a_formula_for_the_bends(shape: tuple[int, int, int, int], value: int | None) -> None:
    result = verify_transformer(random_transformer(*shape, "rational", 0))
    row = next(row for row in result.ledger if row.stage == "bends on single tokens")
    assert row.expected == row.used
    if value is None:
        assert row.formula == "5 + 2·(cones cut)"
        assert row.used > 5
    else:
        assert row.used == value


def test_d1_with_two_lines_violates_F2() -> None:
    model = built([[["1"], ["0"]], [["0"], ["1"]]], [["1", "0"], ["0", "1"]], ["1", "2"], dim=1)
    with pytest.raises(ConditionFailed, match="F2 or F3"):
        run(model)
    assert "parallel" in diagnose(model.canonical())["F2"]


def test_wrong_numbers_are_noticed() -> None:
    model = random_transformer(2, 2, 3, 3, "exponential", 0)
    with pytest.raises(InconsistentAnswers, match="more than 2 lines"):
        run(model, lines=2)
    with pytest.raises(ConditionFailed, match="F2 or F3"):
        run(model, lines=4)
    with pytest.raises(ExactMHAError):
        run(model, heads=1)
    with pytest.raises(ConditionFailed, match="2 of 3 heads"):
        run(model, heads=3)
    with pytest.raises(InputError, match="must not be negative"):
        run(model, lines=-1)


@pytest.mark.parametrize("bounds", [{"lines_bound": 5}, {"heads_bound": 3}, {"heads_bound": 3, "lines_bound": 4}])
def test_bounds_make_the_result_conditional(bounds: dict[str, int]) -> None:
    model = random_transformer(2, 2, 3, 3, "exponential", 0)
    result = verify_transformer(model, **bounds)
    assert result.recovery is not None
    assert result.recovery.form == model.canonical()
    assert not result.recovery.is_complete
    claims = {claim.name: claim for claim in result.claims}
    assert claims["equivalent"].outcome is Outcome.HOLDS
    assert claims["uniqueness"].outcome is Outcome.UNDECIDED
    assert "conditional" in claims["uniqueness"].evidence
    assert result.outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    "model",
    [
        built([], [], []),  # T = 0
        built([], [], [], dim=1),
        built([[["1", "0"], ["0", "1"]]], [], []),  # no neuron, so the head is not used
        built([[["1", "0"], ["0", "1"]]], [["1", "2"], ["-1", "-2"]], ["1", "-1"]),  # ReLU(z) − ReLU(−z) = z
        built([[["1"], ["0"]]], [["1", "2"], ["-1", "-2"]], ["1", "-1"], dim=1),
    ],
)
@pytest.mark.parametrize("bound", [1, 2])
def test_a_bound_on_the_lines_where_there_is_none(model: Transformer, bound: int) -> None:
    result = verify_transformer(model, lines_bound=bound)
    assert result.recovery is not None
    assert result.recovery.form == model.canonical()
    assert {c.name: c.outcome for c in result.claims}["equivalent"] is Outcome.HOLDS
    assert {c.name: c.outcome for c in result.claims}["uniqueness"] is Outcome.UNDECIDED
    assert result.outcome is Outcome.UNDECIDED


def test_a_bound_and_only_an_invisible_line() -> None:
    """T = 3·ReLU(A_1 − A_2): the odd part is learned, the line is not, and the difference is shown on a sequence."""
    model = built([[["1", "0"], ["0", "1"]], [["-1", "0"], ["0", "-1"]]], [["1", "2"]], ["3"])
    result = verify_transformer(model, lines_bound=1)
    assert result.recovery is not None
    assert result.recovery.form.lines == ()
    claims = {claim.name: claim for claim in result.claims}
    assert claims["equivalent"].outcome is Outcome.FAILS
    assert "they differ on the sequence" in claims["equivalent"].evidence
    assert claims["uniqueness"].outcome is Outcome.UNDECIDED


def test_a_bound_that_is_reached_is_enough() -> None:
    model = random_transformer(2, 2, 3, 3, "exponential", 0)
    result = verify_transformer(model, heads_bound=2, lines_bound=3)
    assert result.outcome is Outcome.HOLDS


@pytest.mark.parametrize("a", [["9" * 3000, "9" * 3000], ["9" * 3000, "1"]])
def test_numbers_too_large_to_be_lifted_are_named(a: list[str]) -> None:
    """The first T is even, so that only its values on single tokens are large."""
    model = built([[["1", "0"], ["0", "1"]]], [["1", "2"], ["-1", "-2"]], a)
    with pytest.raises(NoInterpolant, match=r"too large to be lifted .* over about 8928 bits"):
        run(model)


def test_bounds_below_the_truth_are_refused() -> None:
    model = random_transformer(2, 2, 3, 3, "exponential", 0)
    with pytest.raises(InputError, match="--lines-bound"):
        verify_transformer(model, lines_bound=2)
    with pytest.raises(InputError, match="--heads-bound"):
        verify_transformer(model, heads_bound=1)


def test_tokens_that_leave_their_cell_are_noticed() -> None:
    """One sample per displacement was once all that was asked: this run then ended in another Transformer."""
    model = random_transformer(1, 3, 2, 2, "rational", 6)
    recovery, _ = run(model, seed=6)
    assert recovery.form == model.canonical()


def test_membership_is_proved_or_not() -> None:
    line = Line(fmpq(1), ((fmpq(1), fmpq(0)), (fmpq(0), fmpq(1))))  # n = (1, 1)
    assert stays((3, 0), (1, -2), line)  # between 3 − 2 and 3 + 1
    assert stays((2, 0), (1, -2), line)  # 0 is not reached, p < 1
    assert not stays((1, 0), (1, -2), line)
    assert not stays((1, -1), (0, 0), line)  # on the bend itself
    assert unproved([((1, 0), (1, -2)), ((3, 0), (1, -2))], [line]) == [(((1, 0), (1, -2)), 0)]


def test_a_cell_that_is_never_proved_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells_module, "stays", lambda *_: False)
    with pytest.raises(ConditionFailed, match="F4 fails in the cell of the single token"):
        run(random_transformer(1, 2, 1, 1, "exponential", 0))


def test_retries_are_counted_apart() -> None:
    model = random_transformer(3, 4, 4, 6, "rational", 0)
    recovery, oracle = run(model)
    assert recovery.form == model.canonical()
    assert recovery.retries
    assert all(retry.conditions and retry.queries for retry in recovery.retries)
    assert recovery.queries + recovery.wasted == oracle.queries
