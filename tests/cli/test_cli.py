"""The commands as a user meets them: what they print, their exit status, the same bytes everywhere.

Numbers come from elsewhere: the logistic function by mpmath, two heads in one dimension by hand, counts by the formula.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import mpmath
import pytest

from exactmha.cli.main import COMMANDS, run
from exactmha.errors import InputError, NoInterpolant, Undecided

FORMAT = "exactmha/instance/1"
ONE_HEAD = {"format": FORMAT, "field": "exponential", "dim": 1, "heads": [{"W": [["1"]], "v": ["1"]}]}
TWO_HEADS = {
    "format": FORMAT,
    "field": "rational",
    "dim": 2,
    "heads": [
        {"W": [["log(2)", "0"], ["-log(3)", "0"]], "v": ["1", "0"]},
        {"W": [["0", "log(3/2)"], ["0", "0"]], "v": ["-1/2", "2"]},
    ],
}


@pytest.fixture
def one_head(tmp_path: Path) -> str:
    return written(tmp_path / "one.json", ONE_HEAD)


@pytest.fixture
def two_heads(tmp_path: Path) -> str:
    return written(tmp_path / "two.json", TWO_HEADS)


def written(path: Path, content: object) -> str:
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


Output = pytest.CaptureFixture[str]


def printed(capsys: Output, *arguments: str, status: int = 0) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == status
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def as_json(capsys: Output, *arguments: str, status: int = 0) -> Any:
    return json.loads(printed(capsys, *arguments, "--json", status=status))


# --- verify ----------------------------------------------------------------------------------------------------------


def test_verify_without_arguments(capsys: Output) -> None:
    out = printed(capsys, "verify")
    assert out.startswith("Instance     H = 3 canonical heads, d = 3; the learner is told H\n")
    assert re.search(r"^total 4Hd² − 2H \+ 1 +103 +103$", out, flags=re.MULTILINE)  # 4·3·9 − 6 + 1
    assert out.count("\nholds ") == 7
    assert "FAILS" not in out
    assert "undecided" not in out
    assert out.count("\n  W_") == out.count("\n  v_") == 3
    assert not re.search(r"[ \t]$", out, flags=re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 110


def test_verify_of_a_file(two_heads: str, capsys: Output) -> None:
    out = printed(capsys, "verify", two_heads)
    assert "H = 2 canonical heads, d = 2" in out
    # heads are listed by W, coordinate by coordinate on log 2, then on log 3
    assert "[0, -log(2) + log(3); 0, 0]" in out
    assert "[log(2), 0; -log(3), 0]" in out
    assert "(-1/2, 2)" in out


def test_the_teaching_example_is_doable_by_hand(capsys: Output) -> None:
    # b = 1, u = −1: "k copies of 0, then 1" is 1/(1 + k/2) + 2/(1 + k/3)
    out = printed(capsys, "verify", "--example", "two-heads-1d")
    for k in range(5):
        tokens, answer = ", ".join(["0"] * k + ["1"]), 1 / (1 + Fraction(k, 2)) + 2 / (1 + Fraction(k, 3))
        assert re.search(rf"^{tokens} +{answer}$", out, flags=re.MULTILINE)
    assert "W_1 = [log(3)]\n  v_1 = (2)\n  W_2 = [log(2)]\n  v_2 = (1)" in out
    assert re.search(r"^total 4Hd² − 2H \+ 1 +5 +5$", out, flags=re.MULTILINE)


def test_merging_and_discarding_are_explained(tmp_path: Path, capsys: Output) -> None:
    heads = [*ONE_HEAD["heads"], {"W": [["1"]], "v": ["2"]}, {"W": [["5"]], "v": ["4"]}, {"W": [["5"]], "v": ["-4"]}]  # type: ignore[misc]  # a list
    out = printed(capsys, "verify", written(tmp_path / "i.json", {**ONE_HEAD, "heads": heads}))
    assert (
        "Canonical form: heads 1, 2 have equal W and are merged; heads 3, 4 sum to v = 0 and are discarded; 1 remain."
        in out
    )
    assert "  v_1 = (3)" in out


def test_the_zero_function(tmp_path: Path, capsys: Output) -> None:
    path = written(tmp_path / "zero.json", {**ONE_HEAD, "heads": []})
    assert "No head remains: this is the zero function." in printed(capsys, "verify", path)
    result = as_json(capsys, "verify", path)
    assert (result["queries"], result["max_length"], result["recovered"]) == (1, 1, [])


def test_large_heads_are_only_summarised(capsys: Output) -> None:
    out = printed(capsys, "verify", "--heads", "2", "--dim", "5")
    assert out.endswith("\nRecovered    2 heads with d = 5 (--json prints them all)\n")
    assert len(as_json(capsys, "verify", "--heads", "2", "--dim", "5")["recovered"][1]["W"]) == 5


@pytest.mark.parametrize(
    ("field", "W", "text"),
    [
        ("exponential", "1/2", "exponential: K = Q(t), t = exp(1/2), transcendental by Lindemann–Weierstrass"),
        ("exponential", "sqrt(2)/3", "exponential: K = Q(t), t = exp(sqrt(2)/3), transcendental"),
        ("rational", "log(5)", "rational: K = Q, W in logarithms of 5\n"),
        ("radical", "1/3*log(5)", "radical: K = Q(5^(1/3)), degree 3"),
    ],
)
def test_the_field_is_described(field: str, W: str, text: str, tmp_path: Path, capsys: Output) -> None:
    content = {"format": FORMAT, "field": field, "dim": 1, "heads": [{"W": [[W]], "v": ["1"]}]}
    assert f"\nField        {text}" in printed(capsys, "verify", written(tmp_path / "i.json", content))


JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "field": str,
    "dim": int,
    "heads": int,
    "queries": int,
    "queries_total": int,
    "expected_queries": int,
    "max_length": int,
    "expected_max_length": int,
    "bad_draws": int,
    "failure_bound": str,
    "claims": list,
    "conditions": list,
    "recovered": list,
}


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
@pytest.mark.parametrize("extra", [[], ["--heads-bound", "3"], ["--grid", "5"]])
def test_json_has_every_key_with_its_type(field: str, extra: list[str], capsys: Output) -> None:
    result = as_json(capsys, "verify", "--field", field, "--heads", "2", "--dim", "2", "--seed", "5", *extra)
    assert {key: type(result[key]) for key in JSON_TYPES} == JSON_TYPES
    told = 3 if "--heads-bound" in extra else 2
    assert (result["field"], result["dim"], result["heads"]) == (field, 2, 2)
    assert result["queries"] == result["expected_queries"] == 4 * told * 4 - 2 * told + 1
    assert result["max_length"] == result["expected_max_length"] == 2 * told + 1
    assert result["queries_total"] == result["queries"] + sum(r["queries"] for r in result["bad_draw_details"])
    assert result["bad_draws"] == len(result["bad_draw_details"])
    assert Fraction(result["failure_bound"]) > 0
    for claim in result["claims"]:
        assert {type(claim[key]) for key in ("name", "outcome", "evidence_level", "evidence")} == {str}
        assert claim["outcome"] == "holds"
        assert claim["evidence_level"] in {"sampled", "computed", "certified", "proved"}
    assert [row["name"] for row in result["conditions"]] == ["C1", "C2", "C3", "C4"]
    assert [(row["count"], row["checked"]) for row in result["conditions"]] == [(2, 2), (7, 7), (6, 6), (12, 12)]
    assert [set(head) for head in result["recovered"]] == [{"W", "v"}] * 2


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
def test_recovered_heads_are_written_in_the_instance_grammar(field: str, tmp_path: Path, capsys: Output) -> None:
    options = ["--field", field, "--heads", "3", "--dim", "2", "--seed", "1"]
    truth = json.loads(printed(capsys, "random", *options))
    recovered = as_json(capsys, "verify", *options)["recovered"]
    assert recovered == truth["heads"]
    again = written(tmp_path / "again.json", {**truth, "heads": recovered})
    assert printed(capsys, "canonical", again) == printed(capsys, "random", *options)


def test_json_is_one_object_on_standard_output(capsys: Output) -> None:
    out = printed(capsys, "verify", "--heads", "1", "--dim", "1", "--json")
    assert json.loads(out)["dim"] == 1
    assert out.endswith("}\n")


@pytest.mark.parametrize("text", ["2^-20", "1/1048576", "1", "0.5", "1e-6", "(1/2)^20", "2^-1000"])
def test_failure_bounds_in_every_notation(text: str, capsys: Output) -> None:
    value = {"2^-20": Fraction(1, 2**20), "1/1048576": Fraction(1, 2**20), "(1/2)^20": Fraction(1, 2**20)}.get(text)
    bound = (
        value
        or {"1": Fraction(1), "0.5": Fraction(1, 2), "1e-6": Fraction(1, 10**6), "2^-1000": Fraction(1, 2**1000)}[text]
    )
    result = as_json(capsys, "verify", "--heads", "2", "--dim", "2", "--seed", "4", "--failure-bound", text)
    assert bound / 2 < Fraction(result["failure_bound"]) <= bound


def test_a_vacuous_bound_is_said_to_be_vacuous(capsys: Output) -> None:
    out = printed(capsys, "verify", "--heads", "2", "--dim", "2", "--field", "rational")
    assert "bound above 1, vacuous: rests on the conditions as checked" in out or "probability ≤ 2^" in out
    out = printed(capsys, "verify", "--heads", "2", "--dim", "2", "--grid", "5")
    assert "bound above 1, vacuous: rests on the conditions as checked" in out
    assert "probability at most" not in out


# --- exit statuses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_condition_that_fails_without_redraw_is_status_1(seed: int, capsys: Output) -> None:
    options = ["verify", "--grid", "2", "--no-redraw", "--seed", str(seed)]
    out = printed(capsys, *options, status=1)
    assert re.search(r"^FAILS +certified +C1–C4 hold for the tokens that were drawn$", out, flags=re.MULTILINE)
    result = as_json(capsys, *options, status=1)
    outcomes = {claim["name"]: claim["outcome"] for claim in result["claims"]}
    assert outcomes["conditions"] == "fails"
    assert outcomes["recovered"] == outcomes["uniqueness"] == "undecided"
    assert (result["recovered"], result["queries"], result["bad_draws"]) == (None, None, 1)
    (redraw,) = result["bad_draw_details"]
    evidence = next(claim["evidence"] for claim in result["claims"] if claim["name"] == "conditions")
    assert evidence.startswith(f"{' or '.join(redraw['conditions'])} fails in {redraw['profile']}: ")


def test_small_grids_report_what_was_drawn_again(capsys: Output) -> None:
    options = ["verify", "--heads", "2", "--dim", "2", "--grid", "4"]
    result = as_json(capsys, *options)
    assert result["bad_draws"] > 0
    assert result["queries"] == 29
    assert result["queries_total"] > 29
    out = printed(capsys, *options)
    wasted = result["queries_total"] - 29
    assert re.search(rf"^.*\b{result['bad_draws']}\b.*\b{wasted} queries .*spent apart$", out, flags=re.MULTILINE)
    for redraw in result["bad_draw_details"][:3]:
        assert f"  {redraw['token']}: {' or '.join(redraw['conditions'])} fails in {redraw['profile']}: " in out


def patched_learner(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def learn(*_arguments: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(import_module("exactmha.verification"), "learn", learn)


@pytest.mark.parametrize("error", [NoInterpolant("none was found"), Undecided("too large to decide")])
def test_undecided_claims_are_status_3(error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    patched_learner(monkeypatch, error)
    out = printed(capsys, "verify", status=3)
    assert f"no recovery: {error}" in out
    assert "FAILS" not in out
    result = as_json(capsys, "verify", status=3)
    assert {claim["outcome"] for claim in result["claims"]} == {"holds", "undecided"}


def test_an_undecided_command_is_status_3(monkeypatch: pytest.MonkeyPatch, two_heads: str, capsys: Output) -> None:
    def attention(*_: object) -> None:
        raise Undecided("beyond the size budget")

    monkeypatch.setattr(import_module("exactmha.attention"), "Attention", attention)
    assert run(["query", two_heads, "--tokens", "[[1,2]]"]) == 3
    assert capsys.readouterr() == ("", "undecided: beyond the size budget\n")


def test_bad_input_inside_the_learner_is_status_2(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    patched_learner(monkeypatch, InputError("too large", field="--limit"))
    assert run(["verify"]) == 2
    assert capsys.readouterr() == ("", "error: --limit: too large\n")


def test_interruption_is_status_130(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    patched_learner(monkeypatch, KeyboardInterrupt())  # type: ignore[arg-type]  # raised all the same
    assert run(["verify"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"


# --- query -----------------------------------------------------------------------------------------------------------


def enclosed(decimal: str) -> tuple[Any, Any]:
    """Return (middle, radius) of "[m +/- r]"; a plain decimal is exact."""
    match = re.fullmatch(r"\[([^ ]+) \+/- ([^ ]+)\]", decimal)
    return (mpmath.mpf(match[1]), mpmath.mpf(match[2])) if match else (mpmath.mpf(decimal), mpmath.mpf(0))


@pytest.mark.parametrize("digits", [1, 5, 30, 200])
def test_query_encloses_the_logistic_function(one_head: str, digits: int, capsys: Output) -> None:
    # W = 1, v = 1, X = (0, 1): the last token has the weight e against 1
    result = as_json(capsys, "query", one_head, "--tokens", '[["0"],["1"]]', "--digits", str(digits))
    with mpmath.workdps(digits + 30):
        middle, radius = enclosed(result["decimal"])
        assert abs(middle - 1 / (1 + mpmath.exp(-1))) <= radius
        assert radius < mpmath.mpf(10) ** (1 - digits)
    assert (result["field"], result["length"]) == ("exponential", 2)
    out = printed(capsys, "query", one_head, "--tokens", '[["0"],["1"]]', "--digits", str(digits))
    assert out == f"exact    {result['exact']}\ndecimal  {result['decimal']}\n"


def test_query_in_the_rational_field_by_hand(two_heads: str, capsys: Output) -> None:
    # X = (2, 1), (1, 1). Head 1: logits log(2/3)·x_1, weights 4/9 : 2/3 = 2 : 3, values 2 and 1, so 4/5 + 3/5 = 7/5.
    # Head 2: logits log(3/2)·x_2, equal weights, values −1/2·2 + 2 = 1 and 3/2, so 5/4. Together 53/20.
    result = as_json(capsys, "query", two_heads, "--tokens", '[["2","1"],["1","1"]]')
    assert result["exact"] == "53/20"
    with mpmath.workdps(40):
        middle, radius = enclosed(result["decimal"])
        assert abs(middle - mpmath.mpf(53) / 20) <= radius


@pytest.mark.parametrize(
    ("tokens", "exact"),
    [
        ('[["5"]]', "5"),
        ("[[5]]", "5"),
        ('[["0"]]', "0"),
        ('[["1/3"],["1/3"]]', "1/3"),
        ('[["0.25"]]', "1/4"),
        ('[["2^3"]]', "8"),
    ],
)
def test_query_of_tokens_in_every_notation(one_head: str, tokens: str, exact: str, capsys: Output) -> None:
    assert as_json(capsys, "query", one_head, "--tokens", tokens)["exact"] == exact


# --- random and canonical --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
def test_random_writes_a_canonical_instance(field: str, tmp_path: Path, capsys: Output) -> None:
    options = ["random", "--heads", "2", "--dim", "3", "--field", field, "--seed", "7"]
    text, path = printed(capsys, *options), tmp_path / "instance.json"
    assert printed(capsys, *options, "-o", str(path)) == ""
    assert path.read_bytes() == text.encode()
    content = json.loads(text)
    assert (content["format"], content["field"], content["dim"], len(content["heads"])) == (FORMAT, field, 3, 2)
    assert printed(capsys, "canonical", str(path)) == text
    assert printed(capsys, *options[:-1], "8") != text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["instance.json"]


@pytest.mark.parametrize(("heads", "dim"), [(0, 1), (1, 1), (5, 1), (1, 4)])
def test_random_has_the_size_asked_for(heads: int, dim: int, capsys: Output) -> None:
    content = json.loads(printed(capsys, "random", "--heads", str(heads), "--dim", str(dim)))
    assert len(content["heads"]) == heads
    assert content["dim"] == dim
    assert all(len(head["W"]) == len(head["v"]) == len(head["W"][0]) == dim for head in content["heads"])


def test_canonical_merges_and_explains(tmp_path: Path, capsys: Output) -> None:
    heads = [{"W": [["1/2*4"]], "v": ["1"]}, {"W": [["2"]], "v": ["1/3"]}, {"W": [["0"]], "v": ["0"]}]
    path, out = written(tmp_path / "i.json", {**ONE_HEAD, "heads": heads}), tmp_path / "out.json"
    assert run(["canonical", path, "-o", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "Canonical form: heads 1, 2 have equal W and are merged; heads 3 sum to v = 0 and are discarded; 1 remain.\n"
    )
    assert json.loads(out.read_text("utf-8"))["heads"] == [{"W": [["2"]], "v": ["4/3"]}]
    assert printed(capsys, "canonical", str(out)) == out.read_text("utf-8")


# --- help ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: Output) -> None:
    out = printed(capsys, command, "--help")
    assert out.startswith(f"Usage: exactmha {command} ")
    assert printed(capsys, command, "-h") == out


def test_help_lists_every_command(capsys: Output) -> None:
    out = printed(capsys, "--help")
    assert all(re.search(rf"^  {command} ", out, flags=re.MULTILINE) for command in COMMANDS)


# --- bad input: status 2, one complaint, no traceback ----------------------------------------------------------------


def complaint(captured: Any) -> str:
    """The one line that says what is wrong; after a wrong use of options, click's usage lines stand before it."""
    assert captured.out == ""
    assert "Traceback" not in captured.err
    *before, line = captured.err.strip().splitlines()
    if line.startswith("Error: "):
        assert len(before) == 3
        assert before[0].startswith("Usage: exactmha ")
    else:
        assert before == []
        assert line.startswith("error: ")
    return str(line)


