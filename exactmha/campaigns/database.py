"""The results of a campaign in SQLite: written row by row, so that nothing is lost or doubled."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from exactmha.campaigns.tasks import COLUMNS, RESULT_COLUMNS, FileTask, Row, Task
from exactmha.errors import InputError
from exactmha.outcome import Outcome

_APPLICATION_ID = 0x6D6861  # "mha": marks our files, so that no other database is written to
_TYPES = {
    **dict.fromkeys(COLUMNS, "INTEGER NOT NULL"),
    "key": "TEXT PRIMARY KEY",
    "field": "TEXT NOT NULL",
    "outcome": "TEXT NOT NULL",
    "error": "TEXT NOT NULL",
    "failure_bound": "REAL NOT NULL",
    "seconds": "REAL NOT NULL",
}


class Database:
    """A campaign's database file; use it as a context manager."""

    def __init__(self, path: str | Path) -> None:
        self._path = str(path)
        try:
            # an absolute path: SQLite takes "", ":memory:" and "file:…" for databases that vanish with the process
            self._connection = sqlite3.connect(Path(path).absolute(), isolation_level=None, timeout=30)
            (known,) = self._connection.execute("PRAGMA application_id").fetchone()
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if known != _APPLICATION_ID and tables:
                raise InputError("is a database of something else", file=self._path, hint="give a new file")
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
            columns = ", ".join(f"{name} {_TYPES[name]}" for name in COLUMNS)
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS runs ({columns}) WITHOUT ROWID")
        except sqlite3.Error as error:
            raise InputError(
                f"cannot be used: {error}", file=self._path, hint="give a new or an earlier --db"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def missing(self, wanted: Iterable[Task | FileTask]) -> list[Task | FileTask]:
        """Return the tasks that have no row yet, in their order."""
        done = {key for (key,) in self._select("key")}
        return [task for task in wanted if task.key not in done]

    def add(self, row: Row) -> None:
        """Commit one row; a row that is there already stays as it is."""
        marks = ", ".join("?" * len(COLUMNS))
        try:
            self._connection.execute(f"INSERT OR IGNORE INTO runs VALUES ({marks})", astuple(row))
        except sqlite3.Error as error:
            raise InputError(f"cannot be written: {error}", file=self._path, hint="see to it, then run again") from None

    def rows(self) -> list[Row]:
        """Return all rows in the order of their keys."""
        rows = [Row(*values) for values in self._select(*COLUMNS)]
        for row in rows:
            numbers = (row.heads, row.dim, row.grid, row.redraws, row.seconds, row.failure_bound)
            if row.outcome not in {outcome.value for outcome in Outcome} or not all(
                isinstance(x, int | float) for x in numbers
            ):
                raise InputError("holds a row that is not ours", file=self._path, value=row.key, hint="give a new file")
        return rows

    def results(self) -> list[tuple[object, ...]]:
        """Return all rows without their times: the same for any number of jobs and on any machine."""
        return self._select(*RESULT_COLUMNS)

    def _select(self, *columns: str) -> list[tuple[Any, ...]]:
        try:
            return list(self._connection.execute(f"SELECT {', '.join(columns)} FROM runs ORDER BY key"))
        except sqlite3.Error as error:
            raise InputError(
                f"cannot be read: {error}", file=self._path, hint="give a new or an earlier --db"
            ) from None
