"""Certificates of the budget learners: accepted for every learner, refused after every change, forgeries by name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.budget import adapted, grouped, isolation, residues, short, single_head
from exactmha.budget.catalogue import CATALOGUE
from exactmha.budget.lab import Lab, Learned, Step
from exactmha.budgets import measure
from exactmha.certificates import budget_checker, checker
from exactmha.certificates.budget import KEYS, certificate, text_of, verdict
from exactmha.heads import Head
from exactmha.instance import from_dict, to_text
from exactmha.oracle import Oracle
from exactmha.random_instance import random_model
from exactmha.sequences import TokenSequence

FIELDS = ["exponential", "rational", "radical"]
LEARNERS = {
    "single-head": single_head.learn,
    "residues": residues.learn,
    "isolation": isolation.learn,
    "adapted": adapted.learn,
    "grouped": grouped.learn,
    "short": short.learn,
}


def learned(model: Model, learn: Callable[[Lab], tuple[Head, ...]]) -> Learned:
    oracle = Oracle(Attention(model), model.field, model.dim)
    return Lab(oracle, len(model.canonical().heads)).run(learn)


def text(model: Model, found: Learned, name: str = "test") -> str:
    return certificate(name, found, model.field, to_text(model).encode())


def reason(model: Model, found: Learned) -> str:
    """The reason for which a certificate is rejected."""
    data = text(model, found).encode()
    document = checker.parse_json(data, "c")
    with pytest.raises(checker.Rejected) as caught:
        budget_checker.BudgetChecker(document, data, "c").check()
    return caught.value.reason


# --- accepted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 5), (3, 3), (3, 2)])
def test_accepted(field: str, name: str, heads: int, dim: int) -> None:
    if name == "single-head" and heads > 1:
        pytest.skip("one head only")
    model = random_model(heads, dim, field, 11)
    assert verdict(text(model, learned(model, LEARNERS[name]))) == "accepted"


def test_every_learner_that_claims_uniqueness_is_accepted() -> None:
    model = random_model(1, 2, "exponential", 1)
    claiming = [learner for learner in CATALOGUE if learner.claims_uniqueness]
    assert {learner.name for learner in claiming} == {"paper", "unbounded", *LEARNERS}
    for learner in claiming:
        assert verdict(text_of(measure(learner, model), 0)) == "accepted"


def test_all_kinds_of_steps_occur() -> None:
    """Those for tied residues too, which random readouts do not show."""
    seen = set()
    tied = tied_model()
    for model, learn in [
        (random_model(2, 5, "exponential", 1), isolation.learn),
        (random_model(3, 2, "exponential", 1), adapted.learn),
        (random_model(2, 3, "exponential", 1), adapted.learn),
        (tied, residues.learn),
        (tied, adapted.learn),
    ]:
        found = learned(model, learn)
        assert verdict(text(model, found)) == "accepted"
        seen |= {step.kind for step in found.steps}
    assert seen == set(KEYS)
    assert {kind: names for kind, (names, _) in blank_checker().rules.items()} == KEYS


def tied_model() -> Model:
    """v_1 = v_2."""
    heads = [{"W": [["1", "0"], ["2", "3"]], "v": ["1", "2"]}, {"W": [["0", "4"], ["1", "1"]], "v": ["1", "2"]}]
    return from_dict({"format": "exactmha/instance/1", "field": "exponential", "dim": 2, "heads": heads})


def blank_checker() -> budget_checker.BudgetChecker:
    model = random_model(1, 1, "exponential", 1)
    data = text(model, learned(model, single_head.learn)).encode()
    return budget_checker.BudgetChecker(checker.parse_json(data, "c"), data, "c")


def test_alone_with_the_instance_and_a_claim(tmp_path: Path) -> None:
    model = random_model(2, 3, "rational", 2)
    found = learned(model, adapted.learn)
    (tmp_path / "c.json").write_text(text(model, found))
    (tmp_path / "i.json").write_text(to_text(model))
    script = [sys.executable, "-I", "-S", str(budget_checker.__file__), str(tmp_path / "c.json")]

    def check(*more: str) -> tuple[int, str]:
        done = subprocess.run([*script, *more], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    claim = {"heads": 2, "queries": 28, "dim": 3, "learner": "test", "field": "rational"}
    status, said = check("--instance", str(tmp_path / "i.json"), "--claim", json.dumps(claim))
    assert status == 0
    assert "exactly one gives these 28 answers" in said
    assert "these are the answers of this instance" in said
    assert check("--claim", '{"queries": 24}')[0] == 1
    (tmp_path / "i.json").write_text(to_text(random_model(2, 3, "rational", 3)))
    status, said = check("--instance", str(tmp_path / "i.json"))
    assert (status, "instance" in said) == (1, True)


# --- every single change is refused --------------------------------------------------------------------------


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from leaves(each, (*path, key))
    else:
        yield path


def changed(document: Any, path: tuple[Any, ...]) -> Any:
    copy = json.loads(json.dumps(document))
    place = copy
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    if isinstance(old, int):
        place[path[-1]] = old + 1
    elif path[-1] == "kind":
        place[path[-1]] = "base" if old != "base" else "first"
    else:
        top, slash, bottom = old.partition("/")
        place[path[-1]] = f"{int(top, 16) + (int(bottom, 16) if slash else 1):x}{slash}{bottom}"
    return copy


@pytest.mark.parametrize(
    ("name", "heads", "dim", "field"),
    [
        ("residues", 2, 2, "rational"),
        ("isolation", 1, 3, "exponential"),
        ("adapted", 2, 3, "exponential"),
        ("adapted", 2, 2, "radical"),
        ("short", 2, 2, "rational"),
        ("grouped", 2, 3, "rational"),
    ],
)
def test_every_number_matters(name: str, heads: int, dim: int, field: str) -> None:
    """Change any one number, written canonically: not accepted.

    But for `learner` and `instance`, which prove nothing, and the radicand n: W·√2 with the same answers in e^(√2/N)
    is a true statement about another field, and the statement printed names the field.
    """
    model = random_model(heads, dim, field, 1)
    document = json.loads(text(model, learned(model, LEARNERS[name])))
    tried = 0
    for path in leaves(document):
        if path[0] in ("format", "learner", "instance") or path in (("field", "name"), ("field", "radicand")):
            continue
        data = checker.canonical_json(changed(document, path)).decode()
        assert verdict(data) != "accepted", path
        tried += 1
    assert tried > 100


def test_learner_and_instance_prove_nothing_and_say_so() -> None:
    model = random_model(1, 1, "exponential", 1)
    document = json.loads(text(model, learned(model, single_head.learn)))
    document["learner"] = "other"
    assert verdict(checker.canonical_json(document).decode()) == "accepted"


# --- forgeries with answers, counts and digest as they should be ---------------------------------------------


def with_steps(found: Learned, steps: list[Step]) -> Learned:
    return replace(found, steps=tuple(steps))


def position(found: Learned, kind: str) -> int:
    return next(i for i, step in enumerate(found.steps) if step.kind == kind)


def test_a_missing_step_leaves_something_unknown() -> None:
    model = random_model(3, 3, "exponential", 1)
    found = learned(model, adapted.learn)
    for i, step in enumerate(found.steps):
        rest = [*found.steps[:i], *found.steps[i + 1 :]]
        if step.kind == "base":
            assert reason(model, with_steps(found, rest)) == "unknown"
        else:
            assert reason(model, with_steps(found, rest)) in ("incomplete", "unknown", "nodes")


def test_tied_residues_do_not_match() -> None:
    model = tied_model()
    found = learned(model, residues.learn)
    i = position(found, "by-final-tokens")
    step = found.steps[i]
    forged = replace(step, kind="by-residues", queries=step.queries[:4], answers=step.answers[:4])
    assert reason(model, with_steps(found, [*found.steps[:i], forged, *found.steps[i + 1 :]])) == "tied"


def test_a_sample_too_few() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, residues.learn)
    i = position(found, "first")
    step = found.steps[i]
    short_step = replace(
        step, data={**step.data, "nodes": step.data["nodes"][:3]}, queries=step.queries[:3], answers=step.answers[:3]
    )
    assert reason(model, with_steps(found, [*found.steps[:i], short_step, *found.steps[i + 1 :]])) == "nodes"


def test_the_same_node_twice() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, residues.learn)
    i = position(found, "first")
    step = found.steps[i]
    nodes = [*step.data["nodes"][:3], step.data["nodes"][0]]
    twice = replace(
        step,
        data={**step.data, "nodes": nodes},
        queries=(*step.queries[:3], step.queries[0]),
        answers=(*step.answers[:3], step.answers[0]),
    )
    assert reason(model, with_steps(found, [*found.steps[:i], twice, *found.steps[i + 1 :]])) == "nodes"


def test_two_heads_are_not_silent() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, adapted.learn)
    i = position(found, "pair")
    step = found.steps[i]
    forged = replace(
        step, kind="silence", data={**step.data, "head": 0}, queries=step.queries[:1], answers=step.answers[:1]
    )
    assert reason(model, with_steps(found, [*found.steps[:i], forged, *found.steps[i + 1 :]])) == "silence"


def test_a_symmetric_query_settles_no_exchange() -> None:
    """n_1 + n_2 has the same answer whichever of its two poles is whose."""
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, adapted.learn)
    i, pair = position(found, "exchange"), found.steps[position(found, "pair")]
    forged = replace(
        found.steps[i],
        data={**found.steps[i].data, "u": pair.data["u"]},
        queries=pair.queries[:1],
        answers=pair.answers[:1],
    )
    assert reason(model, with_steps(found, [*found.steps[:i], forged, *found.steps[i + 1 :]])) == "ambiguous"


@pytest.mark.parametrize("factor", [0, 2])
def test_another_probe_does_not_isolate(factor: int) -> None:
    model = random_model(2, 5, "exponential", 1)
    found = learned(model, isolation.learn)
    i = position(found, "isolate")
    step = found.steps[i]
    b, u = step.data["b"], step.data["u"]
    probes = [tuple(factor * x for x in w) for w in step.data["probes"]]
    queries = [
        TokenSequence([(tuple(x + y for x, y in zip(b, z, strict=True)), 1) for z in (u, w)] + [(tuple(b), 1)])
        for w in probes
    ]
    answers = tuple(Attention(model)(query) for query in queries)
    forged = replace(step, data={**step.data, "probes": probes}, queries=tuple(queries), answers=answers)
    assert reason(model, with_steps(found, [*found.steps[:i], forged, *found.steps[i + 1 :]])) == "probe"


def test_heads_are_numbered_once() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, residues.learn)
    i = position(found, "first")
    assert reason(model, with_steps(found, [*found.steps, found.steps[i]])) == "order"


def test_answers_of_another_model() -> None:
    model, other = random_model(2, 2, "exponential", 1), random_model(2, 2, "exponential", 2)
    found = learned(model, residues.learn)
    assert reason(model, replace(found, labelled_heads=learned(other, residues.learn).labelled_heads)) == "answer"


def test_equal_heads_are_no_canonical_ones() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, residues.learn)
    first, second = found.labelled_heads
    assert reason(model, replace(found, labelled_heads=(first, Head(first.W, second.v)))) == "canonical"


# --- forgeries built from nothing: steps whose answers are true, but whose premises are not -------------------------


def truly(model: Model, kind: str, queries: list[list[tuple[Any, int]]], **data: Any) -> Step:
    """A step with the model's own answers to queries given as runs."""
    asked = tuple(TokenSequence([(tuple(token), count) for token, count in runs]) for runs in queries)
    layer = Attention(model)
    return Step(kind, "forged", data, asked, tuple(layer(query) for query in asked))