BAD_TOKENS = {
    "no JSON": "",
    "not JSON": "[[1,2]",
    "python": "[(1,2)]",
    "empty list": "[]",
    "object": '{"a":1}',
    "number": "7",
    "string": '"[[1,2]]"',
    "null": "null",
    "list of numbers": "[1,2]",
    "empty token": "[[]]",
    "short token": "[[1]]",
    "long token": "[[1,2,3]]",
    "ragged": "[[1,2],[1]]",
    "float": "[[1,1.5]]",
    "exponent float": "[[1,1e400]]",
    "NaN": "[[1,NaN]]",
    "bool": "[[1,true]]",
    "nested": "[[1,[2]]]",
    "name": '[[1,"x"]]',
    "empty text": '[[1,""]]',
    "division by zero": '[[1,"1/0"]]',
    "irrational": '[[1,"sqrt(2)"]]',
    "logarithm": '[[1,"log(2)"]]',
    "full-width digit": '[[1,"１"]]',
    "huge": '[[1,"10^999999999"]]',
    "million digits": f'[[1,"{"9" * 10**5}"]]',
    "many digits as an integer": f"[[1,{'9' * 30}]]",
    "too many tokens": json.dumps([[1, 2]] * 5000),
    "deep": "[" * 500,
    "key twice": '{"a":1,"a":2}',
    "surrogate": "[[1,\udcff]]",
}


