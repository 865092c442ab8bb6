"""`exactmha reproduce`."""

from __future__ import annotations

import click


@click.command("reproduce")
@click.argument("file", default="README.md")
@click.option("--only", multiple=True, help="Only this block, such as verify or bench; repeatable.")
def command(file: str, only: tuple[str, ...]) -> None:
    """Regenerate every table that README shows (FILE, by default README.md), in place; takes some minutes."""
    from exactmha.reproduce import reproduce

    changed = reproduce(file, only)
    click.echo(f"changed: {', '.join(changed) or 'nothing'}")
