"""The LaTeX document compiles, stays within its margins, and reads like a text."""

import re
import subprocess
from pathlib import Path

import pytest
from outside import require_program

from exactmha.cli.main import run
from exactmha.explain.notation import Latex


def compiled(folder: Path, *arguments: str) -> tuple[str, str]:
    """Return the source and the log of a story, compiled."""
    assert run(["explain", *arguments, "--latex", str(folder / "story.tex")]) == 0
    tex = require_program("pdflatex")
    command = [tex, "-interaction=nonstopmode", "-halt-on-error", "story.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "story.pdf").stat().st_size > 20_000
    return (folder / "story.tex").read_text("utf-8"), (folder / "story.log").read_text("latin-1")


def overfull(log: str) -> list[float]:
    """Return by how many points lines stick out of the page."""
    return [float(size) for size in re.findall(r"Overfull \\hbox \(([0-9.]+)pt too wide\)", log)]


def test_overfull_lines_would_be_seen(tmp_path: Path) -> None:
    tex = require_program("pdflatex")
    (tmp_path / "x.tex").write_text(r"\documentclass{article}\begin{document}\rule{40cm}{1pt}\end{document}")
    subprocess.run([tex, "-interaction=nonstopmode", "x.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert max(overfull((tmp_path / "x.log").read_text("latin-1"))) > 100


@pytest.mark.parametrize("field", ["rational", "radical", "exponential"])
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2), (3, 3), (4, 2), (2, 6)])
def test_it_compiles_and_nothing_leaves_the_page(field: str, heads: int, dim: int, tmp_path: Path) -> None:
    _, log = compiled(tmp_path, "--heads", str(heads), "--dim", str(dim), "--field", field)
    assert max(overfull(log), default=0) <= 10
    assert "Missing character" not in log
    assert "LaTeX Warning: Command" not in log


@pytest.mark.parametrize(("example", "most"), [("two-heads-1d", 6), ("two-heads-2d", 8)])
def test_the_examples_take_few_pages(example: str, most: int, tmp_path: Path) -> None:
    text, log = compiled(tmp_path, "--example", example)
    pages = re.search(r"Output written on story.pdf \((\d+) pages", log)
    assert pages is not None
    assert int(pages[1]) <= most
    assert overfull(log) == []
    # one display for a group, which belongs to the paragraph of its heading; answers after all questions
    for heading in re.findall(r"\\textbf\{(?:Condition|The proof|The matrices)[^\n]*\n([^\n]*)", text):
        assert heading.startswith(r"\begin{alignat*}")
    assert text.rindex("Question") < text.index(r"\section*{Answers}") < text.index(r"\item[Step 1.]")


def test_short_equations_stand_on_one_line(tmp_path: Path) -> None:
    assert run(["explain", "--example", "two-heads-2d", "--latex", str(tmp_path / "s.tex")]) == 0
    assert "\nr_{1} & = 18 \\neq \\frac{4}{3} = r_{2}\n" in (tmp_path / "s.tex").read_text("utf-8")


def test_names_in_prose_are_formulas(tmp_path: Path) -> None:
    assert run(["explain", "--heads", "3", "--dim", "3", "--latex", str(tmp_path / "s.tex")]) == 0
    text = (tmp_path / "s.tex").read_text("utf-8")
    assert {c for c in text if ord(c) > 127} <= set("“”–")
    assert r"\_" not in text  # no name is printed raw
    assert r"\textasciicircum" not in text
    assert r"\texttt{exactmha counterexample fixed-tokens}" in text
    assert r"\texttt{proofs/matching.md}" in text


def test_very_long_numbers_are_shortened(tmp_path: Path) -> None:
    text, log = compiled(tmp_path, "--heads", "2", "--dim", "2", "--field", "rational", "--grid", "20")
    shortened = re.findall(r"\b(\d{8})\{\\ldots\}(\d{8})_\{\[(\d+)\]\}", text)
    assert len(shortened) > 20
    assert min(int(count) for *_, count in shortened) > 40
    assert re.findall(r"\d{41,}", text) == []
    assert text.count("Of numbers with more than 40 digits") == 1
    assert max(overfull(log), default=0) <= 10


def test_a_note_on_long_numbers_is_there_only_when_needed(tmp_path: Path) -> None:
    assert run(["explain", "--latex", str(tmp_path / "s.tex")]) == 0
    assert "40 digits" not in (tmp_path / "s.tex").read_text("utf-8")
    digits = "12345678" + "0" * 30 + "987"
    assert Latex().digits(digits) == r"12345678{\ldots}00000987_{[41]}"
    assert Latex().digits(digits[1:]) == digits[1:]