@pytest.mark.parametrize("kind", BAD_TOKENS)
def test_bad_tokens(kind: str, two_heads: str, capsys: Output) -> None:
    start = time.monotonic()
    assert run(["query", two_heads, "--tokens", BAD_TOKENS[kind]]) == 2
    assert time.monotonic() - start < 5
    line = complaint(capsys.readouterr())
    assert "--tokens" in line
    assert len(line) < 400


def test_tokens_that_leave_the_field(two_heads: str, capsys: Output) -> None:
    assert run(["query", two_heads, "--tokens", '[["1","2"],["1/2","0"]]']) == 2
    assert "leaves the rational field" in complaint(capsys.readouterr())


BAD_CALLS: dict[str, tuple[list[str], str]] = {
    "missing file": (["verify", "{dir}/missing.json"], "missing.json: cannot be read"),
    "directory": (["verify", "{dir}"], "is not a regular file"),
    "wrong JSON": (["verify", "{dir}/broken.json"], "broken.json: is not JSON"),
    "no instance": (["canonical", "{dir}/list.json"], "list.json: top level"),
    "failure bound 0": (["verify", "--failure-bound", "0"], "--failure-bound: must be a rational in (0, 1]"),
    "failure bound 2": (["verify", "--failure-bound", "2"], "--failure-bound: must be a rational in (0, 1]"),
    "failure bound -1/2": (["verify", "--failure-bound", "-1/2"], "--failure-bound: must be a rational in (0, 1]"),
    "failure bound abc": (["verify", "--failure-bound", "abc"], "--failure-bound: unknown name"),
    "failure bound empty": (["verify", "--failure-bound", ""], "--failure-bound: empty expression"),
    "failure bound tiny": (["verify", "--failure-bound", "2^-99999999"], "--failure-bound: "),
    "failure bound 2^-5000": (["verify", "--failure-bound", "2^-5000"], "with at most 4096 bits"),
    "failure bound irrational": (["verify", "--failure-bound", "sqrt(1/2)"], "--failure-bound: must be a rational"),
    "heads -1": (["verify", "--heads", "-1"], "--heads: must be at least 0"),
    "heads huge": (["verify", "--heads", "99999999999"], "--heads: must be at most"),
    "heads text": (["verify", "--heads", "three"], "'--heads'"),
    "dim 0": (["random", "--dim", "0"], "--dim: must be at least 1"),
    "dim huge": (["random", "--dim", "100000"], "--dim: must be at most"),
    "unknown field": (["verify", "--field", "complex"], "'--field'"),
    "heads with a file": (["verify", "--heads", "2", "{dir}/one.json"], "describe a random instance"),
    "field with a file": (["verify", "--field", "rational", "{dir}/one.json"], "describe a random instance"),
    "dim with an example": (["verify", "--dim", "2", "--example", "two-heads-1d"], "--example"),
    "file and example": (["verify", "{dir}/one.json", "--example", "two-heads-1d"], "--example"),
    "unknown example": (["verify", "--example", "nothing"], "--example: unknown example"),
    "heads-bound too small": (["verify", "--heads-bound", "1"], "--heads-bound: a bound below the number"),
    "heads-bound negative": (["verify", "--heads-bound", "-1"], "'--heads-bound'"),
    "grid 1": (["verify", "--grid", "1"], "'--grid'"),
    "seed -1": (["verify", "--seed", "-1"], "'--seed'"),
    "seed 2^64": (["verify", "--seed", str(2**64)], "'--seed'"),
    "limit nonsense": (["verify", "--limit", "nonsense"], "'--limit'"),
    "limit unknown": (["verify", "--limit", "colour=3"], "'--limit'"),
    "limit negative": (["verify", "--limit", "dim=-3"], "'--limit'"),
    "limit exceeded": (["verify", "{dir}/one.json", "--limit", "heads=0"], "see --limit heads"),
    "limit on weights": (["verify", "--field", "rational", "--limit", "value_bits=3"], "--limit value_bits"),
    "digits 0": (["query", "{dir}/one.json", "--tokens", "[[1]]", "--digits", "0"], "'--digits'"),
    "digits huge": (["query", "{dir}/one.json", "--tokens", "[[1]]", "--digits", "99999999"], "'--digits'"),
    "no tokens": (["query", "{dir}/one.json"], "Missing option '--tokens'"),
    "unwritable folder": (["random", "-o", "{dir}/no/out.json"], "out.json: cannot be written"),
    "output is a folder": (["canonical", "{dir}/one.json", "-o", "{dir}"], "is not a regular file"),
    "no instance given": (["canonical"], "Missing argument 'INSTANCE'"),
    "two instances": (["verify", "{dir}/one.json", "{dir}/one.json"], "unexpected extra argument"),
    "unknown command": (["prove"], "No such command 'prove'"),
    "unknown option": (["verify", "--fast"], "No such option"),
}


