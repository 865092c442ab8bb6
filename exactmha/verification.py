"""The theorem checked on one instance: run the learner, then hold every claim against the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from exactmha.attention import Attention, Model
from exactmha.conditions import CONDITIONS, Grid, failure_bound
from exactmha.errors import ConditionFailed, ExactMHAError, InconsistentAnswers, InputError
from exactmha.fields.interface import Value, dot
from exactmha.heads import Canonical, Head, bilinear
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome, counted
from exactmha.randomness import Stream
from exactmha.recover.design import (
    DEFAULT_FAILURE_BOUND,
    Stage,
    default_grid,
    expected_length,
    expected_queries,
    ledger,
)
from exactmha.recover.learn import Recorder, Recovery, Redraw, learn
from exactmha.sequences import Token

FRESH_SEQUENCES = 8
"""How many random sequences of distinct tokens the recovered model is tried on."""
SMALL_TRANSCRIPT = 12
"""Runs of at most this many queries keep their transcript for the report."""


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One condition: how many instances the theorem needs, how many were checked, and its share of the bound."""

    name: str
    title: str
    statement: str
    count: int
    checked: int
    bound: Fraction
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One stage: the queries that the formula gives and those that the final proof used."""

    stage: str
    expected: int
    used: int


@dataclass(frozen=True, slots=True)
class Verification:
    """Everything that a report shows about one verified instance."""

    model: Model
    canonical: Canonical
    told: int
    is_bound: bool
    seed: int
    grid: Grid
    failure_bound: Fraction
    recovery: Recovery | None
    failure: ExactMHAError | None
    diagnoses: tuple[tuple[Redraw, str], ...]
    """the re-draws, each with the reason read off the true model"""
    oracle_queries: int
    oracle_max_length: int
    conditions: tuple[ConditionRow, ...]
    ledger: tuple[LedgerRow, ...]
    claims: tuple[Claim, ...]
    transcript: tuple[tuple[Sequence[Token], Value], ...]
    """the queries and answers, kept only for small runs"""

    @property
    def expected_queries(self) -> int:
        """4Hd² − 2H + 1 for the number of heads told."""
        return expected_queries(self.told, self.model.dim)

    @property
    def expected_max_length(self) -> int:
        """2H + 1 for the number of heads told."""
        return expected_length(self.told)

    @property
    def outcome(self) -> Outcome:
        """The conjunction of all claims."""
        return Outcome.every(claim.outcome for claim in self.claims)


def verify(
    model: Model,
    *,
    heads_bound: int | None = None,
    failure_bound: Fraction = DEFAULT_FAILURE_BOUND,
    grid: Grid | None = None,
    seed: int = 0,
    redraw: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    recorder: Recorder | None = None,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Run the learner on the model's exact oracle and check every claim of the theorem.

    The learner is told the number H of canonical heads, or `heads_bound` H_0 ≥ H; it sees the oracle
    alone. It asks 4Hd² − 2H + 1 queries (H_0 in place of H), plus those of re-drawn tokens; the check
    on fresh sequences asks `FRESH_SEQUENCES` more, of an oracle of its own.

    Raises `InputError` when `heads_bound` is below H, `LimitError` when an answer is too large.
    """
    truth = model.canonical()
    told = len(truth.heads) if heads_bound is None else heads_bound
    if told < len(truth.heads):
        raise InputError(
            f"a bound below the number of canonical heads, {len(truth.heads)}",
            field="--heads-bound",
            value=told,
            hint="the theorem needs H_0 ≥ H",
        )
    attention = Attention(model, limits)
    small = expected_queries(told, model.dim) <= SMALL_TRANSCRIPT
    oracle = Oracle(attention, model.field, model.dim, keep_transcript=small)
    chosen = grid or default_grid(model.field, told, model.dim, failure_bound)
    redraws: list[Redraw] = []
    recovery, failure = None, None
    try:
        recovery = learn(
            oracle,
            heads=told if heads_bound is None else None,
            heads_bound=heads_bound,
            seed=seed,
            grid=chosen,
            redraw=redraw,
            recorder=recorder,
            progress=progress,
            on_redraw=redraws.append,
        )
    except InputError:
        raise
    except ExactMHAError as error:
        failure = error
    run = _Run(model, truth, told, heads_bound is not None, seed, chosen, oracle, recovery, failure, attention, limits)
    return run.report(redraws)