def plus(*vectors: Any) -> tuple[Any, ...]:
    return tuple(map(sum, zip(*vectors, strict=True)))


def sampled(b: Any, u: Any, count: int) -> list[list[tuple[Any, int]]]:
    return [[(plus(b, u), k), (b, 1)] for k in range(1, count + 1)]


def base(model: Model, b: Any) -> Step:
    return truly(model, "base", [[(b, 1)]], x=b)


def first(model: Model, b: Any, u: Any) -> Step:
    count = 2 * len(model.heads)
    return truly(model, "first", sampled(b, u, count), b=b, u=u, nodes=[(k, 0) for k in range(1, count + 1)])


def forged(model: Model, *steps: Step) -> str:
    heads = Learned(model.canonical().heads, tuple(steps), (), 0, (), ())
    return reason(model, heads)


def integers(W: list[list[list[int]]], v: list[list[int]], field: str = "exponential") -> Model:
    unit = "" if field == "exponential" else "*log(2)"
    heads = [
        {"W": [[f"{x}{unit}" for x in row] for row in w], "v": [str(x) for x in y]} for w, y in zip(W, v, strict=True)
    ]
    return from_dict({"format": "exactmha/instance/1", "field": field, "dim": len(v[0]), "heads": heads})


E1, E2 = (1, 0), (0, 1)
TWO = ([[[1, 2], [0, 1]], [[1, 5], [3, 0]]], [[1, 0], [1, 1]])


