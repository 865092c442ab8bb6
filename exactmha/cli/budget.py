"""`exactmha budget`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.options import field_option, given_options, json_option, limit_option, load_model, seed_option
from exactmha.cli.sweep import IntegerRange
from exactmha.errors import InputError
from exactmha.limits import Limits
from exactmha.outcome import EXIT_FAILS, EXIT_HOLDS, counted

if TYPE_CHECKING:
    from exactmha.attention import Model
    from exactmha.budgets import Budget, Cell

_MOST_HEADS = 16
_MOST_DIM = 64
_WRONG = "returned other heads than those of the instance, and did not notice"


@click.command("budget")
@click.argument("instance", required=False)
@click.option("--heads", type=IntegerRange(), default="2", show_default=True, help="Number H of heads.")
@click.option("--dim", type=IntegerRange(), default="3", show_default=True, help="Dimension d.")
@field_option
@seed_option
@click.option("--table", "show_table", is_flag=True, help="All H and d of the ranges, each learner where it applies.")
@click.option("--plot", "plot_path", help="With --table: write queries versus d and H to this image file.")
@json_option
@limit_option
@click.pass_context
def command(
    ctx: click.Context,
    instance: str | None,
    heads: range,
    dim: range,
    field_name: str,
    seed: int,
    show_table: bool,
    plot_path: str | None,
    as_json: bool,
    limits: Limits,
) -> int:
    """Compare how many queries every learner needs, on INSTANCE or on a random one.

    Without --table every learner runs on the same instance, so those whose assumption does not hold are seen to fail.
    With it each runs on instances that fit its assumption, for all H and d of the two ranges (e.g. --heads 1-4).

    Exit status: 0 all learners that claim to work did, with exactly the queries of their formula (or more, where they
    say why), 1 one did not, 2 bad input.
    """
    given = given_options(ctx) & {"heads", "dim", "field_name"}
    _check_options(instance, heads, dim, show_table, plot_path, given)
    if show_table:
        return _table(heads, dim, field_name, seed, plot_path, as_json)
    from exactmha.budgets import measure_all
    from exactmha.random_instance import random_model

    model = load_model(instance, limits) if instance else random_model(heads[0], dim[0], field_name, seed, limits)
    if not model.canonical().heads:
        raise InputError("has no canonical head, so there is nothing to learn", file=instance)
    budgets = measure_all(model, seed=seed, limits=limits)
    certificates = [_certificate(budget, seed) for budget in budgets]
    if as_json:
        click.echo(
            json.dumps([{**_json(b), "certificate": c} for b, c in zip(budgets, certificates, strict=True)], indent=1),
            nl=True,
        )
    else:
        click.echo(_text(model, budgets, certificates, seed), nl=False)
    return _status(budgets)


def _check_options(
    instance: str | None, heads: range, dim: range, show_table: bool, plot_path: str | None, given: set[str]
) -> None:
    if instance is not None and given:
        raise InputError("--heads, --dim and --field describe a random instance", field="INSTANCE", value=instance)
    if instance is not None and show_table:
        raise InputError("--table draws its own instances", field="INSTANCE", value=instance)
    if plot_path is not None and not show_table:
        raise InputError("goes with --table only", field="--plot", value=plot_path)
    if not show_table and (len(heads) > 1 or len(dim) > 1):
        raise InputError("ranges go with --table only", field="--heads, --dim")
    for name, values, most in (("--heads", heads, _MOST_HEADS), ("--dim", dim, _MOST_DIM)):
        if values[0] < 1 or values[-1] > most:
            raise InputError(
                f"must be from 1 to {most}",
                field=name,
                value=str(values[0]) if len(values) == 1 else f"{values[0]}-{values[-1]}",
            )
    if plot_path is not None:
        from exactmha.figures import check_figure

        check_figure(plot_path)


def _status(budgets: list[Budget]) -> int:
    """Fail when a result is wrong, a count is not the formula's without a reason, or a learner of any model fails."""
    for budget in budgets:
        if budget.failure is not None and budget.learner.origin != "earlier work":
            return EXIT_FAILS
        if budget.result is not None and (not budget.is_exact or not _meets(budget)):
            return EXIT_FAILS
    return EXIT_HOLDS


def _meets(budget: Budget) -> bool:
    result = budget.result
    if result is None:
        return False
    return result.queries == budget.expected or bool(result.fallbacks)


# --- certificates --------------------------------------------------------------------------------------------------


def _certificate(budget: Budget, seed: int) -> str:
    """Write a certificate for a learner that claims uniqueness, and say what the independent checker makes of it."""
    if budget.result is None or not budget.is_exact:
        return "–"
    if not budget.learner.claims_uniqueness:
        return "none"
    from exactmha.certificates.budget import text_of, verdict

    return verdict(text_of(budget, seed))


# --- one instance --------------------------------------------------------------------------------------------------


