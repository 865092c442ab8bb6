"""Weight files made byte by byte, so that what is in them does not rest on a library."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1, "U8": 1, "I32": 4}


def safetensors(tensors: Mapping[str, tuple[str, Sequence[int], bytes]], **metadata: Any) -> bytes:
    """{key: (dtype, shape, little-endian bytes)} as a safetensors file."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    body = b""
    for key, (dtype, shape, data) in tensors.items():
        assert len(data) == prod(shape) * SIZES[dtype]
        header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def floats(rows: Sequence[Sequence[float]]) -> tuple[str, list[int], bytes]:
    """A float64 matrix."""
    flat = [x for row in rows for x in row]
    return "F64", [len(rows), len(rows[0])], struct.pack(f"<{len(flat)}d", *flat)


def vector(numbers: Sequence[float]) -> tuple[str, list[int], bytes]:
    """A float64 vector."""
    return "F64", [len(numbers)], struct.pack(f"<{len(numbers)}d", *numbers)


def npy(descr: str, shape: Sequence[int], data: bytes, *, fortran: bool = False) -> bytes:
    """An npy file; `shape` and `data` need not fit."""
    dims = "(" + "".join(f"{n}, " for n in shape) + ")"
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {dims}, }}".encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def npz(members: Mapping[str, bytes], method: int = ZIP_STORED) -> bytes:
    """An archive of npy files."""
    stream = BytesIO()
    with ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def written(folder: Path, content: bytes, name: str = "layer.weights") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path
