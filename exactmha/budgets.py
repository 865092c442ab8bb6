"""Query budgets compared: every learner on one exact oracle, its result held against the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.budget.catalogue import CATALOGUE, Learner, Result, floor, told_rank
from exactmha.budget.orthogonal import blocks
from exactmha.conditions import Grid
from exactmha.errors import ExactMHAError, InputError
from exactmha.heads import Head, Matrix
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome, counted
from exactmha.random_instance import random_model


@dataclass(frozen=True, slots=True)
class Budget:
    """One learner on one instance."""

    learner: Learner
    model: Model
    heads: int
    dim: int
    result: Result | None
    failure: ExactMHAError | None
    asked: int
    """all queries that the oracle counted"""
    max_length: int
    is_exact: bool
    """whether the heads found are the canonical heads of the instance"""

    @property
    def expected(self) -> int | None:
        """The formula's count, None where the learner's assumption cannot hold."""
        try:
            return self.learner.count(self.heads, self.dim)
        except InputError:
            return None

    @property
    def formula(self) -> str:
        """The expression in H and d that `expected` is."""
        return self.learner.formula(self.heads, self.dim)

    @property
    def recovered(self) -> str:
        """`exact`, `no` where the learner said that it failed, `WRONG` where it did not."""
        if self.failure is not None:
            return "no"
        return "exact" if self.is_exact else "WRONG"

    def claims(self) -> tuple[Claim, ...]:
        """What this run shows."""
        name = self.learner.name
        recovered = Outcome.of(self.is_exact)
        if self.failure is not None:
            recovered = Outcome.UNDECIDED
        evidence = str(self.failure) if self.failure else f"exact comparison of {counted(self.heads, 'head')} (W, v)"
        found = [
            Claim(
                "recovered",
                f"the heads that {name} found are the canonical heads of the instance",
                recovered,
                Evidence.CERTIFIED,
                evidence,
            )
        ]
        if self.result is None:
            return tuple(found)
        used, wasted = self.result.queries, self.result.wasted
        met = used == self.expected and self.asked == used + wasted
        seen = f"the oracle counted {self.asked}, of which {wasted} for re-drawn tokens or dropped steps"
        statement = f"exactly {self.formula} = {self.expected} queries"
        outcome = Outcome.of(met)
        if self.result.fallbacks:
            outcome = Outcome.UNDECIDED
            places = counted(len(self.result.fallbacks), "place")
            seen += f"; a dearer way in {places}: {self.result.fallbacks[0]}"
        found.append(Claim("query-count", statement, outcome, Evidence.COMPUTED, seen))
        longest = self.learner.length(self.heads, self.dim)
        found.append(
            Claim(
                "max-length",
                f"no query is longer than {longest}",
                Outcome.of(self.max_length <= longest),
                Evidence.COMPUTED,
                f"the oracle saw a largest length of {self.max_length}",
            )
        )
        return tuple(found)


def measure(
    learner: Learner, model: Model, *, seed: int = 0, grid: Grid | None = None, limits: Limits = DEFAULT_LIMITS
) -> Budget:
    """Run one learner on the model's exact oracle; it is told the number of canonical heads where it wants to know."""
    truth = model.canonical().heads
    oracle = Oracle(Attention(model, limits), model.field, model.dim)
    result, failure = None, None
    try:
        result = learner.run(oracle, len(truth), seed, grid)
    except ExactMHAError as error:
        failure = error
    exact = result is not None and result.heads == truth
    return Budget(learner, model, len(truth), model.dim, result, failure, oracle.queries, oracle.max_length, exact)


def measure_all(model: Model, *, seed: int = 0, limits: Limits = DEFAULT_LIMITS) -> list[Budget]:
    """Run every learner on one instance, inside or outside its assumption."""
    return [measure(learner, model, seed=seed, limits=limits) for learner in CATALOGUE]


def fitting_model(learner: Learner, heads: int, dim: int, field: str, seed: int) -> Model | None:
    """Return a random instance for which the learner's assumption holds; None where there is none with H heads."""
    if learner.name in ("single-head", "low-rank"):
        if heads > 1:
            return None
        model = random_model(1, dim, field, seed)
        return model if learner.name == "single-head" else of_low_rank(model, told_rank(dim))
    if learner.name == "orthogonal":
        return in_orthogonal_subspaces(heads, dim, field, seed) if heads <= dim else None
    return random_model(heads, dim, field, seed)


def in_orthogonal_subspaces(heads: int, dim: int, field: str, seed: int) -> Model:
    """Return a random model with one head in each of the coordinate subspaces of `blocks`."""
    field_of = random_model(1, dim, field, seed).field
    found = []
    for basis in blocks(heads, dim):
        inside = {i for token in basis for i, x in enumerate(token) if x}
        for attempt in range(100):
            head = _restricted(random_model(1, dim, "exponential", seed + 7919 * attempt), inside)
            if any(any(x) for x in head.v):
                break
        found.append(_cast(head, field_of.rank, field_of.degree, field_of.denominator))
    return Model(field_of, dim, replace(random_model(1, dim, field, seed), heads=tuple(found)).canonical().heads)


def _restricted(model: Model, inside: set[int]) -> Head:
    """Set everything outside some coordinates to 0."""
    (head,) = model.heads
    (matrix,) = head.W
    kept = tuple(
        tuple(x if i in inside and j in inside else fmpq(0) for j, x in enumerate(row)) for i, row in enumerate(matrix)
    )
    return Head((kept,), tuple(x if i in inside else (fmpq(0),) for i, x in enumerate(head.v)))


def _cast(head: Head, rank: int, degree: int, denominator: int) -> Head:
    """Carry a head of rationals into a field: W in integer multiples of 1/denominator of its first unit."""
    (matrix,) = head.W
    scaled: Matrix = tuple(tuple(fmpq(int((x * denominator).floor()), denominator) for x in row) for row in matrix)
    empty: Matrix = tuple((fmpq(0),) * len(matrix) for _ in matrix)
    v = tuple((x[0], *[fmpq(0)] * (degree - 1)) for x in head.v)
    return Head((scaled, *[empty] * (rank - 1)), v)


def of_low_rank(model: Model, rank: int) -> Model:
    """Return the model with the rows of W beyond the first `rank` replaced by sums of those."""
    (head,) = model.heads
    changed = []
    for matrix in head.W:
        rows = [list(row) for row in matrix]
        for i in range(rank, model.dim):
            rows[i] = [sum((rows[a][j] for a in range(rank) if (i + a) % 2), fmpq(0)) for j in range(model.dim)]
        changed.append(tuple(map(tuple, rows)))
    return Model(model.field, model.dim, (Head(tuple(changed), head.v),))


@dataclass(frozen=True, slots=True)
class Cell:
    """One learner for one (H, d), on an instance that fits its assumption; None where there is none."""

    heads: int
    dim: int
    budgets: tuple[Budget | None, ...]
    """in the order of `CATALOGUE`"""

    @property
    def floor(self) -> int:
        """H(d² + d)."""
        return floor(self.heads, self.dim)


def table(heads: Iterable[int], dims: Sequence[int], field: str, seed: int) -> list[Cell]:
    """Run every learner, each on an instance that fits it, for all H and d."""
    cells = []
    for h in heads:
        for d in dims:
            models = [fitting_model(learner, h, d, field, seed) for learner in CATALOGUE]
            found = [
                None if model is None else measure(learner, model, seed=seed)
                for learner, model in zip(CATALOGUE, models, strict=True)
            ]
            cells.append(Cell(h, d, tuple(found)))
    return cells
