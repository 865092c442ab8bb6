"""Campaigns: nothing lost or doubled by interruptions, same results for any number of jobs."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from exactmha.campaigns import summary
from exactmha.campaigns.database import Database
from exactmha.campaigns.executors import run_locally
from exactmha.campaigns.summary import Group, grouped
from exactmha.campaigns.tasks import Row, Task, run, tasks
from exactmha.cli.main import run as run_command
from exactmha.errors import InputError

SMALL = ["--heads", "1-2", "--dim", "1-2", "--trials", "2"]
WANTED = list(tasks(range(1, 3), range(1, 3), ("rational", "radical", "exponential"), 2, 0))


def sweep(db: Path, *options: str) -> int:
    return run_command(["sweep", *SMALL, "--db", str(db), *options])


def test_every_task_has_one_verified_row(tmp_path: Path) -> None:
    assert sweep(tmp_path / "a.db") == 0
    with Database(tmp_path / "a.db") as database:
        rows = database.rows()
    assert sorted(row.key for row in rows) == sorted(task.key for task in WANTED)
    assert len(rows) == 2 * 2 * 3 * 2
    for row in rows:
        assert row.outcome == "holds"
        assert row.queries == 4 * row.heads * row.dim**2 - 2 * row.heads + 1
        assert row.max_length == 2 * row.heads + 1
        assert row.queries_total >= row.queries


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    results = []
    for jobs in ("1", "2"):
        assert sweep(tmp_path / f"{jobs}.db", "--jobs", jobs) == 0
        with Database(tmp_path / f"{jobs}.db") as database:
            results.append(database.results())
    assert results[0] == results[1]


def test_a_finished_campaign_does_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep(tmp_path / "a.db") == 0
    monkeypatch.setattr("exactmha.campaigns.executors.run", lambda task: pytest.fail(f"{task} ran twice"))
    assert sweep(tmp_path / "a.db") == 0


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_campaign_resumes_with_nothing_lost_or_doubled(signal_number: int, jobs: str, tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    command = [sys.executable, "-m", "exactmha", "sweep", "--heads", "1-3", "--dim", "1-3", "--field", "rational"]
    command += ["--trials", "4", "--jobs", jobs, "--db", str(db)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 30
        while rows_in(db) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        if signal_number == signal.SIGKILL:
            os.killpg(process.pid, signal_number)
        else:
            os.kill(process.pid, signal_number)
        _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    kept = rows_in(db)
    assert kept >= 3
    before = stored(db)
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    after = stored(db)
    assert len(after) == 3 * 3 * 4
    assert {key: after[key] for key in before} == before  # the rows that were there are untouched, times included
    fresh = tmp_path / "b.db"
    assert subprocess.run([*command[:-1], str(fresh)], stdout=subprocess.DEVNULL, check=False).returncode == 0
    with Database(db) as resumed, Database(fresh) as whole:
        assert resumed.results() == whole.results()


def rows_in(db: Path) -> int:
    return len(stored(db))


def stored(db: Path) -> dict[str, tuple[object, ...]]:
    try:
        connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return {}
    try:
        return {row[0]: row for row in connection.execute("SELECT * FROM runs")}
    except sqlite3.OperationalError:
        return {}
    finally:
        connection.close()


def children(pid: int) -> set[int]:
    found = set[int]()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.add(int(entry.name))
        except OSError:  # it ended meanwhile
            continue
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists()}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes")
@pytest.mark.parametrize(
    ("signal_number", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 130), (signal.SIGINT, 130)]
)
@pytest.mark.parametrize("rows", [0, 2])  # while the workers start, and while they work
def test_no_worker_outlives_the_campaign(signal_number: int, status: int, rows: int, tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    command = [sys.executable, "-m", "exactmha", "sweep", "--trials", "5000", "--jobs", "2", "--db", str(db)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while (rows_in(db) < rows or len(children(process.pid)) < 2) and time.monotonic() < deadline:
            time.sleep(0.01)
        workers = children(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, signal_number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == status
    if signal_number != signal.SIGKILL:  # then nobody is left to hush what Python prints in a worker that was starting
        assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while alive(workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(workers)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's list of processes")
def test_a_killed_worker_is_one_sentence_and_the_rest_is_kept(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    command = [sys.executable, "-m", "exactmha", "sweep", "--trials", "5000", "--jobs", "2", "--db", str(db)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while rows_in(db) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        for pid in children(process.pid):
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                break
        _, err = process.communicate(timeout=30)
    assert process.returncode == 3
    kept, cause = err.splitlines()
    assert kept.startswith(f"{rows_in(db)} of ")
    assert "a worker process died" in cause


@pytest.mark.parametrize("name", [":memory:", "file:x?mode=memory", "file::memory:"])
def test_every_name_is_the_name_of_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["sweep", "--heads", "1", "--dim", "1", "--trials", "1", "--db", name]) == 0
    assert rows_in(tmp_path / name.replace("?", "%3f")) == 3


def test_a_name_that_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sweep(Path("")) == 2


def test_the_database_of_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE precious (x)")
    connection.close()
    before = path.read_bytes()
    assert sweep(path) == 2
    assert "something else" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to have a header " * 20, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_database_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.db"
    path.write_bytes(content)
    assert sweep(path) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert path.read_bytes() == content


def test_a_worker_error_stays_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_task: Task) -> Row:
        raise InputError("broken on purpose")

    monkeypatch.setattr("exactmha.campaigns.executors.run", broken)
    with pytest.raises(InputError, match="on purpose"):
        list(run_locally(WANTED[:1], 1))
    assert sweep(tmp_path / "a.db") == 2


def test_small_grids_stay_below_the_failure_bound() -> None:
    rows = [run(Task("exponential", 2, 2, seed, 301)) for seed in range(60)]
    (group,) = grouped(rows)
    assert group.verified == 60
    # Σ count·degree at H = d = 2: C1 2·2, C2 7·2, C3 6·1, C4 12·2
    assert group.failure_bound == pytest.approx((2 * 2 + 7 * 2 + 6 + 12 * 2) / 301)
    assert not group.contradicts_bound
    assert group.redraw_rate < group.failure_bound


@pytest.mark.parametrize("runs", [1_029, 1_030, 100_000])
def test_groups_of_any_size_have_a_summary(runs: int) -> None:
    p = 0.5
    # the normal approximation: 3 standard deviations above the mean are common enough, 8 are not
    sigma = (runs * p * (1 - p)) ** 0.5
    for deviations, expected in ((3, False), (8, True)):
        redrawn = round(runs * p + deviations * sigma)
        group = Group("exponential", 2, 2, 0, runs, runs, with_redraw=redrawn, failure_bound=p, seconds=1.0)
        assert group.contradicts_bound is expected


def test_the_binomial_tail_is_exact() -> None:
    # Σ_{k≥2} C(4,k)/16 = 11/16; and one re-draw where none is possible contradicts the bound
    group = Group("exponential", 2, 2, 0, runs=4, verified=4, with_redraw=2, failure_bound=0.5, seconds=1.0)
    assert summary._tail(group.runs, group.with_redraw, group.failure_bound) == pytest.approx(11 / 16)
    assert replace(group, with_redraw=1, failure_bound=0.0).contradicts_bound
    assert not replace(group, with_redraw=0, failure_bound=0.0).contradicts_bound


def test_a_rate_far_above_the_bound_is_noticed() -> None:
    group = Group("exponential", 2, 2, 0, runs=40, verified=40, with_redraw=20, failure_bound=0.05, seconds=1.0)
    assert group.contradicts_bound


@pytest.mark.parametrize(
    "option",
    [
        ["--heads", "4-1"],
        ["--heads", "x"],
        ["--dim", "0"],
        ["--dim", "1-9999"],
        ["--jobs", "0"],
        ["--heads", "١"],
        ["--heads", "1-513"],
        ["--trials", "1000000"],
        ["--plot", "noext"],
        ["--plot", ""],
        ["--plot", "missing/a.png"],
    ],
)
def test_bad_options(option: list[str], tmp_path: Path) -> None:
    assert run_command(["sweep", "--db", str(tmp_path / "a.db"), *option]) == 2
    assert not (tmp_path / "a.db").exists()
