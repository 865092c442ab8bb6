"""Instance files of Transformers: the format of `exactmha.instance`, with "O" in every head and "ffn" beside them.

    {"format": "exactmha/instance/1", "field": "exponential", "dim": 2,
     "heads": [{"W": [["1/2", "-3"], ["0", "2"]], "O": [["1", "0"], ["1/2", "-1"]]}],
     "ffn": {"w": [["1", "-1"], ["0", "2"]], "a": ["3", "-1/2"]}}

O is p × d, w is m × p, a has m entries; all of them rational, in every field. W decides the field as it does there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from flint import fmpq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from exactmha import instance as plain
from exactmha.attention import Model
from exactmha.errors import InputError, LimitError
from exactmha.files import parse_json, read_bytes, write_atomically
from exactmha.forms import parse_rational
from exactmha.heads import Head, Matrix
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.transformer.model import Transformer

_STRICT = ConfigDict(strict=True, extra="forbid")


class _HeadFile(BaseModel):
    model_config = _STRICT
    W: list[list[str]]
    O: list[list[str]]  # noqa: E741  # the paper's symbol


class _NetworkFile(BaseModel):
    model_config = _STRICT
    w: list[list[str]]
    a: list[str]


class _TransformerFile(BaseModel):
    model_config = _STRICT
    format: Literal["exactmha/instance/1"]
    field: Literal["rational", "radical", "exponential"] | None = None
    dim: Annotated[int, Field(ge=1)]
    heads: list[_HeadFile]
    ffn: _NetworkFile


def load(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Model | Transformer:
    """Read an instance file of either kind; raises `InputError` naming file, field, value and what to do."""
    return load_with_source(path, limits)[0]


def load_with_source(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> tuple[Model | Transformer, bytes]:
    """Read an instance file of either kind once; return the model and the bytes it was read from."""
    source = read_bytes(path, limits)
    data = parse_json(source, file=str(path), limits=limits)
    try:
        return (from_dict(data, limits) if is_transformer(data) else plain.from_dict(data, limits)), source
    except InputError as error:
        raise error.located(file=str(path)) from None


def is_transformer(data: Any) -> bool:
    """True when the content of an instance file has the key "ffn", or "O" in a head."""
    if not isinstance(data, dict):
        return False
    heads = data.get("heads")
    return "ffn" in data or (isinstance(heads, list) and any(isinstance(h, dict) and "O" in h for h in heads))


def from_dict(data: Any, limits: Limits = DEFAULT_LIMITS) -> Transformer:
    """Build a Transformer from the parsed content of an instance file."""
    try:
        content = _TransformerFile.model_validate(data)
    except ValidationError as error:
        raise plain.translated(error) from None
    width = _width(content)
    for name, field, most, given in (
        ("dim", "dim", limits.dim, content.dim),
        ("heads", "heads", limits.heads, len(content.heads)),
        ("neurons", "ffn", limits.neurons, len(content.ffn.a)),
        ("width", "ffn", limits.width, width),
    ):
        if given > most:  # before anything of this size is built
            words = f"more than {most}" if name == "dim" else f"more than {most} {name}"
            raise LimitError(words, field=field, value=given, hint=f"see --limit {name}")
    attention = plain.from_dict(  # reads W and finds the field; its v are not used
        {
            "format": content.format,
            "field": content.field,
            "dim": content.dim,
            "heads": [{"W": head.W, "v": ["0"] * content.dim} for head in content.heads],
        },
        limits,
    )
    return Transformer(
        attention.field,
        content.dim,
        tuple(head.W for head in attention.heads),
        tuple(
            _matrix(head.O, width, content.dim, f"heads[{h}].O", "dim says how many", limits)
            for h, head in enumerate(content.heads)
        ),
        _matrix(content.ffn.w, len(content.ffn.a), width, "ffn.w", "as many as O has rows", limits),
        _vector(content.ffn.a, len(content.ffn.a), "ffn.a", "one for each row of w", limits),
    )


def _width(content: _TransformerFile) -> int:
    """Return p: the number of rows of O, or of columns of w where there are no heads."""
    if content.heads:
        return len(content.heads[0].O)
    return len(content.ffn.w[0]) if content.ffn.w else 0


def _matrix(rows: list[list[str]], height: int, width: int, where: str, hint: str, limits: Limits) -> Matrix:
    if len(rows) != height:
        raise InputError(
            f"needs {height} rows",
            field=where,
            value=len(rows),
            hint="all O have p rows, w has one for each entry of a",
        )
    return tuple(_vector(row, width, f"{where}[{i}]", hint, limits) for i, row in enumerate(rows))


def _vector(texts: list[str], length: int, where: str, hint: str, limits: Limits) -> tuple[fmpq, ...]:
    if len(texts) != length:
        raise InputError(f"needs {length} entries", field=where, value=len(texts), hint=hint)
    return tuple(_rational(text, f"{where}[{i}]", limits) for i, text in enumerate(texts))


def _rational(text: str, where: str, limits: Limits) -> fmpq:
    try:
        value = parse_rational(text, limits)
    except InputError as error:
        raise error.located(field=where) from None
    if value is None:
        raise InputError("must be rational", field=where, value=text, hint="only W may hold roots or logarithms")
    return value


def to_text(model: Transformer) -> str:
    """Return the instance file of a Transformer, one head a line; the field is always written."""
    heads = ",\n    ".join(
        json.dumps({"W": weights_text(model, h), "O": _texts(model.O[h])}) for h in range(len(model.W))
    )
    listed = f"[\n    {heads}\n  ]" if model.W else "[]"
    network = json.dumps({"w": _texts(model.w), "a": [str(x) for x in model.a]})
    return (
        f'{{\n  "format": "{plain.FORMAT}",\n  "field": "{model.field.name}",\n'
        f'  "dim": {model.dim},\n  "heads": {listed},\n  "ffn": {network}\n}}\n'
    )


def weights_text(model: Transformer, h: int) -> list[list[str]]:
    """Return W_h in the instance grammar."""
    rows = range(model.dim)
    return [[model.field.log_text([matrix[i][j] for matrix in model.W[h]]) for j in rows] for i in rows]


def _texts(rows: Iterable[Sequence[fmpq]]) -> list[list[str]]:
    return [[str(x) for x in row] for row in rows]


def save(model: Transformer, path: str | Path) -> None:
    """Write an instance file atomically."""
    write_atomically(path, to_text(model))


def over_one_field(left: Transformer, right: Transformer) -> tuple[Transformer, Transformer] | None:
    """Return two Transformers of one dimension with their W over one field; None when no field holds both.

    Raises `LimitError` beyond the default limits.
    """
    if left.field == right.field:
        return left, right
    markers = [_marked(model) for model in (left, right)]
    both = plain.over_one_field(*markers)
    if both is None:
        return None
    moved = []
    for model, marker, new in zip((left, right), markers, both, strict=True):
        # `over_one_field` lists the canonical heads of each side, in the order of their old W
        images = {old.W: found.W for old, found in zip(marker.canonical().heads, new.heads, strict=True)}
        moved.append(Transformer(new.field, model.dim, tuple(images[W] for W in model.W), model.O, model.w, model.a))
    return moved[0], moved[1]


def _marked(model: Transformer) -> Model:
    """Return a plain model with each W once, and a readout that is not zero."""
    one = (fmpq(1), *[fmpq(0)] * (model.field.degree - 1))
    return Model(model.field, model.dim, tuple(Head(W, (one,) * model.dim) for W in sorted(set(model.W))))
