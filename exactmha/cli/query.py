"""`exactmha query`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from exactmha.cli.options import json_option, limit_option
from exactmha.cli.tokens import sequence_from
from exactmha.cli.transformer import answer, load_any
from exactmha.errors import InputError
from exactmha.limits import Limits

if TYPE_CHECKING:
    from exactmha.sequences import Token

_WHERE = "--tokens"


@click.command("query")
@click.argument("instance")
@click.option("--tokens", required=True, help='The sequence, e.g. \'[["1","2"],["0","1/3"]]\'; the last token is x_n.')
@click.option(
    "--digits", type=click.IntRange(1, 10_000), default=30, show_default=True, help="Digits of the enclosure."
)
@json_option
@limit_option
def command(instance: str, tokens: str, digits: int, as_json: bool, limits: Limits) -> None:
    """Ask the exact oracle of INSTANCE one query: exact form, and a decimal enclosure."""
    model = load_any(instance, limits)
    sequence = read_tokens(tokens, model.dim, limits)
    try:
        value = answer(model, limits)(sequence)
    except InputError as error:
        raise error.located(field=_WHERE) from None
    exact, decimal = str(value), value.enclosure(digits).str(digits)
    if as_json:
        click.echo(json.dumps({"field": model.field.name, "length": len(sequence), "exact": exact, "decimal": decimal}))
    else:
        click.echo(f"exact    {exact}\ndecimal  {decimal}")


def read_tokens(text: str, dim: int, limits: Limits) -> list[Token]:
    """Read a JSON list of tokens, each a list of `dim` exact rationals written as strings (or integers)."""
    from exactmha.files import parse_json

    data = parse_json(text.encode("utf-8", "surrogateescape"), file=_WHERE, limits=limits)
    return sequence_from(data, _WHERE, dim, limits)
