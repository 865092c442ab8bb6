"""`exactmha import`: options, what it says, and one clear sentence for every hostile file of weights."""

from __future__ import annotations

import json
import os
import pickle
import struct
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest
from weights.weight_files import floats, npy, npz, safetensors, vector, written

import exactmha
from exactmha.cli.main import run

Output = pytest.CaptureFixture[str]
Q, K, V, OUT = [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 0], [2, -1]], [[1, 3], [-1, 2]]
LAYER = {
    "q_proj.weight": floats(Q),
    "k_proj.weight": floats(K),
    "v_proj.weight": floats(V),
    "out_proj.weight": floats(OUT),
}
WHOLE = safetensors(LAYER)
NUMBERS = struct.pack("<4d", 1, 2, 3, 4)


def transpose(rows: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def heads(text: str) -> Any:
    return json.loads(text)["heads"]


def imported(capsys: Output, *arguments: str | Path) -> Any:
    assert run(["import", *map(str, arguments)]) == 0
    return heads(capsys.readouterr().out)


def complaint(capsys: Output, *arguments: str | Path) -> str:
    """The one sentence of a refusal; nothing else is printed."""
    assert run(["import", *map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err
    return captured.err


# --- options ---------------------------------------------------------------------------------------------------------


def test_the_instance_and_the_summary_do_not_mix(tmp_path: Path, capsys: Output) -> None:
    file, target = written(tmp_path, WHOLE), tmp_path / "layer.json"
    assert run(["import", str(file), "--num-heads", "2"]) == 0
    to_pipe = capsys.readouterr()
    assert run(["import", str(file), "--num-heads", "2", "-o", str(target)]) == 0
    to_file = capsys.readouterr()
    assert to_pipe.out == target.read_text("utf-8")
    assert to_pipe.err == to_file.out
    assert to_file.err == ""
    assert "Layer        d = 2, 2 heads, W_h of rank at most 1" in to_file.out
    assert "Instance     H = 2 canonical heads, W in multiples of 1/N" in to_file.out
    assert "Not in file  rotary positions, masks" in to_file.out
    assert exactmha.load(target).dim == 2


def test_named_tensors(tmp_path: Path, capsys: Output) -> None:
    expected = imported(capsys, written(tmp_path, WHOLE), "--num-heads", 2)
    file = written(tmp_path, safetensors({"a.x": floats(Q), "a.y": floats(K), "a.z": floats(V), "b": floats(OUT)}))
    assert imported(capsys, file, "--num-heads", 2, "--q=a.x", "--k=a.y", "--v=a.z", "--out=b") == expected
    file = written(tmp_path, safetensors({"qkv": floats([*Q, *K, *V]), "o": floats(OUT)}))
    assert imported(capsys, file, "--num-heads", 2, "--packed=qkv", "--out=o") == expected
    whole, out = transpose([*Q, *K, *V]), transpose(OUT)
    file = written(tmp_path, safetensors({"c_attn.weight": floats(whole), "c_proj.weight": floats(out)}))
    keys = ("--packed=c_attn.weight", "--out=c_proj.weight")
    assert imported(capsys, file, "--num-heads", 2, *keys, "--transposed") == expected


def test_the_layout_of_gpt2(tmp_path: Path, capsys: Output) -> None:
    """Conv1D matrices, one packed bias, and the causal mask kept as a float tensor named "bias"."""
    n = 5
    mask = struct.pack(f"<{n * n}f", *(float(j <= i) for i in range(n) for j in range(n)))
    tensors = {
        "h.3.attn.c_attn.weight": floats(transpose([*Q, *K, *V])),
        "h.3.attn.c_attn.bias": vector([0, 0, 8, 9, 3, -1]),  # e_1·W_O b_V = 3 − 3
        "h.3.attn.c_proj.weight": floats(transpose(OUT)),
        "h.3.attn.c_proj.bias": vector([0, 7]),
        "h.3.attn.bias": ("F32", (1, 1, n, n), mask),
        "h.3.ln_1.weight": vector([1, 1]),
    }
    keys = ("--packed=h.3.attn.c_attn.weight", "--out=h.3.attn.c_proj.weight", "--transposed")
    file, target = written(tmp_path, safetensors(tensors)), tmp_path / "layer.json"
    assert run(["import", str(file), "--num-heads", "2", *keys, "-o", str(target)]) == 0
    printed = capsys.readouterr().out
    assert "Key bias     adds the same to the logits of all tokens" in printed
    assert "Mask         h.3.attn.bias: hides nothing from the last token" in printed
    assert "Constant" not in printed
    assert heads(target.read_text()) == imported(capsys, written(tmp_path, WHOLE), "--num-heads", 2)
    file = written(tmp_path, safetensors(tensors))
    assert run(["import", str(file), "--num-heads", "2"]) == 0  # the same without being told
    found = capsys.readouterr()
    assert found.out == target.read_text()
    assert "Stored       input × output" in found.err
    keys = (*keys, "--readout=e_2")
    assert "the biases of values and outputs add a constant" in complaint(
        capsys, written(tmp_path, safetensors(tensors)), "--num-heads", 2, *keys
    )


def test_the_scale_of_t5_must_be_said(tmp_path: Path, capsys: Output) -> None:
    names = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}
    tensors = {f"SelfAttention.{names[key.split('.')[0]]}.weight": tensor for key, tensor in LAYER.items()}
    file = written(tmp_path, safetensors(tensors))
    keys = [f"--{'out' if x == 'o' else x}=SelfAttention.{x}.weight" for x in "qkvo"]
    for options in ([], keys):
        assert "--scale: must be given: layers with these names (T5)" in complaint(
            capsys, file, "--num-heads", 1, *options
        )
    expected = imported(capsys, written(tmp_path, WHOLE, "w"), "--num-heads", 1, "--scale", 1)
    assert imported(capsys, file, "--num-heads", 1, "--scale", 1) == expected


def test_what_follows_the_layer_of_bert_is_said(tmp_path: Path, capsys: Output) -> None:
    names = {"q_proj": "self.query", "k_proj": "self.key", "v_proj": "self.value", "out_proj": "output.dense"}
    tensors = {f"{names[key.split('.')[0]]}.weight": tensor for key, tensor in LAYER.items()}
    file = written(tmp_path, safetensors({**tensors, "output.LayerNorm.weight": vector([1, 1])}))
    assert run(["import", str(file), "--num-heads", "2"]) == 0
    assert "After it     output.LayerNorm.weight: not part of the layer" in capsys.readouterr().err


def test_a_bias_beside_a_named_tensor_is_not_overlooked(tmp_path: Path, capsys: Output) -> None:
    tensors = {"c_attn.weight": floats([*Q, *K, *V]), "c_attn.bias": vector([1, 0, 0, 0, 0, 0]), "o": floats(OUT)}
    file = written(tmp_path, safetensors(tensors))
    assert "bias of the queries" in complaint(capsys, file, "--num-heads", 2, "--packed=c_attn.weight", "--out=o")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--q=q_proj.weight"], "not all projections are named"),
        (["--packed=q_proj.weight"], "not all projections are named"),
        (["--packed=a", "--q=b", "--out=c"], "not all projections are named"),
        (["--q=a", "--k=b", "--v=c", "--out=d"], "a: there is no such tensor; the file has: k_proj.weight, "),
        (["--layer=x", "--q=a"], "--layer: is for layers that are recognised"),
        (["--layer=x"], "no attention layer is recognised under x"),
        (["--readout=e_3"], "--readout: the layer has the outputs e_1 to e_2 (given: e_3)"),
        (["--readout=e_0"], "--readout: the layer has the outputs e_1 to e_2 (given: e_0)"),
        (["--readout=nowhere"], "nowhere: cannot be read"),
        (["--scale=1/sqrt(x)"], "--scale: unknown name (given: x)"),
        (["--scale=1/sqrt(n)"], "--scale: unknown name (given: n); write the number, e.g. 1/sqrt(64) for heads"),
        (["--scale=0"], "and not 0; e.g. 1/sqrt(64)"),
        (["--readout=2"], "--readout: is neither e_i nor a file (given: 2); for one output write --readout e_2"),
        (["--readout=-1"], "--readout: is neither e_i nor a file (given: -1); for one output write --readout e_1"),
        (["--scale=log(2)"], "--scale: must be a rational multiple of one square root"),
        (["--ignore=x"], "x: there is no such tensor"),
        (["--num-heads=0"], "--num-heads: must lie between 1 and 512 (given: 0)"),
        (["--limit=dim=1"], "q_proj.weight: has dimension above 1; see --limit dim"),
        (["--limit=file_bytes=99"], "the instance has more than 99 bytes; see --limit file_bytes"),
    ],
)
def test_options_that_do_not_fit(options: list[str], message: str, tmp_path: Path, capsys: Output) -> None:
    assert message in complaint(capsys, written(tmp_path, WHOLE), "--num-heads", 2, *options)


