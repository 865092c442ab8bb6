"""README shows what the program prints, and its Python example runs."""

import re
from pathlib import Path

import pytest

from exactmha.cli.main import run

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_transcript_is_what_verify_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify"]) == 0
    assert capsys.readouterr().out == blocks("text")[0]


def test_example_queries_are_what_verify_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--example", "two-heads-1d"]) == 0
    assert blocks("text")[1] in capsys.readouterr().out


def test_python_example_runs() -> None:
    exec(compile(blocks("python")[0], "README.md", "exec"), {})  # noqa: S102  # our own text


def test_instance_example_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    path.write_text(blocks("json")[0], encoding="utf-8")
    assert run(["canonical", str(path)]) == 0


def test_every_link_to_a_file_exists() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (Path(__file__).parent.parent / target).exists(), target
