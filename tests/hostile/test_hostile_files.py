"""Whatever a stranger hands us: one clear sentence, exit status 2, quickly, no traceback, nothing written."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exactmha.cli.main import run

HEAD = {"W": [["1"]], "v": ["1"]}


def instance(**changes: object) -> bytes:
    return json.dumps({"format": "exactmha/instance/1", "dim": 1, "heads": [HEAD], **changes}).encode()


def with_entry(text: str) -> bytes:
    return instance(heads=[{"W": [[text]], "v": ["1"]}])


HOSTILE_INSTANCES = {
    "deep-nesting": b"[" * 100_000,
    "deep-nesting-in-string-quotes": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "million-digit-entry": with_entry("9" * 10**6),
    "million-digit-dim": b'{"format":"exactmha/instance/1","dim":' + b"9" * 10**6 + b',"heads":[]}',
    "long-exponent-notation": with_entry("1e99999999999"),
    "division-by-zero": with_entry("1/0"),
    "zero-to-minus-one": with_entry("0^-1"),
    "log-zero": with_entry("log(0)"),
    "log-negative": with_entry("log(-1)"),
    "sqrt-negative": with_entry("sqrt(-2)"),
    "tower": with_entry("10^10^10"),
    "tower-in-parentheses": with_entry("(10^999999999)^999999999"),
    "log-of-tower": with_entry("log(2^999999999)"),
    "nested-squares": with_entry("(" * 30 + "3" + "^9)" * 30),
    "root-of-huge-order": with_entry("root(2,1000000000)"),
    "sqrt-of-huge-number": with_entry("sqrt(1" + "0" * 2000 + "7)"),
    "product-of-many-roots": with_entry("*".join(f"(1+sqrt({p}))" for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31))),
    "deep-parentheses": with_entry("(" * 10_000 + "1" + ")" * 10_000),
    "sign-chain-only": with_entry("-" * 90_000),
    "long-expression": with_entry("+".join(["1"] * 60_000)),
    "python-code": with_entry("__import__('os').system('true')"),
    "name": with_entry("pi"),
    "full-width-digits": with_entry("１"),
    "empty-entry": with_entry(""),
    "nul": with_entry("1\x00"),
    "nan": b'{"format":"exactmha/instance/1","dim":1,"heads":[{"W":[[NaN]],"v":["1"]}]}',
    "infinity": b'{"format":"exactmha/instance/1","dim":Infinity,"heads":[]}',
    "float-dim": instance(dim=1.0),
    "bool-dim": instance(dim=True),
    "huge-dim": instance(dim=10**9),
    "zero-dim": instance(dim=0),
    "ragged": instance(dim=2, heads=[{"W": [["1", "2"], ["3"]], "v": ["1", "1"]}]),
    "short-v": instance(heads=[{"W": [["1"]], "v": []}]),
    "number-entry": instance(heads=[{"W": [[1]], "v": ["1"]}]),
    "null-heads": instance(heads=None),
    "unknown-key": instance(extra=1),
    "wrong-format": instance(format="exactmha/instance/2"),
    "unknown-field": instance(field="complex"),
    "mixed-units": instance(dim=2, heads=[{"W": [["log(2)", "1"], ["0", "0"]], "v": ["1", "1"]}]),
    "two-square-roots": instance(dim=2, heads=[{"W": [["sqrt(2)", "sqrt(3)"], ["0", "0"]], "v": ["1", "1"]}]),
    "duplicate-key": b'{"format":"exactmha/instance/1","dim":1,"dim":1,"heads":[]}',
    "byte-order-mark": b"\xef\xbb\xbf" + instance(),
    "utf-16": instance().decode().encode("utf-16"),
    "not-utf-8": b'{"format":"\xff"}',
    "empty": b"",
    "truncated": instance()[:-5],
    "top-level-list": b"[]",
    "too-many-heads": instance(heads=[HEAD] * 600),
}


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1, captured.err
    assert lines[0].startswith("error: ")
    assert len(lines[0]) < 600
    assert "Traceback" not in lines[0]
    return lines[0]


@pytest.mark.parametrize("name", HOSTILE_INSTANCES)
@pytest.mark.parametrize("command", ["verify", "query", "canonical"])
def test_hostile_instance(name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "instance.json", tmp_path / "out.json"
    path.write_bytes(HOSTILE_INSTANCES[name])
    arguments = {
        "verify": ["verify", str(path), "--certificate", str(out)],
        "query": ["query", str(path), "--tokens", '[["1"]]'],
        "canonical": ["canonical", str(path), "-o", str(out)],
    }[command]
    start = time.monotonic()
    assert run(arguments) == 2
    assert time.monotonic() - start < 10
    assert str(path) in complaint(capsys)
    assert [p.name for p in tmp_path.iterdir()] == ["instance.json"]


def unreadable_paths(folder: Path) -> dict[str, Path]:
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "dangling").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe")
    return {
        "missing": folder / "missing",
        "folder": folder / "folder",
        "symlink-loop": folder / "loop",
        "dangling-symlink": folder / "dangling",
        "pipe": folder / "pipe",
        "device": Path("/dev/zero"),
        "nul-in-name": folder / "a\0b",
        "very-long-name": folder / ("x" * 5000),
    }


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "symlink-loop", "dangling-symlink", "pipe", "device", "nul-in-name", "very-long-name"]
)
@pytest.mark.parametrize("command", [["verify"], ["canonical"], ["check"], ["query", "--tokens", "[[1]]"]])
def test_unreadable_path(kind: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unreadable_paths(tmp_path)[kind]
    assert run([command[0], str(path), *command[1:]]) == 2
    complaint(capsys)


WRITERS: dict[str, Callable[[str], list[str]]] = {
    "random": lambda out: ["random", "--heads", "1", "--dim", "1", "-o", out],
    "certificate": lambda out: ["verify", "--heads", "1", "--dim", "1", "--certificate", out],
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    "kind", ["missing-folder", "folder", "symlink", "device", "read-only", "file-as-folder", "nul"]
)
def test_unwritable_output(writer: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old", encoding="utf-8")
    (tmp_path / "symlink").symlink_to(tmp_path / "file")
    out = {
        "missing-folder": str(tmp_path / "no" / "out"),
        "folder": str(tmp_path / "folder"),
        "symlink": str(tmp_path / "symlink"),
        "device": "/dev/null",
        "read-only": "/proc/exactmha.json",
        "file-as-folder": str(tmp_path / "file" / "out"),
        "nul": str(tmp_path / "a\0b"),
    }[kind]
    before = sorted(p.name for p in tmp_path.rglob("*"))
    assert run(WRITERS[writer](out)) == 2
    complaint(capsys)
    assert sorted(p.name for p in tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_on_standard_output_is_no_traceback() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "exactmha", "random"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


MEASURED = """
import sys
from exactmha.cli.main import run
from exactmha.estimate import used_bytes
status = run(sys.argv[1:])
print(used_bytes())
sys.exit(status)
"""
"""Runs a command and prints its own peak of memory: what the tests around it used does not count."""


@pytest.mark.parametrize("name", ["million-digit-entry", "deep-nesting", "tower", "nested-squares"])
def test_memory_and_time_of_a_real_process(name: str, tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    path.write_bytes(HOSTILE_INSTANCES[name])
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "verify", str(path)], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert int(done.stdout) < 500 * 2**20


def test_many_long_logarithms_are_refused_quickly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "instance.json"
    sums = ["+".join(f"log({n}^2000+{h})" for n in range(2, 514)) for h in range(10)]
    path.write_bytes(instance(heads=[{"W": [[text]], "v": ["1"]} for text in sums]))
    start = time.process_time()
    assert run(["canonical", str(path)]) == 2
    assert time.process_time() - start < 10
    assert "log_bits" in complaint(capsys)