def test_the_output_must_not_be_the_input(tmp_path: Path, capsys: Output) -> None:
    file = written(tmp_path, WHOLE)
    assert "is read by the same command" in complaint(capsys, file, "--num-heads", 2, "-o", file)
    assert file.read_bytes() == WHOLE


def test_the_output_must_not_be_the_readout(tmp_path: Path, capsys: Output) -> None:
    file, readout = written(tmp_path, WHOLE), tmp_path / "e.json"
    readout.write_text('["1", "2"]')
    options = ("--num-heads", 2, "--readout", readout, "-o", readout)
    assert "e.json: is read by the same command" in complaint(capsys, file, *options)
    assert readout.read_text() == '["1", "2"]'


def test_a_file_named_like_an_output_is_no_readout(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e_1").write_text("old")
    assert run(["import", str(written(tmp_path, WHOLE)), "--num-heads", "2", "-o", "e_1"]) == 0
    capsys.readouterr()
    assert exactmha.load(tmp_path / "e_1").dim == 2


def test_readouts_from_files(tmp_path: Path, capsys: Output) -> None:
    # e = (1/2, 3): v_1 = (1/2 − 3)·(1, 0), v_2 = (3/2 + 6)·(2, −1)
    file = written(tmp_path, WHOLE)
    (tmp_path / "e.json").write_text('["1/2", 3]')
    readouts = [
        tmp_path / "e.json",
        written(tmp_path, safetensors({"e": vector([0.5, 3])}), "e.safetensors"),
        written(tmp_path, npz({"e.npy": npy("<f8", (2,), struct.pack("<2d", 0.5, 3))}), "e.npz"),
    ]
    for readout in readouts:
        found = imported(capsys, file, "--num-heads", 2, "--readout", readout)
        assert [head["v"] for head in found] == [["-5/2", "0"], ["15", "-15/2"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('["1"]', "needs 2 entries (given: 1)"),
        ('["1", "sqrt(2)"]', "a readout is rational (given: sqrt(2))"),
        ("[1, 2.5]", "must be a list of integers, or of exact numbers as strings"),
        ("[1, true]", "must be a list of integers, or of exact numbers as strings"),
        ("{}", "must be a list of integers, or of exact numbers as strings"),
        ('["1", "x"]', "unknown name (given: x)"),
    ],
)
def test_bad_readouts(content: str, message: str, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "e.json").write_text(content)
    assert message in complaint(capsys, written(tmp_path, WHOLE), "--num-heads", 2, "--readout", tmp_path / "e.json")


# --- hostile files ---------------------------------------------------------------------------------------------------


def header(text: str, body: bytes = b"") -> bytes:
    return struct.pack("<Q", len(text)) + text.encode() + body


def entry(**changes: Any) -> bytes:
    content = {"dtype": "F64", "shape": [2, 2], "data_offsets": [0, 32], **changes}
    return header(json.dumps({"q_proj.weight": content}), NUMBERS)


def layer_with(dtype: str, data: bytes) -> bytes:
    return safetensors({**LAYER, "k_proj.weight": (dtype, [2, 2], data)})


class Exploit:
    """A pickle that would leave a trace."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploited",)


OBJECTS = npy("|O", (1,), pickle.dumps([Exploit()]))
NAN = struct.pack("<4d", 1, float("nan"), 3, 4)
WELL = npy("<f8", (2, 2), NUMBERS)


def with_shape(text: str) -> bytes:
    """An npy file whose header has this text as its shape."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {text}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + NUMBERS


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "has 0 bytes, too few"),
    "seven bytes": (b"\0" * 7, "has 7 bytes, too few"),
    "header of 10 GB": (
        struct.pack("<Q", 10 * 10**9) + b"{}",
        "header of more than 4194304 bytes (given: 10000000000)",
    ),
    "header of 2^64 − 1": (b"\xff" * 8 + b"{}", "header of more than 4194304 bytes"),
    "header cut off": (WHOLE[:40], "is cut off: the header needs"),
    "data cut off": (WHOLE[:-1], "out_proj.weight: is cut off"),
    "data too long": (WHOLE + b"\0", "is no valid safetensors file"),
    "header no JSON": (header("{'q': 1}"), "header: is not JSON"),
    "header a list": (header("[]"), "the header is no JSON object"),
    "header nested": (header("[" * 1000), "header: is nested more than 64 deep"),
    "header with a key twice": (header('{"a": {}, "a": {}}'), "a key occurs twice"),
    "header with NaN": (header('{"a": NaN}'), "NaN and Infinity"),
    "header not UTF-8": (struct.pack("<Q", 2) + b"\xff\xff", "is not UTF-8"),
    "entry without a type": (header('{"a": {"shape": [1], "data_offsets": [0, 8]}}', b"\0" * 8), "a.dtype"),
    "negative shape": (entry(shape=[-2, -2]), "q_proj.weight.shape.0: the header is wrong"),
    "float shape": (entry(shape=[2.0, 2]), "q_proj.weight.shape.0: the header is wrong"),
    "huge shape": (entry(shape=[10**9, 10**9]), "is no valid safetensors file"),
    "shape with 20 digits": (header('{"a": {"shape": [' + "9" * 20 + "]}}"), "more than 18 digits"),
    "offsets outside": (entry(data_offsets=[0, 33]), "ends after the file"),
    "offsets turned": (entry(data_offsets=[32, 0]), "is no valid safetensors file"),
    "shape and size differ": (entry(shape=[2, 3]), "is no valid safetensors file"),
    "unknown type": (entry(dtype="F31"), "is no valid safetensors file"),
    "integers": (layer_with("I32", b"\0" * 16), "k_proj.weight: holds no floating-point weights (given: I32)"),
    "bools": (layer_with("BOOL", b"\0" * 4), "k_proj.weight: holds no floating-point weights (given: BOOL)"),
    "NaN": (layer_with("F64", NAN), "k_proj.weight: entry 1 (counted from 0, row by row) is no number (given: nan)"),
    "infinity": (layer_with("F32", struct.pack("<4f", 1, 2, 3, float("-inf"))), "entry 3 "),
    "a vector": (safetensors({**LAYER, "q_proj.weight": vector([1, 2])}), "q_proj.weight: is no matrix (given: 2)"),
    "a number": (
        safetensors({**LAYER, "q_proj.weight": ("F32", [], b"\0" * 4)}),
        "is no matrix (given: a single number)",
    ),
    "no tensors": (safetensors({}), "no attention layer is recognised"),
    "pickle": (pickle.dumps(Exploit()), "is a pickle, which could run any code, and is never loaded"),
    "old pickle": (pickle.dumps(Exploit(), protocol=0), "is no safetensors or npz file"),
    "npy": (npy("<f8", (2, 2), NUMBERS), "is a single NumPy array"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + b"\0" * 100, "is an HDF5 file"),
    "text": (b"hello, world, this is text", "is no safetensors or npz file"),
    "zip cut off": (npz({"q.npy": npy("<f8", (2, 2), NUMBERS)})[:-9], "is no zip archive, or is cut off or damaged"),
    "zip without npy": (npz({"q.txt": b"1"}), "q.txt: is no npy file"),
    "zip with a pickle": (npz({"archive/data.pkl": b"\x80\x02."}), "is a PyTorch checkpoint: a pickle"),
    "npz of objects": (npz({"q_proj.weight.npy": OBJECTS}), "q_proj.weight: holds Python objects, a pickle"),
    "npz of other bytes": (npz({"q.npy": b"no array"}), "q: is no npy file, or is cut off or damaged"),
    "npz too short": (npz({"q.npy": npy("<f8", (2, 2), NUMBERS[:-1])}), "q: its size is not what its shape says"),
    "npz too long": (npz({"q.npy": npy("<f8", (2, 2), NUMBERS + b"\0")}), "q: its size is not what its shape says"),
    "npz huge": (npz({"q.npy": npy("<f8", (10**9, 10**9), NUMBERS)}), "q: its size is not what its shape says"),
    "npz with code in its header": (
        npz({"q.npy": npy("<f8", (), b"").replace(b"(),", b"f()")}),
        "is no npy file, or is cut off or damaged: malformed",
    ),
    "npz of an unknown zip method": (npz({"q.npy": WELL}, ZIP_LZMA), "q: is packed in a way that NumPy does not write"),
    "npz of bools for a shape": (npz({"q.npy": with_shape("(True, True)")}), "q: its shape is no list of natural"),
    "npz of negative numbers": (npz({"q.npy": with_shape("(-2, -2)")}), "q: its shape is no list of natural numbers"),
    "npz of a number for a shape": (npz({"q.npy": with_shape("2")}), "q: is no npy file, or is cut off or damaged"),
    "npz of fractions": (npz({"q.npy": with_shape("(2.0, 2)")}), "q: is no npy file, or is cut off or damaged"),
    "npz nested deeply": (npz({"q.npy": with_shape("(" * 900)}), "q: is no npy file, or is cut off or damaged"),
    "npz of a long number": (npz({"q.npy": with_shape("9" * 9000)}), "q: is no npy file, or is cut off or damaged"),
    "npz with a strange type": (
        npz({"q.npy": WELL.replace(b"'<f8'", b"[3,4]")}),
        "q: is no npy file, or is cut off or damaged",
    ),
    "npz with an odd list of fields": (
        npz({"q.npy": WELL.replace(b"'<f8'", b"[()] ")}),
        "q: is no npy file, or is cut off or damaged",
    ),
    "npz with an unfinished token": (
        npz({"q.npy": WELL.replace(b"(2, 2, )", b'(2,2 """')}),
        "q: is no npy file, or is cut off or damaged",
    ),
    "npz cut in its header": (
        npz({"q.npy": npy("<f8", (2, 2), NUMBERS)[:20]}),
        "q: is no npy file, or is cut off or damaged",
    ),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(
    content: bytes, message: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, content)
    start = time.monotonic()
    said = complaint(capsys, file, "--num-heads", 2, "-o", tmp_path / "out.json")
    assert time.monotonic() - start < 5
    assert said.startswith(f"error: {file}: ")
    assert message in said
    assert sorted(os.listdir(tmp_path)) == [file.name]


