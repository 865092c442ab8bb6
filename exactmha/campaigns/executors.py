"""Running tasks: in this process, in worker processes, or on a Dask cluster; rows come as they are finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from exactmha.campaigns.tasks import Row, Task, run
from exactmha.errors import InputError

_AHEAD = 4
"""Tasks handed out per worker before the first is back: enough to keep it busy, few to throw away on Ctrl-C."""


def run_locally(tasks: Sequence[Task], jobs: int) -> Iterator[Row]:
    """Run tasks on this machine, `jobs` at a time."""
    if jobs == 1:
        yield from map(run, tasks)
        return
    # "spawn": workers share nothing with this process, and behave alike on every system
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    try:
        remaining, pending = iter(tasks), set[Future[Row]]()
        while True:
            for task in remaining:
                pending.add(pool.submit(run, task))
                if len(pending) >= jobs * _AHEAD:
                    break
            if not pending:
                return
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the main process, which stops the workers in order."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_on_cluster(tasks: Sequence[Task], address: str) -> Iterator[Row]:
    """Run tasks on the Dask cluster at `address`; Dask runs the tasks of a lost worker again."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise InputError("needs Dask", field="--cluster", hint='pip install "exactmha[cluster]"') from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no cluster there: {error}", field="--cluster", value=address) from None
    with client:
        futures = client.map(run, tasks, pure=False, retries=3)
        for future in as_completed(futures):
            yield future.result()
            future.release()
