"""Running tasks: in this process, in worker processes, or on a Dask cluster; rows come as they are finished."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any

from exactmha import __version__
from exactmha.campaigns.tasks import FileTask, Row, Task, run, version
from exactmha.errors import InputError, WorkerLost

_AHEAD = 4
"""Tasks handed out per worker before the first is back: enough to keep it busy, few to throw away on Ctrl-C."""
_PATIENCE = 10
"""Seconds that a cluster has to answer, and then again to show a worker."""


def run_locally(tasks: Sequence[Task | FileTask], jobs: int) -> Iterator[Row]:
    """Run tasks on this machine, `jobs` at a time; raises `WorkerLost` when a worker process dies."""
    if jobs == 1:
        yield from map(run, tasks)
        return
    # "spawn": workers share nothing with this process, and behave alike on every system
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_follow_parent)
    try:
        remaining, pending = iter(tasks), set[Future[Row]]()
        while True:
            with _interrupts_held_back():  # a worker started here never hears Ctrl-C; this process stops it in order
                pending |= {pool.submit(run, task) for task in islice(remaining, jobs * _AHEAD - len(pending))}
            if not pending:
                return
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool:
        raise WorkerLost("a worker process died, killed or out of memory") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Deliver Ctrl-C only afterwards; processes started inside inherit the blocked signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow_parent() -> None:
    """In a worker: end when told to, and with the process that started it, even when that was killed."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # inherited blocked; a broken pool ends workers by it
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def run_on_cluster(tasks: Sequence[Task | FileTask], address: str) -> Iterator[Row]:
    """Run tasks on the Dask cluster at `address`; Dask runs the tasks of a lost worker again.

    Raises `InputError` when no usable cluster is there, `WorkerLost` when the scheduler goes away.
    """
    try:
        import dask

        # set before `distributed` is imported: a sentence of ours instead of its tracebacks
        dask.config.set({"logging": {"distributed": "critical", "distributed.client": "critical"}})
        from distributed import as_completed
    except ImportError:
        raise InputError("needs Dask", field="--cluster", hint='pip install -e ".[cluster]"') from None
    with _connected(address) as client:
        ahead = _AHEAD * sum(client.nthreads().values())
        remaining = iter(tasks)
        try:
            pending = as_completed([_submitted(client, task) for task in islice(remaining, ahead)])
            for future in pending:
                yield future.result()
                future.release()
                for task in islice(remaining, 1):
                    pending.add(_submitted(client, task))
        except (OSError, CancelledError) as error:
            raise WorkerLost(f"the cluster at {address} is gone ({type(error).__name__})") from None


def _submitted(client: Any, task: Task | FileTask) -> Any:
    return client.submit(run, task, pure=False, retries=3)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Give a client of the cluster at `address`, whose workers all run this version of exactmha."""
    from distributed import Client

    def refused(problem: str, hint: str) -> InputError:
        return InputError(problem, field="--cluster", value=address, hint=hint)

    try:
        _greet(address)  # first, since a Client waits for ever for a port that is no scheduler
    except Exception as error:  # noqa: BLE001  # whatever a stranger's port may answer
        problem = f"no Dask scheduler answers there ({type(error).__name__})"
        raise refused(problem, "give the scheduler's tcp://HOST:PORT") from None
    client = Client(address, timeout=f"{_PATIENCE}s")
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
        if (theirs := _versions(client)) != __version__:
            problem = f"the workers have an exactmha {theirs}, this is {__version__}"
            raise refused(problem, "install the same exactmha on every worker")
        yield client
    except TimeoutError:
        raise refused("has no worker", f"start one: dask worker {address}") from None
    finally:
        client.close(timeout=1)


def _versions(client: Any) -> str:
    """Return the versions of exactmha on the workers, in words."""
    try:
        found = client.run(version).values()
    except Exception:  # noqa: BLE001  # a worker without exactmha cannot read the call: it answers anything, or dies
        found = ()
    return ", ".join(sorted(set(found))) or "that cannot be imported"


def _greet(address: str) -> None:
    import asyncio

    from distributed import rpc

    async def greet() -> None:
        async with rpc(address, timeout=_PATIENCE) as scheduler:
            await scheduler.identity()

    asyncio.run(asyncio.wait_for(greet(), _PATIENCE))
