"""The reference lists every public name with its docstring, on a page like the stories'."""

import inspect
import re
from html import unescape
from pathlib import Path

import pytest
from explain.pages import Page

import exactmha
from exactmha.cli.main import run
from exactmha.explain.reference import as_html


def test_every_public_name_is_there_with_what_its_docstring_says() -> None:
    text = as_html()
    page = Page(text)
    assert page.open == []
    assert [a["id"] for a in page.all("section")] == list(exactmha.__all__)
    plain = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", text)))
    for name in exactmha.__all__:
        first = (inspect.getdoc(getattr(exactmha, name)) or "").splitlines()[0]
        assert first, name
        assert first.replace("`", "") in plain


def test_members_and_examples_are_there() -> None:
    text = as_html()
    assert re.search(r"<h3><code>ask\(self, sequence[^<]*</code></h3>", text)
    assert "&gt;&gt;&gt; to_sympy(" in text
    assert "learn_numeric(" in text


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "reference.html"
    assert run(["reference", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == as_html()
    assert run(["reference", "-o", str(tmp_path / "none" / "x.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
