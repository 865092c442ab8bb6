"""`exactmha explain` on the command line."""

from pathlib import Path

import pytest

from exactmha.cli.main import run


def test_default_is_the_example_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    first = capsys.readouterr().out
    assert first.startswith("How 2 attention heads in dimension 1 are learned from 5 queries\n")
    assert run(["explain", "--example", "two-heads-1d"]) == 0
    assert capsys.readouterr().out == first


def test_one_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--step", "9"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Step 9 of 10: Counting every query\n")
    assert "Step 8" not in text


def test_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "i.json")
    assert run(["random", "--heads", "2", "--dim", "2", "-o", path]) == 0
    assert run(["explain", path, "--seed", "3"]) == 0
    assert "learned from 29 queries" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--step", "0"], "--step: no such step (given: 0)"),
        (["--example", "nothing"], "unknown example"),
        (["--example", "two-heads-1d", "--heads", "2"], "instance (given: --example two-heads-1d, --heads 2)"),
        (["i.json", "--example", "two-heads-1d"], "more than one instance (given: i.json, --example two-heads-1d)"),
        (["--heads", "0", "--dim", "2"], "this layer is the zero function; see exactmha canonical"),
        (["--field", "rational"], "--field: describes a random instance"),
        (["--heads", "7", "--dim", "2"], "1 to 4 canonical heads"),
        (["missing.json"], "missing.json: cannot be read"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_numbers_too_long_for_a_story(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.json"
    heads = '[{"W": [["100000*log(2)"]], "v": ["1"]}]'
    path.write_text(f'{{"format": "exactmha/instance/1", "field": "rational", "dim": 1, "heads": {heads}}}')
    assert run(["explain", str(path), "--html", str(tmp_path / "a.html")]) == 2
    assert "too long for a story" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["long.json"]


def test_files_are_the_same_bytes_every_time_and_nothing_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / name for name in ("a.html", "a.tex", "b.html", "b.tex")]
    for html, latex in (paths[:2], paths[2:]):
        assert run(["explain", "--html", str(html), "--latex", str(latex)]) == 0
    assert paths[0].read_bytes() == paths[2].read_bytes()
    assert paths[1].read_bytes() == paths[3].read_bytes()
    assert capsys.readouterr().out == ""


def test_bad_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--html", str(tmp_path / "none" / "a.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert run(["explain", "--html", str(tmp_path / "a.html"), "--step", "2"]) == 2
    assert "is for text only" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_two_outputs_are_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, same = str(tmp_path / "a"), str(tmp_path / "." / "x" / ".." / "a")
    (tmp_path / "x").mkdir()
    assert run(["explain", "--html", one, "--latex", same]) == 2
    assert "--latex: names the same file as --html" in capsys.readouterr().err
    assert run(["explain", "--html", str(tmp_path)]) == 2
    assert "--html: " in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(("columns", "most"), [("200", 110), ("90", 90), ("20", 80)])
def test_the_text_is_as_wide_as_the_terminal(
    columns: str, most: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run(["explain"]) == 0
    assert most - 3 <= max(map(len, capsys.readouterr().out.splitlines())) <= most


def test_one_of_heads_and_dim_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--heads", "1"]) == 0
    assert capsys.readouterr().out.startswith("How 1 attention head in dimension 2 is learned")
    assert run(["explain", "--help"]) == 0
    assert "[default with --dim: 2]" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("option", ["--html", "--latex", "--plot"])
@pytest.mark.parametrize("link", ["itself", "symlink", "hard link"])
def test_an_output_never_replaces_the_instance(
    option: str, link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance, output = tmp_path / "i.png", tmp_path / "o.png"
    assert run(["random", "--heads", "1", "--dim", "1", "-o", str(instance)]) == 0
    before = instance.read_bytes()
    if link == "itself":
        output = instance
    elif link == "symlink":
        output.symlink_to(instance)
    else:
        output.hardlink_to(instance)
    assert run(["explain", str(instance), option, str(output)]) == 2
    assert option in capsys.readouterr().err
    assert instance.read_bytes() == before


@pytest.mark.parametrize("name", [".png", "p.txt"])
def test_where_one_file_cannot_be_made_none_is(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, latex = str(tmp_path / "s.html"), str(tmp_path / "s.tex")
    assert run(["explain", "--html", html, "--latex", latex, "--plot", str(tmp_path / name)]) == 2
    assert "--plot" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
