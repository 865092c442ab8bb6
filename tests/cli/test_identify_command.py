"""`exactmha identify` as a user meets it. The numbers of the first example are worked out by hand in the proof page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from outside import require_module

from exactmha.cli.main import run

FORMAT = "exactmha/instance/1"
ZERO = {"format": FORMAT, "field": "exponential", "dim": 1, "heads": [{"W": [["0"]], "v": ["1"]}]}
OPPOSITE = {
    "format": FORMAT,
    "dim": 1,
    "heads": [{"W": [["log(2)"]], "v": ["1"]}, {"W": [["-log(2)"]], "v": ["1"]}],
}
Output = pytest.CaptureFixture[str]


def written(path: Path, content: object) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.fixture
def zero(tmp_path: Path) -> str:
    return written(tmp_path / "zero.json", ZERO)


@pytest.fixture
def opposite(tmp_path: Path) -> str:
    return written(tmp_path / "opposite.json", OPPOSITE)


def printed(capsys: Output, *arguments: str, status: int) -> str:
    capsys.readouterr()
    assert run(["identify", *arguments]) == status
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def complaint(capsys: Output, *arguments: str) -> str:
    capsys.readouterr()
    assert run(["identify", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err


def test_undecided_with_the_blind_direction(zero: str, tmp_path: Path, capsys: Output) -> None:
    queries = written(tmp_path / "q.json", [[["-5"], ["1"]], [["-2"], ["1"]]])
    found: dict[str, Any] = json.loads(printed(capsys, zero, "--queries", queries, "--json", status=3))
    assert (found["verdict"], found["outcome"], found["full_rank"]) == ("undecided", "undecided", "fails")
    assert (found["parameters"], found["queries"], found["rank_proved"], found["family"]) == (2, 2, 1, None)
    assert found["blind_direction"] == [{"dW": [["2"]], "dv": ["9"]}]
    text = printed(capsys, zero, "--queries", queries, status=3)
    for line in (
        r"parameters\s+2 = H\(d² \+ d\), H = 1, d = 1",
        r"rank proved\s+1, full rank: fails",
        r"verdict\s+undecided",
        r"δW of head 1\s+\[\[2\]\]",
        r"δv of head 1\s+\[9\]",
    ):
        assert re.search(f"^{line}", text, flags=re.MULTILINE), line


def test_not_identifiable_with_the_family(opposite: str, tmp_path: Path, capsys: Output) -> None:
    pairs = [[[str(a)], [str(b)]] for a in range(-3, 4) for b in range(-3, 4)]
    queries = written(tmp_path / "q.json", pairs)
    found = json.loads(printed(capsys, opposite, "--queries", queries, "--json", status=1))
    assert (found["verdict"], found["rank_proved"], found["parameters"]) == ("not identifiable", 3, 4)
    assert found["family"]["kind"] == "opposite pair"
    (first, second) = found["blind_direction"]
    assert int(first["dW"][0][0]) == -int(second["dW"][0][0]) != 0
    assert first["dv"] == second["dv"] == ["0"]
    text = printed(capsys, opposite, "--queries", queries, status=1)
    assert "not identifiable" in text
    assert re.search(r"^family +.*for all real t$", text.replace("\n       ", ""), flags=re.MULTILINE)


def test_identifiable(opposite: str, tmp_path: Path, capsys: Output) -> None:
    queries = written(tmp_path / "q.json", [[["1"], ["1"], ["2"]], [["1"]], [["3"], ["1"], ["2"]], [[0], [0], [1]]])
    found = json.loads(printed(capsys, opposite, "--queries", queries, "--json", status=0))
    assert (found["verdict"], found["rank_proved"], found["blind_direction"]) == ("identifiable", 4, None)
    text = printed(capsys, opposite, "--queries", queries, status=0)
    assert re.search(r"^verdict +identifiable \(locally, among models with 2 heads\)$", text, flags=re.MULTILINE)


def test_too_few_queries(opposite: str, tmp_path: Path, capsys: Output) -> None:
    queries = written(tmp_path / "q.json", [[["1"], ["1"], ["2"]], [["1"]], [["3"], ["1"], ["2"]], [["2"]]])
    found = json.loads(printed(capsys, opposite, "--queries", queries, "--json", status=1))
    assert (found["queries"], found["queries_effective"]) == (4, 3)  # (1) and (2) say the same: s
    assert "invariance of domain" in found["reason"]


def test_suggestions_identify(opposite: str, tmp_path: Path, capsys: Output) -> None:
    out = tmp_path / "best.json"
    arguments = [opposite, "--suggest", "3", "--length", "3", "--seed", "5"]
    text = printed(capsys, *arguments, "-o", str(out), status=0)
    assert text.count(" yes\n") == 3
    assert printed(capsys, *arguments, status=0) == text + out.read_text()
    assert json.loads(printed(capsys, *arguments, "--json", status=0))["best"] == json.loads(out.read_text())
    assert len(json.loads(out.read_text())) == 4
    printed(capsys, opposite, "--queries", str(out), status=0)


def test_suggestions_that_do_not_suffice(opposite: str, capsys: Output) -> None:
    # length 1 shows s only; length 2 does not show the W of an opposite pair
    for length, rank in ((1, 1), (2, 3)):
        found = json.loads(printed(capsys, opposite, "--suggest", "1", "--length", str(length), "--json", status=3))
        assert [one["queries"] for one in found["sets"]] == [rank]
        assert not found["sets"][0]["full_rank"]


def test_the_table_and_its_plot(tmp_path: Path, capsys: Output) -> None:
    require_module("matplotlib")
    image = tmp_path / "plot.png"
    found = json.loads(printed(capsys, "--table", "--plot", str(image), "--json", status=0))
    assert image.read_bytes().startswith(b"\x89PNG")
    assert [(r["heads"], r["dim"]) for r in found] == [(H, d) for H in range(1, 5) for d in range(1, 5)]
    for row in found:
        H, d = row["heads"], row["dim"]
        assert row["parameters"] == H * (d * d + d)
        assert row["learner_queries"] == 4 * H * d * d - 2 * H + 1
        ranks = [one["rank"] for one in row["rank_reached"]]
        assert [one["length"] for one in row["rank_reached"]] == [1, 2, 3, 2 * H + 1]
        assert ranks[0] == d  # f(x) = s·x
        assert ranks[2] == row["parameters"]
        assert max(ranks) <= row["parameters"]
    text = printed(capsys, "--table", status=0)
    assert re.search(r"^4  4 +80 +rank 4 +80 +80 +80 +249$", text, flags=re.MULTILINE)


BAD_FILES: dict[str, tuple[object, str]] = {
    "no list": ({"a": 1}, "top level: must be a list of token sequences"),
    "a number": (3, "top level: must be a list"),
    "no JSON": ("[[", "is not JSON"),
    "NaN": ("[[[NaN]]]", "NaN and Infinity are no numbers"),
    "empty sequence": ([[["1"]], []], "[1]: must be a non-empty list of tokens"),
    "wrong dimension": ([[["1"]], [["1"], ["1", "2"]]], "[1][1]: a token must be a list of 1 numbers"),
    "a float": ([[[0.5]]], "[0][0][0]: must be a string (given: 0.5)"),
    "true": ([[[True]]], "[0][0][0]: must be a string"),
    "null": ([[["1"], [None]]], "[0][1][0]: must be a string"),
    "irrational": ([[["1"]], [["1"]], [["1"]], [["sqrt(2)"]]], "[3][0][0]: must be rational (given: sqrt(2))"),
    "code": ([[["__import__('os')"]]], "[0][0][0]: "),
    "division by zero": ([[["1/0"]]], "[0][0][0]: "),
    "many digits": ([[["9" * 30_000]]], "[0][0][0]: "),
    "a huge power": ([[["2^10^10^10"]]], "[0][0][0]: "),
    "deep": ("[" * 100 + "]" * 100, "is nested more than 64 deep"),
    "many tokens": ([[["1"]] * 5000], "[0]: more than 4096 tokens"),
    "not integral": ([[["1/3"], ["1/2"]]], "[0]: a relative logit is not integral"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_hostile_query_files(kind: str, opposite: str, tmp_path: Path, capsys: Output) -> None:
    content, problem = BAD_FILES[kind]
    path = written(tmp_path / "hostile.json", content)
    start = time.monotonic()
    line = complaint(capsys, opposite, "--queries", path)
    assert time.monotonic() - start < 5
    assert "hostile.json" in line
    assert problem in line
    assert len(line) < 600


def test_limits(opposite: str, tmp_path: Path, capsys: Output) -> None:
    path = written(tmp_path / "q.json", [[["1"]]] * 4)
    assert "more than 3 sequences" in complaint(capsys, opposite, "--queries", path, "--limit", "queries=3")
    assert "more than 15 entries" in complaint(capsys, opposite, "--queries", path, "--limit", "jacobian_cells=15")


BAD_CALLS: dict[str, tuple[list[str], str]] = {
    "nothing asked": (["{i}"], "--queries, --suggest, --table: give exactly one"),
    "two things asked": (["{i}", "--queries", "q", "--suggest", "2"], "give exactly one"),
    "no instance": (["--queries", "q.json"], "INSTANCE is needed"),
    "instance and table": (["{i}", "--table"], "INSTANCE is needed except with --table"),
    "plot without table": (["{i}", "--suggest", "1", "--plot", "x.png"], "--plot: goes with --table only"),
    "length without suggest": (["--table", "--length", "3"], "--length: goes with --suggest only"),
    "output without suggest": (["--table", "-o", "x"], "--output: goes with --suggest only"),
    "no sets": (["{i}", "--suggest", "0"], "--suggest"),
    "missing file": (["{i}", "--queries", "{i}.missing"], "cannot be read"),
    "unwritable": (["{i}", "--suggest", "1", "-o", "{i}/no/x.json"], "cannot be written"),
}


@pytest.mark.parametrize("kind", BAD_CALLS)
def test_bad_calls(kind: str, zero: str, capsys: Output) -> None:
    arguments, problem = BAD_CALLS[kind]
    assert problem in complaint(capsys, *(argument.format(i=zero) for argument in arguments))


def test_a_plot_that_cannot_be_written(tmp_path: Path, capsys: Output) -> None:
    require_module("matplotlib")
    capsys.readouterr()
    assert run(["identify", "--table", "--plot", str(tmp_path / "no" / "x.png")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_same_bytes_in_another_process(opposite: str, capsys: Output) -> None:
    arguments = ["identify", opposite, "--suggest", "2", "--seed", "9"]
    other = subprocess.run([sys.executable, "-m", "exactmha", *arguments], capture_output=True, check=True)
    assert printed(capsys, *arguments[1:], status=0).encode() == other.stdout
