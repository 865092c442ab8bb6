"""One task of a campaign: verify one random instance, or one instance file; returns one row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from exactmha import __version__
from exactmha.conditions import Grid
from exactmha.errors import ExactMHAError, InputError
from exactmha.outcome import Outcome

if TYPE_CHECKING:
    from exactmha.attention import Model


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """What identifies a verification of a random instance: everything that its result depends on."""

    field: str
    heads: int
    dim: int
    seed: int
    grid: int
    """number of values of every token coordinate; 0 for the default grid"""

    @property
    def key(self) -> str:
        """The primary key of the task's row."""
        return "/".join(map(str, astuple(self)))

    def model(self) -> Model:
        """Draw the random instance."""
        from exactmha.random_instance import random_model

        return random_model(self.heads, self.dim, self.field, self.seed)


@dataclass(frozen=True, slots=True)
class FileTask:
    """A verification of an instance file, which travels with the task; the key names it by its bytes."""

    name: str
    source: bytes
    field: str
    heads: int
    """canonical heads"""
    dim: int
    seed: int
    grid: int

    @property
    def key(self) -> str:
        """The primary key of the task's row."""
        digest = hashlib.sha256(self.source).hexdigest()
        return "/".join(map(str, (self.name, digest[:32], self.seed, self.grid)))

    def model(self) -> Model:
        """Read the instance."""
        from exactmha.files import parse_json
        from exactmha.instance import from_dict

        return from_dict(parse_json(self.source, file=self.name))


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one task; all but `seconds` is the same on every machine."""

    key: str
    field: str
    heads: int
    dim: int
    seed: int
    grid: int
    outcome: str
    queries: int
    queries_total: int
    max_length: int
    redraws: int
    failure_bound: float
    """rounded for plots; 1 when the bound is vacuous"""
    error: str
    seconds: float


COLUMNS = tuple(field.name for field in fields(Row))
RESULT_COLUMNS = tuple(name for name in COLUMNS if name != "seconds")


def tasks(heads: range, dims: range, field_names: tuple[str, ...], trials: int, grid: int) -> Iterator[Task]:
    """Yield the tasks of a campaign; small instances first, so that the rate is known early."""
    for dim in dims:
        for head_count in heads:
            for field in field_names:
                for seed in range(trials):
                    yield Task(field, head_count, dim, seed, grid)


def file_tasks(folder: str, trials: int, grid: int) -> list[FileTask]:
    """Return the tasks of all instance files `*.json` of a folder, small instances first; seeds 0..trials−1 for each.

    Subfolders are not searched.

    Raises `InputError` when there is no such folder or no file in it, or when one of them is no attention instance.
    """
    from exactmha.instance import load_with_source

    if not Path(folder).is_dir():
        problem = "is a file, not a folder" if Path(folder).exists() else "does not exist"
        raise InputError(problem, field="FOLDER", value=folder, hint="give a folder of instance files")
    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise InputError("has no file *.json", field="FOLDER", value=folder, hint="give a folder of instance files")
    found = []
    for path in paths:
        model, source = load_with_source(path)
        heads, name = len(model.canonical().heads), path.name.encode(errors="replace").decode()
        found += [FileTask(name, source, model.field.name, heads, model.dim, seed, grid) for seed in range(trials)]
    return sorted(found, key=lambda task: (task.heads * task.dim**2, task.name, task.seed))


def version() -> str:
    """Return the version of exactmha in the process that runs this."""
    return __version__


def run(task: Task | FileTask) -> Row:
    """Verify the instance of a task; an error on purpose becomes a row, not an exception."""
    from exactmha.verification import verify

    start = perf_counter()
    try:
        result = verify(task.model(), seed=task.seed, grid=Grid(task.grid, task.grid) if task.grid else None)
    except ExactMHAError as error:
        return _row(task, Outcome.UNDECIDED, start, error=str(error))
    return _row(
        task,
        result.outcome,
        start,
        queries=result.recovery.queries if result.recovery else 0,
        queries_total=result.oracle_queries,
        max_length=result.oracle_max_length,
        redraws=len(result.diagnoses),
        failure_bound=min(1.0, float(result.failure_bound)),
        error="" if result.failure is None else str(result.failure),
    )


def _row(
    task: Task | FileTask,
    outcome: Outcome,
    start: float,
    *,
    queries: int = 0,
    queries_total: int = 0,
    max_length: int = 0,
    redraws: int = 0,
    failure_bound: float = 1.0,
    error: str = "",
) -> Row:
    return Row(
        key=task.key,
        field=task.field,
        heads=task.heads,
        dim=task.dim,
        seed=task.seed,
        grid=task.grid,
        outcome=outcome.value,
        queries=queries,
        queries_total=queries_total,
        max_length=max_length,
        redraws=redraws,
        failure_bound=failure_bound,
        error=error,
        seconds=perf_counter() - start,
    )
