"""The estimate before a run: queries against the formula, time against a run, memory against what is kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace

import pytest

from exactmha.cli import estimates
from exactmha.cli.main import run
from exactmha.estimate import estimate, used_bytes
from exactmha.instance import save
from exactmha.random_instance import random_model
from exactmha.verification import verify

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize(("heads", "dim", "field"), [(4, 12, "exponential"), (3, 5, "rational"), (3, 4, "radical")])
def test_the_time_is_that_of_a_run(heads: int, dim: int, field: str) -> None:
    model = random_model(heads, dim, field, 1)
    found = estimate(model)
    start = perf_counter()
    result = verify(model)
    spent = perf_counter() - start
    assert (found.queries, found.max_length) == (result.oracle_queries, result.oracle_max_length)
    assert found.seconds < 10 * spent
    assert spent < 10 * found.seconds


@pytest.mark.parametrize(("heads", "dim"), [(0, 1), (0, 3), (1, 1), (3, 1), (1, 4)])
@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
def test_small_shapes(heads: int, dim: int, field: str) -> None:
    found = estimate(random_model(heads, dim, field, 0))
    assert found.queries == 4 * heads * dim**2 - 2 * heads + 1
    assert found.seconds > 0
    assert 10 < found.mebibytes < 2000


def test_memory_grows_with_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 8 heads keeps an exponent and a residue for 20² profiles, at least 28 bytes each, at most a kilobyte."""
    monkeypatch.setattr("exactmha.estimate.used_bytes", lambda: 0)
    kept = estimate(random_model(8, 20, "exponential", 0)).mebibytes * 2**20
    assert 20 * 20 * 8 * 2 * 28 < kept < 20 * 20 * 8 * 2 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_memory_held_before_this_program_is_not_counted() -> None:
    """A process that held 300 MiB becomes Python: its own maximum is that of Python alone."""
    second = "from exactmha.estimate import used_bytes; print(used_bytes() // 2**20)"
    first = f"import os, sys; x = b'1' * (300 * 2**20); os.execv(sys.executable, [sys.executable, '-c', {second!r}])"
    used = int(subprocess.run([sys.executable, "-c", first], capture_output=True, text=True, check=True).stdout)
    assert 10 < used < 200


def test_memory_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_args: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr("pathlib.Path.read_text", absent)
    monkeypatch.setattr("resource.getrusage", lambda _who: SimpleNamespace(ru_maxrss=1234))
    monkeypatch.setattr("sys.platform", "freebsd")
    assert used_bytes() == 1234 * 1024
    monkeypatch.setattr("sys.platform", "darwin")
    assert used_bytes() == 1234


@pytest.mark.parametrize(("heads", "dim", "field"), [(4, 10, "exponential"), (3, 5, "rational"), (2, 4, "radical")])
def test_the_size_and_the_time_of_a_certificate(heads: int, dim: int, field: str, tmp_path: Path) -> None:
    model, certificate = random_model(heads, dim, field, 0), tmp_path / "c.json"
    save(model, tmp_path / "i.json")
    found = estimate(model)
    spent = []
    for options in ([], ["--certificate", str(certificate)]):
        start = perf_counter()
        assert run(["verify", str(tmp_path / "i.json"), *options]) == 0
        spent.append(perf_counter() - start)
    # rational answers have any size, so the few that are seen say little about the others
    factor = 1.25 if field == "exponential" else 5
    size = certificate.stat().st_size / 2**20
    assert size / factor < found.certificate_mebibytes < size * factor
    more = spent[1] - spent[0]
    assert found.certificate_seconds is not None
    assert found.certificate_seconds / 8 < more < 8 * found.certificate_seconds


def test_dry_run(capsys: Output) -> None:
    assert run(["verify", "--heads", "2", "--dim", "3", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Queries      69 = 4·2·3² − 2·2 + 1, of length at most 5"
    assert lines[1].startswith("Expect       about ")
    assert re.fullmatch(r"Certificate  if one is asked for, about .* s more, and a file of 0\.1 MiB", lines[2])
    assert run(["verify", "--heads", "2", "--dim", "3", "--heads-bound", "3", "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["queries"], document["max_length"], document["heads"]) == (103, 7, 3)


def test_a_dry_run_verifies_nothing(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactmha.verification.verify", lambda *_args, **_options: pytest.fail("verified"))
    assert run(["verify", "--example", "two-heads-1d", "--dry-run"]) == 0
    assert run(["verify", "--neurons", "2", "--dry-run"]) == 2
    assert "--dry-run: is not for Transformers" in capsys.readouterr().err


def test_long_runs_are_announced(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["verify", "--heads", "1", "--dim", "2"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(estimates, "_LONG", 14)
    assert run(["verify", "--heads", "1", "--dim", "2"]) == 0
    line = capsys.readouterr().err
    assert line.startswith("15 queries; expect about 0.1 s and ")
    assert "certificate" not in line
    assert run(["verify", "--heads", "1", "--dim", "2", "--certificate", str(tmp_path / "c.json")]) == 0
    assert re.search(r"memory; the certificate about .* s more, and a file of 0\.1 MiB\n", capsys.readouterr().err)


def test_a_certificate_whose_time_is_not_known_is_said_to_be() -> None:
    found = replace(estimate(random_model(1, 1, "exponential", 0)), certificate_seconds=None)
    assert "Certificate  if one is asked for, an unknown time more, and a file of" in estimates.as_text(found)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.001, "0.1 s"), (9.96, "10.0 s"), (61.2, "61 s"), (119.4, "119 s"), (5400.0, "90 min")]
)
def test_words_for_times(seconds: float, text: str) -> None:
    found = replace(estimate(random_model(1, 1, "exponential", 0)), seconds=seconds, mebibytes=12.3)
    assert f"Expect       about {text} and 12 MiB of memory\n" in estimates.as_text(found)
