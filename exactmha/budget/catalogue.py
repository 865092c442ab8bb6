"""All learners of one table: assumption, exact number of queries, largest length, and whose idea it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from exactmha.budget import adapted, grouped, isolation, low_rank, orthogonal, residues, short, single_head, unbounded
from exactmha.budget.lab import Lab, Learned
from exactmha.conditions import Grid
from exactmha.errors import InputError
from exactmha.heads import Head
from exactmha.oracle import QueryOracle
from exactmha.recover.design import expected_length, expected_queries
from exactmha.recover.learn import Recovery
from exactmha.recover.learn import learn as learn_paper

Count = Callable[[int, int], int]
"""A number of queries, or a length, from H and d."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one learner found, and what it spent."""

    heads: tuple[Head, ...]
    queries: int
    """queries that the result rests on"""
    wasted: int
    """queries of tokens drawn again"""
    max_length: int
    fallbacks: tuple[str, ...] = ()
    learned: Learned | None = None
    """the steps, for learners of this package: what a certificate is made of"""


@dataclass(frozen=True, slots=True)
class Learner:
    """One learner."""

    name: str
    origin: str
    """`paper`, `earlier work` or `ours`"""
    assumption: str
    formula: Callable[[int, int], str]
    """the expression in H and d that `count` is for these H and d"""
    count: Count
    length: Count
    run: Callable[[QueryOracle, int, int, Grid | None], Result]
    """(oracle, number of heads told, seed, grid) → result"""
    claims_uniqueness: bool = False
    """whether its transcript excludes all other models with at most H heads"""


def floor(heads: int, dim: int) -> int:
    """Return H(d² + d), the number of unknowns (`proofs/budget-floor`)."""
    return heads * (dim * dim + dim)


def _here(learn: Callable[[Lab], tuple[Head, ...]]) -> Callable[[QueryOracle, int, int, Grid | None], Result]:
    """Run a learner of this package."""

    def run(oracle: QueryOracle, heads: int, seed: int, grid: Grid | None) -> Result:
        learned = Lab(oracle, heads, seed=seed, grid=grid).run(learn)
        return Result(learned.heads, learned.queries, learned.wasted, learned.max_length, learned.fallbacks, learned)

    return run


def _alone(learn: Callable[[Lab], tuple[Head, ...]]) -> Callable[[QueryOracle, int, int, Grid | None], Result]:
    """Run a learner that takes it for granted that there is one head."""
    return lambda oracle, _heads, seed, grid: _here(learn)(oracle, 1, seed, grid)


def _recovered(recovery: Recovery, queries: int | None = None) -> Result:
    used = recovery.queries if queries is None else queries
    wasted = recovery.queries_total - recovery.queries
    return Result(recovery.heads, used, wasted, recovery.max_length)


def _always(text: str) -> Callable[[int, int], str]:
    return lambda _heads, _dim: text


def _paper(oracle: QueryOracle, heads: int, seed: int, grid: Grid | None) -> Result:
    return _recovered(learn_paper(oracle, heads=heads, seed=seed, grid=grid))


def _paper_bound(oracle: QueryOracle, heads: int, seed: int, grid: Grid | None) -> Result:
    return _recovered(learn_paper(oracle, heads_bound=heads + 1, seed=seed, grid=grid))


def _unbounded(oracle: QueryOracle, _heads: int, seed: int, grid: Grid | None) -> Result:
    found = unbounded.learn(oracle, seed=seed, grid=grid)
    result = _recovered(found.recovery, found.queries - found.recovery.queries_total + found.recovery.queries)
    return Result(result.heads, found.queries - result.wasted, result.wasted, unbounded.longest(len(result.heads), 0))


def told_rank(dim: int) -> int:
    """Return the rank that the low-rank learner is told: ⌈d/2⌉."""
    return -(-dim // 2)


def _low_rank(oracle: QueryOracle, _heads: int, seed: int, grid: Grid | None) -> Result:
    return _alone(partial(low_rank.learn, rank=told_rank(oracle.dim)))(oracle, 1, seed, grid)


CATALOGUE = (
    Learner(
        "paper",
        "paper",
        "H known",
        _always("4Hd² − 2H + 1"),
        expected_queries,
        lambda h, _: expected_length(h),
        _paper,
        True,
    ),
    Learner(
        "bound",
        "paper",
        "H ≤ H_0 = H + 1",
        _always("4H_0d² − 2H_0 + 1"),
        lambda h, d: expected_queries(h + 1, d),
        lambda h, _: expected_length(h + 1),
        _paper_bound,
    ),
    Learner(
        "unbounded",
        "ours",
        "none on H",
        _always("4Hd² − 2H + 3"),
        unbounded.formula,
        unbounded.longest,
        _unbounded,
        True,
    ),
    Learner(
        "single-head",
        "earlier work",
        "one head",
        _always("d² + d + 1"),
        single_head.formula,
        single_head.longest,
        _alone(single_head.learn),
        True,
    ),
    Learner(
        "orthogonal",
        "earlier work",
        "heads in known orthogonal coordinate subspaces",
        lambda h, d: "Σ(d_h² + d_h) + 1" if h <= d else "–",
        orthogonal.formula,
        orthogonal.longest,
        _here(orthogonal.learn),
    ),
    Learner(
        "low-rank",
        "earlier work",
        "one head, rank W ≤ r = ⌈d/2⌉",
        _always("d + r(2d − r) + 1"),
        lambda _, d: low_rank.formula(d, told_rank(d)),
        single_head.longest,
        _low_rank,
    ),
    Learner(
        "residues",
        "ours",
        "H known",
        _always("2H(d² + d − 1) + 1"),
        residues.formula,
        residues.longest,
        _here(residues.learn),
        True,
    ),
    Learner(
        "isolation",
        "ours",
        "H known",
        isolation.label,
        isolation.formula,
        isolation.longest,
        _here(isolation.learn),
        True,
    ),
    Learner(
        "adapted",
        "ours",
        "H known",
        adapted.label,
        adapted.formula,
        adapted.longest,
        _here(adapted.learn),
        True,
    ),
    Learner(
        "grouped",
        "ours",
        "H known",
        grouped.label,
        grouped.formula,
        grouped.longest,
        _here(grouped.learn),
        True,
    ),
    Learner(
        "short",
        "ours",
        "H known",
        adapted.label,
        short.formula,
        short.longest,
        _here(short.learn),
        True,
    ),
)


def learner(name: str) -> Learner:
    """Return the learner of that name, or raise `InputError`."""
    for each in CATALOGUE:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in CATALOGUE)
    raise InputError("unknown learner", field="--learner", value=name, hint=f"choose from {known}")
