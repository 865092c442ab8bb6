"""The Transformer's learner sees answers, never the model: by its imports and by the values it may touch."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest
from recover.test_honest_learner import FORBIDDEN, Sealed, SealedOracle, reachable, watching

from exactmha.oracle import Oracle
from exactmha.recover.separate import PLACES
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.learn import learn_transformer
from exactmha.transformer.model import Transformer
from exactmha.transformer.random_transformer import random_transformer

LEARNER = [
    f"exactmha.transformer.{name}"
    for name in ("learn", "symmetry", "lift", "breakpoints", "cells", "hidden", "neurons", "form", "conditions")
]
MODEL = FORBIDDEN | {
    f"exactmha.transformer.{name}"
    for name in (
        "model",
        "evaluate",
        "instance",
        "verification",
        "random_transformer",
        "realise",
        "equivalence",
        "sign",
    )
}
FIELDS = ["exponential", "rational", "radical"]


@pytest.mark.parametrize("module", LEARNER)
def test_no_import_leads_from_the_learner_to_the_model(module: str) -> None:
    assert not reachable([module]) & MODEL


def test_the_walk_does_find_the_model_where_it_is_imported() -> None:
    assert reachable(["exactmha.transformer.verification"]) >= {"exactmha.transformer.model", "exactmha.attention"}


def test_importing_the_learner_loads_no_model() -> None:
    program = f"import sys, {', '.join(LEARNER)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(LEARNER) <= set(done.stdout.split())
    assert not set(done.stdout.split()) & MODEL


def oracle_of(model: Transformer) -> Oracle:
    return Oracle(TransformerAnswer(model), model.field, model.dim, keep_transcript=True)


def pairs_only(model: Transformer) -> Transformer:
    w = (*model.w, *(tuple(-x for x in row) for row in model.w))
    return Transformer(model.field, model.dim, model.W, model.O, w, (*model.a, *model.a))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("hidden", [False, True])
def test_sealed_values_give_the_identical_recovery(field: str, hidden: bool) -> None:
    model = random_transformer(2, 2, 2, 2, field, 1)
    model = pairs_only(model) if hidden else model
    told = {"heads": 2, "lines": len(model.canonical().lines)}
    plain, sealed = oracle_of(model), oracle_of(model)
    Sealed.refused.clear()
    one = learn_transformer(plain, **told)
    other = learn_transformer(SealedOracle(sealed), **told)  # type: ignore[arg-type]  # sealed
    assert one.form == other.form == model.canonical()
    assert (one.ledger, one.retries) == (other.ledger, other.retries)
    assert [list(x) for x, _ in plain.transcript or ()] == [list(x) for x, _ in sealed.transcript or ()]
    assert set(Sealed.refused) <= {"SealedField.profile_values"}


@pytest.mark.parametrize("field", FIELDS)
def test_two_disjoint_lists_of_places_give_the_same_form(field: str) -> None:
    model = random_transformer(2, 2, 2, 2, field, 2)
    lists = [{model.field.place(start + i, 1).prime for i in range(PLACES)} for start in (0, 20)]
    forms: list[Any] = []
    for start, allowed in zip((0, 20), lists, strict=True):
        used: set[int] = set()
        oracle = watching(oracle_of(model), used)
        forms.append(learn_transformer(oracle, heads=2, lines=len(model.canonical().lines), first_place=start).form)
        assert used
        assert used <= allowed
    assert not lists[0] & lists[1]
    assert all(a == b for a, b in pairwise([*forms, model.canonical()]))
