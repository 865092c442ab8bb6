"""`exactmha query`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.options import json_option, limit_option, load_model
from exactmha.errors import InputError, LimitError
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
    from exactmha.attention import Attention

    model = load_model(instance, limits)
    sequence = read_tokens(tokens, model.dim, limits)
    try:
        value = Attention(model, limits)(sequence)
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
    if not isinstance(data, list) or not data:
        raise InputError(
            "must be a non-empty list of tokens", field=_WHERE, value=data, hint='e.g. [["1","2"],["0","1/3"]]'
        )
    if len(data) > limits.tokens:
        raise LimitError(f"more than {limits.tokens} tokens", field=_WHERE, value=len(data), hint="see --limit tokens")
    return [_read_token(token, i, dim, limits) for i, token in enumerate(data)]


def _read_token(token: Any, i: int, dim: int, limits: Limits) -> Token:
    where = f"{_WHERE}[{i}]"
    if not isinstance(token, list) or len(token) != dim:
        raise InputError(
            f"a token must be a list of {dim} numbers", field=where, value=token, hint="dim of the instance"
        )
    return tuple(_read_number(x, f"{where}[{j}]", limits) for j, x in enumerate(token))


def _read_number(x: Any, where: str, limits: Limits) -> Any:
    from exactmha.forms import parse_rational

    if isinstance(x, int) and not isinstance(x, bool):
        return x
    if not isinstance(x, str):
        raise InputError("must be a string", field=where, value=x, hint='write numbers as strings, e.g. "1/3"')
    try:
        value = parse_rational(x, limits)
    except InputError as error:
        raise error.located(field=where) from None
    if value is None:
        raise InputError("must be rational", field=where, value=x)
    return int(value.numerator) if value.denominator == 1 else value
