"""`exactmha bench`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.options import json_option

if TYPE_CHECKING:
    from exactmha.bench.suite import Results


@click.command("bench")
@click.option("--quick", is_flag=True, help="Small sizes only: half a minute instead of several.")
@click.option(
    "--repetitions", type=click.IntRange(1, 100), default=3, show_default=True, help="Timed runs; medians count."
)
@json_option
def command(quick: bool, repetitions: int, as_json: bool) -> None:
    """Time profiles and verifications against bare FLINT and SymPy, side by side in one run."""
    from exactmha.bench.suite import run_suite

    results = run_suite(quick=quick, repetitions=repetitions, say=lambda text: click.echo(text, err=True))
    click.echo(_as_json(results) if as_json else as_text(results), nl=False)


def _as_json(results: Results) -> str:
    from dataclasses import asdict

    document: dict[str, Any] = asdict(results)
    for row, timing in zip(document["verifications"], results.verifications, strict=True):
        row["ratio"], row["oracle_over_bare"] = timing.ratio, timing.oracle_over_bare
    return json.dumps(document, indent=1) + "\n"


def as_text(results: Results) -> str:
    """Return the tables of a benchmark run."""
    parts = [
        f"Machine  {results.machine}\n",
        _profiles(results),
        _verifications(results),
        _growth(results),
        _operations(results),
    ]
    return "\n".join(part for part in parts if part)


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.2f}"


def _times(slow: float | None, fast: float) -> str:
    return "–" if slow is None else f"{slow / fast:.3g}×"


def _profiles(results: Results) -> str:
    from exactmha.cli.tables import render, table

    names = ("One profile over Q, ms", "ours", "fmpq_mat.solve", "Euclid", "SymPy", "solve/ours", "SymPy/ours")
    rows = table(*names, right=range(1, 7))
    for row in results.profiles:
        rows.add_row(
            f"H = {row.heads}",
            *(_milliseconds(t) for t in (row.ours, row.flint_solve, row.euclid, row.sympy)),
            _times(row.flint_solve, row.ours),
            _times(row.sympy, row.ours),
        )
    return render(rows)


def _verifications(results: Results) -> str:
    from exactmha.cli.tables import render, table

    names = (
        "Field",
        "H",
        "d",
        "queries",
        "oracle s",
        "bare s",
        "images",
        "guess",
        "proof",
        "learner s",
        "ratio",
        "oracle/bare",
        "MiB",
    )
    rows = table(*names, right=range(1, 13))
    for row in results.verifications:
        seconds = (row.oracle, row.bare, row.images, row.guess, row.proof, row.learner)
        rows.add_row(
            row.field,
            str(row.heads),
            str(row.dim),
            str(row.queries),
            *(f"{t:.3f}" for t in seconds),
            f"{row.ratio:.2f}",
            f"{row.oracle_over_bare:.2f}",
            f"{row.peak_mib:.0f}",
        )
    return render(rows)


def _growth(results: Results) -> str:
    lines = [
        f"time ~ d^{growth.exponent:.2f} at H = {growth.fixed}"
        if growth.variable == "d"
        else f"time ~ H^{growth.exponent:.2f} at d = {growth.fixed}"
        for growth in results.growth
    ]
    return "Growth (exponential field)  " + "; ".join(lines) + "\n" if lines else ""


def _operations(results: Results) -> str:
    from exactmha.cli.tables import render, table

    names = list(results.operations[0].counts) if results.operations else []
    rows = table("Value operations of the learner", *names, right=range(1, len(names) + 1))
    for row in results.operations:
        rows.add_row(f"{row.field} H = {row.heads}, d = {row.dim}", *(str(n) for n in row.counts.values()))
    return render(rows)
