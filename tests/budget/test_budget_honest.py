"""The learners of `exactmha.budget` see answers only: sealed values, disjoint places, no look at the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from recover.test_honest_learner import LEARNER, Sealed, SealedOracle, fresh_oracle, watching

from exactmha.attention import Attention, Model
from exactmha.budget import adapted, grouped, isolation, orthogonal, residues, short, single_head, unbounded
from exactmha.budget.lab import Lab, Learned
from exactmha.budgets import in_orthogonal_subspaces
from exactmha.heads import Head
from exactmha.oracle import Oracle
from exactmha.random_instance import random_model
from exactmha.recover.separate import PLACES

FIELDS = ["exponential", "rational", "radical"]
ANY = {
    "residues": residues.learn,
    "isolation": isolation.learn,
    "adapted": adapted.learn,
    "grouped": grouped.learn,
    "short": short.learn,
}
Learn = Callable[[Lab], tuple[Head, ...]]


def test_the_import_graph_is_walked_for_all_learners() -> None:
    names = {
        "lab",
        "choose",
        "frame",
        "interpolate",
        "catalogue",
        "vector",
        "low_rank",
        *ANY,
        "orthogonal",
        "unbounded",
    }
    assert {f"exactmha.budget.{name}" for name in names} <= set(LEARNER)


def cases() -> list[tuple[str, Learn, Model, int]]:
    found = []
    for field in FIELDS:
        for name, learn in ANY.items():
            found.append((f"{name}-{field}", learn, random_model(2, 4, field, 1), 2))
        found.append((f"single-{field}", single_head.learn, random_model(1, 3, field, 1), 1))
        found.append((f"orthogonal-{field}", orthogonal.learn, in_orthogonal_subspaces(2, 3, field, 1), 2))
    return found


CASES = cases()


@pytest.mark.parametrize(("learn", "model", "heads"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_sealed_values_give_the_identical_result(learn: Learn, model: Model, heads: int) -> None:
    plain, hidden = fresh_oracle(model), fresh_oracle(model)
    found = Lab(plain, heads).run(learn)
    Sealed.refused.clear()
    sealed = Lab(SealedOracle(hidden), heads).run(learn)  # type: ignore[arg-type]  # sealed
    assert sealed.labelled_heads == found.labelled_heads
    assert found.heads == model.canonical().heads
    assert (hidden.queries, hidden.max_length) == (plain.queries, plain.max_length)
    assert [[x.runs for x in step.queries] for step in sealed.steps] == [
        [x.runs for x in step.queries] for step in found.steps
    ]
    assert not set(Sealed.refused)


def test_unbounded_needs_no_more_than_the_operations() -> None:
    model = random_model(2, 2, "exponential", 1)
    found = unbounded.learn(SealedOracle(fresh_oracle(model)))  # type: ignore[arg-type]  # sealed
    assert found.recovery.heads == model.heads


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", ANY)
def test_two_disjoint_lists_of_places_give_the_same_heads(field: str, name: str) -> None:
    model = random_model(2, 3, field, 5)
    first, second = ({model.field.place(start + i, 1).prime for i in range(PLACES)} for start in (0, 20))
    seen: list[set[int]] = []
    results: list[Learned] = []
    for start in (0, 20):
        used: set[int] = set()
        results.append(Lab(watching(fresh_oracle(model), used), 2, first_place=start).run(ANY[name]))
        seen.append(used)
    assert not first & second
    assert all(seen)
    assert seen[0] <= first
    assert seen[1] <= second
    assert results[0].heads == results[1].heads == model.heads
    assert results[0].queries == results[1].queries


def asked(learn: Learn, model: Model, heads: int) -> list[list[object]]:
    oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
    assert Lab(oracle, heads, seed=7).run(learn).heads == model.canonical().heads
    return [list(x) for x, _ in oracle.transcript or ()]


@pytest.mark.parametrize("learn", [residues.learn, single_head.learn, partial(orthogonal.learn, subspaces=None)])
def test_learners_without_adaption_ask_two_models_the_same(learn: Learn) -> None:
    heads = 1 if learn is not residues.learn else 2
    one, other = random_model(heads, 3, "exponential", 1), random_model(heads, 3, "exponential", 2)
    assert one.heads != other.heads
    assert asked(learn, one, heads) == asked(learn, other, heads)


@pytest.mark.parametrize("name", ANY)
def test_same_seed_gives_the_same_queries_and_another_seed_others(name: str) -> None:
    model = random_model(2, 3, "rational", 3)
    texts = [
        [[x.runs for x in step.queries] for step in Lab(fresh_oracle(model), 2, seed=seed).run(ANY[name]).steps]
        for seed in (4, 4, 5)
    ]
    assert texts[0] == texts[1] != texts[2]
