"""`exactmha counterexample` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exactmha.attention import Attention
from exactmha.cli.main import run
from exactmha.counterexamples.catalogue import CATALOGUE
from exactmha.counterexamples.networks import NETWORKS
from exactmha.instance import equivalent, load
from exactmha.outcome import Outcome


def test_lists_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["counterexample"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{each.name} " in out for each in (*CATALOGUE, *NETWORKS))
    assert run(["counterexample", "--json"]) == 0
    names = [each.name for each in (*CATALOGUE, *NETWORKS)]
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == names


def test_writes_instances_that_differ_and_queries_that_do_not_show_it(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert run(["counterexample", "fixed-tokens", "--heads", "2", "--dim", "2", "-o", str(folder)]) == 0
    models = [load(folder / f"model-{i}.json") for i in (1, 2)]
    assert equivalent(*models) is Outcome.FAILS
    answers = [Attention(model) for model in models]
    queries = {shown: json.loads((folder / f"{shown}.json").read_text("utf-8")) for shown in ("agree", "differ")}
    assert len(queries["agree"]) == 4 * 2 * 4 - 2 * 2 + 1
    for shown, outcome in (("agree", Outcome.HOLDS), ("differ", Outcome.FAILS)):
        for query in queries[shown]:
            sequence = [tuple(int(x) for x in token) for token in query]
            assert answers[0](sequence).equals(answers[1](sequence)) is outcome


@pytest.mark.parametrize("name", [each.name for each in CATALOGUE])
def test_the_certificate_is_accepted(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "c.json")
    assert run(["counterexample", name, "--certificate", file, "--field", "rational"]) == 0
    assert run(["check", file]) == 0
    assert "PROVED" in capsys.readouterr().out
    text = Path(file).read_text("utf-8")
    turned = {"equal": "different", "different": "equal", "single": "equal"}
    (kind,) = (kind for kind in turned if f'"canonical":"{kind}"' in text)
    Path(file).write_text(text.replace(f'"canonical":"{kind}"', f'"canonical":"{turned[kind]}"'), encoding="utf-8")
    assert run(["check", file]) in (1, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "choose from"),
        (["no-matching", "--heads", "1"], "needs at least 2"),
        (["one-sample-short", "--field", "exponential"], "does not exist in this field"),
        (["unmerged", "--smallest", "--heads", "2"], "--smallest"),
        (["unmerged", "--heads", "0"], "--heads"),
        (["unmerged", "-o", "/dev/null/x"], "cannot be written"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["counterexample", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_same_seed_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    outs = []
    for _ in range(2):
        assert run(["counterexample", "bound-only", "--heads", "3", "--dim", "2", "--seed", "5"]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]


def test_a_planted_degeneracy_is_named_by_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tokens that the counterexample names are those that `verify` draws: it names the condition."""
    for name, condition in (("invisible-head", "C3: v_"), ("colliding-poles", "C2: heads"), ("fixed-tokens", "C3: v_")):
        folder = tmp_path / name
        options = ["--heads", "2", "--dim", "2", "--json"]
        assert run(["counterexample", name, *options, "-o", str(folder)]) == 0
        found = json.loads(capsys.readouterr().out)
        grid = ["--grid", "7", "--seed", str(found["seed"]), "--no-redraw"]
        assert run(["verify", str(folder / "model-1.json"), *grid]) == 1
        assert condition in capsys.readouterr().out, name


def test_compare_two_instances_by_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert run(["counterexample", "short-sequences", "--heads", "3", "--dim", "2", "-o", str(folder)]) == 0
    capsys.readouterr()
    files = [str(folder / f"model-{i}.json") for i in (1, 2)]
    assert run(["canonical", files[0], "--compare", files[1]]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["holds", "holds", "fails"]
    assert run(["canonical", files[0], "--compare", files[0]]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["holds"] * 3


def test_compare_needs_one_dimension(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for name, options in (("a", []), ("b", ["--dim", "2"])):
        files.append(str(tmp_path / f"{name}.json"))
        assert run(["random", "--heads", "2", "--dim", "3", *options, "-o", files[-1]]) == 0
    assert run(["canonical", files[0], "--compare", files[1]]) == 2
    assert "another dimension" in capsys.readouterr().err
