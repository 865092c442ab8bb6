"""What a reader of a counterexample relies on: whole families, canonical models, readable folders, certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exactmha.beyond.identify import identify
from exactmha.cli.main import run
from exactmha.counterexamples import learner, tokens
from exactmha.counterexamples.build import build
from exactmha.counterexamples.catalogue import CATALOGUE, assumption
from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.errors import InputError
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", [each.name for each in CATALOGUE if each.name not in {"unmerged", "zero-sum"}])
def test_no_model_hides_merged_or_vanishing_heads(name: str, seed: int) -> None:
    dropped = assumption(name)
    found = build(dropped, Setting(*dropped.least, dropped.fields[0], seed))
    for model in found.construction.models:
        assert len(model.canonical().heads) == len(model.heads)


@pytest.mark.parametrize("name", ["invisible-head", "colliding-poles"])
def test_equality_for_every_number_of_copies_is_decided(name: str) -> None:
    found = build(assumption(name), Setting(2, 2, "rational", 0))
    first, second = found.construction.models
    assert [claim.outcome for claim in found.claims if claim.name == "every-k"] == [Outcome.HOLDS]
    b, u = found.setting.tokens
    assert tokens._same_profile((first, second), b[0], u[0]).outcome is Outcome.HOLDS
    others = [tokens._same_profile((first, second), x, y).outcome for x in b for y in (*u, (3, -2))]
    assert Outcome.FAILS in others  # other profiles do tell them apart


def test_equality_on_a_subspace_is_decided() -> None:
    first, second = build(assumption("tokens-in-a-subspace"), Setting(2, 3, "rational", 0)).construction.models
    assert tokens._same_on_subspace((first, second)).outcome is Outcome.HOLDS
    assert tokens._same_on_subspace((first, random_model(2, 3, "rational", 0))).outcome is Outcome.FAILS


@pytest.mark.parametrize(("heads", "dim"), [(2, 2), (3, 3), (2, 4), (4, 4)])
def test_the_learner_told_a_bound_returns_one_and_the_same_model(heads: int, dim: int) -> None:
    found = build(assumption("bound-only"), Setting(heads, dim, "rational", 0))
    assert found.outcome is Outcome.HOLDS
    one, two = found.construction.models
    assert (
        learner.same_recovery(found.setting, (two, one), heads).outcome is Outcome.FAILS
    )  # it is model 1, not model 2
    with pytest.raises(Degenerate):
        learner.same_recovery(found.setting, (random_model(heads + 1, dim, "rational", 0),), heads)


@pytest.mark.parametrize("field", ["rational", "radical", "exponential"])
@pytest.mark.parametrize(("heads", "dim"), [(4, 3), (2, 4), (4, 4), (5, 5)])
def test_no_matching_stays_within_the_limits_of_its_certificate(
    heads: int, dim: int, field: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    size = ["--heads", str(heads), "--dim", str(dim), "--field", field]
    assert run(["counterexample", "no-matching", *size, "--certificate", str(path)]) == 0
    assert run(["check", str(path)]) == 0


def test_a_certificate_that_check_would_not_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("exactmha.certificates.checker.MOST_DIM", 1)
    path = tmp_path / "c.json"
    assert run(["verify", "--heads", "1", "--dim", "2", "--certificate", str(path)]) == 2
    assert "would not be read by `exactmha check`" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_field_need_not_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    for each in CATALOGUE:
        assert run(["counterexample", each.name]) == 0, each.name
    assert run(["counterexample", "one-sample-short", "--field", "exponential"]) == 2  # asked for, and impossible
    assert "does not exist in this field" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["short-sequences", "rounded-outputs", "inexact-outputs", "position-encoding"])
def test_folders_hold_files_that_the_other_commands_read(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    assert run(["counterexample", name, "-o", str(folder)]) == 0
    queries = {path.name for path in folder.iterdir()} - {"model-1.json", "model-2.json"}
    assert queries
    for file in queries:
        status = run(["identify", str(folder / "model-1.json"), "--queries", str(folder / file)])
        assert status in {0, 1, 3}, file
    assert run(["counterexample", name, "-o", str(folder)]) == 2  # nothing is mixed with what is there


def test_close_queries_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("rounded-outputs", "inexact-outputs"):
        assert run(["counterexample", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["close"]


def test_a_list_without_a_name_is_refused_options(capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--smallest"], ["--heads", "2"], ["-o", "x"]):
        assert run(["counterexample", *option]) == 2
        assert "NAME: is needed with these options" in capsys.readouterr().err


def test_negated_queries_count_once() -> None:
    model = random_model(1, 2, "exponential", 0)
    sequences = [[(1, 2), (3, 1)], [(-1, -2), (-3, -1)], [(1, 2), (3, 1), (1, 1)], [(1, 2), (-3, -1)]]
    assert identify(model, sequences).effective == 3


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(InputError, match="choose from unmerged"):
        assumption("none")


def one_head(tmp_path: Path, field: str, W: str, v: str = "1") -> str:
    path = tmp_path / f"{field}{len(W)}.json"
    head = {"W": [[W]], "v": [v]}
    path.write_text(json.dumps({"format": "exactmha/instance/1", "field": field, "dim": 1, "heads": [head]}))
    return str(path)


@pytest.mark.parametrize(("other", "v", "first"), [("log(2)", "1", "holds"), ("log(2)", "2", "fails")])
def test_models_of_different_fields_are_compared(
    other: str, v: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = one_head(tmp_path, "exponential", "1"), one_head(tmp_path, "rational", other, v)
    assert run(["canonical", left, "--compare", right]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [first, "fails", "fails"]


@pytest.mark.parametrize(("heads", "dim", "field", "seed"), [(1, 2, "radical", 111), (1, 2, "exponential", 112)])
def test_an_answer_on_a_boundary_of_rounding_is_drawn_again(heads: int, dim: int, field: str, seed: int) -> None:
    assert build(assumption("rounded-outputs"), Setting(heads, dim, field, seed)).outcome is Outcome.HOLDS


def test_sizes_out_of_reach_name_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("no-matching", "bound-only"):
        for size in ("16", "8"):
            assert run(["counterexample", name, "--heads", size, "--dim", size, "--field", "rational"]) == 2
            assert "--heads, --dim: " in capsys.readouterr().err


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "missing" / "c.json"
    made = tmp_path / "made"
    assert run(["counterexample", "unmerged", "-o", str(made), "--certificate", str(bad)]) == 2
    assert not list(tmp_path.iterdir())
    for option in ("-o", "--certificate"):
        assert run(["counterexample", "unmerged", option, ""]) == 2
        assert "is no name for an output" in capsys.readouterr().err
    made.mkdir()
    assert run(["counterexample", "unmerged", "-o", str(made)]) == 0  # an empty folder is as good as none
    assert {path.name for path in made.iterdir()} == {"model-1.json", "model-2.json"}
    assert made.stat().st_mode & 0o700 == 0o700


def test_queries_that_would_grow_without_bound_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance, path = one_head(tmp_path, "exponential", "1"), tmp_path / "q.json"
    coprime = [[[f"1/{10**1000 + 2 * k + 1}"], ["1"]] for k in range(1000)]  # one common denominator of 10^6 digits
    for queries, words in ((coprime, "over one denominator"), ([[["1"]] * 1000] * 201, "more than 200000 tokens")):
        path.write_text(json.dumps(queries))
        assert run(["identify", instance, "--queries", str(path)]) == 2
        assert words in capsys.readouterr().err
