"""What a person reads, and what a machine reads, about the stability of one instance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flint import arb, ctx, fmpq
from rich.console import Console
from rich.text import Text

from exactmha.approximate.balls import bound_text, display_float, rational_text, scientific
from exactmha.approximate.choose import KINDS
from exactmha.approximate.comparison import DesignRow, KindRow, SizeRow
from exactmha.approximate.jacobian import Parameters
from exactmha.approximate.margins import Margin
from exactmha.approximate.match import MOST_PREDICTED
from exactmha.approximate.run import CertifiedRun
from exactmha.approximate.stability import Stability, ratio
from exactmha.cli.report import MARK, claim_json, claims_table, field_text
from exactmha.cli.tables import plain_console, table, text_of
from exactmha.outcome import counted
from exactmha.recover.design import expected_queries
from exactmha.sequences import Token

_DIGITS = 6


def as_text(result: Stability, compared: Sequence[DesignRow] = ()) -> str:
    """Return the report as plain text, the same bytes on every machine."""
    console = plain_console()
    for part in (_instance, _margins, _stages, _runs, _digits, _claims):
        part(result, console)
    if compared:
        _comparison(compared, console)
    return text_of(console)


def as_json(result: Stability, compared: Sequence[DesignRow] = ()) -> str:
    """Return one JSON object with every number of the report, strictly valid.

    Exact numbers are text; upper bounds are rounded up, and what they hold for is exact or rounded down. Heads are
    numbered and listed as in the canonical form.
    """
    chosen, attack, promised = result.chosen, result.attack, result.a_priori
    document: dict[str, Any] = {
        "field": result.model.field.name,
        "dim": result.model.dim,
        "heads": len(result.model.canonical().heads),
        "seed": result.seed,
        "queries": expected_queries(len(result.model.canonical().heads), result.model.dim),
        "design": {
            "name": chosen.design.name,
            "b": [list(map(str, token)) for token in chosen.design.b],
            "u": [list(map(str, token)) for token in chosen.design.u],
            "draws": chosen.draws,
            "rejected": chosen.rejected,
        },
        "margins": {
            "pole_gap": _margin_json(chosen.margins.pole_gap),
            "residue": _margin_json(chosen.margins.residue),
            "match_gap": _margin_json(chosen.margins.match_gap),
            "cond_B": str(chosen.margins.cond_b),
            "cond_U": str(chosen.margins.cond_u),
        },
        "first_order_constant": ball_text(chosen.constant),
        "stages": [
            {"stage": s.stage, "norm": ball_text(s.norm), "where": s.where, "growth_log10": s.growth}
            for s in result.stages
        ],
        "dominant": {
            "parameter": result.dominant.parameter,
            "profile": result.dominant.profile,
            "share": display_float(result.dominant.share),
        },
        "a_priori": None
        if promised is None
        else {"constant": scientific(promised.constant), "epsilon": _down(promised.radius)},
        "runs": {
            "certified": _run_json(result.run, result),
            "plain": _run_json(result.plain, result),
            "largest_certified": _run_json(result.star, result),
            "largest_certified_plain": _run_json(result.plain_star, result),
            "doubles": _run_json(result.doubles, result),
        },
        "digits": [{"wanted": row.wanted, "needed": row.needed} for row in result.digits],
        "attack": None
        if attack is None
        else {
            "epsilon": str(attack.epsilon),
            "runs": attack.runs,
            "inside": attack.inside,
            "from_scratch": attack.from_scratch,
            "skipped": attack.skipped,
            "worst_random": display_float(attack.worst_random),
            "sharpness": display_float(attack.sharpness),
        },
        "designs": [
            {
                "kind": row.kind,
                "scale": None if row.scale is None else str(row.scale),
                "median_log10": row.median,
                "best_log10": row.best,
            }
            for row in compared
        ],
        "claims": [claim_json(claim) for claim in result.claims],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def ball_text(ball: arb) -> str:
    """Return a ball in decimal with its radius, as far as it is accurate."""
    with ctx.workprec(256):
        return str(ball.str(_DIGITS + 4))


def _margin_json(margin: Margin) -> dict[str, Any]:
    return {"value": None if margin.value is None else ball_text(margin.value), "where": margin.where}


def _run_json(run: CertifiedRun | None, result: Stability) -> dict[str, Any] | None:
    if run is None:
        return None
    enclosure = run.enclosure
    return {
        "method": run.method.value,
        "epsilon": str(run.epsilon),
        "outcome": run.outcome.value,
        "precision": run.precision,
        "constant": None if enclosure is None else scientific(enclosure.constant, _DIGITS),
        "ratio": None if enclosure is None else display_float(enclosure.constant / result.chosen.constant),
        "step": run.step,
        "reason": run.reason,
        "boxes": None if enclosure is None else _boxes_json(enclosure.parameters, result.order),
    }


def _boxes_json(found: Parameters, order: Sequence[int]) -> list[dict[str, Any]]:
    """Return the boxes of every head, in the order of the canonical form."""
    places = sorted(range(len(order)), key=lambda h: order[h])
    return [
        {"v": list(map(ball_text, found.v[h])), "W": [list(map(ball_text, row)) for row in found.W[h]]} for h in places
    ]


def _down(radius: arb) -> str:
    """Return the lower bound of a number > 0, rounded down."""
    with ctx.workprec(256):
        return rational_text(radius.lower().fmpq(), 4, down=True)


def _short(ball: arb) -> str:
    with ctx.workprec(256):
        return str(ball.str(4, radius=False))


def _token(token: Token) -> str:
    return f"({', '.join(_decimal(x) for x in token)})"


def _decimal(x: int | fmpq) -> str:
    """Return a coordinate with 4 significant digits, exactly where that is short."""
    if isinstance(x, int) or (x.denominator < 100 and abs(x.numerator) < 10**6):
        return str(x)
    return _short(arb(x))


def _instance(result: Stability, console: Console) -> None:
    model, chosen = result.model, result.chosen
    heads = len(model.canonical().heads)
    console.print(f"Instance     H = {counted(heads, 'canonical head')}, d = {model.dim}; the learner is told H")
    console.print(f"Field        {field_text(model.field)}", soft_wrap=True)
    queries = expected_queries(heads, model.dim)
    best = "" if chosen.draws == 1 else f", the best of {chosen.draws}"
    console.print(
        f"Design       {chosen.design.name}{best} ({chosen.rejected} rejected); {queries} queries", soft_wrap=True
    )
    for kind, tokens in (("b", chosen.design.b), ("u", chosen.design.u)):
        console.print(f"             {kind} = {', '.join(map(_token, tokens))}", soft_wrap=True)
    console.print("             heads are numbered as in the canonical form")
    console.print()


def _margins(result: Stability, console: Console) -> None:
    rows = table("Margin", "value", "where")
    found = result.chosen.margins
    for name, margin in (
        ("least pole gap |log r_h − log r_g|", found.pole_gap),
        ("least residue |c_h|", found.residue),
        ("least misfit of a wrong match", found.match_gap),
    ):
        rows.add_row(Text(name), "none" if margin.value is None else _short(margin.value), margin.where)
    for name, value in (("cond(B), ∞-norm", found.cond_b), ("cond(U), ∞-norm", found.cond_u)):
        rows.add_row(name, _short(arb(value)), "")
    console.print(rows)
    console.print(f"A priori     {_promise(result)}", soft_wrap=True)
    console.print()


def _promise(result: Stability) -> str:
    if result.a_priori is not None:
        return (
            f"the margins alone promise error ≤ {scientific(result.a_priori.constant)}·ε "
            f"for ε ≤ {_down(result.a_priori.radius)}"
        )
    if len(result.order) > MOST_PREDICTED:
        return f"computed for at most {MOST_PREDICTED} heads"
    return "undecided: the margins are too small for the precision budget"


def _stages(result: Stability, console: Console) -> None:
    rows = table("First order: ∂(stage)/∂(answers)", "∞-norm", "growth", "largest at", right=(1, 2))
    for stage in result.stages:
        rows.add_row(Text(stage.stage), scientific(stage.norm), f"10^{stage.growth:+.1f}", stage.where)
    console.print(rows)
    console.print("growth: against the stages whose results are used, the worst of them", soft_wrap=True)
    console.print(f"(a)          first-order constant {ball_text(result.chosen.constant)}", soft_wrap=True)
    most = max(result.stages, key=lambda stage: stage.growth)
    console.print(
        f"             most digits are lost at: {most.stage}, 10^{most.growth:+.1f}, in {most.where}", soft_wrap=True
    )
    worst = result.dominant
    console.print(
        f"             at {worst.parameter}; {float(worst.share):.0%} of it from the answers of {worst.profile}",
        soft_wrap=True,
    )
    console.print()


def _runs(result: Stability, console: Console) -> None:
    rows = table(
        "Certified run", "ε", "outcome", "C(ε)", "C(ε)/(a)", "parameters within", "bits", right=(1, 3, 4, 5, 6)
    )
    for name, run in (
        ("mean-value form", result.run),
        ("plain balls", result.plain),
        ("mean-value form, ε*", result.star),
        ("plain balls, ε*", result.plain_star),
        ("answers as doubles", result.doubles),
    ):
        rows.add_row(name, *_run_cells(run, result))
    console.print(rows)
    for run in (result.run, result.plain, result.doubles):
        if run is not None and run.reason:
            console.print(
                f"             {run.method.value}, ε = {bound_text(run.epsilon)}: lost at {run.reason}",
                soft_wrap=True,
            )
    if result.doubles is None:
        console.print("             the answers are too large for doubles")
    console.print()


def _run_cells(run: CertifiedRun | None, result: Stability) -> tuple[str, ...]:
    if run is None:
        return ("", "undecided", "", "", "", "")
    epsilon = bound_text(run.epsilon)
    factor = ratio(run, result.chosen.constant)
    if run.enclosure is None or factor is None:
        return (epsilon, MARK[run.outcome], "", "", "", str(run.precision))
    with ctx.workprec(64):
        radius = scientific(run.enclosure.parameters.radius)
    number = display_float(factor)
    times = f"{number:.6f}" if number is not None and number < 1000 else scientific(factor)
    return (epsilon, MARK[run.outcome], scientific(run.enclosure.constant), times, radius, str(run.precision))


def _digits(result: Stability, console: Console) -> None:
    rows = table("Decimals of the parameters", *[str(row.wanted) for row in result.digits], right=(1, 2, 3, 4))
    cells = ["undecided" if row.needed is None else str(row.needed) for row in result.digits]
    rows.add_row("decimals D of the answers", *cells)
    console.print(rows)
    console.print(
        "answers within 10^-D of the truth are certified to give all parameters within 10^-n (absolute errors),"
    )
    console.print("n decimals; answers within 10^-(D-1) are not", soft_wrap=True)
    console.print()


def _claims(result: Stability, console: Console) -> None:
    console.print(claims_table(result.claims))


def _comparison(compared: Sequence[DesignRow], console: Console) -> None:
    console.print()
    rows = table("Design", "length of b", "log10 of (a): median", "best", "draws", right=(1, 2, 3, 4))
    for row in compared:
        cells = ["–" if x is None else f"{x:.1f}" for x in (row.median, row.best)]
        rows.add_row(row.kind, "–" if row.scale is None else _short(arb(row.scale)), *cells, str(row.draws))
    console.print(rows)


def sizes_text(sizes: Sequence[SizeRow], kinds: Sequence[KindRow]) -> str:
    """Return the tables of sizes and of kinds of designs as plain text."""
    console = plain_console()
    console.print(
        "log10 of the first-order constant (a) of random exponential instances, orthogonal tokens, and how many"
    )
    console.print("of them are certified when the answers are rounded to doubles\n")
    rows = table("H", "d", "least", "median", "most", "by doubles", right=range(6))
    for row in sizes:
        numbers = (f"{x:.1f}" for x in (row.least, row.median, row.most))
        rows.add_row(str(row.heads), str(row.dim), *numbers, f"{row.certified} of {row.instances}")
    console.print(rows)
    console.print("\nThe median of the same instances, by kind of tokens\n")
    rows = table("H", "d", *KINDS, right=range(2 + len(KINDS)))
    for kind_row in kinds:
        cells = ["–" if x is None else f"{x:.1f}" for x in (kind_row.medians[kind] for kind in KINDS)]
        rows.add_row(str(kind_row.heads), str(kind_row.dim), *cells)
    console.print(rows)
    return text_of(console)


def sizes_json(sizes: Sequence[SizeRow], kinds: Sequence[KindRow]) -> str:
    """Return both tables as one JSON object, with one object a row."""
    document = {"sizes": [asdict(row) for row in sizes], "designs": [asdict(row) for row in kinds]}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
