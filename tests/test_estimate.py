"""The estimate before a run: queries against the formula, time against a run, memory against what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace

import pytest

from exactmha.cli import estimates
from exactmha.cli.main import run
from exactmha.estimate import estimate
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
    monkeypatch.setattr("resource.getrusage", lambda _who: SimpleNamespace(ru_maxrss=0))
    kept = estimate(random_model(8, 20, "exponential", 0)).mebibytes * 2**20
    assert 20 * 20 * 8 * 2 * 28 < kept < 20 * 20 * 8 * 2 * 1024


def test_the_size_of_a_certificate(tmp_path: Path) -> None:
    instance, certificate = tmp_path / "i.json", tmp_path / "c.json"
    # rational answers have any size, so the few that are seen say little about the others
    for field, dim, factor in (("exponential", 8, 1.25), ("rational", 3, 5), ("radical", 3, 5)):
        model = random_model(3, dim, field, 0)
        save(model, instance)
        assert run(["verify", str(instance), "--certificate", str(certificate)]) == 0
        size = certificate.stat().st_size / 2**20
        assert size / factor < estimate(model).certificate_mebibytes < size * factor


def test_dry_run(capsys: Output) -> None:
    assert run(["verify", "--heads", "2", "--dim", "3", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Queries      69 = 4·2·3² − 2·2 + 1, of length at most 5"
    assert lines[1].startswith("Expect       about ")
    assert run(["verify", "--heads", "2", "--dim", "3", "--heads-bound", "3", "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["queries"], document["max_length"], document["heads"]) == (103, 7, 3)


def test_a_dry_run_verifies_nothing(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactmha.verification.verify", lambda *_args, **_options: pytest.fail("verified"))
    assert run(["verify", "--example", "two-heads-1d", "--dry-run"]) == 0
    assert run(["verify", "--neurons", "2", "--dry-run"]) == 2
    assert "--dry-run: is not for Transformers" in capsys.readouterr().err


def test_long_runs_are_announced(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["verify", "--heads", "1", "--dim", "2"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(estimates, "_LONG", 14)
    assert run(["verify", "--heads", "1", "--dim", "2"]) == 0
    assert capsys.readouterr().err.startswith("15 queries; expect about 0.1 s and ")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.001, "0.1 s"), (9.96, "10.0 s"), (61.2, "61 s"), (119.4, "119 s"), (5400.0, "90 min")]
)
def test_words_for_times(seconds: float, text: str) -> None:
    from dataclasses import replace

    found = replace(estimate(random_model(1, 1, "exponential", 0)), seconds=seconds, mebibytes=12.3)
    assert f"Expect       about {text} and 12 MiB of memory\n" in estimates.as_text(found)
