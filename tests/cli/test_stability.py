"""`exactmha stability`: report, JSON, exit statuses, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flint import arb

import exactmha
from exactmha.cli.main import run


@pytest.fixture
def instance(tmp_path: Path) -> str:
    path = tmp_path / "instance.json"
    exactmha.save(exactmha.random_model(2, 2, "exponential", seed=0), str(path))
    return str(path)


def test_report(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stability", instance, "--attacks", "20"]) == 0
    out = capsys.readouterr().out
    for words in (
        "first-order constant",
        "C(ε)/(a)",
        "ε*",
        "decimals D of the answers",
        "interpolation: pole polynomial, later rows",
        "up to their order",
        "2^-32",
        "sharpness",
        "least pole gap",
        "29 queries",
    ):
        assert words.lower() in out.lower(), words
    assert run(["stability", instance, "--attacks", "20"]) == 0
    assert capsys.readouterr().out == out  # the same bytes again


def test_json(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stability", instance, "--json", "--attacks", "5", "--epsilon", "2^-100"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["queries"] == 29
    assert document["runs"]["certified"]["epsilon"] == f"1/{2**100}"
    assert document["runs"]["certified"]["outcome"] == "holds"
    assert 0.999 < document["runs"]["certified"]["ratio"] < 1.001
    assert document["runs"]["plain"]["ratio"] > 2
    assert document["attack"]["inside"] == document["attack"]["runs"]
    assert [claim["outcome"] for claim in document["claims"]] == ["holds"] * 4
    assert [row["wanted"] for row in document["digits"]] == [3, 6, 12, 24]


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_those_of_the_canonical_heads(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "instance.json"
    model = exactmha.random_model(2, 2, "exponential", seed=seed)
    exactmha.save(model, str(path))
    assert run(["stability", str(path), "--json", "--attacks", "0"]) == 0
    boxes = json.loads(capsys.readouterr().out)["runs"]["certified"]["boxes"]
    for box, head in zip(boxes, model.canonical().heads, strict=True):
        assert all(arb(box["v"][i]).contains(head.v[i][0]) for i in range(2))
        assert all(arb(box["W"][i][j]).contains(head.W[0][i][j]) for i in range(2) for j in range(2))


def test_an_error_too_large_is_undecided(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stability", instance, "--epsilon", "1/10", "--attacks", "0"]) == 3
    out = capsys.readouterr().out
    assert "undecided" in out
    assert "lost at" in out


def test_comparison_of_designs(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stability", instance, "--attacks", "0", "--compare", "--draws", "2", "--design", "grid"]) == 0
    out = capsys.readouterr().out
    assert "grid, seed 0" in out
    assert out.count("\northogonal ") == 4
    assert "the best of 2" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "0"], "positive rational"),
        (["--epsilon", "-1e-3"], "positive rational"),
        (["--epsilon", "log(2)"], "positive rational"),
        (
            ["--epsilon", "abc"],
            "--epsilon: must be a positive rational number (given: abc); give a number such as 1e-12",
        ),
        (["--design", "integer", "--scale", "1/2"], "--scale: is not used by integer tokens"),
        (["--scale", "0"], "--scale"),
        (["--design", "spiral"], "spiral"),
        (["--draws", "0"], "--draws"),
    ],
)
def test_bad_options(instance: str, options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stability", instance, *options]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_a_model_without_heads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "zero.json"
    exactmha.save(exactmha.random_model(0, 2, "exponential", seed=0), str(path))
    assert run(["stability", str(path)]) == 2
    assert "without heads" in capsys.readouterr().err


def test_integer_fields_need_integer_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rational.json"
    exactmha.save(exactmha.random_model(2, 2, "rational", seed=0), str(path))
    assert run(["stability", str(path), "--design", "orthogonal"]) == 2
    assert "integer tokens" in capsys.readouterr().err
    assert run(["stability", str(path), "--attacks", "0"]) == 0


def test_plot(instance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from exactmha.approximate import plots

    monkeypatch.setattr(plots, "MOST_HEADS", 2)
    picture = tmp_path / "p.png"
    assert run(["stability", instance, "--attacks", "0", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(["stability", instance, "--attacks", "0", "--plot", str(tmp_path / "no" / "p.png")]) == 2


def test_table_of_sizes(instance: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stability", "--table", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {(row["heads"], row["dim"]): row for row in document["sizes"]}
    assert [row["heads"] for row in document["designs"]] == [2, 3, 4]
    assert all(min(row["medians"].values()) == row["medians"]["orthogonal"] for row in document["designs"])
    assert sorted(rows) == [(h, d) for h in range(1, 5) for d in range(1, 4)]
    for dim in (1, 2, 3):
        medians = [rows[h, dim]["median"] for h in range(1, 5)]
        assert medians == sorted(medians)
    assert all(row["least"] <= row["median"] <= row["most"] for row in rows.values())
    assert rows[1, 1]["certified"] == 10  # 52 bits are plenty for one head
    assert rows[4, 3]["certified"] == 0  # and lost for four: an amplification above 10^11 leaves no digits to spare
    assert run(["stability", "--table", instance]) == 2
    assert run(["stability"]) == 2
    capsys.readouterr()
    ignored = ("--plot", "--epsilon", "--scale", "--draws", "--attacks", "--design", "--limit")
    for option, value in zip(ignored, ("x.png", "1e-3", "1", "2", "5", "grid", "dim=3"), strict=True):
        assert run(["stability", "--table", option, value]) == 2
        assert f"{option}: does not go with --table" in capsys.readouterr().err
    assert run(["stability", "--table", "--compare"]) == 2


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(("W", "v"), [("1", "10^400"), ("1", "10^-400"), ("10^400", "1"), ("10^-30", "1"), ("0", "1")])
def test_numbers_of_any_size_are_printed(W: str, v: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "huge.json"
    heads = [{"W": [[W]], "v": [v]}]
    path.write_text(json.dumps({"format": "exactmha/instance/1", "field": "exponential", "dim": 1, "heads": heads}))
    assert run(["stability", str(path), "--json", "--attacks", "2"]) in {0, 3}
    document = strict(capsys.readouterr().out)
    assert len(document["claims"]) == 4
    assert run(["stability", str(path), "--attacks", "0", "--compare", "--draws", "2"]) in {0, 3}
    out = capsys.readouterr().out
    assert "0.0000" not in out
    assert "none tried at random" in out


def test_plain_balls_alone_are_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # here plain balls hold at an ε where the mean-value form is lost
    path = tmp_path / "instance.json"
    exactmha.save(exactmha.random_model(1, 2, "exponential", seed=1), str(path))
    assert run(["stability", str(path), "--json", "--attacks", "2"]) == 0
    star = strict(capsys.readouterr().out)["runs"]["largest_certified_plain"]["epsilon"]
    assert run(["stability", str(path), "--json", "--attacks", "2", "--epsilon", star]) == 0
    runs = strict(capsys.readouterr().out)["runs"]
    assert (runs["plain"]["outcome"], runs["certified"]["outcome"]) == ("holds", "undecided")
