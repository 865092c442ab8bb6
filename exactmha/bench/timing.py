"""Medians of repeated timings, growth exponents, and the machine they were taken on."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from time import perf_counter


def median_seconds(action: Callable[[], object], repetitions: int) -> float:
    """Return the median time of `action` over some repetitions, after one warm-up."""
    action()
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return statistics.median(times)


def growth_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Return the least-squares slope of log(seconds) against log(size); None with fewer than two sizes."""
    if len(set(sizes)) < 2:
        return None
    return statistics.linear_regression([log(n) for n in sizes], [log(t) for t in seconds]).slope


def machine() -> str:
    """Name the machine: processor, cores, Python, FLINT."""
    import flint

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{_processor()}, {cores} cores, {platform.system()}, Python {platform.python_version()}, "
        f"python-flint {flint.__version__}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
