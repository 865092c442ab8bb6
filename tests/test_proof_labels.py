"""Every label that code cites has a page, and every page says where it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROOFS = ROOT / "proofs"
PAGES = sorted(path for path in PROOFS.glob("*.md") if path.name != "README.md")
SOURCES = sorted(path for folder in ("exactmha", "proofs", "tests") for path in (ROOT / folder).rglob("*.py"))
LABEL = re.compile(r"proofs/([A-Za-z0-9_-]+)")


def labels(path: Path) -> set[str]:
    return set(LABEL.findall(path.read_text(encoding="utf-8")))


CITED = {path: labels(path) for path in SOURCES if labels(path) and path.name != Path(__file__).name}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def used_by(page: Path) -> list[str]:
    section = page.read_text(encoding="utf-8").split("\n## Used by\n")[1].split("\n## ")[0]
    return re.findall(r"^- `([^`]+)`", section, flags=re.MULTILINE)


def test_code_cites_pages() -> None:
    assert len(CITED) > 10
    assert len(PAGES) > 10


@pytest.mark.parametrize("source", CITED, ids=name)
def test_every_label_has_a_page(source: Path) -> None:
    for label in CITED[source] - {"README"}:
        assert (PROOFS / f"{label}.md").is_file(), f"{name(source)} cites proofs/{label}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_its_label_and_sections(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert lines.count(f"Label: `{page.stem}`") == 1
    assert [line for line in lines if line.startswith("Label:")] == [f"Label: `{page.stem}`"]
    assert sum(line.startswith("**Status**:") for line in lines) == 1
    assert [line for line in lines if line in {"## Statement", "## Proof", "## Used by"}] == [
        "## Statement",
        "## Proof",
        "## Used by",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_says_that_it_derives_from_the_abstract(page: Path) -> None:
    status = re.search(r"^\*\*Status\*\*:(.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert status
    assert "abstract" in status[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_under_used_by_exist(page: Path) -> None:
    files = used_by(page)
    assert files
    assert len(set(files)) == len(files)
    for file in files:
        assert (ROOT / file).is_file(), f"{page.stem} names {file}"


@pytest.mark.parametrize("source", [path for path in CITED if ROOT / "tests" not in path.parents], ids=name)
def test_every_page_lists_the_files_that_cite_it(source: Path) -> None:
    missing = {label for label in CITED[source] if name(source) not in used_by(PROOFS / f"{label}.md")}
    assert not missing, f"{name(source)} is missing under '## Used by' of these pages"


def test_the_index_lists_every_page_once() -> None:
    index = (PROOFS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`([^`]+)`\]\(([^)]+)\) \|", index, flags=re.MULTILINE)
    assert sorted(rows) == sorted((page.stem, page.name) for page in PAGES)


def test_links_between_pages_resolve() -> None:
    for page in PROOFS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (PROOFS / target).is_file(), f"{page.name} links to {target}"


def test_code_cites_no_section_numbers_of_documents_outside_the_repository() -> None:
    for source in (ROOT / "exactmha").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        assert "theory.md" not in text, name(source)
        assert not re.search(r"§\s*\d", text), name(source)
