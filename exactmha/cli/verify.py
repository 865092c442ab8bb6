"""`exactmha verify`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from exactmha.cli.options import (
    field_option,
    json_option,
    limit_option,
    load_model,
    probability,
    seed_option,
)
from exactmha.errors import InputError
from exactmha.limits import Limits
from exactmha.outcome import exit_status


@click.command("verify")
@click.argument("instance", type=click.Path(), required=False)
@click.option("--example", help="Verify a built-in teaching example, such as two-heads-1d.")
@click.option("--heads", type=int, help="Number H of heads of the random instance.  [default: 3]")
@click.option("--dim", type=int, help="Dimension d of the random instance.  [default: 3]")
@field_option
@seed_option
@click.option("--heads-bound", type=click.IntRange(0, 10_000), help="Tell the learner only this bound H_0 ≥ H.")
@click.option("--failure-bound", default="2^-40", show_default=True, help="Bound on the probability of a bad design.")
@click.option("--grid", type=click.IntRange(2), help="Force the number of values of every token coordinate.")
@click.option("--no-redraw", is_flag=True, help="Stop at the first condition that fails instead of drawing again.")
@json_option
@limit_option
@click.pass_context
def command(
    ctx: click.Context,
    instance: str | None,
    example: str | None,
    heads: int | None,
    dim: int | None,
    field_name: str,
    seed: int,
    heads_bound: int | None,
    failure_bound: str,
    grid: int | None,
    no_redraw: bool,
    as_json: bool,
    limits: Limits,
) -> int:
    """Check the exact-recovery theorem on INSTANCE, or on a random instance when no file is given."""
    from exactmha.cli import report
    from exactmha.conditions import Grid
    from exactmha.random_instance import example as find_example
    from exactmha.random_instance import random_model
    from exactmha.verify import verify

    design = Grid(grid, grid) if grid else None
    chosen_field = ctx.get_parameter_source("field_name") is not click.core.ParameterSource.DEFAULT
    random_options = [heads is not None, dim is not None, chosen_field]
    if instance is not None or example is not None:
        if any(random_options) or (instance is not None and example is not None):
            raise InputError(
                "--heads, --dim and --field describe a random instance",
                field="--example" if example else "INSTANCE",
                value=example or instance,
                hint="give one of: a file, --example, or these options",
            )
        if instance is not None:
            model = load_model(instance, limits)
        else:
            chosen = find_example(str(example))
            model, design = chosen.model, design or chosen.grid
    else:
        model = random_model(3 if heads is None else heads, 3 if dim is None else dim, field_name, seed, limits)
    bound = probability(failure_bound, limits)
    with _progress() as progress:
        result = verify(
            model,
            heads_bound=heads_bound,
            failure_bound=bound,
            grid=design,
            seed=seed,
            redraw=not no_redraw,
            limits=limits,
            progress=progress,
        )
    click.echo(report.as_json(result) if as_json else report.as_text(result), nl=False)
    return exit_status(claim.outcome for claim in result.claims)


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on stderr when it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} queries asked and proved"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("verify")
        yield lambda asked: bar.update(task, completed=asked)