@dataclass
class _Run:
    """One finished run of the learner, about to be judged."""

    model: Model
    truth: Canonical
    told: int
    is_bound: bool
    seed: int
    grid: Grid
    oracle: Oracle
    recovery: Recovery | None
    failure: ExactMHAError | None
    attention: Attention
    limits: Limits

    def report(self, redraws: list[Redraw]) -> Verification:
        """Gather the evidence."""
        conditions = self._conditions(redraws)
        return Verification(
            self.model,
            self.truth,
            self.told,
            self.is_bound,
            self.seed,
            self.grid,
            failure_bound(self.told, self.model.dim, self.grid),
            self.recovery,
            self.failure,
            tuple((redraw, diagnosis(self.truth.heads, redraw)) for redraw in redraws),
            self.oracle.queries,
            self.oracle.max_length,
            conditions,
            self._ledger(),
            (
                self._recovered(),
                self._conditions_hold(conditions),
                self._query_count(),
                self._max_length(),
                self._uniqueness(conditions),
                self._reproduces(),
                *self._genericity(),
            ),
            tuple(self.oracle.transcript or ()),
        )

    def _failed_conditions(self, redraws: list[Redraw]) -> set[str]:
        """Name the conditions that failed in the last draw; where the learner cannot tell, the true model can."""
        if not isinstance(self.failure, ConditionFailed):
            return set()
        at = [redraw for redraw in redraws if redraw.u and redraw.profile == self.failure.profile]
        named = diagnosis(self.truth.heads, at[-1]) if at else ""
        return {name for name in self.failure.conditions if len(self.failure.conditions) == 1 or f"{name}:" in named}

    def _conditions(self, redraws: list[Redraw]) -> tuple[ConditionRow, ...]:
        heads = self.told if self.recovery is None else self.recovery.head_count
        failed = self._failed_conditions(redraws)
        rows = []
        for condition in CONDITIONS:
            count = condition.count(heads, self.model.dim)
            checked = 0 if self.recovery is None else self.recovery.checked[condition.name]
            outcome = Outcome.HOLDS if self.recovery and checked == count else Outcome.UNDECIDED
            if condition.name in failed:
                outcome = Outcome.FAILS
            bound = condition.failure_bound(self.told, self.model.dim, self.grid)
            rows.append(
                ConditionRow(condition.name, condition.title, condition.statement, count, checked, bound, outcome)
            )
        return tuple(rows)

    def _ledger(self) -> tuple[LedgerRow, ...]:
        stages: tuple[Stage, ...] = ledger(self.told, self.model.dim)
        used = self.recovery.ledger if self.recovery else (0,) * len(stages)
        return tuple(LedgerRow(s.name, s.queries, n) for s, n in zip(stages, used, strict=True))

    def _recovered(self) -> Claim:
        statement = "the recovered heads are the canonical heads of the instance"
        if self.recovery is None:
            outcome = Outcome.FAILS if isinstance(self.failure, InconsistentAnswers) else Outcome.UNDECIDED
            return Claim("recovered", statement, outcome, Evidence.CERTIFIED, f"no recovery: {self.failure}")
        outcome = Outcome.of(self.recovery.heads == self.truth.heads)
        count = len(self.recovery.heads)
        return Claim("recovered", statement, outcome, Evidence.CERTIFIED, f"exact comparison of {count} pairs (W, v)")

    def _conditions_hold(self, rows: tuple[ConditionRow, ...]) -> Claim:
        statement = "C1–C4 hold for the tokens that were drawn"
        outcome = Outcome.every(row.outcome for row in rows)
        evidence = f"{sum(row.checked for row in rows)} of {sum(row.count for row in rows)} instances checked exactly"
        if isinstance(self.failure, ConditionFailed):
            outcome, evidence = Outcome.FAILS, str(self.failure)
        return Claim("conditions", statement, outcome, Evidence.CERTIFIED, evidence)

    def _query_count(self) -> Claim:
        name = "H_0" if self.is_bound else "H"
        expected = expected_queries(self.told, self.model.dim)
        statement = f"exactly 4{name}d² − 2{name} + 1 = {expected} queries"
        if self.recovery is None:
            return Claim("query-count", statement, Outcome.UNDECIDED, Evidence.COMPUTED, "the run did not finish")
        wasted = sum(redraw.queries for redraw in self.recovery.redraws)
        exact = self.recovery.queries == expected and self.oracle.queries == expected + wasted
        evidence = f"the oracle counted {self.oracle.queries}, of which {wasted} for re-drawn tokens"
        return Claim("query-count", statement, Outcome.of(exact), Evidence.COMPUTED, evidence)

    def _max_length(self) -> Claim:
        name = "H_0" if self.is_bound else "H"
        expected = expected_length(self.told)
        statement = f"no query is longer than 2{name} + 1 = {expected}"
        outcome = Outcome.of(self.oracle.max_length <= expected)
        evidence = f"the oracle saw a largest length of {self.oracle.max_length}"
        return Claim("max-length", statement, outcome, Evidence.COMPUTED, evidence)

    def _uniqueness(self, rows: tuple[ConditionRow, ...]) -> Claim:
        heads = self.told if self.recovery is None else self.recovery.head_count
        statement = (
            f"no other model with at most {counted(heads, 'canonical head')} gives these {self._answers()} answers"
        )
        if self.recovery is None:
            return Claim("uniqueness", statement, Outcome.UNDECIDED, Evidence.CERTIFIED, "the run did not finish")
        outcome = Outcome.every(row.outcome for row in rows)
        evidence = "the observed C1–C4 and proofs/uniqueness-from-transcript"
        if self.is_bound and heads < self.told:
            evidence += f"; rivals with {heads + 1} to {self.told} heads are excluded only with probability one"
        return Claim("uniqueness", statement, outcome, Evidence.CERTIFIED, evidence)

    def _genericity(self) -> tuple[Claim, ...]:
        """A bound of 1 or more says nothing, so it is no claim."""
        bound = failure_bound(self.told, self.model.dim, self.grid)
        if bound >= 1:
            return ()
        statement = f"a design drawn like this one violates C1–C4 with probability at most {bound_text(bound)}"
        return (Claim("failure-bound", statement, Outcome.HOLDS, Evidence.PROVED, "proofs/genericity-bound"),)

    def _answers(self) -> int:
        return expected_queries(self.told, self.model.dim) if self.recovery is None else self.recovery.queries

    def _reproduces(self) -> Claim:
        statement = f"the recovered model answers {FRESH_SEQUENCES} fresh random sequences of distinct tokens alike"
        if self.recovery is None:
            return Claim("reproduces-oracle", statement, Outcome.UNDECIDED, Evidence.SAMPLED, "no recovered model")
        recovered = Attention(Model(self.model.field, self.model.dim, self.recovery.heads), self.limits)
        fresh = Oracle(self.attention, self.model.field, self.model.dim)
        sequences = fresh_sequences(self.model, self.seed)
        outcome = Outcome.every(fresh.ask(x).equals(recovered(x)) for x in sequences)
        lengths = ", ".join(str(len(x)) for x in sequences)
        return Claim("reproduces-oracle", statement, outcome, Evidence.SAMPLED, f"exact equality; lengths {lengths}")


