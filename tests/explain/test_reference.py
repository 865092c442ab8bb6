"""The reference shows every public name by task, the same in every process, with what its signature names."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from explain.pages import Page

import exactmha
import exactmha.explain
from exactmha.cli.main import run
from exactmha.conditions import Grid
from exactmha.explain import reference
from exactmha.explain.signatures import default, members, parameters

NAMED = {"QueryOracle", "Canonical", "NumericRecovery", "Redraw", "ConditionFailed", "NoInterpolant", "Undecided"}
NAMED |= {"InconsistentAnswers", "LimitError", "BlackBox", "Design", "ExactField", "Run", "Story"}
EXTERNAL = {"Any", "Callable", "Fraction", "Iterable", "Iterator", "None", "Path", "Sequence", "Self"}
CONSTANTS = re.compile(r"= (?:[A-Z_.]+|True|False)\b")


@pytest.fixture(scope="module")
def text() -> str:
    return reference.as_html()


def entry(text: str, name: str) -> str:
    """Return the section of one name."""
    found = re.search(rf'<section id="{re.escape(name)}".*?</section>', text, flags=re.DOTALL)
    assert found, name
    return found[0]


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


def test_every_public_name_is_in_one_task() -> None:
    names = [name for task in reference.TASKS for name in task.names]
    assert sorted(names) == sorted([*exactmha.__all__, *(f"explain.{name}" for name in exactmha.explain.__all__)])


def test_every_name_has_what_its_docstring_says(text: str) -> None:
    page = Page(text)
    assert page.open == []
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert all(str(a["href"]).removeprefix("#") in ids for a in page.all("a"))
    for name in exactmha.__all__:
        # without the underscores and powers that are set as such
        first = (inspect.getdoc(getattr(exactmha, name)) or "").splitlines()[0]
        assert first, name
        assert re.sub("[`_^]", "", first) in re.sub("[_^]", "", plain(entry(text, name))), name


def test_two_processes_write_the_same_bytes() -> None:
    pages = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "exactmha", "reference"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        pages.append(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
    assert pages[0] == pages[1]
    assert len(pages[0]) > 50_000
    assert b" at 0x" not in pages[0]


def no_clock() -> float:
    return 0.0


LARGE = Grid(5, 6)


def sample(a: int, /, grid: Grid = LARGE, *, b: str | None = None, clock: object = no_clock) -> Grid:
    """Something to be shown."""
    raise NotImplementedError(a, grid, b, clock)


def test_defaults_are_shown_by_name() -> None:
    lines = "f(|a: int,|/,|grid: Grid = LARGE,|*,|b: str | None = None,|clock: object = no_clock,|) -> Grid"
    assert re.sub(r"\n +|\n", "|", parameters("f", sample)) == lines
    assert parameters("f", no_clock) == "f() -> float"
    assert default(object(), sample) == "…"
    assert default(exactmha.Outcome.HOLDS, sample) == "Outcome.HOLDS"
    assert default((1, "a"), sample) == "(1, 'a')"


def test_long_defaults_are_constants(text: str) -> None:
    assert "limits: Limits = DEFAULT_LIMITS" in plain(entry(text, "load"))
    assert "clock: Clock = no_clock" in plain(entry(text, "learn"))
    assert "Limits(file_bytes" not in text


def test_whatever_a_signature_names_has_an_entry(text: str) -> None:
    for name in (*exactmha.__all__, *(f"explain.{name}" for name in exactmha.explain.__all__)):
        shown = re.search(r"<pre.*?</pre>", entry(text, name), flags=re.DOTALL)
        assert shown is not None
        unlinked = CONSTANTS.sub("", plain(re.sub(r"<a .*?</a>", "", shown[0]).partition("(")[2]))
        assert set(re.findall(r"\b[A-Z]\w+", unlinked)) <= EXTERNAL, name
        assert "'" not in re.sub("= '[^']*'", "", unlinked), name  # annotations without quotes
    for name in NAMED:
        assert entry(text, name)
        assert f'href="#{name}"' in text


def test_members_of_enums_and_fields_are_there(text: str) -> None:
    for outcome in exactmha.Outcome:
        assert f"Outcome.{outcome.name} = '{outcome.value}'" in plain(entry(text, "Outcome"))
    assert "Evidence.CERTIFIED = 3proved for this instance by exact computation" in plain(entry(text, "Evidence"))
    assert "heads: tuple[Head, ...]the canonical heads, sorted" in plain(entry(text, "Recovery"))
    for name in ("Recovery", "Verification", "Claim", "Limits"):
        fields = getattr(exactmha, name).__dataclass_fields__
        shown = entry(text, name)
        assert [field for field in fields if f"<dt><code>{field}: " not in shown] == [], name
    assert re.search(r"<dt><code>ask\(sequence: ", entry(text, "Oracle"))
    # in the source the note stands below the field, and not in the docstring of the class
    (first, *_) = members(exactmha.Limits)
    assert first.text.startswith("file_bytes: int = ")
    assert first.document == "size of an instance, token or certificate file, in bytes"


def test_the_examples_run_and_are_shown(text: str) -> None:
    failed, attempted = doctest.testmod(reference)
    assert failed == 0
    assert attempted == sum(task.example.count(">>> ") for task in reference.TASKS)
    shown = unescape(text)
    for task in reference.TASKS:
        lines = [line.strip() for line in task.example.splitlines() if ">>>" in line]
        assert len(lines) >= 1
        assert all(line.partition("  # doctest")[0] in shown for line in lines)
    assert "doctest:" not in text


def test_the_command_writes_the_page(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "reference.html"
    assert run(["reference", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == text
    assert run(["reference", "-o", str(tmp_path / "none" / "x.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
