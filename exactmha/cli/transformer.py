"""What `verify`, `query`, `random` and `canonical` do with a Transformer: options, and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exactmha.errors import InputError
from exactmha.limits import Limits
from exactmha.outcome import counted, exit_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from exactmha.attention import Model
    from exactmha.counterexamples.networks import NetworkAssumption
    from exactmha.counterexamples.setting import Setting
    from exactmha.fields import ExactField
    from exactmha.fields.values import ExactValue
    from exactmha.sequences import Token
    from exactmha.transformer.form import Blocks, CanonicalForm
    from exactmha.transformer.model import Transformer
    from exactmha.transformer.verification import TransformerVerification

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_WIDTH = 3
_SHOWN_RETRIES = 12


def network_options(function: F) -> F:
    """Add --neurons and --width, which make the random instance a Transformer."""
    function = click.option(
        "--width", type=int, help=f"Rows p of O of the random Transformer.  [default: {DEFAULT_WIDTH}]"
    )(function)
    return click.option("--neurons", type=int, help="Make the instance a Transformer with m bias-free ReLU neurons.")(
        function
    )


def random_instance(
    shape: tuple[int, int, str, int], neurons: int | None, width: int | None, limits: Limits
) -> Model | Transformer:
    """Return a random plain model, or a random Transformer when `neurons` is given; `shape` = (H, d, field, seed)."""
    if neurons is None:
        from exactmha.random_instance import random_model

        if width is not None:
            raise InputError("is for Transformers only", field="--width", value=width, hint="give --neurons too")
        return random_model(*shape, limits)
    from exactmha.transformer.random_transformer import random_transformer

    heads, dim, field, seed = shape
    return random_transformer(heads, dim, DEFAULT_WIDTH if width is None else width, neurons, field, seed, limits)


def instance_text(model: Model | Transformer) -> str:
    """Return the instance file of a model of either kind."""
    from exactmha import instance
    from exactmha.transformer import instance as transformer_instance
    from exactmha.transformer.model import Transformer

    return transformer_instance.to_text(model) if isinstance(model, Transformer) else instance.to_text(model)


def load_any(path: str, limits: Limits) -> Model | Transformer:
    """Read an instance file of either kind."""
    from exactmha.transformer.instance import load

    return load(path, limits)


def answer(model: Model | Transformer, limits: Limits) -> Callable[[Sequence[Token]], ExactValue]:
    """Return the exact function of a model of either kind."""
    from exactmha.attention import Attention
    from exactmha.transformer.evaluate import TransformerAnswer
    from exactmha.transformer.model import Transformer

    return TransformerAnswer(model, limits) if isinstance(model, Transformer) else Attention(model, limits)


def canonical_text(model: Transformer) -> tuple[str, str]:
    """Return (the instance file of the canonical realisation, what was found in one line)."""
    from exactmha.transformer.instance import to_text
    from exactmha.transformer.realise import as_transformer, realise

    form = model.canonical()
    slopes = model.slopes(form)
    made = as_transformer(form, model.field, model.dim, slopes)
    heads, lines = len(form.W), len(form.lines)
    explanation = (
        f"Canonical form: {heads} of {len(model.W)} heads and {counted(lines, 'line')} from {len(model.a)} "
        f"neurons; written with {len(made.a)} neurons, {realise(form, slopes).words}."
    )
    return to_text(made), explanation


def compare(first: Model | Transformer, second: Model | Transformer, other: str) -> int:
    """Say whether two Transformers are one function; exit status 0 yes, 1 no, 3 undecided."""
    from exactmha.transformer.equivalence import equivalent
    from exactmha.transformer.model import Transformer

    if not (isinstance(first, Transformer) and isinstance(second, Transformer)):
        raise InputError(
            'one instance is a Transformer (it has "ffn") and the other is not',
            file=other,
            hint="compare two of one kind",
        )
    if first.dim != second.dim:
        raise InputError("has another dimension", file=other, field="dim", value=second.dim, hint="compare equal dims")
    found = equivalent(first, second)
    click.echo(f"{found.outcome.value:9}  they agree on all sequences: {found.reason}")
    return exit_status([found.outcome])


# --- the report of a verification ------------------------------------------------------------------


def report_text(result: TransformerVerification) -> str:
    """Return the report as plain text, the same bytes on every machine."""
    from exactmha.cli.report import claims_table
    from exactmha.cli.tables import plain_console, text_of

    console = plain_console()
    _instance(result, console)
    _conditions(result, console)
    _ledger(result, console)
    _retries(result, console)
    console.print(claims_table(result.claims))
    if result.not_claimed:
        console.print(f"\nNot claimed  uniqueness: {result.not_claimed}", soft_wrap=True)
    if result.recovery is not None:
        console.print()
        for line in form_lines(result.recovery.form, result.model.field):
            console.print(line, soft_wrap=True)
    return text_of(console)


def _instance(result: TransformerVerification, console: Console) -> None:
    from exactmha.cli.report import field_text

    heads = f"H ≤ {result.heads_told}" if result.heads_is_bound else "H"
    lines = f"L ≤ {result.lines_told}" if result.lines_is_bound else "L"
    model, truth = result.model, result.truth
    console.print(
        f"Transformer  {counted(len(model.W), 'head')}, d = {model.dim}, p = {len(model.O[0]) if model.O else 0}, "
        f"m = {len(model.a)} neurons without bias"
    )
    console.print(
        f"Canonical    H = {counted(len(truth.W), 'head')}, L = {counted(len(truth.lines), 'line')}; "
        f"the learner is told {heads} and {lines}"
    )
    console.print(f"Field        {field_text(model.field)}", soft_wrap=True)
    if result.recovery is not None:
        console.print(f"Images       at most {result.recovery.images_per_answer} per answer")
    console.print()


def _conditions(result: TransformerVerification, console: Console) -> None:
    from rich.text import Text

    from exactmha.cli.report import MARK
    from exactmha.cli.tables import table

    rows = table("Condition", "statement", "count", "checked", "outcome", right=(2, 3))
    for row in result.conditions:
        statement = row.statement + (f"\n  {row.witness}" if row.witness else "")
        rows.add_row(
            Text(f"{row.name} {row.title}"), Text(statement), str(row.count), str(row.checked), MARK[row.outcome]
        )
    console.print(rows)
    console.print()


def _ledger(result: TransformerVerification, console: Console) -> None:
    from rich.text import Text

    from exactmha.cli.tables import table

    rows = table("Queries by stage", "formula", "value", "used", right=(2, 3))
    for row in result.ledger:
        value = "–" if row.expected is None else str(row.expected)
        rows.add_row(Text(row.stage), Text(row.formula), value, str(row.used))
    rows.add_row("total", "", "", str(sum(row.used for row in result.ledger)))
    console.print(rows)
    console.print()


def _retries(result: TransformerVerification, console: Console) -> None:
    retries = result.retries
    if not retries:
        return
    console.print(f"Drawn again  {len(retries)} times, {sum(retry.queries for retry in retries)} queries spent apart")
    for retry in retries[:_SHOWN_RETRIES]:
        console.print(f"  {retry.what}: {retry.witness}", soft_wrap=True)
    console.print()


def form_lines(form: CanonicalForm, field: ExactField) -> Iterator[str]:
    """Yield a canonical form, a line of text for every W, Λ, and pair (κ, ν)."""
    heads, lines = counted(len(form.W), "head"), counted(len(form.lines), "line")
    yield f"Recovered    T = ⟨Λ, A⟩ + Σ κ|⟨ν, A⟩| with {heads} and {lines}"
    for h, (weights, block) in enumerate(zip(form.W, form.linear, strict=True), 1):
        rows = (
            ", ".join(field.log_text([m[i][j] for m in weights]) for j in range(len(block))) for i in range(len(block))
        )
        yield f"  W_{h} = [{'; '.join(rows)}]"
        yield f"  Λ_{h} = ({', '.join(map(str, block))})"
    for number, line in enumerate(form.lines, 1):
        yield f"  κ_{number} = {line.kappa}, ν_{number} = {_blocks_text(line.nu)}"


def _blocks_text(blocks: Blocks) -> str:
    return " ⊕ ".join(f"({', '.join(map(str, block))})" for block in blocks)


def report_json(result: TransformerVerification) -> str:
    """Return one JSON object with every number of the report; exact values in the instance grammar."""
    from exactmha.cli.report import claim_json
    from exactmha.transformer.instance import to_text
    from exactmha.transformer.realise import as_transformer

    recovery, model = result.recovery, result.model
    document: dict[str, Any] = {
        "kind": "transformer",
        "field": model.field.name,
        "dim": model.dim,
        "heads": len(result.truth.W),
        "lines": len(result.truth.lines),
        "neurons": len(model.a),
        "heads_told": result.heads_told,
        "heads_told_is_bound": result.heads_is_bound,
        "lines_told": result.lines_told,
        "lines_told_is_bound": result.lines_is_bound,
        "seed": result.seed,
        "queries": recovery.queries if recovery else None,
        "queries_total": result.oracle_queries,
        "max_length": result.oracle_max_length,
        "images_per_answer": recovery.images_per_answer if recovery else None,
        "conditions": [
            {
                "name": row.name,
                "title": row.title,
                "statement": row.statement,
                "count": row.count,
                "checked": row.checked,
                "outcome": row.outcome.value,
                "witness": row.witness,
            }
            for row in result.conditions
        ],
        "ledger": [
            {"stage": row.stage, "formula": row.formula, "expected": row.expected, "used": row.used}
            for row in result.ledger
        ],
        "retries": [
            {"what": r.what, "conditions": list(r.conditions), "witness": r.witness, "queries": r.queries}
            for r in result.retries
        ],
        "claims": [claim_json(claim) for claim in result.claims],
        "uniqueness_not_claimed": result.not_claimed,
        "recovered": _form_json(recovery.form, model.field) if recovery else None,
        "realisation": json.loads(to_text(as_transformer(recovery.form, model.field, model.dim))) if recovery else None,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _form_json(form: CanonicalForm, field: ExactField) -> dict[str, Any]:
    return {
        "W": [
            [[field.log_text([m[i][j] for m in weights]) for j in range(len(block))] for i in range(len(block))]
            for weights, block in zip(form.W, form.linear, strict=True)
        ],
        "linear": [[str(x) for x in block] for block in form.linear],
        "lines": [{"kappa": str(line.kappa), "nu": [[str(x) for x in b] for b in line.nu]} for line in form.lines],
    }


# --- counterexamples -------------------------------------------------------------------------------


def network_example(network: NetworkAssumption, setting: Setting, limits: Limits, *, as_json: bool) -> int:
    """Build one about Transformers, and print it."""
    from exactmha.cli.report import claim_json, claims_table, field_text
    from exactmha.cli.tables import plain_console, text_of
    from exactmha.transformer.instance import to_text

    found = network.build(setting, limits)
    if as_json:
        document = {
            "name": network.name,
            "dropped": network.dropped,
            "statement": found.statement,
            "reason": found.reason,
            "models": [json.loads(to_text(model)) for model in found.models],
            "claims": [claim_json(claim) for claim in found.claims],
        }
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return exit_status(claim.outcome for claim in found.claims)
    console = plain_console()
    console.print(f"Dropped      {network.dropped}", soft_wrap=True)
    console.print(f"Statement    {found.statement}", soft_wrap=True)
    console.print(f"Reason       {found.reason}", soft_wrap=True)
    console.print(f"Field        {field_text(setting.field)}", soft_wrap=True)
    for number, model in enumerate(found.models, 1):
        title, *lines = form_lines(model.canonical(), model.field)
        console.print(f"\nModel {number}      {title.split(maxsplit=1)[1]}", soft_wrap=True)
        for line in lines:
            console.print(line, soft_wrap=True)
    console.print()
    console.print(claims_table(found.claims))
    click.echo(text_of(console), nl=False)
    return exit_status(claim.outcome for claim in found.claims)