def test_a_pole_that_two_heads_share() -> None:
    model = integers(*TWO)  # e_1^T W e_1 = 1 for both
    assert forged(model, base(model, E1), first(model, E1, E1)) == "equal-poles"


def test_a_head_that_is_not_seen() -> None:
    model = integers(*TWO)  # v_1·e_2 = 0
    assert forged(model, base(model, E1), first(model, E1, E2)) == "zero-residue"


def test_half_a_token_leaves_the_field() -> None:
    model = integers(*TWO, field="rational")
    half = (fmpq(1, 2), fmpq(1, 2))
    nodes = [(k, 0) for k in range(1, 5)]
    step = Step("first", "forged", {"b": E1, "u": half, "nodes": nodes}, (), ())
    assert forged(model, base(model, E1), step) == "field"


def test_a_displacement_whose_residues_are_not_known() -> None:
    model = integers(*TWO)
    u = (1, 1)
    alone = truly(model, "silence", sampled(E1, E2, 1), b=E1, u=E2, head=1)
    assert forged(model, base(model, E1), first(model, E1, u), alone) == "unknown"


def test_a_row_of_which_nothing_is_known() -> None:
    model = integers(*TWO)
    u, total = (1, 1), (3, 2)
    nodes = [(k, 0) for k in range(1, 5)]
    step = truly(
        model, "by-sum", [*sampled(E2, (2, 1), 4), *sampled(E2, total, 4)], b=E2, u=(2, 1), first=u, nodes=nodes
    )
    assert forged(model, base(model, E1), base(model, E2), first(model, E1, u), step) == "unknown"


