"""NumPy's npz: a zip archive of npy files. Python objects, which would be pickles, are refused.

The length of an npy header is held against our own bound before NumPy sees the header.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from math import prod
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from exactmha.errors import InputError, LimitError, shorten
from exactmha.limits import Limits
from exactmha.weights.read import CONVERT, Tensor, check_count, numpy

_NAMES = {"f8": "F64", "f4": "F32", "f2": "F16", "b1": "BOOL", "u1": "U8"}
_SUFFIX = ".npy"
_AGAIN = "fetch it again, or write it again with numpy.savez"


def npz_tensors(data: bytes, limits: Limits) -> dict[str, Tensor]:
    """Return the arrays of an npz file; raises `InputError` for pickles and for damaged archives."""
    numpy()
    with _damage("is no zip archive, or"):
        archive = ZipFile(BytesIO(data))
        members = archive.infolist()
    check_count(len(members), limits)
    if any(member.filename.endswith(".pkl") for member in members):
        raise InputError("is a PyTorch checkpoint: a pickle, which could run any code, is never loaded", hint=CONVERT)
    tensors: dict[str, Tensor] = {}
    for member in members:
        tensor = _tensor(archive, member, limits)
        if tensor.key in tensors:
            raise InputError("an array occurs twice", field=tensor.key, hint="keep one of them")
        tensors[tensor.key] = tensor
    return tensors


def _tensor(archive: ZipFile, member: ZipInfo, limits: Limits) -> Tensor:
    """Read the header of one array; its shape must be that of the bytes that follow."""
    key = member.filename.removesuffix(_SUFFIX)
    if key == member.filename:
        raise InputError("is no npy file", field=member.filename, hint="write the archive with numpy.savez")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # zipfile would unpack others without any bound
        raise InputError("is packed in a way that NumPy does not write", field=key, hint="write it with numpy.savez")
    with _damage("is no npy file, or", key), archive.open(member) as stream:
        shape, is_fortran, dtype, start = _header(stream, limits)
    if dtype.hasobject:
        raise InputError("holds Python objects, a pickle, which is never loaded", field=key, hint="save plain numbers")
    if any(type(n) is not int or n < 0 for n in shape):  # NumPy lets True pass
        raise InputError("its shape is no list of natural numbers", field=key, value=shape, hint=_AGAIN)
    if start + prod(shape) * dtype.itemsize != member.file_size:
        raise InputError("its size is not what its shape says", field=key, hint=_AGAIN)

    def array() -> Any:
        with _damage("", key), archive.open(member) as stream:
            numbers = numpy().frombuffer(stream.read(member.file_size)[start:], dtype)
            return numbers.reshape(shape, order="F" if is_fortran else "C")

    return Tensor(key, _NAMES.get(dtype.str[1:], str(dtype)), tuple(shape), array)


def _header(stream: Any, limits: Limits) -> tuple[tuple[int, ...], bool, Any, int]:
    """Return the shape, whether the first index runs fastest, the type, and where the numbers begin."""
    form = numpy().lib.format
    version = form.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"npy version {version} is not read")
    size = 2 if version == (1, 0) else 4
    prefix = stream.read(size)
    length = int.from_bytes(prefix, "little")
    if length > limits.weights_header:
        problem = f"has a header of more than {limits.weights_header} bytes"
        raise LimitError(problem, value=length, hint="check the file, or see --limit weights_header")
    header = BytesIO(prefix + stream.read(length))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # headers by Python 2 are read, and strange ones refused, without further words
        read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        return *read(header), stream.tell()


@contextmanager
def _damage(what: str, key: str | None = None) -> Iterator[None]:
    """Turn every error of zipfile, of its decompressors and of NumPy into `InputError`.

    Damaged bytes make them raise almost anything: LZMAError, TokenError, TypeError, IndexError, RecursionError, ….
    """
    try:
        yield
    except InputError as error:
        raise error.located(field=key) from None
    except Exception as error:  # noqa: BLE001  # see above
        reason = shorten(str(error)) or type(error).__name__
        raise InputError(f"{what} is cut off or damaged: {reason}".strip(), field=key, hint=_AGAIN) from None
