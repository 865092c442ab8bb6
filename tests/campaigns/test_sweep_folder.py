"""A folder of instance files as a campaign: every file verified, by name and by its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from exactmha.campaigns.database import Database
from exactmha.cli.main import run
from exactmha.instance import save
from exactmha.random_instance import random_model

SHAPES = {"b.json": (2, 2, "exponential"), "a.json": (1, 3, "rational"), "c.json": (2, 1, "radical")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / "instances"
    target.mkdir()
    for name, (heads, dim, field) in SHAPES.items():
        save(random_model(heads, dim, field, 7), target / name)
    (target / "notes.txt").write_text("no instance")
    return target


def rows(db: Path) -> list[tuple[str, str, int, int, int, str, int]]:
    with Database(db) as database:
        return [(r.key.split("/")[0], r.field, r.heads, r.dim, r.seed, r.outcome, r.queries) for r in database.rows()]


def test_every_file_is_verified(folder: Path, tmp_path: Path) -> None:
    db = tmp_path / "f.db"
    assert run(["sweep", str(folder), "--db", str(db)]) == 0
    assert rows(db) == [
        ("a.json", "rational", 1, 3, 0, "holds", 35),
        ("b.json", "exponential", 2, 2, 0, "holds", 29),
        ("c.json", "radical", 2, 1, 0, "holds", 5),
    ]


def test_more_designs_resume_and_any_number_of_jobs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "1.db", tmp_path / "2.db"
    assert run(["sweep", str(folder), "--db", str(one), "--trials", "2", "--jobs", "2"]) == 0
    assert run(["sweep", str(folder), "--db", str(two), "--trials", "1"]) == 0
    assert run(["sweep", str(folder), "--db", str(two), "--trials", "2"]) == 0
    assert rows(one) == rows(two)
    assert len(rows(one)) == 6
    monkeypatch.setattr("exactmha.campaigns.executors.run", lambda task: pytest.fail(f"{task.key} ran twice"))
    assert run(["sweep", str(folder), "--db", str(two), "--trials", "2"]) == 0


def test_a_changed_file_is_verified_again(folder: Path, tmp_path: Path) -> None:
    db = tmp_path / "f.db"
    assert run(["sweep", str(folder), "--db", str(db)]) == 0
    save(random_model(1, 3, "rational", 8), folder / "a.json")
    assert run(["sweep", str(folder), "--db", str(db)]) == 0
    assert [row[0] for row in rows(db)] == ["a.json", "a.json", "b.json", "c.json"]


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("d.json", "{}", [], "d.json: format: field required"),
        ("d.json", "[", [], "d.json: is not JSON"),
        (None, "", ["--heads", "2"], "--heads, --dim and --field describe random instances"),
        (None, "", ["--field", "rational"], "--heads, --dim and --field describe random instances"),
    ],
)
def test_what_is_refused(
    name: str | None,
    content: str,
    options: list[str],
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name:
        (folder / name).write_text(content)
    assert run(["sweep", str(folder), "--db", str(tmp_path / "f.db"), *options]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "f.db").exists()


def test_a_folder_without_instances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "sub").mkdir()
    save(random_model(1, 1, "rational", 0), tmp_path / "sub" / "a.json")
    places = {
        tmp_path: "has no file *.json",
        tmp_path / "nowhere": "does not exist",
        tmp_path / "file": "is a file, not a folder",
        "a\0b": "does not exist",
    }
    for folder, problem in places.items():
        assert run(["sweep", str(folder), "--db", str(tmp_path / "f.db")]) == 2
        assert f"FOLDER: {problem} (given: " in capsys.readouterr().err