def test_two_products_in_the_sum_profile() -> None:
    """Exponents 0, 1, 2 at u_1 and 0, 5, 3 at u_2: r_1 r'_2 = r_3 r'_3."""
    W = [[[0, 0], [0, 0]], [[1, 5], [0, 0]], [[2, 3], [0, 0]]]
    model = integers(W, [[1, 1], [1, 2], [1, 3]])
    nodes = [(k, 0) for k in range(1, 7)]
    step = truly(model, "by-sum", [*sampled(E1, E2, 6), *sampled(E1, (1, 1), 6)], b=E1, u=E2, first=E1, nodes=nodes)
    assert forged(model, base(model, E1), first(model, E1, E1), step) == "ambiguous"


def test_a_probe_of_another_weight() -> None:
    """One head: every w with v·w ≠ 2v·u leaves it alone, but its weight is not 1."""
    model = integers([[[1, 2], [3, 5]]], [[1, 1]])
    steps = [base(model, E1), base(model, E2), first(model, E1, E1)]  # v is known, and e_1^T W e_1 = 1
    step = Step("isolate", "forged", {"b": E1, "u": E2, "probes": [E1]}, (), ())
    assert forged(model, *steps, step) == "probe"


def test_probes_of_the_wrong_heads_do_not_separate() -> None:
    model = random_model(2, 5, "exponential", 1)
    found = learned(model, isolation.learn)
    i = position(found, "separate")
    step = found.steps[i]
    queries, answers = list(step.queries), list(step.answers)
    queries[1:3], answers[1:3] = queries[2:0:-1], answers[2:0:-1]
    swapped = replace(
        step,
        data={**step.data, "probes": step.data["probes"][::-1]},
        queries=tuple(queries),
        answers=tuple(answers),
    )
    assert reason(model, with_steps(found, [*found.steps[:i], swapped, *found.steps[i + 1 :]])) == "probe"


def test_equal_poles_are_not_separated() -> None:
    model = random_model(2, 5, "exponential", 1)
    found = learned(model, isolation.learn)
    i = position(found, "separate")
    step, heads = found.steps[i], found.labelled_heads
    b, probes = step.data["b"], step.data["probes"]
    row = [
        sum((x * (p - q) for x, p, q in zip(b, left, right, strict=True)), fmpq(0))
        for left, right in zip(zip(*heads[0].W[0], strict=True), zip(*heads[1].W[0], strict=True), strict=True)
    ]
    scale = 36 * model.field.denominator
    u = (int((row[1] * scale).p), -int((row[0] * scale).p), 0, 0, 0)
    assert row[0] * u[0] + row[1] * u[1] == 0
    runs = [[(plus(b, u), 1), (plus(b, w), 1), (b, 1)] for w in [(0,) * 5, *probes]]
    forged_step = truly(model, "separate", [*runs, *sampled(b, u, 1)], b=b, u=u, probes=probes)
    assert reason(model, with_steps(found, [*found.steps[:i], forged_step])) == "equal-poles"


