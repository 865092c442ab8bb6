"""`exactmha verify`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.certificate import write_certificate
from exactmha.cli.estimates import announce
from exactmha.cli.options import (
    field_option,
    given_options,
    json_option,
    limit_option,
    probability,
    seed_option,
)
from exactmha.cli.transformer import instance_text, network_options, random_instance, report_json, report_text
from exactmha.errors import InputError
from exactmha.files import check_writable
from exactmha.limits import Limits
from exactmha.outcome import exit_status

if TYPE_CHECKING:
    from exactmha.attention import Model
    from exactmha.conditions import Grid
    from exactmha.transformer.model import Transformer


@click.command("verify")
@click.argument("instance", required=False)
@click.option("--example", help="Verify a built-in teaching example, such as two-heads-1d.")
@click.option("--heads", type=int, help="Number H of heads of the random instance.  [default: 3]")
@click.option("--dim", type=int, help="Dimension d of the random instance.  [default: 3]")
@field_option
@seed_option
@network_options
@click.option("--heads-bound", type=click.IntRange(0, 10_000), help="Tell the learner only this bound H_0 ≥ H.")
@click.option("--lines-bound", type=click.IntRange(0, 10_000), help="Transformers: tell only this bound on the lines.")
@click.option("--learner", default="paper", show_default=True, help="Which learner; `exactmha budget` lists them.")
@click.option("--failure-bound", default="2^-40", show_default=True, help="Bound on the probability of a bad design.")
@click.option("--grid", type=click.IntRange(2), help="Force the number of values of every token coordinate.")
@click.option("--certificate", help="Write a certificate to this file when something was recovered.")
@click.option("--no-redraw", is_flag=True, help="Stop at the first condition that fails instead of drawing again.")
@click.option("--dry-run", is_flag=True, help="Print the number of queries, and the time and memory to expect.")
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
    neurons: int | None,
    width: int | None,
    heads_bound: int | None,
    lines_bound: int | None,
    learner: str,
    failure_bound: str,
    grid: int | None,
    certificate: str | None,
    no_redraw: bool,
    dry_run: bool,
    as_json: bool,
    limits: Limits,
) -> int:
    """Check the exact-recovery theorem on INSTANCE, or on a random instance when no file is given."""
    from exactmha.conditions import Grid
    from exactmha.transformer.model import Transformer

    given = given_options(ctx)
    _check_options(given, instance, example, learner)
    shape = (3 if heads is None else heads, 3 if dim is None else dim, field_name, seed)
    model, source, design = _instance(instance, example, shape, (neurons, width), limits)
    _check_kind(given, is_transformer=isinstance(model, Transformer))
    if certificate is not None:
        check_writable(certificate, *([instance] if instance else []))  # before the long run, not after it
    settings: dict[str, Any] = {"grid": Grid(grid, grid) if grid else design, "seed": seed, "limits": limits}
    if not isinstance(model, Transformer) and learner != "paper":
        from exactmha.cli.learners import verify_learner

        return verify_learner(learner, model, source, certificate, as_json, **settings)
    settings |= {"heads_bound": heads_bound, "failure_bound": probability(failure_bound, limits)}
    if isinstance(model, Transformer):
        return _verify_transformer(model, source, certificate, as_json, {**settings, "lines_bound": lines_bound})
    if dry_run:
        return _dry_run(model, as_json, settings)
    announce(model, settings, is_certified=certificate is not None)
    return _verify_attention(model, source, certificate, as_json, {**settings, "redraw": not no_redraw})


def _check_options(given: set[str], instance: str | None, example: str | None, learner: str) -> None:
    """Raise `InputError` for options that do not go together."""
    if instance is not None and example is not None:
        raise InputError("is a second instance", field="--example", value=example, hint="give a file or an example")
    if given & {"heads", "dim", "field_name", "neurons", "width"} and (instance is not None or example is not None):
        raise InputError(
            "--heads, --dim, --field, --neurons and --width describe a random instance",
            field="--example" if instance is None else "INSTANCE",
            value=example or instance,
            hint="give one of: a file, --example, or these options",
        )
    if {"grid", "failure_bound"} <= given:
        raise InputError("decides the grid that --grid forces", field="--failure-bound", hint="give one of the two")
    if learner != "paper" and given & {"heads_bound", "no_redraw", "failure_bound", "dry_run"}:
        problem = "goes without --heads-bound, --no-redraw, --failure-bound and --dry-run"
        raise InputError(problem, field="--learner", value=learner)


def _check_kind(given: set[str], *, is_transformer: bool) -> None:
    """Raise `InputError` for an option that is not for this kind of instance."""
    for name in given & ({"no_redraw", "learner", "dry_run"} if is_transformer else {"lines_bound"}):
        kind = "is not for Transformers" if is_transformer else "is for Transformers only"
        raise InputError(kind, field=f"--{name.replace('_', '-')}", hint="leave it out")


def _dry_run(model: Model, as_json: bool, settings: dict[str, Any]) -> int:
    """Print what a verification would cost."""
    from exactmha.cli.estimates import as_json as json_of
    from exactmha.cli.estimates import as_text
    from exactmha.estimate import estimate

    found = estimate(model, **settings)
    click.echo(json_of(found) if as_json else as_text(found), nl=False)
    return 0


def _verify_attention(
    model: Model,
    source: bytes,
    certificate: str | None,
    as_json: bool,
    settings: dict[str, Any],
) -> int:
    """Verify a multi-head attention layer, print the report, and write the certificate."""
    from exactmha.certificates.write import CertificateRecorder
    from exactmha.cli import report
    from exactmha.estimate import told
    from exactmha.recover.design import expected_queries
    from exactmha.verification import verify

    recorder = CertificateRecorder() if certificate is not None else None
    with _progress(expected_queries(told(model, settings["heads_bound"]), model.dim)) as progress:
        result = verify(model, **settings, progress=progress, recorder=recorder)
    if certificate and recorder and result.recovery:
        write_certificate(recorder.text(result.recovery, model.field, source), certificate)
    elif certificate:
        click.echo("nothing was recovered, so no certificate was written", err=True)
    click.echo(report.as_json(result) if as_json else report.as_text(result), nl=False)
    return exit_status(claim.outcome for claim in result.claims)


def _verify_transformer(
    model: Transformer,
    source: bytes,
    certificate: str | None,
    as_json: bool,
    settings: dict[str, Any],
) -> int:
    """Verify a Transformer: the same claims, and those of its network."""
    from exactmha.certificates.write import CertificateRecorder
    from exactmha.transformer.certificate import certificate_text, why_none
    from exactmha.transformer.verification import verify_transformer

    recorder = CertificateRecorder() if certificate is not None else None
    with _progress() as progress:
        result = verify_transformer(model, **settings, recorder=recorder, progress=progress)
    text = certificate_text(result, recorder, source) if recorder else None
    if certificate and text is not None:
        write_certificate(text, certificate)
    elif certificate:
        click.echo(f"no certificate was written: {why_none(result)}", err=True)
    click.echo(report_json(result) if as_json else report_text(result), nl=False)
    return exit_status(claim.outcome for claim in result.claims)


def _instance(
    path: str | None,
    example: str | None,
    shape: tuple[int, int, str, int],
    network: tuple[int | None, int | None],
    limits: Limits,
) -> tuple[Model | Transformer, bytes, Grid | None]:
    """Return the model, the bytes of its instance file, and the grid that an example asks for."""
    from exactmha.random_instance import example as find_example
    from exactmha.transformer.instance import load_with_source

    if path is not None:
        return *load_with_source(path, limits), None
    if example is not None:
        found = find_example(example)
        return found.model, instance_text(found.model).encode(), found.grid
    model = random_instance(shape, *network, limits)
    return model, instance_text(model).encode(), None


@contextmanager
def _progress(total: int | None = None) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on stderr when it is a terminal; `total` counts the queries without re-draws."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    text = "{task.completed}" + (f" of {total}" if total else "") + " queries asked and proved"
    columns = (SpinnerColumn(), TextColumn(text), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("verify", total=total)
        yield lambda asked: bar.update(task, completed=asked)
