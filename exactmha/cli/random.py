"""`exactmha random`."""

from __future__ import annotations

import click

from exactmha.cli.options import field_option, limit_option, output_option, seed_option, write_or_print
from exactmha.cli.transformer import instance_text, network_options, random_instance
from exactmha.limits import Limits


@click.command("random")
@click.option("--heads", type=int, default=3, show_default=True, help="Number H of canonical heads.")
@click.option("--dim", type=int, default=3, show_default=True, help="Dimension d of the tokens.")
@field_option
@seed_option
@network_options
@output_option
@limit_option
def command(
    heads: int,
    dim: int,
    field_name: str,
    seed: int,
    neurons: int | None,
    width: int | None,
    output: str | None,
    limits: Limits,
) -> None:
    """Write a random canonical instance file, with --neurons that of a Transformer."""
    write_or_print(instance_text(random_instance((heads, dim, field_name, seed), neurons, width, limits)), output)