def test_one_head_is_no_pair() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, adapted.learn)
    i = position(found, "silence")
    step = found.steps[i]
    b, u = step.data["b"], step.data["u"]
    pair = truly(model, "pair", sampled(b, u, 2), b=b, u=u, heads=[0, 1], nodes=[(1, 0), (2, 0)])
    assert reason(model, with_steps(found, [*found.steps[:i], pair])) == "pair"


def test_one_sample_is_not_enough_for_a_pair() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, adapted.learn)
    i = position(found, "pair")
    step = found.steps[i]
    one = replace(step, data={**step.data, "nodes": [(1, 0)]}, queries=step.queries[:1], answers=step.answers[:1])
    assert reason(model, with_steps(found, [*found.steps[:i], one])) == "pair"


@pytest.mark.parametrize("more", [1, -1])
def test_as_many_answers_as_queries(more: int) -> None:
    model = random_model(1, 1, "exponential", 1)
    document = json.loads(text(model, learned(model, single_head.learn)))
    answers = document["steps"][0]["answers"]
    document["steps"][0]["answers"] = answers * 2 if more > 0 else []
    said = verdict(checker.canonical_json(document).decode())
    assert "answers than queries" in said


def test_a_system_that_is_singular_for_a_pair_is_refused() -> None:
    """The two nodes must differ: with one node twice the matrix of the two poles has equal rows."""
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, adapted.learn)
    i = position(found, "pair")
    step = found.steps[i]
    twice = replace(
        step, data={**step.data, "nodes": [(1, 0), (1, 0)]}, queries=step.queries[:1] * 2, answers=step.answers[:1] * 2
    )
    assert reason(model, with_steps(found, [*found.steps[:i], twice])) == "pair"


# --- files that would take for ever ---------------------------------------------------------------------------------


def with_many_displacements(times: int) -> budget_checker.BudgetChecker:
    """A certificate for two heads whose sum query is to settle `times` matchings, all of the same displacement."""
    model = random_model(2, 3, "exponential", 0)
    found = learned(model, grouped.learn)
    i = position(found, "by-one-sum")
    step = found.steps[i]
    b, u, first, nodes = (step.data[name] for name in ("b", "us", "first", "nodes"))
    total = plus(first, *[u[0]] * times)
    queries = [[(plus(b, u[0]), k), (b, 1)] for k, _ in nodes] * times + sampled(b, total, 1)
    many = truly(model, "by-one-sum", queries, b=b, us=[u[0]] * times, first=first, nodes=nodes, counts=[1])
    data = text(model, with_steps(found, [*found.steps[:i], many])).encode()
    return budget_checker.BudgetChecker(checker.parse_json(data, "c"), data, "c")


@pytest.mark.parametrize("times", [18, 40, 64])
def test_too_many_matchings_are_refused_before_any_is_built(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """2^times options: 2^40 would fill the memory and never end."""
    checking = with_many_displacements(times)
    monkeypatch.setattr(budget_checker, "choices", lambda *_, **__: pytest.fail("choices were built"))
    with pytest.raises(checker.Unreadable, match="matchings"):
        checking.check()


def test_building_candidates_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^10 candidates are few, but a file of many such steps must end too."""
    checking = with_many_displacements(10)
    with pytest.raises(checker.Rejected, match="not determined"):
        checking.check()
    cheap = with_many_displacements(2)
    with pytest.raises(checker.Rejected, match="not determined"):
        cheap.check()
    assert checking.meter.spent - cheap.meter.spent > 2**10 * 2 * 10
    monkeypatch.setattr(checker, "MOST_WORK", checking.meter.spent - 1)
    with pytest.raises(checker.Unreadable, match="steps of work"):
        with_many_displacements(10).check()


def test_exchanges_are_counted_before_they_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """18 pairs of one row are 2^18 exchanges."""
    model = random_model(2, 2, "exponential", 1)
    found = learned(model, adapted.learn)
    i = position(found, "exchange")
    rows = [step for step in found.steps[:i] if step.kind == "pair"]
    data = text(model, with_steps(found, [*found.steps[:i], *rows * 17, found.steps[i]])).encode()
    checking = budget_checker.BudgetChecker(checker.parse_json(data, "c"), data, "c")
    monkeypatch.setattr(checking, "_exchanges", lambda *_: pytest.fail("exchanges were built"))
    with pytest.raises(checker.Unreadable, match="candidates"):
        checking.check()
