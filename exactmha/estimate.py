"""What a verification will cost: queries by the formula, time and memory from a few profiles of the same instance."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter

from exactmha.attention import Attention, Model
from exactmha.certificates.kinds import check_text
from exactmha.certificates.write import CertificateRecorder, canonical_json, profile_text
from exactmha.conditions import Grid
from exactmha.errors import ConditionFailed
from exactmha.heads import Head, matrix
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.oracle import Oracle
from exactmha.recover.assemble import WeightSolver
from exactmha.recover.design import (
    DEFAULT_FAILURE_BOUND,
    Design,
    default_grid,
    expected_length,
    expected_queries,
)
from exactmha.recover.learn import Sampled
from exactmha.recover.match import expected_sum
from exactmha.recover.profile import Profile
from exactmha.recover.sample import IntToken, add, ask_base, ask_profile
from exactmha.recover.separate import Separator
from exactmha.verification import verify

_SAMPLES = 3
"""Profiles of each kind that are timed."""
_CERTIFIED_DIM = 3
"""Dimension of the certificate that is timed."""
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a verification without re-drawn tokens."""

    heads: int
    """the number of heads told, H or H_0"""
    dim: int
    queries: int
    max_length: int
    seconds: float
    mebibytes: float
    certificate_mebibytes: float
    """size of a certificate, if one is asked for"""
    certificate_seconds: float | None
    """time to write and check it, beside `seconds`; None where a small run recovered nothing to measure it by"""
    profiles: int
    """how many profiles were asked for this estimate"""


def estimate(
    model: Model,
    *,
    heads_bound: int | None = None,
    failure_bound: Fraction = DEFAULT_FAILURE_BOUND,
    grid: Grid | None = None,
    seed: int = 0,
    limits: Limits = DEFAULT_LIMITS,
) -> Estimate:
    """Time a few profiles of each kind, and the solution for W, and scale them up to the whole run.

    The learner separates d² + d − 1 profiles from their images; the other d(d − 1) it mostly proves from a guess.
    Asks about 7·2H queries of an oracle of its own, and verifies the heads restricted to 3 coordinates.

    Raises the errors of a run that shows in the first profiles.
    """
    heads = told(model, heads_bound)
    chosen = grid or default_grid(model.field, heads, model.dim, failure_bound)
    run = _Timed(model, heads, _tokens(seed, model.dim, chosen), limits)
    d, (full, guessed) = model.dim, run.times()
    seconds = (d * d + d - 1) * full + d * (d - 1) * guessed + run.assembly()
    kept = d * d * run.profile_bytes() / _MIB
    certificate = (2 * d * d - 1) * run.certificate_bytes() / _MIB
    spent = _certificate_seconds(model, heads, chosen, seed, limits)
    return Estimate(
        heads,
        d,
        expected_queries(heads, d),
        expected_length(heads),
        seconds,
        used_bytes() / _MIB + kept,
        certificate,
        None if spent is None else (2 * d * d - 1) * spent,
        run.profiles,
    )


def told(model: Model, heads_bound: int | None) -> int:
    """Return what the learner is told: the number of canonical heads, or the bound."""
    return len(model.canonical().heads) if heads_bound is None else heads_bound


def used_bytes() -> int:
    """Return the most memory that this process has held so far.

    On Linux `ru_maxrss` would include what the process held before it became this program.
    """
    try:
        for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else 1024 * used


def _certificate_seconds(model: Model, told: int, grid: Grid, seed: int, limits: Limits) -> float | None:
    """Return the seconds for one profile of a certificate: it is written, and checked before it is kept.

    Measured on a whole certificate of the same heads restricted to the first coordinates.
    """
    dim = min(model.dim, _CERTIFIED_DIM)
    heads = tuple(Head(tuple(matrix([row[:dim] for row in W[:dim]]) for W in h.W), h.v[:dim]) for h in model.heads)
    small, recorder = Model(model.field, dim, heads), _TimedRecorder()
    result = verify(small, heads_bound=told, grid=grid, seed=seed, limits=limits, recorder=recorder)
    if result.recovery is None:
        return None
    start = perf_counter()
    text = recorder.text(result.recovery, model.field, b"")
    check_text(text)
    return (recorder.seconds + perf_counter() - start) / (2 * dim * dim - 1)


