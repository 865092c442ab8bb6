"""The whole benchmark: which sizes are timed, and the growth exponents fitted to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exactmha.bench.profiles import ProfileTiming, time_profile
from exactmha.bench.timing import growth_exponent, machine
from exactmha.bench.verifications import VerificationTiming, count_operations, time_verification

_BUDGET = 5.0
_QUICK = (("exponential", 2, 2), ("exponential", 4, 4), ("exponential", 4, 8), ("rational", 4, 4), ("radical", 2, 2))
_FULL = (
    ("exponential", 8, 2),
    ("exponential", 8, 4),
    ("exponential", 8, 8),
    ("exponential", 8, 16),
    ("exponential", 2, 8),
    ("exponential", 4, 8),
    ("exponential", 16, 8),
    ("exponential", 16, 16),
    ("rational", 4, 4),
    ("rational", 8, 8),
    ("radical", 4, 4),
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Fitted growth: time ~ variable^exponent with the other size fixed."""

    variable: str
    fixed: int
    exponent: float


@dataclass(frozen=True, slots=True)
class Operations:
    """Value operations that the learner used, which do not depend on the machine."""

    field: str
    heads: int
    dim: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Results:
    """One benchmark run."""

    machine: str
    profiles: list[ProfileTiming]
    verifications: list[VerificationTiming]
    growth: list[Growth]
    operations: list[Operations]


def run_suite(*, quick: bool, repetitions: int, say: Callable[[str], None]) -> Results:
    """Run everything side by side; `say` is told what is being timed."""
    profiles = []
    for heads in (2, 4, 8) if quick else (2, 4, 8, 16, 32):
        say(f"profile H = {heads}")
        profiles.append(time_profile(heads, repetitions, _BUDGET))
    verifications = []
    for field, heads, dim in _QUICK if quick else _FULL:
        say(f"verification {field} H = {heads}, d = {dim}")
        verifications.append(time_verification(field, heads, dim, repetitions))
    counts = [Operations(f, 4, 4, count_operations(f, 4, 4)) for f in ("exponential", "rational", "radical")]
    return Results(machine(), profiles, verifications, fitted(verifications), counts)


def fitted(timings: list[VerificationTiming]) -> list[Growth]:
    """Fit total time against d at each H, and against H at each d, where at least three sizes were timed."""
    found = []
    for variable, fixed_name, size_name in (("d", "heads", "dim"), ("H", "dim", "heads")):
        exponential = [t for t in timings if t.field == "exponential"]
        for fixed in sorted({getattr(t, fixed_name) for t in exponential}):
            line = [t for t in exponential if getattr(t, fixed_name) == fixed]
            exponent = growth_exponent([getattr(t, size_name) for t in line], [t.oracle + t.learner for t in line])
            if exponent is not None and len(line) >= 3:
                found.append(Growth(variable, fixed, exponent))
    return found