def bound_text(bound: Fraction) -> str:
    """Return an upper bound on a probability as text, rounded up: two decimals above 1/8, else a power of two."""
    if bound >= 1:
        return "vacuous"
    if bound == 0:
        return "0"
    if bound > Fraction(1, 8):
        return f"{-(-100 * bound // 1) / 100:.2f}"
    exponent = bound.numerator.bit_length() - bound.denominator.bit_length() - 1
    while Fraction(2) ** exponent < bound:
        exponent += 1
    return f"2^{exponent}"


def fresh_sequences(model: Model, seed: int) -> list[list[Token]]:
    """Return `FRESH_SEQUENCES` random sequences of 2 to 5 distinct small integer tokens."""
    stream = Stream(seed, "fresh")
    half = 9 if model.field.logit_bits == 0 else 2
    sequences = []
    for _ in range(FRESH_SEQUENCES):
        tokens: list[Token] = []
        length = stream.between(2, 5)
        while len(tokens) < length:
            token = tuple(stream.between(-half, half) for _ in range(model.dim))
            if token not in tokens:
                tokens.append(token)
        sequences.append(tokens)
    return sequences


def diagnosis(heads: tuple[Head, ...], redraw: Redraw) -> str:
    """Name, from the true heads, which condition failed in the profile of a re-draw, and for which heads."""
    if not redraw.u:
        return redraw.witness
    found = []
    logits = [tuple(bilinear(matrix, redraw.b, redraw.u) for matrix in head.W) for head in heads]
    for h, logit in enumerate(logits):
        same = [g for g in range(h) if logits[g] == logit]
        if same:
            found.append(f"C2: heads {same[0] + 1} and {h + 1} share a pole")
        if not any(dot(heads[h].v, redraw.u)):
            found.append(f"C3: v_{h + 1}·u = 0")
    return "; ".join(found) or redraw.witness
