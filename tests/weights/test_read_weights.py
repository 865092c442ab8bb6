"""Floats are read bit-exactly: each bit pattern below is worked out by hand from sign, exponent and fraction."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from flint import fmpq
from weights.weight_files import npy, npz, safetensors, written

from exactmha.errors import InputError, LimitError
from exactmha.limits import Limits
from exactmha.weights.read import Weights, open_weights

# 0.1 in float32 is 0x3dcccccd = 2^(123−127)·(1 + 0x4ccccd/2^23) = 13421773/2^27, and so on
PATTERNS = [
    ("F32", "<f4", "cdcccc3d", fmpq(13421773, 2**27)),
    ("F32", "<f4", "01000000", fmpq(1, 2**149)),
    ("F32", "<f4", "ffff7fff", -fmpq(2**24 - 1) * 2**104),
    ("F64", "<f8", "9a9999999999b93f", fmpq(3602879701896397, 2**55)),
    ("F64", "<f8", "0100000000000000", fmpq(1, 2**1074)),
    ("F64", "<f8", "ffffffffffffef7f", fmpq(2**53 - 1) * 2**971),
    ("F64", "<f8", "0000000000000080", fmpq(0)),
    ("F16", "<f2", "5535", fmpq(1365, 4096)),
    ("F16", "<f2", "0180", -fmpq(1, 2**24)),
]
BFLOAT16 = [("813f", fmpq(129, 128)), ("01c0", fmpq(-129, 64)), ("0100", fmpq(1, 2**133)), ("7f7f", fmpq(255) * 2**120)]


def only(path: Path) -> fmpq:
    (value,) = open_weights(path).matrix("x").entries()
    return value


@pytest.mark.parametrize(("dtype", "_descr", "pattern", "value"), PATTERNS)
def test_safetensors(dtype: str, _descr: str, pattern: str, value: fmpq, tmp_path: Path) -> None:
    assert only(written(tmp_path, safetensors({"x": (dtype, [1, 1], bytes.fromhex(pattern))}))) == value


@pytest.mark.parametrize(("pattern", "value"), BFLOAT16)
def test_bfloat16(pattern: str, value: fmpq, tmp_path: Path) -> None:
    assert only(written(tmp_path, safetensors({"x": ("BF16", [1, 1], bytes.fromhex(pattern))}))) == value


@pytest.mark.parametrize(("_dtype", "descr", "pattern", "value"), PATTERNS)
@pytest.mark.parametrize("order", "<>")
def test_npz(_dtype: str, descr: str, pattern: str, value: fmpq, order: str, tmp_path: Path) -> None:
    data = bytes.fromhex(pattern)
    array = npy(order + descr[1:], (1, 1), data if order == "<" else data[::-1])
    assert only(written(tmp_path, npz({"x.npy": array}))) == value


@pytest.mark.parametrize(("fortran", "expected"), [(False, [[1, 2, 3], [4, 5, 6]]), (True, [[1, 3, 5], [2, 4, 6]])])
def test_the_order_of_the_entries(fortran: bool, expected: list[list[int]], tmp_path: Path) -> None:
    numbers = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    path = written(tmp_path, npz({"x.npy": npy("<f4", (2, 3), numbers, fortran=fortran)}))
    assert open_weights(path).matrix("x").tolist() == [[fmpq(n) for n in row] for row in expected]
    if not fortran:
        path = written(tmp_path, safetensors({"x": ("F32", (2, 3), numbers)}))
        assert open_weights(path).matrix("x").tolist() == expected


def weights(tmp_path: Path, limits: Limits | None = None, **tensors: tuple[str, list[int], bytes]) -> Weights:
    return open_weights(written(tmp_path, safetensors(tensors)), limits or Limits())


@pytest.mark.parametrize(
    ("pattern", "shown"), [("000000000000f87f", "nan"), ("000000000000f0ff", "-inf"), ("000000000000f07f", "inf")]
)
def test_what_is_no_number(pattern: str, shown: str, tmp_path: Path) -> None:
    data = bytes(8) + bytes.fromhex(pattern)
    with pytest.raises(InputError, match=rf"x: entry 1 .* is no number \(given: {shown}\)"):
        weights(tmp_path, x=("F64", [1, 2], data)).matrix("x")


def test_other_types_and_shapes(tmp_path: Path) -> None:
    found = weights(tmp_path, x=("I32", [1, 1], bytes(4)), y=("F32", [2], bytes(8)), z=("F32", [0, 2], b""))
    with pytest.raises(InputError, match=r"x: holds no floating-point weights \(given: I32\)"):
        found.matrix("x")
    with pytest.raises(InputError, match=r"y: is no matrix \(given: 2\)"):
        found.matrix("y")
    with pytest.raises(InputError, match=r"x: is no vector \(given: 1 × 1\)"):
        found.vector("x")
    with pytest.raises(InputError, match=r"z: is no matrix \(given: 0 × 2\)"):
        found.matrix("z")
    with pytest.raises(InputError, match=r"w: there is no such tensor; the file has: x, y, z"):
        found.matrix("w")


def test_limits(tmp_path: Path) -> None:
    x = ("F32", [2, 2], bytes(16))
    with pytest.raises(LimitError, match="x: has more than 3 entries"):
        weights(tmp_path, Limits(weights_entries=3), x=x).matrix("x")
    with pytest.raises(LimitError, match="has more than 1 tensors"):
        weights(tmp_path, Limits(weights_tensors=1), x=x, y=x)
    with pytest.raises(LimitError, match="header of more than 10 bytes"):
        weights(tmp_path, Limits(weights_header=10), x=x)
    with pytest.raises(LimitError, match="is larger than 20 bytes; see --limit weights_bytes"):
        weights(tmp_path, Limits(weights_bytes=20), x=x)
    assert weights(tmp_path, Limits(weights_entries=4), x=x).matrix("x").entries() == [0] * 4
