"""Does a list of queries determine the heads? Local identifiability, decided exactly (`proofs/local-identifiability`).

*Identifiable* means locally: the answers, as a function of the H(d² + d) real parameters (W_h, v_h), are injective on a
neighbourhood of the canonical parameters, the heads being an ordered list. A Jacobian of full rank proves it (inverse
function theorem). A blind direction (J·δ = 0) disproves nothing by itself; an exact family of models with the same
answers does, and so do fewer different queries than parameters (invariance of domain).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flint import fmpq_mat

from exactmha.attention import Model
from exactmha.beyond.blind import Direction, null_vector
from exactmha.beyond.families import Family, find_family
from exactmha.beyond.jacobian import Jacobian, Query
from exactmha.errors import Undecided
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.outcome import Outcome
from exactmha.sequences import Token

VERDICT = {Outcome.HOLDS: "identifiable", Outcome.FAILS: "not identifiable", Outcome.UNDECIDED: "undecided"}


@dataclass(frozen=True, slots=True)
class Identification:
    """What a list of queries says about the canonical parameters, to first order and beyond."""

    outcome: Outcome
    """locally identifiable: holds, fails or undecided"""
    reason: str
    parameters: int
    """H(d² + d)"""
    queries: int
    effective: int
    """numbers of which all answers are continuous functions, see `effective_queries`"""
    rank: int
    """proved lower bound of the rank of the Jacobian"""
    full_rank: Outcome
    """fails only where a deficiency is proved"""
    direction: Direction | None
    """an exact blind direction, J·δ = 0"""
    family: Family | None

    def moves(self, dim: int) -> list[tuple[list[list[str]], list[str]]]:
        """Return (δW, δv) of the blind direction for every head, as exact text; empty without one."""
        values = [str(value) for value in self.direction or ()]
        blocks = [values[i : i + dim**2 + dim] for i in range(0, len(values), dim**2 + dim)]
        return [([block[a * dim : (a + 1) * dim] for a in range(dim)], block[dim**2 :]) for block in blocks]


def identify(model: Model, sequences: Sequence[Sequence[Token]], limits: Limits = DEFAULT_LIMITS) -> Identification:
    """Decide whether the answers to `sequences` determine the canonical heads of `model` locally.

    Raises `InputError` for a sequence that is empty, has the wrong dimension or leaves the field, and `LimitError`
    above `limits.jacobian_cells`.

    >>> from exactmha.random_instance import example
    >>> found = identify(example("two-heads-1d").model, [[(1,)], [(2,), (1,)], [(3,), (1,)], [(3,), (0,), (1,)]])
    >>> found.outcome, found.rank, found.parameters
    (<Outcome.HOLDS: 'holds'>, 4, 4)
    """
    canonical = replace(model, heads=model.canonical().heads)
    jacobian = Jacobian(canonical, sequences, limits)
    effective, parameters = effective_queries(jacobian), jacobian.parameters

    def result(
        outcome: Outcome, full: Outcome, reason: str, direction: Direction | None = None, family: Family | None = None
    ) -> Identification:
        return Identification(
            outcome, reason, parameters, len(sequences), effective, jacobian.rank, full, direction, family
        )

    if jacobian.rank == parameters:
        return result(Outcome.HOLDS, Outcome.HOLDS, "the Jacobian has full rank")
    family = _family(jacobian)
    if family is not None:
        return result(Outcome.FAILS, Outcome.FAILS, f"a family: {family.kind}", family.direction, family)
    direction = null_vector(jacobian, range(parameters))
    if effective < parameters:
        reason = (
            f"all answers are functions of {effective} numbers, fewer than the {parameters} parameters "
            "(invariance of domain; no explicit family)"
        )
        return result(Outcome.FAILS, Outcome.FAILS, reason, direction)
    if direction is not None:
        reason = "the Jacobian is deficient, which is no disproof: only to first order is the direction blind"
        return result(Outcome.UNDECIDED, Outcome.FAILS, reason, direction)
    reason = f"rank {jacobian.rank} was seen modulo primes, and no blind direction was found and proved"
    return result(Outcome.UNDECIDED, Outcome.UNDECIDED, reason)


def effective_queries(jacobian: Jacobian) -> int:
    """Return a number m such that all answers are continuous functions of m of them.

    Sequences with one normal form count once, and so do X and −X, since f(−X) = −f(X); those of one repeated token x
    have the answer s·x and count by rank.
    """
    queries: set[Query] = set()
    for query in jacobian.queries:
        if query.opposite not in queries:
            queries.add(query)
    singles = [query.last for query in queries if query.is_single]
    rank = int(fmpq_mat(len(singles), jacobian.dim, [x for x_n in singles for x in x_n]).rank()) if singles else 0
    return len(queries) - len(singles) + rank


def _family(jacobian: Jacobian) -> Family | None:
    try:
        return find_family(jacobian)
    except Undecided:
        return None
