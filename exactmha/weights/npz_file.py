"""NumPy's npz: a zip archive of npy files. Python objects, which would be pickles, are refused."""

from __future__ import annotations

import zlib
from io import BytesIO
from math import prod
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from exactmha.errors import InputError, shorten
from exactmha.limits import Limits
from exactmha.weights.read import CONVERT, Tensor, check_count, numpy

_NAMES = {"f8": "F64", "f4": "F32", "f2": "F16", "b1": "BOOL", "u1": "U8"}
_SUFFIX = ".npy"
_DAMAGE = (BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""What zipfile and NumPy raise for damaged, encrypted or strange archives."""


def npz_tensors(data: bytes, limits: Limits) -> dict[str, Tensor]:
    """Return the arrays of an npz file; raises `InputError` for pickles and for damaged archives."""
    numpy()
    try:
        archive = ZipFile(BytesIO(data))
    except _DAMAGE as error:
        raise InputError(f"is no valid zip archive: {shorten(str(error))}", hint="fetch it again") from None
    members = archive.infolist()
    check_count(len(members), limits)
    if any(member.filename.endswith(".pkl") for member in members):
        raise InputError("is a PyTorch checkpoint: a pickle, which could run any code, is never loaded", hint=CONVERT)
    tensors: dict[str, Tensor] = {}
    for member in members:
        tensor = _tensor(archive, member)
        if tensor.key in tensors:
            raise InputError("an array occurs twice", field=tensor.key, hint="keep one of them")
        tensors[tensor.key] = tensor
    return tensors


def _tensor(archive: ZipFile, member: ZipInfo) -> Tensor:
    """Read the header of one array; its shape must be that of the bytes that follow."""
    key = member.filename.removesuffix(_SUFFIX)
    if key == member.filename:
        raise InputError("is no npy file", field=member.filename, hint="write the archive with numpy.savez")
    try:
        with archive.open(member) as stream:
            shape, dtype, start = _header(stream)
    except _DAMAGE as error:
        raise InputError(
            f"is no valid npy file: {shorten(str(error))}", field=key, hint="write it again with numpy.savez"
        ) from None
    if dtype.hasobject:
        raise InputError("holds Python objects, a pickle, which is never loaded", field=key, hint="save plain numbers")
    if start + prod(shape) * dtype.itemsize != member.file_size:
        raise InputError("its size is not what its shape says", field=key, hint="write it again with numpy.savez")

    def array() -> Any:
        try:
            with archive.open(member) as stream:
                return numpy().lib.format.read_array(stream, allow_pickle=False)
        except _DAMAGE as error:
            raise InputError(
                f"cannot be read: {shorten(str(error))}", field=key, hint="write it again with numpy.savez"
            ) from None

    return Tensor(key, _NAMES.get(dtype.str[1:], str(dtype)), tuple(shape), array)


def _header(stream: Any) -> tuple[tuple[int, ...], Any, int]:
    """Return the shape, the type, and where the numbers begin."""
    form = numpy().lib.format
    version = form.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"npy version {version} is not read")
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype, stream.tell()