@pytest.mark.parametrize("kind", BAD_CALLS)
def test_bad_calls(kind: str, tmp_path: Path, capsys: Output) -> None:
    written(tmp_path / "one.json", ONE_HEAD)
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    arguments, expected = BAD_CALLS[kind]
    start = time.monotonic()
    assert run([argument.format(dir=tmp_path) for argument in arguments]) == 2
    assert time.monotonic() - start < 5
    assert expected in complaint(capsys.readouterr())
    assert sorted(tmp_path.iterdir()) == before


def test_more_heads_than_there_are_small_numbers_are_refused_quickly(capsys: Output) -> None:
    # d = 1: W = p/q with |p| ≤ 6, q ≤ 3 has 27 values
    start = time.process_time()
    assert run(["random", "--heads", "60", "--dim", "1"]) == 2
    assert "ask for fewer heads" in complaint(capsys.readouterr())
    assert time.process_time() - start < 1


# --- real processes --------------------------------------------------------------------------------------------------


def process(
    *arguments: str, environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LC_", "LANG", "COLUMNS"))
    }
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(
        [sys.executable, "-m", "exactmha", *arguments], env={**clean, **(environment or {})}, check=False, **options
    )


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "again": {},
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 4711": {"PYTHONHASHSEED": "4711"},
    "narrow terminal": {"COLUMNS": "20", "LINES": "5"},
    "wide terminal": {"COLUMNS": "500", "TERM": "xterm-256color"},
    "colours": {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TTY_COMPATIBLE": "1"},
    "no colours": {"NO_COLOR": "1", "TERM": "dumb"},
    "locale C": {"LC_ALL": "C"},
    "locale C.UTF-8": {"LC_ALL": "C.UTF-8"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "another time zone": {"TZ": "Asia/Tokyo"},
}
REPRODUCED = [
    ["verify", "--heads", "2", "--dim", "2", "--grid", "6"],
    ["verify", "--heads", "2", "--dim", "2", "--field", "radical", "--json"],
]


@pytest.fixture(scope="module")
def reference() -> list[bytes]:
    return [process(*arguments, environment={"LC_ALL": "C.UTF-8"}).stdout for arguments in REPRODUCED]


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_same_bytes_in_every_environment(kind: str, reference: list[bytes]) -> None:
    for arguments, expected in zip(REPRODUCED, reference, strict=True):
        done = process(*arguments, environment=ENVIRONMENTS[kind])
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == expected, arguments
        assert b"\r" not in done.stdout
        assert done.stdout.count(b"\n") > 5


def test_a_real_process_prints_what_the_function_prints(capsys: Output, reference: list[bytes]) -> None:
    assert printed(capsys, *REPRODUCED[0]).encode() == reference[0]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["verify", "--example", "two-heads-1d"], 0),
        (["verify", "--grid", "2", "--no-redraw"], 1),
        (["verify", "missing.json"], 2),
        (["verify", "\udcff\u00e4.json"], 2),
        ([], 2),
    ],
)
def test_exit_status_of_a_real_process(arguments: list[str], status: int) -> None:
    done = process(*arguments, environment={"LC_ALL": "C"})
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    assert (done.stderr == b"") == (status < 2)


