"""README shows what the program prints, and its Python examples run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from exactmha.cli.main import COMMANDS, run
from exactmha.reproduce import BLOCKS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in {"bench", "sweep"}])  # those hold times
def test_every_block_is_what_the_program_prints(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"<!-- reproduce:{name} -->\n```text\n{BLOCKS[name]()}```\n<!-- end -->" in README


@pytest.mark.parametrize("example", blocks("python"))
def test_python_examples_run(example: str) -> None:
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102  # our own text


@pytest.mark.parametrize("example", blocks("json"))
def test_instance_examples_are_valid(example: str, tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    path.write_text(example, encoding="utf-8")
    assert run(["canonical", str(path)]) == 0


def test_every_link_to_a_file_exists() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def referee_rows() -> list[list[str]]:
    section = README.split("## For referees")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip(" |") for cell in row] for row in rows[1:]]


@pytest.mark.parametrize("row", referee_rows(), ids=lambda row: row[0][:40])
def test_every_row_for_referees_is_exercised(
    row: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = re.findall(r"`exactmha ([^`]*)`", row[1])
    assert bool(commands) != ("not there yet" in row[1])
    monkeypatch.chdir(tmp_path)
    assert run(["random", "--heads", "2", "--dim", "2", "-o", "instance.json"]) == 0
    for command in commands:
        assert run(shlex.split(command)) == 0
    assert capsys.readouterr().out or not commands


def test_rows_marked_missing_have_no_command_in_the_program() -> None:
    missing = [row[0] for row in referee_rows() if "not there yet" in row[1]]
    for command, word in {"stability": "approximate", "budget": "earlier work"}.items():
        assert command not in COMMANDS or not any(word in text for text in missing)


def test_stand_alone_checker_runs_as_readme_says(tmp_path: Path) -> None:
    command = re.search(r"`(python -I -S [^`]*)`", README)
    assert command
    assert run(["verify", "--heads", "1", "--dim", "2", "--certificate", str(tmp_path / "c.json")]) == 0
    words = shlex.split(command[1].replace("c.json", str(tmp_path / "c.json")))
    done = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("PROVED: of all models")
