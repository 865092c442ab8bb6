"""`exactmha stability`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from click.core import ParameterSource

from exactmha.cli.options import json_option, limit_option, load_model, seed_option
from exactmha.errors import InputError
from exactmha.limits import Limits
from exactmha.outcome import exit_status

KINDS = ("orthogonal", "grid", "small", "integer")
_LONG = 200
"""Perturbations from which on progress is shown."""
_TABLE = ("seed", "show_table", "as_json")
"""Parameters that go with --table."""


@click.command("stability")
@click.argument("instance", required=False)
@click.option("--epsilon", default="1e-30", show_default=True, help="Error of every answer, e.g. 1e-12 or 2^-40.")
@seed_option
@click.option(
    "--design",
    "kind",
    type=click.Choice(KINDS),
    help="How tokens are drawn.  [default: orthogonal; integer where the field needs integers]",
)
@click.option("--draws", type=click.IntRange(1, 256), default=1, show_default=True, help="Keep the best of so many.")
@click.option("--scale", help="Length of the tokens b.  [default: H divided by the largest |W_ij|]")
@click.option("--attacks", type=click.IntRange(0, 10**6), default=1000, show_default=True, help="Random perturbations.")
@click.option("--compare", is_flag=True, help="Also compare the amplification of all kinds of designs.")
@click.option("--table", "show_table", is_flag=True, help="Amplification of random instances; needs no INSTANCE.")
@click.option("--plot", "picture", help="Write a plot to this file; needs matplotlib.")
@json_option
@limit_option
def command(
    instance: str | None,
    epsilon: str,
    seed: int,
    kind: str | None,
    draws: int,
    scale: str | None,
    attacks: int,
    compare: bool,
    show_table: bool,
    picture: str | None,
    as_json: bool,
    limits: Limits,
) -> int:
    """How far errors of the answers move the parameters of INSTANCE: first-order constant and certified bounds."""
    from exactmha.approximate.comparison import compare_designs
    from exactmha.approximate.numbers import positive_rational
    from exactmha.approximate.stability import analyse, choose
    from exactmha.cli.stability_report import as_json as json_text
    from exactmha.cli.stability_report import as_text

    if show_table:
        _refuse_others()
        return _table(seed, as_json)
    if instance is None:
        raise InputError("is needed except with --table", field="INSTANCE", hint="see exactmha stability --help")
    size = positive_rational(epsilon, "--epsilon", limits)
    length = None if scale is None else positive_rational(scale, "--scale", limits)
    if picture is not None:
        from exactmha.figures import check_figure

        check_figure(picture, instance)  # before the long run, not after it
    model = load_model(instance, limits)
    chosen = choose(model, kind=kind, seed=seed, draws=draws, scale=length)
    with _progress(attacks) as progress:
        result = analyse(model, chosen, epsilon=size, seed=seed, attacks=attacks, limits=limits, progress=progress)
    compared = compare_designs(model, seed=seed, scale=length) if compare else ()
    click.echo(json_text(result, compared) if as_json else as_text(result, compared), nl=False)
    if picture is not None:
        _plot(result, picture)
    return exit_status(claim.outcome for claim in result.claims)


def _refuse_others() -> None:
    """Raise `InputError` for an argument or an option that --table would ignore."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in _TABLE and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            shown = parameter.opts[0] if isinstance(parameter, click.Option) else name.upper()
            raise InputError("does not go with --table", field=shown, hint="leave it out")


@contextmanager
def _progress(attacks: int) -> Iterator[Callable[[], None] | None]:
    """Show a progress bar on stderr when it is a terminal and there is much to do."""
    if attacks < _LONG or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} perturbations tried"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("stability")
        yield lambda: bar.advance(task)


def _table(seed: int, as_json: bool) -> int:
    from exactmha.approximate.comparison import compare_kinds, compare_sizes
    from exactmha.cli.stability_report import sizes_json, sizes_text

    sizes = compare_sizes(range(1, 5), range(1, 4), seed=seed)
    kinds = compare_kinds(range(2, 5), 2, seed=seed)
    click.echo(sizes_json(sizes, kinds) if as_json else sizes_text(sizes, kinds), nl=False)
    return 0


def _plot(result: object, picture: str) -> None:
    from exactmha.approximate.plots import amplification, error_curve, plot
    from exactmha.approximate.stability import Stability, choose
    from exactmha.random_instance import random_model

    if not isinstance(result, Stability):
        raise TypeError("a stability report is needed")
    model = result.model
    name = f"this instance, H = {len(result.order)}, d = {model.dim}"
    curves = [error_curve(name, model, result.chosen)]
    for heads in (1, 2, 3):
        other = random_model(heads, 2, "exponential", result.seed + 1)
        curves.append(error_curve(f"random exponential, H = {heads}, d = 2", other, choose(other, seed=result.seed)))
    dim = min(model.dim, 3)
    plot(amplification(dim, "exponential"), curves, picture, instances=f"random exponential, d = {dim}")