def test_a_closed_pipe_is_no_success() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "exactmha", "verify", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as reader:
        assert reader.stdout
        assert reader.stderr
        reader.stdout.close()
        assert reader.stderr.read() == b""
        assert reader.wait() == 141  # 128 + SIGPIPE: the verdict did not reach its reader


def test_bad_input_stays_bad_when_nobody_hears_it(tmp_path: Path) -> None:
    for stderr in (Path("/dev/full"), tmp_path / "closed"):
        command = ["check", str(tmp_path / "missing.json")]
        if stderr.exists():
            with stderr.open("wb") as full:
                assert process(*command, stderr=full).returncode == 2
        else:
            read, write = os.pipe()
            os.close(read)
            assert process(*command, stderr=write).returncode == 141
            os.close(write)


def test_an_unforeseen_error_is_one_sentence_and_status_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_arguments: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("exactmha.random_instance.random_model", broken)
    assert run(["random"]) == 70
    err = capsys.readouterr().err
    assert err.startswith("error: a fault of exactmha itself (ZeroDivisionError: on purpose)")
    assert err.count("\n") == 1


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delitem(sys.modules, "exactmha.random_instance", raising=False)
    monkeypatch.setitem(sys.modules, "exactmha.random_instance", None)
    assert run(["random"]) == 2
    assert "install exactmha again" in capsys.readouterr().err


