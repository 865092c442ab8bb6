"""Writing query-budget certificates (BUDGET.md)."""

from __future__ import annotations

import hashlib
from typing import Any

from exactmha.attention import Attention
from exactmha.budget import unbounded
from exactmha.budget.lab import Learned, Step
from exactmha.budgets import Budget
from exactmha.certificates.budget_checker import FORMAT
from exactmha.certificates.checker import Rejected, Unreadable
from exactmha.certificates.kinds import check_text
from exactmha.certificates.write import (
    CertificateRecorder,
    canonical_json,
    field_text,
    hexadecimal,
    scalar_text,
    value_text,
)
from exactmha.conditions import Grid
from exactmha.fields.model_field import ExactField
from exactmha.instance import to_text
from exactmha.oracle import Oracle
from exactmha.recover.learn import learn

KEYS = {
    "base": ("x",),
    "first": ("b", "u", "nodes"),
    "by-sum": ("b", "u", "first", "nodes"),
    "by-one-sum": ("b", "us", "first", "nodes", "counts"),
    "by-residues": ("b", "u", "nodes"),
    "by-final-tokens": ("b", "u", "first", "nodes"),
    "by-one-final": ("b", "u", "first", "nodes", "counts"),
    "separate": ("b", "u", "probes"),
    "isolate": ("b", "u", "probes"),
    "silence": ("b", "u", "head"),
    "pair": ("b", "u", "heads", "nodes"),
    "exchange": ("finals", "u", "counts"),
}
"""The members of each kind of step, in order."""


def certificate(learner: str, learned: Learned, field: ExactField, instance: bytes) -> str:
    """Return the certificate of a finished run; `instance` is the instance file, byte for byte."""
    digest = hashlib.sha256()
    for step in learned.steps:
        for query, answer in zip(step.queries, step.answers, strict=True):
            runs = [[_token(token), count] for token, count in query.runs]
            digest.update(canonical_json([runs, value_text(answer)]))
    document = {
        "format": FORMAT,
        "learner": learner,
        "claim": {"heads": len(learned.heads), "queries": learned.queries, "length": learned.max_length},
        "field": field_text(field),
        "dim": len(learned.heads[0].v),
        "instance": hashlib.sha256(instance).hexdigest(),
        "transcript": digest.hexdigest(),
        "heads": [
            {
                "W": [[[hexadecimal(x) for x in row] for row in matrix] for matrix in head.W],
                "v": [scalar_text(x) for x in head.v],
            }
            for head in learned.labelled_heads
        ],
        "steps": [_step(step) for step in learned.steps],
    }
    return canonical_json(document).decode()


def _step(step: Step) -> dict[str, Any]:
    members = {name: _member(name, step.data[name]) for name in KEYS[step.kind]}
    return {"kind": step.kind, **members, "answers": [value_text(answer) for answer in step.answers]}


def _member(name: str, value: Any) -> Any:
    if name in ("x", "b", "u", "first"):
        return _token(value)
    if name in ("probes", "us", "finals"):
        return [_token(w) for w in value]
    if name == "nodes":
        return [list(node) for node in value]
    return value


def _token(token: Any) -> list[str]:
    return [hexadecimal(x) for x in token]


def text_of(budget: Budget, seed: int, source: bytes | None = None, grid: Grid | None = None) -> str:
    """Return the certificate of a finished run of a learner that claims uniqueness; the paper's are run once more.

    That of `unbounded` is the paper's, with the number of heads it found: two of its queries are not in it.

    `source` is the instance file, byte for byte; by default what would be written for the model.
    """
    model, result = budget.model, budget.result
    instance = to_text(model).encode() if source is None else source
    if result is not None and result.learned is not None:
        return certificate(budget.learner.name, result.learned, model.field, instance)
    recorder = CertificateRecorder()
    oracle = Oracle(Attention(model), model.field, model.dim)
    if budget.learner.name == "unbounded":
        recovery = unbounded.learn(oracle, seed=seed, grid=grid, recorder=recorder).recovery
    else:
        recovery = learn(oracle, heads=budget.heads, seed=seed, grid=grid, recorder=recorder)
    return recorder.text(recovery, model.field, instance)


def verdict(text: str) -> str:
    """Return what the independent checker says of a certificate: `accepted`, or why not."""
    try:
        check_text(text)
    except (Rejected, Unreadable) as error:
        return f"refused: {error}"
    return "accepted"
