"""`exactmha verify`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from exactmha.cli.options import (
    field_option,
    json_option,
    limit_option,
    probability,
    seed_option,
    write_or_print,
)
from exactmha.errors import InputError
from exactmha.limits import Limits
from exactmha.outcome import exit_status

if TYPE_CHECKING:
    from exactmha.attention import Model
    from exactmha.certificates.write import CertificateRecorder
    from exactmha.conditions import Grid


@click.command("verify")
@click.argument("instance", required=False)
@click.option("--example", help="Verify a built-in teaching example, such as two-heads-1d.")
@click.option("--heads", type=int, help="Number H of heads of the random instance.  [default: 3]")
@click.option("--dim", type=int, help="Dimension d of the random instance.  [default: 3]")
@field_option
@seed_option
@click.option("--heads-bound", type=click.IntRange(0, 10_000), help="Tell the learner only this bound H_0 ≥ H.")
@click.option("--failure-bound", default="2^-40", show_default=True, help="Bound on the probability of a bad design.")
@click.option("--grid", type=click.IntRange(2), help="Force the number of values of every token coordinate.")
@click.option("--certificate", help="Write a certificate to this file when something was recovered.")
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
    certificate: str | None,
    no_redraw: bool,
    as_json: bool,
    limits: Limits,
) -> int:
    """Check the exact-recovery theorem on INSTANCE, or on a random instance when no file is given."""
    from exactmha.cli import report
    from exactmha.conditions import Grid
    from exactmha.verification import verify

    def given(name: str) -> bool:
        return ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT

    chosen = [name for name in ("heads", "dim", "field_name") if given(name)]
    if instance is not None and example is not None:
        raise InputError("is a second instance", field="--example", value=example, hint="give a file or an example")
    if chosen and (instance is not None or example is not None):
        raise InputError(
            "--heads, --dim and --field describe a random instance",
            field="--example" if instance is None else "INSTANCE",
            value=example or instance,
            hint="give one of: a file, --example, or these options",
        )
    if grid is not None and given("failure_bound"):
        raise InputError("decides the grid that --grid forces", field="--failure-bound", hint="give one of the two")
    shape = (3 if heads is None else heads, 3 if dim is None else dim, field_name, seed)
    model, source, design = _instance(instance, example, shape, limits)
    recorder = _recorder(certificate, instance)
    with _progress() as progress:
        result = verify(
            model,
            heads_bound=heads_bound,
            failure_bound=probability(failure_bound, limits),
            grid=Grid(grid, grid) if grid else design,
            seed=seed,
            redraw=not no_redraw,
            limits=limits,
            progress=progress,
            recorder=recorder,
        )
    if recorder is not None and result.recovery is not None:
        write_or_print(recorder.text(result.recovery, model.field, source), certificate)
    elif recorder is not None:
        click.echo("nothing was recovered, so no certificate was written", err=True)
    click.echo(report.as_json(result) if as_json else report.as_text(result), nl=False)
    return exit_status(claim.outcome for claim in result.claims)


def _instance(
    path: str | None, example: str | None, shape: tuple[int, int, str, int], limits: Limits
) -> tuple[Model, bytes, Grid | None]:
    """Return the model, the bytes of its instance file, and the grid that an example asks for."""
    from exactmha.instance import load_with_source, to_text
    from exactmha.random_instance import example as find_example
    from exactmha.random_instance import random_model

    if path is not None:
        return *load_with_source(path, limits), None
    if example is not None:
        found = find_example(example)
        return found.model, to_text(found.model).encode(), found.grid
    model = random_model(*shape, limits)
    return model, to_text(model).encode(), None


def _recorder(certificate: str | None, instance: str | None) -> CertificateRecorder | None:
    if certificate is None:
        return None
    from exactmha.certificates.write import CertificateRecorder
    from exactmha.files import check_writable

    check_writable(certificate, *([instance] if instance else []))  # before the long run, not after it
    return CertificateRecorder()


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
