"""Safetensors: 8 bytes with the length of a JSON header, the header, then the bytes of all tensors.

The header is held against our own bounds before the library sees the file.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from exactmha.errors import InputError, LimitError, shorten
from exactmha.files import parse_json
from exactmha.limits import Limits
from exactmha.weights.read import EXTRA, READ, Tensor, check_count, numpy

_PREFIX = 8
_METADATA = "__metadata__"
_Natural = Annotated[int, Field(ge=0)]


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    dtype: str
    shape: Annotated[list[_Natural], Field(max_length=16)]
    data_offsets: Annotated[list[_Natural], Field(min_length=2, max_length=2)]


def safetensors_tensors(data: bytes, name: str, limits: Limits) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; raises `InputError` when its header is out of bounds or untrue."""
    _check_header(data, name, limits)
    try:
        from safetensors import SafetensorError, deserialize
    except ImportError:
        raise InputError("reading this file needs safetensors", hint=EXTRA) from None
    numpy()
    try:
        found = deserialize(data)  # type: ignore[no-untyped-call]  # it has no annotations
    except SafetensorError as error:
        raise InputError(
            f"is no valid safetensors file: {shorten(str(error))}", hint="write it again, or fetch it again"
        ) from None
    return {key: _tensor(key, entry) for key, entry in sorted(found, key=itemgetter(0))}  # the library's order varies


def _tensor(key: str, entry: dict[str, Any]) -> Tensor:
    def array() -> Any:
        flat = numpy().frombuffer(entry["data"], dtype=READ[dtype])
        if dtype == "BF16":  # the upper half of a float32
            flat = (flat.astype("<u4") << 16).view("<f4")
        return flat.reshape(entry["shape"])

    dtype = str(entry["dtype"])
    return Tensor(key, dtype, tuple(entry["shape"]), array)


def _check_header(data: bytes, name: str, limits: Limits) -> None:
    """Check the length of the header, its JSON, its entries, and that every tensor lies inside the file."""
    if len(data) < _PREFIX:
        raise InputError(f"has {len(data)} bytes, too few for a safetensors file", hint="fetch it again")
    length = int.from_bytes(data[:_PREFIX], "little")
    if length > limits.weights_header:
        raise LimitError(
            f"is no safetensors or npz file, or one with a header of more than {limits.weights_header} bytes",
            value=length,
            hint="check the file, or see --limit weights_header",
        )
    if _PREFIX + length > len(data):
        raise InputError(
            f"is cut off: the header needs {length} bytes and {len(data) - _PREFIX} are there", hint="fetch it again"
        )
    header = parse_json(data[_PREFIX : _PREFIX + length], file=f"{name}: header", limits=limits)
    if not isinstance(header, dict):
        raise InputError("the header is no JSON object", hint="write the file again")
    check_count(len(header), limits)
    for key, content in header.items():
        if key == _METADATA:
            continue
        try:
            entry = _Entry.model_validate(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, (key, *first["loc"])))
            problem = f"the header is wrong: {first['msg'].lower()}"
            raise InputError(problem, field=where, hint="write it again") from None
        if entry.data_offsets[1] > len(data) - _PREFIX - length:
            raise InputError("is cut off: this tensor ends after the file", field=key, hint="fetch the file again")
