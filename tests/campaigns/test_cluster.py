"""A real Dask scheduler and two workers, started here; a worker killed half-way loses nothing."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from outside import require_module

from exactmha.campaigns import executors
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

    yield json.loads(scheduler_file.read_text(encoding="utf-8"))["address"], processes
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
        os.kill(workers[1].pid, signal.SIGKILL)
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


@pytest.fixture
def stranger() -> Iterator[socket.socket]:
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_port_that_never_answers_is_no_cluster(
    stranger: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "_PATIENCE", 1)
    address = f"tcp://127.0.0.1:{stranger.getsockname()[1]}"
    assert run_command(["sweep", *SIZES, "--cluster", address, "--db", str(tmp_path / "a.db")]) == 2
    assert "no Dask scheduler answers there" in capsys.readouterr().err


def test_a_port_that_answers_something_else_is_no_cluster(
    stranger: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "_PATIENCE", 5)

    def answer() -> None:
        connection, _ = stranger.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + b"x" * 200)

    thread = threading.Thread(target=answer)
    thread.start()
    address = f"tcp://127.0.0.1:{stranger.getsockname()[1]}"
    assert run_command(["sweep", *SIZES, "--cluster", address, "--db", str(tmp_path / "a.db")]) == 2
    thread.join()
    assert "no Dask scheduler answers there" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["", "foo:bar", "x"])
def test_an_address_that_is_none(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sweep", *SIZES, "--cluster", address, "--db", str(tmp_path / "a.db")]) == 2
    assert "--cluster" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_workers_of_another_version_are_refused(
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(executors, "__version__", "999")
    assert run_command(["sweep", *SIZES, "--cluster", cluster[0], "--db", str(tmp_path / "a.db")]) == 2
    assert "this is 999" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_without_workers_is_refused(
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for worker in cluster[1][1:]:
        worker.kill()
        worker.wait()
    time.sleep(1)
    monkeypatch.setattr(executors, "_PATIENCE", 2)
    assert run_command(["sweep", *SIZES, "--cluster", cluster[0], "--db", str(tmp_path / "a.db")]) == 2
    assert "has no worker" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_a_worker_without_exactmha_is_refused(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, workers = cluster
    for worker in workers[1:]:
        worker.kill()
        worker.wait()
    time.sleep(1)  # until the scheduler has noticed
    script = "import sys; sys.modules['exactmha'] = None; from distributed.cli.dask_worker import main; main()"
    command = [sys.executable, "-c", script, address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path) as worker:
        status = run_command(["sweep", *SIZES, "--cluster", address, "--db", str(tmp_path / "a.db")])
        worker.kill()
    assert status == 2
    assert "that cannot be imported" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_goes_away_loses_nothing_that_was_finished(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    db = tmp_path / "a.db"
    command = [sys.executable, "-m", "exactmha", "sweep", "--trials", "5000", "--cluster", address, "--db", str(db)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None and not (db.exists() and len(rows(db)) >= 2):
            time.sleep(0.05)
        for lost in workers:
            lost.kill()
        _, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert f"{len(rows(db))} of " in err
    assert "is gone" in err
    assert "Traceback" not in err


def test_no_cluster_at_the_address_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "_PATIENCE", 1)
    assert run_command(["sweep", *SIZES, "--cluster", "tcp://127.0.0.1:1", "--db", str(tmp_path / "a.db")]) == 2
    assert "--cluster" in capsys.readouterr().err