def test_a_damaged_array_of_an_archive(tmp_path: Path, capsys: Output) -> None:
    """The header of the array can be read, the numbers fail their checksum."""
    numbers = struct.pack("<4096d", *range(4096))
    content = npz({"q.npy": npy("<f8", (64, 64), numbers)})
    at = content.index(numbers) + len(numbers) - 1
    file = written(tmp_path, content[:at] + b"\1" + content[at + 1 :])
    keys = ("--q=q", "--k=q", "--v=q", "--out=q")
    assert "q: is cut off or damaged: Bad CRC-32" in complaint(capsys, file, "--num-heads", 1, *keys)


def test_an_array_twice_in_an_archive(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "layer.npz"
    with ZipFile(path, "w") as archive:
        archive.writestr("q.npy", npy("<f8", (2, 2), NUMBERS))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("q.npy", npy("<f8", (2, 2), NUMBERS))
    assert "q: an array occurs twice" in complaint(capsys, path, "--num-heads", 2)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, capsys: Output) -> None:
    """34 MB of zeros in 34 kB: the shape is above the limit on entries, so they are never unpacked."""
    path = tmp_path / "layer.npz"
    side = 2_100
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, (_, shape, data) in LAYER.items():
            if name != "k_proj.weight":
                archive.writestr(f"{name}.npy", npy("<f8", shape, data))
        with archive.open("k_proj.weight.npy", "w", force_zip64=True) as stream:
            stream.write(npy("<f8", (side, side), b""))
            for _ in range(side):
                stream.write(bytes(8 * side))
    start = time.monotonic()
    assert "k_proj.weight: has more than 4000000 entries" in complaint(capsys, path, "--num-heads", 2)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("length", [2**30, 2**32 - 1])