class _TimedRecorder(CertificateRecorder):
    """A recorder that counts the time it takes."""

    seconds = 0.0

    def restart(self) -> None:
        self.seconds = 0.0
        super().restart()

    def profile(self, sampled: Sampled) -> None:
        start = perf_counter()
        super().profile(sampled)
        self.seconds += perf_counter() - start


def _tokens(seed: int, dim: int, grid: Grid) -> tuple[list[IntToken], list[IntToken]]:
    """Draw tokens like the run, where one attempt is enough; these may depend linearly."""
    design = Design(seed, dim, grid)
    for kind in ("b", "u"):
        for position in range(1, dim + 1):
            try:
                design.draw(kind, position)
            except ConditionFailed:
                continue
    return design.b, design.u


class _Timed:
    """A few profiles, asked and separated against the clock."""

    def __init__(self, model: Model, told: int, tokens: tuple[list[IntToken], list[IntToken]], limits: Limits) -> None:
        self._model, self._told, (self._b, self._u) = model, told, tokens
        self._oracle = Oracle(Attention(model, limits), model.field, model.dim)
        self._separator = Separator(model.field)
        self.profiles = 0
        self._profile(0, self._u[0])  # finds the precision, once for the whole run
        self._last = self._profile(0, self._u[0])

    def _profile(self, row: int, u: IntToken) -> Profile:
        return self._ask(self._b[row], u, None)

    def _ask(self, b: IntToken, u: IntToken, like: tuple[Profile, Profile] | None) -> Profile:
        base = ask_base(self._oracle, b)
        answers = ask_profile(self._oracle, b, u, 2 * self._told)
        self._answers = answers
        self.profiles += 1
        return self._separator.separate("timed", base, answers, expected_sum(*like) if like else None)

    def times(self) -> tuple[float, float]:
        """Return the seconds of a profile separated from images, and of one proved from a guess."""
        full = guessed = 0.0
        row = min(1, self._model.dim - 1)
        count = min(_SAMPLES, self._model.dim)
        for u in self._u[:count]:
            start = perf_counter()
            first = self._profile(0, u)
            other = self._profile(row, u)
            middle = perf_counter()
            self._ask(add(self._b[0], self._b[row]), u, (first, other))
            full += middle - start
            guessed += perf_counter() - middle
        return full / (2 * count), guessed / count

    def assembly(self) -> float:
        """Return the seconds that B^{-1} L U^{-1} takes for all heads, with exponents as large as those seen."""
        if not self._last.exponents:
            return 0.0
        start = perf_counter()
        try:
            solver = WeightSolver(self._b, self._u, self._model.field.denominator)
        except ZeroDivisionError:  # linearly dependent tokens, which the run would draw again
            return 0.0
        largest = max(self._last.exponents)
        fixed = perf_counter() - start
        solver.head([[largest] * self._model.dim] * self._model.dim, ())
        return fixed + (perf_counter() - start - fixed) * self._told

    def certificate_bytes(self) -> int:
        """Return the size of one profile in a certificate."""
        return len(canonical_json(profile_text(self._answers, self._last)))

    def profile_bytes(self) -> int:
        """Return the memory that one proved profile keeps."""
        return _bytes(self._last.exponents) + _bytes(self._last.residues)


def _bytes(value: object) -> int:
    """Return the memory of nested tuples of numbers; FLINT's numbers hide their digits, so they are counted here."""
    own = sys.getsizeof(value)
    if isinstance(value, tuple):
        return own + sum(map(_bytes, value))
    return own + 2 * (value.height_bits() if hasattr(value, "height_bits") else 0) // 8
