"""Reading token sequences that someone else wrote, in JSON that is parsed already."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from exactmha.errors import InputError, LimitError
from exactmha.limits import Limits

if TYPE_CHECKING:
    from exactmha.sequences import Token


def sequences_from(path: str, dim: int, limits: Limits) -> list[list[Token]]:
    """Read a query file: a JSON list of token sequences; raises `InputError` naming file, place and value."""
    from exactmha.files import parse_json, read_bytes

    data = parse_json(read_bytes(path, limits), file=path, limits=limits)
    try:
        if not isinstance(data, list):
            raise InputError(
                "must be a list of token sequences",
                field="top level",
                value=data,
                hint='e.g. [[["1","2"],["0","1/3"]]]',
            )
        if len(data) > limits.queries:
            raise LimitError(
                f"more than {limits.queries} sequences",
                field="top level",
                value=len(data),
                hint="see --limit queries",
            )
        if sum(len(sequence) for sequence in data if isinstance(sequence, list)) > limits.query_tokens:
            raise LimitError(
                f"more than {limits.query_tokens} tokens", field="top level", hint="see --limit query_tokens"
            )
        return [sequence_from(sequence, f"[{i}]", dim, limits) for i, sequence in enumerate(data)]
    except InputError as error:
        raise error.located(file=path) from None


def sequences_text(sequences: Iterable[Sequence[Token]]) -> str:
    """Return a query file, one sequence a line."""
    lines = [json.dumps([[str(x) for x in token] for token in sequence]) for sequence in sequences]
    return "[\n  " + ",\n  ".join(lines) + "\n]\n" if lines else "[]\n"


def sequence_from(data: Any, where: str, dim: int, limits: Limits) -> list[Token]:
    """Read a list of tokens, each a list of `dim` exact rationals written as strings (or integers)."""
    if not isinstance(data, list) or not data:
        raise InputError(
            "must be a non-empty list of tokens", field=where, value=data, hint='e.g. [["1","2"],["0","1/3"]]'
        )
    if len(data) > limits.tokens:
        raise LimitError(f"more than {limits.tokens} tokens", field=where, value=len(data), hint="see --limit tokens")
    return [_token_from(token, f"{where}[{i}]", dim, limits) for i, token in enumerate(data)]


def _token_from(token: Any, where: str, dim: int, limits: Limits) -> Token:
    if not isinstance(token, list) or len(token) != dim:
        raise InputError(
            f"a token must be a list of {dim} numbers", field=where, value=token, hint="dim of the instance"
        )
    return tuple(_number_from(x, f"{where}[{j}]", limits) for j, x in enumerate(token))


def _number_from(x: Any, where: str, limits: Limits) -> Any:
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