def test_a_long_npy_header_is_not_read(length: int, tmp_path: Path, capsys: Output) -> None:
    """Zeros packed a thousand times smaller: reading that header would take its length in memory."""
    path = tmp_path / "layer.npz"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive, archive.open("q.npy", "w", force_zip64=True) as stream:
        stream.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", length))
        for _ in range(64):
            stream.write(bytes(2**20))
    tracemalloc.start()
    options = ("--num-heads", 2, "--limit", "weights_bytes=1000000")
    assert f"q: has a header of more than 4194304 bytes (given: {length})" in complaint(capsys, path, *options)
    assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    tracemalloc.stop()


def test_a_zip_bomb_that_lies_about_its_size_is_not_unpacked(tmp_path: Path, capsys: Output) -> None:
    """The archive says 2 × 2 and packs 64 MB: no more is unpacked than it says."""
    head = npy("<f8", (2, 2), b"")
    true, said = len(head) + 64 * 2**20, len(head) + 32
    content = npz({"q.npy": head + bytes(64 * 2**20)}, ZIP_DEFLATED)
    assert content.count(struct.pack("<I", true)) == 2
    file = written(tmp_path, content.replace(struct.pack("<I", true), struct.pack("<I", said)))
    tracemalloc.start()
    options = ("--num-heads", 1, "--limit", "weights_bytes=1000000")
    assert "q: is no npy file, or is cut off or damaged: Bad CRC-32" in complaint(capsys, file, *options)
    assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    tracemalloc.stop()