def test_the_certificate_may_not_replace_the_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, alias = tmp_path / "i.json", tmp_path / "same.json"
    assert run(["random", "--heads", "1", "--dim", "1", "-o", str(path)]) == 0
    before = path.read_bytes()
    alias.hardlink_to(path)
    for output in (path, alias):
        assert run(["verify", str(path), "--certificate", str(output)]) == 2
        assert "read by the same command" in capsys.readouterr().err
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--example", "two-heads-1d", "given.json"], "--example"),
        (["given.json", "--heads", "2"], "INSTANCE"),
        (["--grid", "5", "--failure-bound", "1/2"], "--failure-bound"),
    ],
)
def test_options_that_contradict_each_other(options: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", *options]) == 2
    assert capsys.readouterr().err.startswith(f"error: {named}: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device of Linux")
@pytest.mark.parametrize("arguments", [["verify", "--heads", "1", "--dim", "1"], ["random"], ["--help"]])
def test_a_full_disk_is_one_sentence(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = process(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"error: standard output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("arguments", ["verify --heads 1 --dim 1", "random --heads 1 --dim 1", "--help"])
def test_a_closed_standard_output_is_no_traceback(arguments: str) -> None:
    command = f'exec "{sys.executable}" -m exactmha {arguments} >&-'
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, check=False)
    assert b"Traceback" not in done.stderr
    assert done.returncode in {0, 2}


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_on_a_terminal_leaves_standard_output_alone(reference: list[bytes]) -> None:
    controller, terminal = os.openpty()
    done = process(*REPRODUCED[0], stderr=terminal, environment={"TERM": "xterm"})
    os.close(terminal)
    progress = os.read(controller, 65536)
    os.close(controller)
    assert (done.returncode, done.stdout) == (0, reference[0])
    assert b"queries asked and proved" in progress


def test_nothing_is_printed_on_standard_error_when_all_is_well() -> None:
    assert process("random", "--heads", "1", "--dim", "1").stderr == b""
