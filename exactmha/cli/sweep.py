"""`exactmha sweep`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from exactmha.cli.options import given_options, json_option
from exactmha.errors import InputError, WorkerLost
from exactmha.field_names import FIELD_NAMES
from exactmha.outcome import Outcome, exit_status

_SHOWN_FAILURES = 10
_TRIALS = 20
_MOST_SIZE = 512
_MOST_RUNS = 1_000_000


class IntegerRange(click.ParamType[range]):
    """A range of integers: 3, or 1-4."""

    name = "A-B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> range:
        """Return the range, both ends included."""
        match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", str(value))
        if match is None:
            self.fail(f"{str(value)[:40]!r} is not a number below 10000 or a range such as 1-4", param, ctx)
        result = range(int(match[1]), int(match[2] or match[1]) + 1)
        if not result:
            self.fail(f"{value!r} is empty", param, ctx)
        return result


@click.command("sweep")
@click.argument("folder", required=False)
@click.option("--heads", type=IntegerRange(), default="1-4", show_default=True, help="Numbers of heads.")
@click.option("--dim", type=IntegerRange(), default="1-6", show_default=True, help="Dimensions.")
@click.option("--field", "field_name", type=click.Choice(["all", *FIELD_NAMES]), default="all", show_default=True)
@click.option(
    "--trials",
    type=click.IntRange(1, 10**6),
    help="Instances of each kind, designs for each file.  [default: 20, or 1]",
)
@click.option("--grid", type=click.IntRange(2, 2**62), help="Force the number of values of every token coordinate.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes.")
@click.option("--db", required=True, help="SQLite file of results; run again with it to resume.")
@click.option("--cluster", help="Address of a Dask scheduler to run on instead of this machine.")
@click.option("--plot", "plot_path", help="Write plots of all rows in the database to this image file.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    folder: str | None,
    heads: range,
    dim: range,
    field_name: str,
    trials: int | None,
    grid: int | None,
    jobs: int,
    db: str,
    cluster: str | None,
    plot_path: str | None,
    as_json: bool,
) -> int:
    """Verify many random instances, or all instance files in FOLDER.

    Interrupted runs resume with nothing lost or doubled. The summary covers every row of the database. Results do not
    depend on --jobs or --cluster.
    """
    from exactmha.campaigns.database import Database
    from exactmha.campaigns.executors import run_locally, run_on_cluster
    from exactmha.campaigns.summary import grouped, plot
    from exactmha.campaigns.tasks import FileTask, Task, file_tasks, tasks
    from exactmha.figures import check_figure

    wanted: list[Task | FileTask]
    if folder is not None:
        if given_options(ctx) & {"heads", "dim", "field_name"}:
            raise InputError("--heads, --dim and --field describe random instances", field="FOLDER", value=folder)
        wanted = [*file_tasks(folder, trials or 1, grid or 0)]
    else:
        names = FIELD_NAMES if field_name == "all" else (field_name,)
        _check_size(heads, dim, len(names) * (trials or _TRIALS))
        wanted = list(tasks(heads, dim, names, trials or _TRIALS, grid or 0))
    if plot_path is not None:
        check_figure(plot_path, db)
    with Database(db) as database:
        missing = database.missing(wanted)
        rows = run_locally(missing, jobs) if cluster is None else run_on_cluster(missing, cluster)
        with _progress(len(wanted), len(wanted) - len(missing)) as advance:
            try:
                for row in rows:
                    database.add(row)
                    advance()
            except (KeyboardInterrupt, WorkerLost):
                kept = len(wanted) - len(database.missing(wanted))
                click.echo(f"{kept} of {len(wanted)} verifications are kept; run again to go on", err=True)
                raise
        results = database.rows()
    groups = grouped(results)
    click.echo(_as_json(groups) if as_json else _as_text(groups), nl=False)
    for row in [row for row in results if row.outcome != Outcome.HOLDS.value][:_SHOWN_FAILURES]:
        click.echo(f"not verified: {row.key} ({row.outcome}) {row.error}", err=True)
    if plot_path is not None:
        plot(groups, plot_path)
    return exit_status(Outcome(row.outcome) for row in results)


def _check_size(heads: range, dims: range, per_size: int) -> None:
    for option, values in (("--heads", heads), ("--dim", dims)):
        if values.start < (option == "--dim") or values.stop > _MOST_SIZE + 1:
            raise InputError(
                f"must lie between {int(option == '--dim')} and {_MOST_SIZE}",
                field=option,
                value=f"{values.start}-{values.stop - 1}",
            )
    runs = len(heads) * len(dims) * per_size
    if runs > _MOST_RUNS:
        raise InputError(
            f"a campaign of {runs} runs is more than {_MOST_RUNS}", field="--trials", hint="split it into several"
        )


def _as_json(groups: list[Any]) -> str:
    names = ("field", "heads", "dim", "grid", "runs", "verified", "with_redraw", "failure_bound", "seconds")
    return json.dumps([{name: getattr(group, name) for name in names} for group in groups], indent=1) + "\n"


def _as_text(groups: list[Any]) -> str:
    """Return a table; the observed share of runs with a re-draw stands beside the predicted bound."""
    from exactmha.cli.tables import render, table

    rows = table(
        "Field", "H", "d", "grid", "runs", "verified", "re-drawn", "bound", "seconds", right=(1, 2, 3, 4, 5, 6, 7, 8)
    )
    for group in groups:
        bound = "vacuous" if group.failure_bound >= 1 else f"{group.failure_bound:.1e}"
        rows.add_row(
            group.field,
            str(group.heads),
            str(group.dim),
            str(group.grid or "default"),
            str(group.runs),
            str(group.verified),
            f"{group.redraw_rate:.3f}",
            bound,
            f"{group.seconds:.3f}",
        )
    total, verified = sum(group.runs for group in groups), sum(group.verified for group in groups)
    above = sum(group.contradicts_bound for group in groups)
    verdict = f"contradict the failure bound in {above} rows" if above else "agree with the failure bound"
    return (
        render(rows)
        + f"\n{verified} of {total} runs verified; observed re-draws {verdict} (binomial test, level 1e-6)\n"
    )


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Show a bar with rate and remaining time on stderr when it is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    speed = TextColumn("{task.fields[rate]}")
    columns = (BarColumn(), MofNCompleteColumn(), speed, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("sweep", total=total, completed=done, rate="")

        def advance() -> None:
            bar.advance(task)
            current = bar.tasks[task].speed
            bar.update(task, rate=f"{current:.1f}/s" if current else "")

        yield advance
