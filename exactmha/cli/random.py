"""`exactmha random`."""

from __future__ import annotations

import click

from exactmha.cli.options import field_option, limit_option, output_option, seed_option, write_or_print
from exactmha.limits import Limits


@click.command("random")
@click.option("--heads", type=int, default=3, show_default=True, help="Number H of canonical heads.")
@click.option("--dim", type=int, default=3, show_default=True, help="Dimension d of the tokens.")
@field_option
@seed_option
@output_option
@limit_option
def command(heads: int, dim: int, field_name: str, seed: int, output: str | None, limits: Limits) -> None:
    """Write a random canonical instance file."""
    from exactmha.instance import to_text
    from exactmha.random_instance import random_model

    write_or_print(to_text(random_model(heads, dim, field_name, seed, limits)), output)
