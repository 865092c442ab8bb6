"""The LaTeX document compiles."""

import subprocess
from pathlib import Path

import pytest
from outside import require_program

from exactmha.cli.main import run


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--example", "two-heads-2d"],
        ["--heads", "2", "--dim", "2", "--field", "radical"],
        ["--heads", "3", "--dim", "2", "--grid", "3"],
    ],
)
def test_it_compiles(arguments: list[str], tmp_path: Path) -> None:
    assert run(["explain", *arguments, "--latex", str(tmp_path / "story.tex")]) == 0
    tex = require_program("pdflatex")
    command = [tex, "-interaction=nonstopmode", "-halt-on-error", "story.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "story.pdf").stat().st_size > 20_000
    log = (tmp_path / "story.log").read_text(encoding="latin-1")
    assert "Missing character" not in log
    assert "LaTeX Warning: Command" not in log


def test_only_ascii_and_known_letters_are_left(tmp_path: Path) -> None:
    assert run(["explain", "--heads", "3", "--dim", "3", "--latex", str(tmp_path / "s.tex")]) == 0
    text = (tmp_path / "s.tex").read_text(encoding="utf-8")
    assert {c for c in text if ord(c) > 127} <= set("“”…–")
