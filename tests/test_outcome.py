"""Three outcomes, never a boolean, and what they become."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from exactmha.outcome import Claim, Evidence, Outcome, exit_status

HOLDS, FAILS, UNDECIDED = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_has_no_truth_value(outcome: Outcome) -> None:
    with pytest.raises(TypeError, match="three values"):
        bool(outcome)
    with pytest.raises(TypeError):
        _ = outcome and outcome
    with pytest.raises(TypeError):
        _ = not outcome
    with pytest.raises(TypeError):
        all([outcome])


def test_there_are_three() -> None:
    assert [outcome.value for outcome in Outcome] == ["holds", "fails", "undecided"]


def test_of_a_decided_question() -> None:
    assert Outcome.of(True) is HOLDS
    assert Outcome.of(False) is FAILS


EVERY = [
    ([], HOLDS, 0),
    ([HOLDS], HOLDS, 0),
    ([FAILS], FAILS, 1),
    ([UNDECIDED], UNDECIDED, 3),
    ([HOLDS, UNDECIDED], UNDECIDED, 3),
    ([HOLDS, FAILS], FAILS, 1),
    ([UNDECIDED, FAILS], FAILS, 1),
    ([HOLDS, UNDECIDED, FAILS], FAILS, 1),
]


@pytest.mark.parametrize(("outcomes", "conjunction", "status"), EVERY)
def test_every_and_exit_status(outcomes: list[Outcome], conjunction: Outcome, status: int) -> None:
    for order in permutations(outcomes):
        assert Outcome.every(order) is conjunction
        assert Outcome.every(iter([*order, *order])) is conjunction
        assert exit_status(order) == status


def test_every_is_associative() -> None:
    for a, b, c in product(Outcome, repeat=3):
        assert Outcome.every([Outcome.every([a, b]), c]) is Outcome.every([a, Outcome.every([b, c])])


def test_levels_of_evidence_are_ordered_and_named() -> None:
    levels = ["sampled", "computed", "certified", "proved"]
    assert [level.label for level in sorted(Evidence)] == levels
    assert max(Evidence) is Evidence.PROVED


def test_a_claim_cannot_be_changed_afterwards() -> None:
    claim = Claim("name", "statement", FAILS, Evidence.SAMPLED, "evidence")
    with pytest.raises(AttributeError):
        claim.outcome = HOLDS  # type: ignore[misc]  # frozen
