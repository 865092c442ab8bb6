"""`exactmha verify --learner NAME`: one of the other learners, held against the truth."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click
from rich.console import Console
from rich.text import Text

from exactmha.attention import Model
from exactmha.budget.catalogue import floor, learner
from exactmha.budget.conditions import RECORDS, Record
from exactmha.budgets import Budget, measure
from exactmha.certificates.budget import text_of, verdict
from exactmha.cli.certificate import write_certificate
from exactmha.cli.report import claim_json, claims_table, field_text, model_lines
from exactmha.cli.tables import plain_console, table
from exactmha.cli.tables import text_of as printed
from exactmha.conditions import Grid
from exactmha.errors import InputError
from exactmha.instance import head_text
from exactmha.limits import Limits
from exactmha.outcome import Claim, Evidence, Outcome, counted, exit_status

_SHOWN = 8


def verify_learner(
    name: str,
    model: Model,
    source: bytes,
    certificate: str | None,
    as_json: bool,
    *,
    grid: Grid | None,
    seed: int,
    limits: Limits,
) -> int:
    """Run a learner, print what it found and every claim about it, and write its certificate if it has one."""
    chosen = learner(name)
    if certificate is not None and not chosen.claims_uniqueness:
        raise InputError(f"{name} claims no uniqueness, so it has no certificate", field="--certificate")
    if not model.canonical().heads:
        raise InputError("has no canonical head, so there is nothing to learn", field="INSTANCE")
    budget = measure(chosen, model, seed=seed, grid=grid, limits=limits)
    claims = list(budget.claims())
    if chosen.claims_uniqueness and budget.is_exact:
        text = text_of(budget, seed, source, grid)
        claims.append(_uniqueness(budget, verdict(text)))
        if certificate is not None:
            write_certificate(text, certificate)
    elif certificate is not None:
        click.echo("nothing was recovered, so no certificate was written", err=True)
    click.echo(_as_json(budget, claims) if as_json else _as_text(budget, claims, seed), nl=False)
    return exit_status(claim.outcome for claim in claims)


def _uniqueness(budget: Budget, said: str) -> Claim:
    queries = budget.result.queries if budget.result else 0
    heads, answers = counted(budget.heads, "canonical head"), counted(queries, "answer")
    statement = f"no other model with at most {heads} gives {'this' if queries == 1 else 'these'} {answers}"
    outcome = Outcome.HOLDS if said == "accepted" else Outcome.UNDECIDED
    evidence = f"the certificate is {said} by the independent checker; proofs/budget-uniqueness"
    return Claim("uniqueness", statement, outcome, Evidence.CERTIFIED, evidence)


def _as_json(budget: Budget, claims: list[Claim]) -> str:
    result, field = budget.result, budget.model.field
    document = {
        "learner": budget.learner.name,
        "field": field.name,
        "dim": budget.dim,
        "heads": budget.heads,
        "floor": floor(budget.heads, budget.dim),
        "queries": result.queries if result else None,
        "queries_total": budget.asked,
        "expected_queries": budget.expected,
        "max_length": budget.max_length,
        "fallbacks": list(result.fallbacks) if result else [],
        "redraws": list(result.learned.redraws) if result and result.learned else [],
        "claims": [claim_json(claim) for claim in claims],
        "recovered": [head_text(head, field) for head in result.heads] if result else None,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _as_text(budget: Budget, claims: list[Claim], seed: int) -> str:
    console, chosen = plain_console(), budget.learner
    console.print(f"Learner      {chosen.name} ({chosen.origin}); it assumes: {chosen.assumption}", soft_wrap=True)
    console.print(f"Instance     H = {counted(budget.heads, 'canonical head')}, d = {budget.dim}; seed {seed}")
    console.print(f"Field        {field_text(budget.model.field)}", soft_wrap=True)
    console.print(f"Floor        H(d² + d) = {floor(budget.heads, budget.dim)} unknowns")
    console.print()
    _print_conditions(budget, console)
    _print_stages(budget, console)
    console.print(claims_table(claims))
    if budget.result is not None and budget.dim <= 4 and budget.heads <= 6:
        console.print()
        console.print(f"Recovered    {counted(len(budget.result.heads), 'head')}")
        for line in model_lines(Model(budget.model.field, budget.dim, budget.result.heads)):
            console.print(line, soft_wrap=True)
    return printed(console)


def _print_conditions(budget: Budget, console: Console) -> None:
    records = RECORDS.get(budget.learner.name, ())
    if budget.result is None or not records:
        return
    learned = budget.result.learned
    rows = table("Condition", "statement", "count", "outcome", "otherwise", right=(2,))
    for record in records:
        count, name = record.count(budget.heads, budget.dim), f"{record.name} {record.title}"
        outcome = _outcome(record, count, budget.result.fallbacks)
        rows.add_row(name, Text(record.statement), str(count), outcome, record.otherwise)
    console.print(rows)
    noted = [*budget.result.fallbacks, *(f"drawn again: {text}" for text in (learned.redraws if learned else ()))]
    for text in noted[:_SHOWN]:
        console.print(f"  {text}", soft_wrap=True)
    if len(noted) > _SHOWN:
        console.print(f"  … and {len(noted) - _SHOWN} more (--json lists all)")
    console.print()


def _outcome(record: Record, count: int, fallbacks: Sequence[str]) -> str:
    """Say whether a condition held: where it did not, the run noted it and asked something else."""
    failed = sum(text.startswith(f"{record.name} ") for text in fallbacks)
    if failed:
        return f"failed in {counted(failed, 'place')}"
    if not count:
        return "–"
    return "held where asked" if fallbacks else "held"


def _print_stages(budget: Budget, console: Console) -> None:
    if budget.result is None or budget.result.learned is None:
        return
    used: dict[str, int] = {}
    for step in budget.result.learned.steps:
        used[step.stage] = used.get(step.stage, 0) + len(step.answers)
    rows = table("Queries by stage", "used", right=(1,))
    for stage, queries in used.items():
        rows.add_row(Text(stage), str(queries))
    rows.add_row("total", str(sum(used.values())))
    console.print(rows)
    console.print()
