"""`exactmha explain`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from exactmha.cli.options import field_option, limit_option, seed_option
from exactmha.errors import InputError, LimitError
from exactmha.files import check_writable, write_atomically
from exactmha.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactmha.attention import Model
    from exactmha.conditions import Grid
    from exactmha.explain.run import Run


@click.command("explain")
@click.argument("instance", required=False)
@click.option("--example", help="Explain a built-in teaching example: two-heads-1d (the default) or two-heads-2d.")
@click.option("--heads", type=int, help="Number H of heads of a random instance.  [default with --dim: 2]")
@click.option("--dim", type=int, help="Dimension d of a random instance.  [default with --heads: 2]")
@field_option
@seed_option
@click.option("--grid", type=click.IntRange(2), help="Number of values of every token coordinate.  [default: few]")
@click.option("--step", type=int, help="Print only this step.")
@click.option("--html", help="Write one self-contained page to this file instead.")
@click.option("--latex", help="Write a LaTeX document to this file instead.")
@click.option("--plot", help="Draw a picture of the run to this .png, .pdf or .svg file instead.")
@click.option(
    "--picture",
    type=click.Choice(("profile", "matching", "grid", "exponents", "ledger", "budget")),
    help="Which picture --plot draws.  [default: profile]",
)
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
    grid: int | None,
    step: int | None,
    html: str | None,
    latex: str | None,
    plot: str | None,
    picture: str | None,
    limits: Limits,
) -> None:
    """Tell the run of the learner on INSTANCE as a story: each step with its formula, its numbers and what was checked.

    Every equation with numbers is evaluated exactly, both sides, when it is printed. With --html, --latex or --plot
    files are written and nothing is printed.
    """
    from exactmha.conditions import Grid
    from exactmha.explain.run import GRID, gather

    is_random = heads is not None or dim is not None
    given = [text for text, there in _sources(instance, example, heads, dim) if there]
    if (instance is not None) + (example is not None) + is_random > 1:
        raise InputError(
            "more than one instance",
            field="INSTANCE",
            value=", ".join(given),
            hint="give one of: a file, --example, --heads --dim",
        )
    if ctx.get_parameter_source("field_name") is not click.core.ParameterSource.DEFAULT and not is_random:
        raise InputError("describes a random instance", field="--field", hint="give --heads and --dim too")
    shape = (2 if heads is None else heads, 2 if dim is None else dim, field_name, seed) if is_random else None
    model, design = _model(instance, example, shape, limits)
    chosen = Grid(grid, grid) if grid else design or GRID
    outputs = {name: p for name, p in (("--html", html), ("--latex", latex), ("--plot", plot)) if p is not None}
    if outputs and step is not None:
        raise InputError("is for text only", field="--step", value=step, hint="leave it out")
    _check_outputs(outputs, instance)
    if picture is not None and plot is None:
        raise InputError("goes with --plot only", field="--picture", value=picture)
    if plot is not None:
        from exactmha.figures import check_figure

        check_figure(plot)
    try:
        _write(gather(model, chosen, seed, limits), step, html, latex, plot, picture or "profile")
    except LimitError as error:
        hint = "give smaller weights or a smaller --grid; exactmha verify takes more"
        raise InputError("the numbers of this run are too long for a story", value=str(error), hint=hint) from None


def _sources(
    instance: str | None, example: str | None, heads: int | None, dim: int | None
) -> Iterator[tuple[str, bool]]:
    """Yield what may name an instance, as it was written, and whether it was given."""
    yield str(instance), instance is not None
    for option, value in (("--example", example), ("--heads", heads), ("--dim", dim)):
        yield f"{option} {value}", value is not None


def _check_outputs(outputs: dict[str, str], instance: str | None) -> None:
    """Raise `InputError` for files that cannot be written, and for two that are one."""
    seen: dict[Path, str] = {}
    for option, path in outputs.items():
        try:
            check_writable(path, *([instance] if instance else []))
        except InputError as error:
            raise error.located(field=option) from None
        other = seen.setdefault(Path(path).resolve(), option)
        if other != option:
            raise InputError(f"names the same file as {other}", field=option, value=path, hint="give two files")


def _write(run: Run, step: int | None, html: str | None, latex: str | None, plot: str | None, picture: str) -> None:
    """Print the story, or write it to the files that were named: all contents are made before the first is written."""
    from exactmha.explain.tell import tell
    from exactmha.explain.text import LEAST_WIDTH, WIDTH, as_text

    story, files = tell(run), dict[str, str | bytes]()
    if html is latex is plot is None:
        width = min(max(get_terminal_size((WIDTH, 1)).columns, LEAST_WIDTH), WIDTH)
        click.echo(as_text(story, step, width), nl=False)
    if html is not None:
        from exactmha.explain.html import as_html

        if find_spec("matplotlib") is None:
            click.echo('exactmha: the page has no pictures: they need matplotlib; pip install -e ".[plot]"', err=True)
        files[html] = as_html(story, run)
    if latex is not None:
        from exactmha.explain.latex import as_latex

        files[latex] = as_latex(story)
    if plot is not None:
        files[plot] = _drawn(run, picture, plot)
    for path, content in files.items():
        write_atomically(path, content)


def _drawn(run: Run, picture: str, path: str) -> bytes:
    from exactmha.explain.pictures.catalogue import figure
    from exactmha.figures import image, image_format

    try:
        return image(figure(run, picture), image_format(path))
    except InputError as error:
        raise error.located(field="--plot") from None


def _model(
    path: str | None, example: str | None, shape: tuple[int, int, str, int] | None, limits: Limits
) -> tuple[Model, Grid | None]:
    """Return the model, and the grid that an example asks for."""
    from exactmha.cli.options import load_model
    from exactmha.random_instance import example as find_example
    from exactmha.random_instance import random_model

    if path is not None:
        return load_model(path, limits), None
    if shape is not None:
        return random_model(*shape, limits), None
    found = find_example(example or "two-heads-1d")
    return found.model, found.grid
