"""Any change of one place of an accepted certificate is rejected or refused, by both checkers.

The few that may be accepted, because they state something else that is as true, or the same, are listed with their
reasons in `mutation_statistics.may_be_accepted`; whether the printed statement changes is checked too. Here every
mutation of three small certificates is tried, and of most others one of every kind at every kind of place;
mutation_statistics.py tries them all.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from forging import canonical
from instances import INSTANCES
from make_corpus import HERE, RUNS
from mutation_statistics import OTHER, Mutation, Tally, candidates, first_verdict, may_be_accepted, mutations, read

from exactmha.certificates import checker

SMALL = ["exponential-zero-weight", "radical-fourth-root", "rational-by-hand"]
ALIKE = [
    *("exponential-bound-reached", "exponential-redrawn", "exponential-two-heads", "exponential-two-heads-3d"),
    *("radical-over-a-larger-field", "rational-no-heads", "rational-redrawn-ambiguous", "rational-two-heads-other-run"),
]
"""certificates that are like another one in most that matters here"""
OTHERS = sorted({path.stem for path in (HERE / "accept").glob("*.json")} - {*SMALL, *ALIKE})


def kind_of_place(mutation: Mutation) -> tuple[str, ...]:
    """Describe a place by the kind of its step and its keys, not by its numbers."""
    place = mutation.place
    step = [mutation.document["steps"][place[1]]["kind"]] if place[:1] == ("steps",) and len(place) > 1 else []
    return (mutation.kind, *step, *("*" if isinstance(part, int) else part for part in place))


def sample(name: str) -> list[Mutation]:
    """Return one mutation of every kind at every kind of place; which one depends on the name."""
    groups: dict[tuple[str, ...], list[Mutation]] = {}
    for mutation in candidates(read(name)):
        groups.setdefault(kind_of_place(mutation), []).append(mutation)
    chosen = []
    for group, members in groups.items():
        label = "/".join((name, *group)).encode()
        start = int.from_bytes(hashlib.sha256(label).digest()[:8], "big") % len(members)
        chosen += [m for m in members[start:] + members[:start] if m.changes_something][:1]
    return chosen


def assert_all_judged_rightly(name: str, chosen: list[Mutation], path: Path) -> None:
    verdict, statement = first_verdict(HERE / "accept" / f"{name}.json")
    assert verdict == "accept"
    tally = Tally()
    tally.judge(chosen, statement, path)
    assert tally.wrong == []


@pytest.mark.parametrize("name", SMALL)
def test_every_mutation_of_a_small_certificate(name: str, tmp_path: Path) -> None:
    assert_all_judged_rightly(name, list(mutations(read(name))), tmp_path / "mutated.json")


@pytest.mark.parametrize("name", OTHERS)
def test_one_mutation_of_every_kind_at_every_kind_of_place(name: str, tmp_path: Path) -> None:
    assert_all_judged_rightly(name, sample(name), tmp_path / "mutated.json")


def test_no_field_is_ignored() -> None:
    """Every value of a certificate with heads is changed by some mutation that may not be accepted, but three."""
    document = read("exponential-square-root")
    places = {mutation.place for mutation in mutations(document)}
    guarded = {
        mutation.place
        for mutation in mutations(document)
        if not may_be_accepted(mutation) and "type" not in mutation.kind
    }
    assert places - guarded == {("claim", "bound"), ("field", "radicand"), ("instance",)}
    assert ("steps", 2, "answers", 3, 1, 0) in guarded


@pytest.mark.parametrize("name", ["rational-two-heads", "radical-two-heads", "exponential-square-root"])
def test_changes_that_state_something_else_are_found_out_by_the_instance(name: str, tmp_path: Path) -> None:
    """With the instance at hand only `bound` is left of the changes that may be accepted."""
    instance = HERE / "instances" / f"{RUNS[name].instance}.json"
    path = tmp_path / "mutated.json"
    tried = 0
    for mutation in mutations(read(name)):
        if may_be_accepted(mutation) == (OTHER,):
            path.write_bytes(mutation.data)
            with pytest.raises((checker.Rejected, checker.Unreadable)):
                checker.check(str(path), str(instance))
            tried += 1
    assert tried >= 3


@pytest.mark.parametrize("name", ["exponential-two-heads", "exponential-bound-reached"])
def test_bound_is_held_against_a_claim(name: str, tmp_path: Path) -> None:
    document = read(name)
    claim = json.dumps({"bound": document["claim"]["bound"]})
    checker.check(str(HERE / "accept" / f"{name}.json"), claim=claim)
    document["claim"]["bound"] = not document["claim"]["bound"]
    path = tmp_path / "mutated.json"
    path.write_bytes(canonical(document))
    with pytest.raises(checker.Rejected, match="bound"):
        checker.check(str(path), claim=claim)


def test_the_hash_of_the_transcript_is_repaired(tmp_path: Path) -> None:
    """Nearly no mutation is rejected because of the hash alone."""
    path = tmp_path / "mutated.json"
    reasons: dict[str, list[Any]] = {}
    for mutation in sample("radical-three-halves"):
        path.write_bytes(mutation.data)
        verdict, said = first_verdict(path)
        if verdict == "reject":
            reasons.setdefault(said, []).append(mutation)
    assert {mutation.place for mutation in reasons["transcript"]} == {("transcript",)}
    assert {"interpolant", "readout", "heads", "order", "conditions", "claim"} <= set(reasons)


def test_the_instance_is_named_in_the_statement(tmp_path: Path) -> None:
    digest = hashlib.sha256(INSTANCES["rational-by-hand"]).hexdigest()
    path = HERE / "accept" / "rational-by-hand.json"
    assert digest in checker.check(str(path))
    other = tmp_path / "other.json"
    other.write_bytes(canonical({**read("rational-by-hand"), "instance": "0" * 64}))
    assert digest not in checker.check(str(other))
    assert "0" * 64 in checker.check(str(other))
