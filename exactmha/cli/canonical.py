"""`exactmha canonical`."""

from __future__ import annotations

import click

from exactmha.cli.options import limit_option, load_model, output_option, write_or_print
from exactmha.limits import Limits


@click.command("canonical")
@click.argument("instance")
@output_option
@limit_option
def command(instance: str, output: str | None, limits: Limits) -> None:
    """Write the canonical form of INSTANCE: heads with equal W merged, zero sums discarded."""
    from dataclasses import replace

    from exactmha.cli.report import explain_canonical
    from exactmha.instance import to_text

    model = load_model(instance, limits)
    found = model.canonical()
    if found.is_changed:
        click.echo(explain_canonical(found), err=True)
    write_or_print(to_text(replace(model, heads=found.heads)), output)
