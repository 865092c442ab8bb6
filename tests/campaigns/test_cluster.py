"""A real Dask scheduler and two workers, started here; a worker killed half-way loses nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from outside import require_module

from exactmha.campaigns.database import Database
from exactmha.cli.main import run as run_command

require_module("distributed")

SIZES = ["--heads", "1-3", "--dim", "1-3", "--field", "rational", "--trials", "4"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    scheduler_file = tmp_path / "scheduler.json"
    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler = [
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(scheduler_file),
    ]
    worker = ["worker", "--scheduler-file", str(scheduler_file), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    processes = [subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *scheduler[1:]], **common)]  # type: ignore[call-overload]
    deadline = time.monotonic() + 60
    while not scheduler_file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    processes += [
        subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", *worker[1:]], **common)  # type: ignore[call-overload]
        for _ in range(2)
    ]
    import json

    yield json.loads(scheduler_file.read_text(encoding="utf-8"))["address"], processes[1:]
    for process in reversed(processes):
        process.kill()
        process.wait()


def results(db: Path) -> list[tuple[object, ...]]:
    with Database(db) as database:
        return database.results()


@pytest.mark.filterwarnings("ignore")  # Dask's own warnings when a worker disappears
def test_cluster_gives_the_local_results_even_when_a_worker_dies(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    command = [sys.executable, "-m", "exactmha", "sweep", *SIZES, "--cluster", address, "--db", str(tmp_path / "c.db")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
            if (tmp_path / "c.db").exists() and len(rows(tmp_path / "c.db")) >= 2:
                break
        os.kill(workers[0].pid, signal.SIGKILL)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert run_command(["sweep", *SIZES, "--db", str(tmp_path / "l.db")]) == 0
    assert results(tmp_path / "c.db") == results(tmp_path / "l.db")


def rows(db: Path) -> list[object]:
    import sqlite3

    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT key FROM runs").fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def test_no_cluster_at_the_address_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sweep", *SIZES, "--cluster", "tcp://127.0.0.1:1", "--db", str(tmp_path / "a.db")]) == 2
    assert "--cluster" in capsys.readouterr().err
