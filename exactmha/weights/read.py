"""Files of weights: named tensors of floating-point numbers, each of which is a dyadic rational, read exactly.

Safetensors and NumPy's npz, told apart by their first bytes. Neither needs a pickle, and none is ever loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path
from typing import Any

from flint import fmpq, fmpq_mat

from exactmha.errors import InputError, LimitError, shorten
from exactmha.files import read_bytes
from exactmha.limits import DEFAULT_LIMITS, Limits

FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The floating-point types that are read, by their safetensors names, and NumPy's type of their bytes."""
READ = {**FLOATS, "BOOL": "|b1", "U8": "|u1"}
"""All types that are read; masks may be of the last two."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a zip archive, and of one without members; a length of a safetensors header may begin with PK."""
EXTRA = 'pip install -e ".[import]"'
CONVERT = "convert it where you trust it: safetensors.torch.save_file(layer.state_dict(), 'layer.safetensors')"


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file: its type and shape, and its numbers when they are asked for."""

    key: str
    dtype: str
    """a key of `READ`, else the file's own name of the type"""
    shape: tuple[int, ...]
    array: Callable[[], Any]
    """returns the tensor as a NumPy array"""

    @property
    def shape_text(self) -> str:
        """The shape in words, such as 24 × 8."""
        return " × ".join(map(str, self.shape)) or "a single number"


@dataclass(frozen=True)
class Weights:
    """The tensors of one file, by key."""

    tensors: Mapping[str, Tensor]
    limits: Limits

    def tensor(self, key: str) -> Tensor:
        """Return the tensor of that key; raises `InputError` where there is none."""
        if key not in self.tensors:
            shown = ", ".join(map(shorten, sorted(self.tensors)[:8])) + (", …" if len(self.tensors) > 8 else "")
            raise InputError("there is no such tensor", field=key, hint=f"the file has: {shown or 'no tensor'}")
        return self.tensors[key]

    def matrix(self, key: str) -> fmpq_mat:
        """Return a matrix exactly; raises `InputError` for another shape, a type that is no float, NaN or infinity."""
        tensor = self.tensor(key)
        if len(tensor.shape) != 2 or 0 in tensor.shape:
            raise InputError("is no matrix", field=key, value=tensor.shape_text, hint="give a tensor with two axes")
        return fmpq_mat(*tensor.shape, self._numbers(tensor))

    def vector(self, key: str) -> fmpq_mat:
        """Return a vector as an exact column; raises `InputError` like `matrix`."""
        tensor = self.tensor(key)
        if len(tensor.shape) != 1:
            raise InputError("is no vector", field=key, value=tensor.shape_text, hint="give a tensor with one axis")
        return fmpq_mat(*tensor.shape, 1, self._numbers(tensor))

    def _numbers(self, tensor: Tensor) -> list[fmpq]:
        """Return the entries, row by row, each the rational that the float is."""
        if tensor.dtype not in FLOATS:
            raise InputError(
                "holds no floating-point weights",
                field=tensor.key,
                value=tensor.dtype,
                hint="float64, float32, float16 and bfloat16 are read; undo a quantisation first",
            )
        if prod(tensor.shape) > self.limits.weights_entries:
            raise LimitError(
                f"has more than {self.limits.weights_entries} entries",
                field=tensor.key,
                value=tensor.shape_text,
                hint="see --limit weights_entries",
            )
        numbers = tensor.array().astype("f8").ravel().tolist()  # each of the four types is exact in float64
        bad = next((i for i, x in enumerate(numbers) if not isfinite(x)), None)
        if bad is not None:
            raise InputError(
                f"entry {bad} (counted from 0, row by row) is no number",
                field=tensor.key,
                value=numbers[bad],
                hint="weights must be finite",
            )
        return [fmpq(*x.as_integer_ratio()) for x in numbers]


def open_weights(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Weights:
    """Read a safetensors or npz file; raises `InputError` naming the file and what to do. No pickle is ever loaded."""
    from exactmha.weights.npz_file import npz_tensors
    from exactmha.weights.safetensors_file import safetensors_tensors

    name = str(path)
    data = read_bytes(path, limits, "weights_bytes")
    try:
        if data.startswith(_ZIP):
            return Weights(npz_tensors(data, limits), limits)
        _refuse_other_formats(data)
        return Weights(safetensors_tensors(data, name, limits), limits)
    except InputError as error:
        raise error.located(file=name) from None


def _refuse_other_formats(data: bytes) -> None:
    if data.startswith(b"\x93NUMPY"):
        raise InputError("is a single NumPy array", hint="save named arrays: numpy.savez('layer.npz', q=…, k=…, v=…)")
    if data[:1] == b"\x80" and data[1:2] <= b"\x05" and data[2:8] != b"\0" * 6:  # no length of a header is like this
        raise InputError("is a pickle, which could run any code, and is never loaded", hint=CONVERT)
    if data.startswith(b"\x89HDF"):
        raise InputError("is an HDF5 file", hint="save the arrays as .npz or .safetensors")


def check_count(count: int, limits: Limits) -> None:
    """Refuse a file with too many tensors."""
    if count > limits.weights_tensors:
        raise LimitError(
            f"has more than {limits.weights_tensors} tensors", value=count, hint="see --limit weights_tensors"
        )


def numpy() -> Any:
    """Return NumPy, or say how to install it."""
    try:
        import numpy as module
    except ImportError:
        raise InputError("reading weights needs NumPy", hint=EXTRA) from None
    return module