def _text(model: Model, budgets: list[Budget], certificates: list[str], seed: int) -> str:
    from rich.text import Text

    from exactmha.budget.catalogue import floor
    from exactmha.cli.report import field_text
    from exactmha.cli.tables import plain_console, table, text_of

    heads = len(model.canonical().heads)
    console = plain_console()
    console.print(f"Instance     H = {counted(heads, 'canonical head')}, d = {model.dim}; seed {seed}")
    console.print(f"Field        {field_text(model.field)}", soft_wrap=True)
    console.print(f"Floor        H(d² + d) = {floor(heads, model.dim)} unknowns")
    console.print()
    columns = ("Learner", "of", "assumption", "formula", "=", "used", "length", "recovered", "certificate")
    rows = table(*columns, right=(4, 5, 6))
    for budget, certificate in zip(budgets, certificates, strict=True):
        used = str(budget.asked if budget.result is None else budget.result.queries)
        expected = "–" if budget.expected is None else str(budget.expected)
        rows.add_row(
            budget.learner.name,
            budget.learner.origin,
            Text(budget.learner.assumption),
            Text(budget.formula),
            expected,
            used,
            str(budget.max_length),
            Text(budget.recovered),
            certificate,
        )
    console.print(rows)
    reasons = [(b.learner.name, str(b.failure)) for b in budgets if b.failure is not None]
    reasons += [(b.learner.name, _WRONG) for b in budgets if b.result and not b.is_exact]
    reasons += [(b.learner.name, text) for b in budgets if b.result for text in b.result.fallbacks[:2]]
    reasons += [
        (
            b.learner.name,
            f"{b.result.wasted} {'query' if b.result.wasted == 1 else 'queries'} of what was dropped and asked again",
        )
        for b in budgets
        if b.result and b.result.wasted
    ]
    if reasons:
        console.print()
    for name, reason in reasons:
        console.print(f"{name}: {reason}", soft_wrap=True)
    return text_of(console)


def _json(budget: Budget) -> dict[str, Any]:
    result = budget.result
    return {
        "learner": budget.learner.name,
        "origin": budget.learner.origin,
        "assumption": budget.learner.assumption,
        "formula": budget.formula,
        "heads": budget.heads,
        "dim": budget.dim,
        "expected": budget.expected,
        "queries": result.queries if result else None,
        "queries_total": budget.asked,
        "max_length": budget.max_length,
        "recovered": budget.is_exact,
        "failure": str(budget.failure) if budget.failure else None,
        "fallbacks": list(result.fallbacks) if result else [],
    }


# --- the table -----------------------------------------------------------------------------------------------------


def _table(heads: range, dim: range, field_name: str, seed: int, plot_path: str | None, as_json: bool) -> int:
    from exactmha.budgets import table

    cells = table(heads, dim, field_name, seed)
    if plot_path is not None:
        _plot(cells, plot_path)
    budgets = [budget for cell in cells for budget in cell.budgets if budget is not None]
    if as_json:
        click.echo(json.dumps([_json(b) for b in budgets], indent=1))
    else:
        click.echo(_table_text(cells, budgets), nl=False)
    return EXIT_HOLDS if _status(budgets) == EXIT_HOLDS and all(b.is_exact for b in budgets) else EXIT_FAILS


def _table_text(cells: list[Cell], budgets: list[Budget]) -> str:
    from exactmha.budget.catalogue import CATALOGUE
    from exactmha.cli.tables import plain_console, table, text_of

    console = plain_console()
    names = [learner.name for learner in CATALOGUE]
    rows = table("H", "d", "floor", *(name.replace("-", "-\n") for name in names), right=range(len(names) + 3))
    for cell in cells:
        used = ["" if b is None else _used(b) for b in cell.budgets]
        rows.add_row(str(cell.heads), str(cell.dim), str(cell.floor), *used)
    console.print(rows)
    met = sum(b.result is not None and b.result.queries == b.expected for b in budgets)
    fallen = sum(b.result is not None and bool(b.result.fallbacks) for b in budgets)
    console.print()
    console.print(f"{sum(b.is_exact for b in budgets)} of {len(budgets)} runs recovered all heads exactly;")
    console.print(f"{met} used exactly the queries of their formula, {fallen} fell back to a dearer way somewhere (*).")
    for b in budgets:
        if not b.is_exact:
            console.print(f"{b.learner.name}, H = {b.heads}, d = {b.dim}: {b.failure or _WRONG}", soft_wrap=True)
    return text_of(console)


def _used(budget: Budget) -> str:
    if budget.result is None or not budget.is_exact:
        return "FAILED"
    mark = "*" if budget.result.fallbacks else "" if budget.result.queries == budget.expected else "!"
    return f"{budget.result.queries}{mark}"


def _plot(cells: list[Cell], path: str) -> None:
    """Plot the queries used versus d at the largest H, and versus H at the largest d, with the floor."""
    from exactmha.budget.catalogue import CATALOGUE
    from exactmha.figures import plotting, save_figure, whole_numbers

    figure, axes = plotting().subplots(1, 2, figsize=(12, 5), layout="constrained")
    most_heads, most_dim = max(c.heads for c in cells), max(c.dim for c in cells)
    views = (
        (axes[0], [c for c in cells if c.heads == most_heads], "dim", "dimension d", f"H = {most_heads}"),
        (axes[1], [c for c in cells if c.dim == most_dim], "heads", "number of heads H", f"d = {most_dim}"),
    )
    for panel, shown, attribute, label, title in views:
        for position, learner in enumerate(CATALOGUE):
            points = [
                (getattr(c, attribute), b.result.queries)
                for c in shown
                if (b := c.budgets[position]) is not None and b.result is not None
            ]
            if points:
                panel.plot(*zip(*points, strict=True), marker=".", label=learner.name)
        panel.plot(
            [getattr(c, attribute) for c in shown],
            [c.floor for c in shown],
            color="black",
            linestyle="--",
            label="H(d² + d) unknowns",
        )
        panel.set(xlabel=label, ylabel="queries", title=title, yscale="log")
        whole_numbers(panel.xaxis)
    axes[0].legend(fontsize="small")
    save_figure(figure, path)