def test_an_array_written_by_python_2_is_read_without_a_word(tmp_path: Path, capsys: Output) -> None:
    old = {
        f"{name}.npy": npy("<f8", shape, data).replace(b"(2, 2, )", b"(2L, 2L)")
        for name, (_, shape, data) in LAYER.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = imported(capsys, written(tmp_path, npz(old)), "--num-heads", 2)
    assert found == imported(capsys, written(tmp_path, WHOLE), "--num-heads", 2)


def test_a_header_whose_length_reads_pk_is_no_archive(tmp_path: Path, capsys: Output) -> None:
    length = int.from_bytes(b"PK", "little")
    text = WHOLE[8 : 8 + int.from_bytes(WHOLE[:8], "little")]
    content = struct.pack("<Q", length) + text.ljust(length) + WHOLE[8 + len(text) :]
    assert content.startswith(b"PK")
    found = imported(capsys, written(tmp_path, content), "--num-heads", 2)
    assert found == imported(capsys, written(tmp_path, WHOLE), "--num-heads", 2)


def test_an_archive_without_arrays(tmp_path: Path, capsys: Output) -> None:
    file = written(tmp_path, npz({}))
    assert file.read_bytes().startswith(b"PK\x05\x06")
    assert "no attention layer is recognised" in complaint(capsys, file, "--num-heads", 2)


def test_a_sparse_file_of_10_gb_is_not_read(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "layer.safetensors"
    with open(path, "wb") as stream:
        stream.truncate(10 * 10**9)
    start = time.monotonic()
    assert "is larger than 1073741824 bytes; see --limit weights_bytes" in complaint(capsys, path, "--num-heads", 2)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("missing", ["numpy", "safetensors"])
def test_without_the_extra(missing: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, missing, None)
    assert 'pip install -e ".[import]"' in complaint(capsys, written(tmp_path, WHOLE), "--num-heads", 2)


def test_names_in_a_file_cannot_move_the_cursor(tmp_path: Path, capsys: Output) -> None:
    """Escape sequences in keys are not passed on to the terminal, neither in errors nor in the summary."""
    evil = "\x1b[2J\n"
    tensors = {f"{evil}.{name}": tensor for name, tensor in LAYER.items()}
    for content in (
        safetensors(tensors),
        npz({f"{name}.npy": npy("<f8", shape, data) for name, (_, shape, data) in tensors.items()}),
    ):
        file = written(tmp_path, content)
        assert run(["import", str(file), "--num-heads", "2", "-o", str(tmp_path / "out.json")]) == 0
        printed = capsys.readouterr().out
        assert printed.count("\n") == 4
        assert "\x1b" not in printed
        for options in (["--num-heads=3"], ["--num-heads=2", "--q=x", "--k=x", "--v=x", "--out=x"]):
            assert "\x1b" not in complaint(capsys, file, *options)
    for bad in ("is no valid safetensors file", "k_proj"):
        entry = {"dtype": "F64", "shape": [3], "data_offsets": [0, 32]}
        content = header(json.dumps({evil + bad: entry}), NUMBERS)
        assert "\x1b" not in complaint(capsys, written(tmp_path, content), "--num-heads", 2)


def test_every_cut_of_a_file_is_refused(tmp_path: Path, capsys: Output) -> None:
    for size in range(0, len(WHOLE), 7):
        complaint(capsys, written(tmp_path, WHOLE[:size]), "--num-heads", 2)
    arrays = npz({f"{name}.npy": npy("<f8", shape, data) for name, (_, shape, data) in LAYER.items()})
    for size in range(0, len(arrays), 37):
        complaint(capsys, written(tmp_path, arrays[:size]), "--num-heads", 2)


def test_every_changed_byte_is_harmless(tmp_path: Path, capsys: Output) -> None:
    """A changed byte gives another instance or one sentence, in both formats; never anything else."""
    arrays = npz({f"{name}.npy": npy("<f8", shape, data) for name, (_, shape, data) in LAYER.items()})
    refused = 0
    for content in (WHOLE, arrays):
        for at in range(0, len(content), 5):
            changed = content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :]
            status = run(["import", str(written(tmp_path, changed)), "--num-heads", "2"])
            captured = capsys.readouterr()
            if status == 0:
                assert heads(captured.out)
            else:
                assert (status, captured.out, captured.err.count("\n")) == (2, "", 1)
                refused += 1
    assert refused > 50
