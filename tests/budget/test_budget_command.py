"""`exactmha budget` and `exactmha verify --learner`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exactmha.certificates.budget_checker import main as check
from exactmha.cli.main import run
from exactmha.instance import from_dict, save
from exactmha.random_instance import random_model


def test_one_instance(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", "--heads", "2", "--dim", "3"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert "24 unknowns" in lines["Floor"]
    for name, queries in [
        ("paper", 69),
        ("unbounded", 71),
        ("residues", 45),
        ("isolation", 45),
        ("adapted", 28),
        ("grouped", 26),
    ]:
        assert f" {queries} " in lines[name]
        assert " exact " in lines[name]
    for name in ("paper", "unbounded", "residues", "isolation", "adapted", "grouped", "short"):
        assert lines[name].endswith("accepted")
    for name in ("single-head:", "orthogonal:", "low-rank:"):
        assert "not one head" in lines[name]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", "--heads", "1", "--dim", "2", "--json", "--field", "rational"]) == 0
    rows = {row["learner"]: row for row in json.loads(capsys.readouterr().out)}
    assert (rows["single-head"]["queries"], rows["adapted"]["queries"]) == (7, 6)
    assert rows["low-rank"]["failure"]
    assert not rows["low-rank"]["recovered"]
    assert all(row["queries"] == row["expected"] or row["fallbacks"] for row in rows.values() if row["recovered"])


def test_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "budget.png"
    assert run(["budget", "--table", "--heads", "1-2", "--dim", "1-3", "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    row = next(line.split() for line in text.splitlines() if line.split()[:2] == ["2", "3"])
    assert row == ["2", "3", "24", "69", "103", "71", "9", "45", "45", "28", "26", "28"]
    assert "0 fell back" in text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_instance_file_and_its_certificate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, proof = tmp_path / "i.json", tmp_path / "c.json"
    save(random_model(2, 3, "exponential", 4), path)
    assert run(["budget", str(path)]) == 0
    for name in ("unbounded", "residues", "isolation", "adapted", "grouped", "short"):
        assert run(["verify", str(path), "--learner", name, "--certificate", str(proof)]) == 0
        assert "FAILS" not in capsys.readouterr().out
        claim = {"heads": 2} if name == "unbounded" else {"learner": name, "heads": 2}
        assert check([str(proof), "--instance", str(path), "--claim", json.dumps(claim)]) == 0
    assert run(["check", str(proof)]) == 0


def test_a_baseline_outside_its_assumption_is_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--learner", "single-head", "--heads", "2", "--dim", "2"]) == 3
    assert "undecided" in capsys.readouterr().out


def test_verify_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--learner", "adapted", "--heads", "2", "--dim", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["queries"], found["floor"], found["expected_queries"]) == (14, 12, 14)
    assert [claim["outcome"] for claim in found["claims"]] == ["holds"] * 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["budget", "--heads", "1-2"],
        ["budget", "--heads", "0"],
        ["budget", "--dim", "65"],
        ["budget", "--plot", "x.png"],
        ["budget", "missing.json"],
        ["budget", "missing.json", "--heads", "2"],
        ["budget", "missing.json", "--table"],
        ["budget", "--table", "--plot", "x.txt"],
        ["verify", "--learner", "nobody"],
        ["verify", "--learner", "adapted", "--heads-bound", "4"],
        ["verify", "--learner", "adapted", "--no-redraw"],
        ["verify", "--learner", "orthogonal", "--certificate", "c.json"],
        ["verify", "--learner", "adapted", "--heads", "0"],
    ],
)
def test_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status = run(arguments)
    error = capsys.readouterr()
    assert status in (2, 3)
    assert "Traceback" not in error.err + error.out
    assert (status == 2) == ("error" in error.err.lower())


def test_wrong_heads_are_given_a_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("exactmha.budget.single_head.agrees", lambda *_: True)
    heads = [{"W": [["1"]], "v": ["1"]}, {"W": [["-1"]], "v": ["1"]}]
    model = from_dict({"format": "exactmha/instance/1", "field": "exponential", "dim": 1, "heads": heads})
    save(model, "opposite.json")
    assert run(["budget", "opposite.json"]) == 1
    assert "single-head: returned other heads" in capsys.readouterr().out


OPPOSITE = [{"W": [["1", "2"], ["-1", "3"]], "v": ["1", "2"]}, {"W": [["-1", "-2"], ["1", "-3"]], "v": ["1", "2"]}]


def test_conditions_say_which_held_and_reasons_name_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """v_1 = v_2: D4 fails, so nothing was asked that rests on D5, and later residues tie."""
    path = tmp_path / "i.json"
    save(from_dict({"format": "exactmha/instance/1", "field": "exponential", "dim": 2, "heads": OPPOSITE}), path)
    assert run(["verify", str(path), "--learner", "adapted"]) == 3
    text = capsys.readouterr().out
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("D")}
    assert "failed in 1 place" in lines["D4"]
    assert "held where asked" in lines["D5"]
    assert "fails in (b_2, u_1)" in text
    assert run(["verify", "--learner", "adapted", "--heads", "2", "--dim", "3"]) == 0
    text = capsys.readouterr().out
    assert text.count(" held ") == 4
    assert "where asked" not in text


def test_failing_rows_show_the_queries_they_spent(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", "--heads", "2", "--dim", "3"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("single-head "))
    assert line.split()[-5:] == ["13", "4", "2", "no", "–"]  # f(e_1..e_3), and one of length 2


def test_the_table_has_no_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", "--table", "--heads", "1", "--dim", "1", "--json"]) == 0
    assert not any("certificate" in row for row in json.loads(capsys.readouterr().out))
    assert run(["budget", "--heads", "1", "--dim", "1", "--json"]) == 0
    assert all("certificate" in row for row in json.loads(capsys.readouterr().out))


def test_one_head_and_a_wrong_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--learner", "adapted", "--heads", "1", "--dim", "1"]) == 0
    text = capsys.readouterr().out
    assert "1 canonical head gives these 2 answers" in text
    assert "1 heads" not in text
    assert "1 canonical heads" not in text
    assert run(["budget", "--heads", "0"]) == 2
    assert "(given: 0)" in capsys.readouterr().err


def test_the_table_gives_a_reason_for_wrong_heads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opposite = [{"W": [["1"]], "v": ["1"]}, {"W": [["-1"]], "v": ["1"]}]
    model = from_dict({"format": "exactmha/instance/1", "field": "exponential", "dim": 1, "heads": opposite})
    monkeypatch.setattr("exactmha.budget.single_head.agrees", lambda *_: True)
    monkeypatch.setattr(
        "exactmha.budgets.fitting_model", lambda learner, *_: model if "single" in learner.name else None
    )
    assert run(["budget", "--table", "--heads", "1", "--dim", "1"]) == 1
    text = capsys.readouterr().out
    assert "FAILED" in text
    assert "single-head, H = 2, d = 1: returned other heads" in text
