"""The notebooks of the course run, match their committed outputs, and keep to the form that the index promises."""

import ast
import contextlib
import io
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from outside import require_module

for package in ("nbformat", "nbclient", "ipykernel", "ipywidgets", "matplotlib"):
    require_module(package)

import nbformat  # noqa: E402  # after the check that it is there

ROOT = Path(__file__).parents[2]
RERUN = Path(__file__).parent / "rerun.py"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
COURSE = [path for path in NOTEBOOKS if path.name[0].isdigit()]
"""The numbered notebooks; the lecture has a form of its own."""
ARC = ["Claim", "Why it is surprising", "By hand", "Proof idea", "Experiment", "Drop a hypothesis", "Exercises"]

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_of_the_course = pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)


def cells(path: Path) -> list[Any]:
    return list(nbformat.read(path, as_version=4).cells)


def code(path: Path) -> list[str]:
    return [re.sub(r"^%.*\n", "", cell.source) for cell in cells(path) if cell.cell_type == "code"]


def rerun(*arguments: str) -> subprocess.CompletedProcess[str]:
    # a process of its own: kernels and their sockets warn where pytest makes warnings errors
    return subprocess.run(
        [sys.executable, str(RERUN), "--check", *arguments], capture_output=True, text=True, timeout=300, check=False
    )


@each
def test_it_runs_and_matches_its_committed_outputs(path: Path) -> None:
    done = rerun(str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_output_and_a_failing_assertion_are_noticed(tmp_path: Path) -> None:
    source = COURSE[0].read_text(encoding="utf-8")
    assert source.count('"13/6\\n"') == 1
    changed, failing = tmp_path / "changed.ipynb", tmp_path / "failing.ipynb"
    changed.write_text(source.replace('"13/6\\n"', '"13/7\\n"'), encoding="utf-8")
    failing.write_text(source.replace('== \\"13/6\\"', '== \\"13/7\\"'), encoding="utf-8")
    done = rerun(str(changed))
    assert done.returncode == 1
    assert done.stdout.count("changed.ipynb, code cell") == 1
    assert "AssertionError" in rerun(str(failing)).stderr


@each_of_the_course
def test_it_follows_the_arc(path: Path) -> None:
    text = "\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown")
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == ARC
    first = cells(path)[0].source
    for word in ("**You will be able to**", "**Time**", "**Before this**"):
        assert word in first
    exercises = text.split("## Exercises")[1]
    numbers = re.findall(r"^\d+\. ", exercises, flags=re.MULTILINE)
    assert 2 <= len(numbers) == exercises.count("<details><summary>Solution</summary>") == exercises.count("</details>")


@each
def test_every_claim_is_followed_by_an_assertion(path: Path) -> None:
    waiting = False
    for cell in cells(path):
        if cell.cell_type == "markdown" and "**Claim.**" in cell.source:
            assert not waiting, "a claim without an assertion before the next one"
            waiting = True
        elif cell.cell_type == "code" and any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(source(cell)))):
            waiting = False
    assert not waiting


@each
def test_assertions_can_fail_and_solutions_say_something(path: Path) -> None:
    for text in code(path):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assert):
                assert not isinstance(node.test, ast.Constant), text
                if isinstance(node.test, ast.Compare):
                    sides = [ast.dump(side) for side in (node.test.left, *node.test.comparators)]
                    assert len(set(sides)) == len(sides), text
    prose = "\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown")
    for solution in re.findall(r"<details><summary>[^<]*</summary>(.*?)</details>", prose, flags=re.DOTALL):
        assert len(solution.strip()) > 10


def source(cell: Any) -> str:
    return re.sub(r"^%.*\n", "", cell.source)


@each
def test_it_calls_the_package_and_defines_nothing_of_its_own(path: Path) -> None:
    trees = [ast.parse(text) for text in code(path)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    assert not [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    modules = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
    assert any(module.startswith("exactmha") for module in modules)


@each
def test_every_value_of_every_slider_works(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a notebook may move to a folder of its own
    from ipywidgets import IntSlider, interactive

    namespace: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for text in code(path):
            exec(compile(text, str(path), "exec"), namespace)  # noqa: S102  # our own notebooks
    widgets = [value for value in namespace.values() if isinstance(value, interactive)]
    assert len(widgets) == sum(text.count("interactive(") for text in code(path))
    for widget in widgets:
        sliders = [child for child in widget.children if isinstance(child, IntSlider)]
        assert sliders
        ranges = [range(slider.min, slider.max + 1, slider.step) for slider in sliders]
        for values in product(*ranges):
            arguments = {slider.description: value for slider, value in zip(sliders, values, strict=True)}
            assert widget.f(**arguments) is not None


def test_the_index_lists_every_notebook_in_order() -> None:
    index = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| \[[^\]]+\]\(([^)]+)\) \| [^|]+ \| (\d+) \| [^|]+ \|$", index, flags=re.MULTILINE)
    assert [name for name, _ in rows] == [path.name for path in COURSE]
    for path, (_, minutes) in zip(COURSE, rows, strict=True):
        assert f"**Time** {minutes} minutes" in cells(path)[0].source
    assert f"Together {sum(int(m) for _, m in rows)} minutes" in index


@each
def test_proof_pages_that_it_names_exist(path: Path) -> None:
    text = "\n".join(cell.source for cell in cells(path))
    for page in re.findall(r"proofs/[a-z0-9-]+\.md", text):
        assert (ROOT / page).is_file()
