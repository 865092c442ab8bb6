"""What a person reads, and what a machine reads, about a verification."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from flint import fmpz
from rich.console import Console
from rich.table import Table
from rich.text import Text

from exactmha.attention import Model
from exactmha.cli.tables import plain_console, table, text_of
from exactmha.fields import ExactField, ExponentialField, RadicalField
from exactmha.heads import Canonical
from exactmha.instance import head_text
from exactmha.outcome import Claim, Outcome, counted
from exactmha.sequences import Token, TokenSequence
from exactmha.verification import Verification, bound_text

_SHOWN_DIM = 4
_SHOWN_HEADS = 6
_SHOWN_REDRAWS = 12
_SHOWN_CHARS = 60
_SHOWN_BITS = 128
MARK = {Outcome.HOLDS: "holds", Outcome.FAILS: "FAILS", Outcome.UNDECIDED: "undecided"}


def as_json(result: Verification) -> str:
    """Return one JSON object with every number of the report; exact values in the instance grammar."""
    recovery = result.recovery
    document: dict[str, Any] = {
        "field": result.model.field.name,
        "dim": result.model.dim,
        "heads": len(result.canonical.heads),
        "heads_told": result.told,
        "heads_told_is_bound": result.is_bound,
        "seed": result.seed,
        "grid": {"b_values": result.grid.b_values, "u_values": result.grid.u_values},
        "queries": recovery.queries if recovery else None,
        "queries_total": result.oracle_queries,
        "expected_queries": result.expected_queries,
        "max_length": result.oracle_max_length,
        "expected_max_length": result.expected_max_length,
        "bad_draws": len(result.diagnoses),
        "bad_draw_details": [
            {
                "token": redraw.token,
                "conditions": list(redraw.conditions),
                "profile": redraw.profile,
                "witness": redraw.witness,
                "diagnosis": reason,
                "queries": redraw.queries,
            }
            for redraw, reason in result.diagnoses
        ],
        "failure_bound": str(result.failure_bound),
        "images_per_answer": recovery.images_per_answer if recovery else None,
        "merged": [list(group) for group in result.canonical.groups if len(group) > 1],
        "discarded": [list(group) for group in result.canonical.discarded],
        "conditions": [
            {
                "name": row.name,
                "title": row.title,
                "statement": row.statement,
                "count": row.count,
                "checked": row.checked,
                "bound": str(row.bound),
                "outcome": row.outcome.value,
            }
            for row in result.conditions
        ],
        "ledger": [{"stage": row.stage, "expected": row.expected, "used": row.used} for row in result.ledger],
        "claims": [claim_json(claim) for claim in result.claims],
        "recovered": [head_text(head, result.model.field) for head in recovery.heads] if recovery else None,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def claim_json(claim: Claim) -> dict[str, str]:
    """Return a claim for machines."""
    return {
        "name": claim.name,
        "statement": claim.statement,
        "outcome": claim.outcome.value,
        "evidence_level": claim.level.label,
        "evidence": claim.evidence,
    }


def as_text(result: Verification) -> str:
    """Return the report as plain text, the same bytes on every machine."""
    console = plain_console()
    for part in (_instance, _transcript, _conditions, _ledger, _redraws, _claims, _heads):
        part(result, console)
    return text_of(console)


def explain_canonical(found: Canonical) -> str:
    """Say in one sentence which heads were merged and which discarded."""
    merged = [group for group in found.groups if len(group) > 1]
    parts = [f"heads {_listed(group)} have equal W and are merged" for group in merged]
    parts += [f"heads {_listed(group)} sum to v = 0 and are discarded" for group in found.discarded]
    return "Canonical form: " + "; ".join(parts) + f"; {len(found.heads)} remain."


def _listed(group: tuple[int, ...]) -> str:
    return ", ".join(str(position + 1) for position in group)


def field_text(field: ExactField) -> str:
    """Describe an exact field in one line."""
    if isinstance(field, ExponentialField):
        unit = "1" if field.radicand == 1 else f"sqrt({field.radicand})"
        over = "" if field.denominator == 1 else f"/{_short(str(fmpz(field.denominator)))}"
        return f"exponential: K = Q(t), t = exp({unit}{over}), transcendental by Lindemann–Weierstrass"
    if isinstance(field, RadicalField):
        return f"radical: K = Q({field.beta}^(1/{field.denominator})), degree {field.degree}"
    base = getattr(field, "base", ())
    return f"rational: K = Q, W in logarithms of {', '.join(_short(str(fmpz(b))) for b in base) or 'nothing (W = 0)'}"


def _instance(result: Verification, console: Console) -> None:
    heads, told = len(result.canonical.heads), result.told
    known = f"the learner is told only H ≤ {told}" if result.is_bound else "the learner is told H"
    console.print(f"Instance     H = {counted(heads, 'canonical head')}, d = {result.model.dim}; {known}")
    console.print(f"Field        {field_text(result.model.field)}", soft_wrap=True)
    if result.canonical.is_changed:
        console.print(explain_canonical(result.canonical), soft_wrap=True)
    if not heads:
        console.print("No head remains: this is the zero function.")
    grid, bound = result.grid, result.failure_bound
    strength = f"≤ {bound_text(bound)}" if bound < 1 else "bound above 1, vacuous: rests on the conditions as checked"
    console.print(
        f"Design       seed {result.seed}; b from {_size(grid.b_values)} and u from {_size(grid.u_values)} "
        "values a coordinate"
    )
    console.print(f"Bad design   probability {strength}")
    if result.recovery:
        most, precision = result.recovery.images_per_answer, result.recovery.precision
        console.print(f"Images       at most {most} per answer, modulo p^k, k ≤ {precision}")
    console.print()


def _transcript(result: Verification, console: Console) -> None:
    if not result.transcript:
        return
    rows = table("Query X (the last token is x_n)", "answer f(X)")
    for sequence, answer in result.transcript:
        tokens = ", ".join(_token_text(token) for token in sequence)
        rows.add_row(Text(_short(tokens)), Text(_short(str(answer))))
    console.print(rows)
    console.print()


def _token_text(token: Token) -> str:
    return str(token[0]) if len(token) == 1 else f"({', '.join(map(str, token))})"


def _conditions(result: Verification, console: Console) -> None:
    rows = table("Condition", "statement", "count", "checked", "bound", "outcome", right=(2, 3))
    for row in result.conditions:
        bound = bound_text(row.bound)
        title = Text(f"{row.name} {row.title}")
        rows.add_row(title, Text(row.statement), str(row.count), str(row.checked), bound, MARK[row.outcome])
    console.print(rows)
    console.print()


def _ledger(result: Verification, console: Console) -> None:
    rows = table("Queries by stage", "formula", "used", right=(1, 2))
    for row in result.ledger:
        rows.add_row(Text(row.stage), str(row.expected), str(row.used))
    name = "H_0" if result.is_bound else "H"
    rows.add_row(
        f"total 4{name}d² − 2{name} + 1",
        str(result.expected_queries),
        str(sum(row.used for row in result.ledger)),
    )
    console.print(rows)
    console.print()


def _size(count: int) -> str:
    return str(count) if count.bit_length() <= _SHOWN_BITS else f"more than 2^{count.bit_length() - 1}"


def _redraws(result: Verification, console: Console) -> None:
    if not result.diagnoses:
        return
    wasted = sum(redraw.queries for redraw, _ in result.diagnoses)
    console.print(f"Bad draws    {len(result.diagnoses)}, on which {wasted} queries were spent apart")
    for redraw, reason in result.diagnoses[:_SHOWN_REDRAWS]:
        console.print(
            f"  {redraw.token}: {' or '.join(redraw.conditions)} fails in {redraw.profile}: {reason}", soft_wrap=True
        )
    if len(result.diagnoses) > _SHOWN_REDRAWS:
        console.print(f"  … and {len(result.diagnoses) - _SHOWN_REDRAWS} more (--json lists all)")
    console.print()


def _claims(result: Verification, console: Console) -> None:
    console.print(claims_table(result.claims))
    console.print()


def claims_table(claims: Iterable[Claim]) -> Table:
    """Return a table of claims, each with its outcome, level of evidence, and evidence."""
    rows = table("Outcome", "evidence level", "claim, and its evidence")
    for claim in claims:
        rows.add_row(MARK[claim.outcome], claim.level.label, Text(f"{claim.statement}\n  {claim.evidence}"))
    return rows


def _heads(result: Verification, console: Console) -> None:
    if not result.recovery:
        return
    heads = result.recovery.heads
    if result.model.dim > _SHOWN_DIM or len(heads) > _SHOWN_HEADS:
        console.print(f"Recovered    {len(heads)} heads with d = {result.model.dim} (--json prints them all)")
        return
    console.print(f"Recovered    {len(heads)} heads")
    for line in model_lines(replace(result.model, heads=heads)):
        console.print(line, soft_wrap=True)


def model_lines(model: Model) -> Iterator[str]:
    """Yield two lines a head: W_h by rows, and v_h."""
    for h, head in enumerate(model.heads, 1):
        text = head_text(head, model.field)
        rows = "; ".join(", ".join(map(_short, row)) for row in text["W"])
        yield f"  W_{h} = [{rows}]"
        yield f"  v_{h} = ({', '.join(map(_short, text['v']))})"


def query_text(query: TokenSequence) -> str:
    """Return a query on one line, copies counted: 3 × (1, 0), (2, 1)."""
    runs = ((f"{count} × " if count > 1 else "") + _token_text(token) for token, count in query.runs)
    return _short(", ".join(runs), 2 * _SHOWN_CHARS)


def _short(text: str, width: int = _SHOWN_CHARS) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
