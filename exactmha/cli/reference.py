"""`exactmha reference`."""

from __future__ import annotations

import click

from exactmha.cli.options import output_option, write_or_print


@click.command("reference")
@output_option
def command(output: str | None) -> int:
    """Write a short reference of the Python interface, made from its docstrings, as one HTML page."""
    from exactmha.explain.reference import as_html

    write_or_print(as_html(), output)
    return 0
