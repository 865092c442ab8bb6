"""The algorithm of the paper on one page (`proofs/algorithm`): it sees an oracle and a field, never a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import NoReturn, Protocol, TypeVar

from flint import fmpq

from exactmha.conditions import CONDITIONS, Grid
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError, Undecided
from exactmha.fields.interface import Scalar, Value, add_exponents, add_scalars, dot
from exactmha.heads import Head
from exactmha.modular.guess import Guess
from exactmha.oracle import QueryOracle
from exactmha.outcome import Outcome, counted
from exactmha.recover.assemble import WeightSolver, readout
from exactmha.recover.design import DEFAULT_FAILURE_BOUND, Design, default_grid, ledger
from exactmha.recover.match import expected_sum, match_displacements, match_final_tokens
from exactmha.recover.profile import Profile
from exactmha.recover.sample import IntToken, add, ask_base, ask_profile
from exactmha.recover.separate import Clock, Separator, no_clock

MOST_REDRAWS = 25
"""Draws of one token before the whole design is drawn again."""
MOST_RESTARTS = 40
T = TypeVar("T")
Matcher = Callable[[Profile, Profile, Profile], list[int]]
DesignToken = tuple[str, int]
"""("b", j) or ("u", i)"""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A profile that the final proof uses: its tokens, its answers, and what was proved from them.

    All profiles list their heads in one order, that of (b_1, u_1).
    """

    stage: int
    b: IntToken
    u: IntToken
    base: Value
    answers: Sequence[Value]
    profile: Profile


class Recorder(Protocol):
    """Receives what the final proof uses, in order; `restart` says that all received so far is void."""

    def profile(self, sampled: Sampled) -> None:
        """Take one accepted profile."""
        ...

    def restart(self) -> None:
        """Forget everything taken so far."""
        ...


@dataclass(frozen=True, slots=True)
class Redraw:
    """A condition seen to fail, the token drawn again for it, and the queries thereby spent in vain."""

    token: str
    conditions: tuple[str, ...]
    profile: str
    witness: str
    queries: int
    b: IntToken
    u: IntToken


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was learned, and everything that the claims about it rest on."""

    heads: tuple[Head, ...]
    """the canonical heads, sorted"""
    labelled_heads: tuple[Head, ...]
    """the same heads in the order in which every recorded profile lists them"""
    readout_sum: tuple[Scalar, ...]
    """s = Σ_h v_h"""
    head_count: int
    told: int
    """the number of heads, or the bound on it, that the learner was told"""
    is_bound: bool
    seed: int
    grid: Grid
    b: tuple[IntToken, ...]
    u: tuple[IntToken, ...]
    ledger: tuple[int, ...]
    """queries used by the final proof, by stage of `exactmha.recover.design.ledger`"""
    max_length: int
    """the largest length among them"""
    redraws: tuple[Redraw, ...]
    checked: dict[str, int]
    """how many instances of each condition were checked and found to hold"""
    images_per_answer: int
    precision: int

    @property
    def queries(self) -> int:
        """The number of queries that the final proof uses."""
        return sum(self.ledger)

    @property
    def queries_total(self) -> int:
        """All queries asked, with those spent on re-drawn tokens."""
        return self.queries + sum(redraw.queries for redraw in self.redraws)


class _Restart(Exception):
    """The whole design is given up: a token could not be drawn well, or a later profile shows more heads."""

    def __init__(self, failure: ConditionFailed) -> None:
        self.failure = failure


def learn(
    oracle: QueryOracle,
    *,
    heads: int | None = None,
    heads_bound: int | None = None,
    seed: int = 0,
    failure_bound: Fraction = DEFAULT_FAILURE_BOUND,
    grid: Grid | None = None,
    design: Design | None = None,
    redraw: bool = True,
    first_place: int = 0,
    recorder: Recorder | None = None,
    progress: Callable[[int], None] | None = None,
    on_redraw: Callable[[Redraw], None] | None = None,
    clock: Clock = no_clock,
) -> Recovery:
    """Recover every head (W_h, v_h) of an exact multi-head attention oracle, exactly.

    Asks exactly 4Hd² − 2H + 1 queries of length at most 2H + 1 (with `heads_bound` H_0 in place of H
    when only that is known), plus those of re-drawn tokens, which are counted apart.

    Give exactly one of `heads` (H, the number of canonical heads) and `heads_bound` (H_0 ≥ H).
    `design` draws the tokens in another way than uniformly from `grid`; `first_place` shifts the public list of
    places; `progress` is called with the queries asked so far, `on_redraw` with every re-draw as it happens; `clock`
    measures stages, for benchmarks.

    Raises `InputError` for arguments of a wrong type or value,
    `ConditionFailed` when C1–C4 fail and `redraw` is off (or re-drawing does not help),
    `InconsistentAnswers` when the answers are proved not to come from such a model, `NoInterpolant`
    when a profile has no interpolant that could be found, `Undecided` beyond the size budget.
    """
    told = heads if heads is not None else heads_bound
    if told is None or (heads is not None and heads_bound is not None):
        raise InputError("give exactly one of heads and heads_bound")
    for name, number in (("heads" if heads is not None else "heads_bound", told), ("seed", seed)):
        if type(number) is not int or number < 0:
            raise InputError("must be an integer ≥ 0", field=name, value=number)
    if not isinstance(failure_bound, Fraction) or failure_bound <= 0:
        raise InputError("must be a positive Fraction", field="failure_bound", value=failure_bound)
    chosen = grid or default_grid(oracle.field, told, oracle.dim, failure_bound)
    design, separator = design or Design(seed, oracle.dim, chosen), Separator(oracle.field, first_place, clock)
    run = _Run(oracle, told, heads is None, design, separator, redraw, recorder, progress, on_redraw)
    for restarts in range(MOST_RESTARTS + 1):
        try:
            v, L, total = _recover(run)
            break
        except _Restart as event:
            run.restart(event.failure, give_up=restarts == MOST_RESTARTS)
    solver = WeightSolver(run.design.b, run.design.u, oracle.field.denominator)  # inverts B and U
    run.checked["C1"] = 2
    found = [
        solver.head([[L[j][i][h] for i in range(oracle.dim)] for j in range(oracle.dim)], v[h]) for h in range(len(v))
    ]
    return Recovery(
        heads=tuple(sorted(found, key=Head.sort_key)),
        labelled_heads=tuple(found),
        readout_sum=total,
        head_count=len(found),
        told=told,
        is_bound=heads is None,
        seed=seed,
        grid=chosen,
        b=tuple(run.design.b),
        u=tuple(run.design.u),
        ledger=tuple(run.ledger),
        max_length=run.max_length,
        redraws=tuple(run.redraws),
        checked=dict(run.checked),
        images_per_answer=run.separator.most_images,
        precision=run.separator.precision,
    )


def _recover(run: _Run) -> tuple[list[tuple[Scalar, ...]], list[list[tuple[tuple[int, ...], ...]]], tuple[Scalar, ...]]:
    """Return the v_h, the exponents L[j][i][h] of r_h(b_j, u_i), and s."""
    places = range(2, run.dim + 1)
    # 1. the base value f(b_1), and the profile (b_1, u_1): k = 1..2H
    first = run.retry(("u", 1), run.first_profile, alternate=("b", 1))
    row = [first]
    # 2. first row: the profiles (b_1, u_i), matched with (b_1, u_1) through (b_1, u_1 + u_i)
    for i in places:
        row.append(run.retry(("u", i), partial(run.first_row_profile, first, i)))
    # 3. v_h solves U^T v_h = c_h; now s is known and s·b is computed, never asked again
    v = [readout(run.design.u, [profile.residues[h] for profile in row]) for h in range(len(first.residues))]
    total = tuple(_sum(parts, run.field_degree) for parts in zip(*v, strict=True)) if v else run.zero_readout()
    run.check_base(total)
    # 4. later rows: the profiles (b_j, u_i), matched with (b_1, u_i) through (b_1 + b_j, u_i)
    rows = [row]
    for j in places:
        rows.append(run.retry(("b", j), partial(run.later_row, row, total, j)))
    # 5. the logarithms of the poles, from which W_h = B^{-1} L_h U^{-1}
    return v, [[profile.exponents for profile in profiles] for profiles in rows], total


def _sum(parts: Sequence[Scalar], degree: int) -> Scalar:
    result: Scalar = (fmpq(0),) * degree
    for part in parts:
        result = add_scalars(result, part)
    return result


@dataclass
class _Run:
    """One run: asks, separates and matches; checks every condition; draws again where one fails."""

    oracle: QueryOracle
    told: int
    is_bound: bool
    design: Design
    separator: Separator
    redraw: bool
    recorder: Recorder | None
    progress: Callable[[int], None] | None
    on_redraw: Callable[[Redraw], None] | None
    redraws: list[Redraw] = field(default_factory=list)
    asked: int = 0
    least_heads: int = 0
    """with only a bound known: so many heads were proved to be there, by a design since given up"""

    def __post_init__(self) -> None:
        self.dim, self.field_degree = self.oracle.dim, self.oracle.field.degree
        self._start()

    def _start(self) -> None:
        self.head_count = None if self.is_bound else self.told
        self.ledger = [0] * len(ledger(0, 1))
        self.checked = {condition.name: 0 for condition in CONDITIONS}
        self.max_length = 0
        self._base: Value | None = None
        self._attempt: list[Sampled] = []
        self._attempt_checks: dict[str, int] = {}
        self._attempt_queries = 0

    def zero_readout(self) -> tuple[Scalar, ...]:
        """Return s for a model without heads."""
        return ((fmpq(0),) * self.field_degree,) * self.dim

    # --- the profiles, stage by stage ----------------------------------------------------------

    def base(self) -> Value:
        """Return f(b_1), asked once for each b_1."""
        if self._base is None:
            self._base = ask_base(self.oracle, self.design.b[0])
            self._count(1)
        return self._base

    def first_profile(self) -> Profile:
        """Return (b_1, u_1)."""
        return self._profile(1, "(b_1, u_1)", self.design.b[0], self.design.u[0], self.base())

    def first_row_profile(self, first: Profile, i: int) -> Profile:
        """Return (b_1, u_i) with its heads in the order of (b_1, u_1)."""
        b, u_1, u_i = self.design.b[0], self.design.u[0], self.design.u[i - 1]
        other = self._profile(2, f"(b_1, u_{i})", b, u_i, self.base())
        total = self._profile(3, f"(b_1, u_1+u_{i})", b, add(u_1, u_i), self.base())
        return self._matched(first, other, total, match_displacements)

    def later_row(self, row: Sequence[Profile], total: tuple[Scalar, ...], j: int) -> list[Profile]:
        """Return (b_j, u_i), i = 1..d, with their heads in the order of the first row."""
        b_j = self.design.b[j - 1]
        b_sum = add(self.design.b[0], b_j)
        bases = [self.oracle.field.embed(dot(total, b)) for b in (b_j, b_sum)]
        profiles = []
        for i, u in enumerate(self.design.u, 1):
            other = self._profile(4, f"(b_{j}, u_{i})", b_j, u, bases[0])
            expected = expected_sum(row[i - 1], other)
            both = self._profile(5, f"(b_1+b_{j}, u_{i})", b_sum, u, bases[1], expected)
            profiles.append(self._matched(row[i - 1], other, both, match_final_tokens))
        return profiles

    def check_base(self, total: tuple[Scalar, ...]) -> None:
        """Check f(b_1) = s·b_1 exactly, which a wrong number of heads would break."""
        outcome = self.base().equals(self.oracle.field.embed(dot(total, self.design.b[0])))
        if outcome is Outcome.UNDECIDED:
            raise Undecided("f(b_1) = s·b_1 cannot be decided within the size budget")
        if outcome is Outcome.FAILS:
            error = InconsistentAnswers(
                f"f(b_1) differs from s·b_1: these answers have no model with {self._described()}"
            )
            self._blame_hidden_heads(error, "(b_1, u_1)")
            raise error

    def _blame_hidden_heads(self, error: InconsistentAnswers, profile: str) -> None:
        """Start again where heads that were not seen explain a contradiction: H unknown, fewer seen than H_0.

        Had the model as many heads as were seen, all would have been seen everywhere and would fit: it has more.
        """
        if self.is_bound and self.head_count is not None and self.head_count < self.told:
            self.least_heads = self.head_count + 1
            witness = f"{self.head_count} of at least {self.least_heads} heads are told apart: {error}"
            raise _Restart(ConditionFailed(("C2", "C3"), profile=profile, witness=witness)) from None

    def _profile(
        self, stage: int, name: str, b: IntToken, u: IntToken, base: Value, expected: Guess | None = None
    ) -> Profile:
        answers = ask_profile(self.oracle, b, u, 2 * self.told)
        self._count(len(answers))
        self._attempt_queries += len(answers)
        profile = self.separator.separate(name, base, answers, expected)
        self._attempt.append(Sampled(stage, b, u, base, answers, profile))
        seen = len(profile.exponents)
        if self.head_count is None and seen >= self.least_heads:
            self.head_count = seen
        if seen != self.head_count:
            self._raise_unseen(stage, name, seen)
        self._check("C2", seen * (seen - 1) // 2)
        if stage < 4:
            self._check("C3", seen)
        return profile

    def _raise_unseen(self, stage: int, name: str, seen: int) -> NoReturn:
        """Say that a profile shows fewer heads than there are, or that the profiles before it did."""
        known = self.least_heads if self.head_count is None else self.head_count
        suspects = ("C2", "C3") if stage < 4 else ("C2",)
        if seen < known:
            raise ConditionFailed(suspects, profile=name, witness=f"{seen} of {known} heads are told apart")
        self.least_heads = seen
        witness = f"{seen} of {seen} heads are told apart here, but {known} before"
        raise _Restart(ConditionFailed(suspects, profile=name, witness=witness))

    def _matched(self, first: Profile, other: Profile, total: Profile, match: Matcher) -> Profile:
        """Return `other` in the order of `first`; keep it and the sum profile, the last two asked, in that order."""
        try:
            order = match(first, other, total)
        except InconsistentAnswers as error:
            self._blame_hidden_heads(error, total.name)
            raise
        self._check("C4", len(order) ** 2 * (len(order) - 1))
        other = other.permuted(order)
        products = [add_exponents(e, e2) for e, e2 in zip(first.exponents, other.exponents, strict=True)]
        total = total.permuted([total.exponents.index(product) for product in products])
        self._attempt[-2:] = [
            replace(sampled, profile=profile)
            for sampled, profile in zip(self._attempt[-2:], (other, total), strict=True)
        ]
        return other

    def _described(self) -> str:
        heads = counted(self.told, "head")
        return f"at most {heads}" if self.is_bound else heads

    def _check(self, condition: str, count: int) -> None:
        self._attempt_checks[condition] = self._attempt_checks.get(condition, 0) + count

    def _count(self, queries: int) -> None:
        self.asked += queries
        if self.progress:
            self.progress(self.asked)

    # --- drawing again -------------------------------------------------------------------------

    def retry(self, token: DesignToken, attempt: Callable[[], T], alternate: DesignToken | None = None) -> T:
        """Draw `token` and run `attempt` until no condition fails; every second time draw `alternate` too."""
        drawn = [token] if alternate is None else [alternate, token]
        for failures in range(1, MOST_REDRAWS + 1):
            for each in drawn:
                self._draw(each)
            try:
                result = attempt()
            except ConditionFailed as failure:
                drawn = [token] if alternate is None or failures % 2 else [alternate, token]
                wasted = self._attempt_queries
                if alternate in drawn and self._base is not None:
                    self._base, wasted = None, wasted + 1
                self._reject(failure, token, wasted)
                last = failure
            else:
                self._accept()
                return result
        raise _Restart(last)

    def _draw(self, token: DesignToken) -> None:
        for _ in range(MOST_REDRAWS):
            try:
                self.design.draw(*token)
                return
            except ConditionFailed as failure:
                self._reject(failure, token, 0)
                last = failure
        raise _Restart(last)

    def _accept(self) -> None:
        self.ledger[0] = 1
        self.max_length = max(self.max_length, 1)
        for sampled in self._attempt:
            self.ledger[sampled.stage] += len(sampled.answers)
            if sampled.answers:
                self.max_length = max(self.max_length, len(sampled.answers) + 1)
            if self.recorder:
                self.recorder.profile(sampled)
        for condition, count in self._attempt_checks.items():
            self.checked[condition] += count
        self._forget_attempt()

    def _reject(self, failure: ConditionFailed, token: DesignToken, wasted: int) -> None:
        b, u = (self._attempt[-1].b, self._attempt[-1].u) if self._attempt else ((), ())
        redraw = Redraw(f"{token[0]}_{token[1]}", failure.conditions, failure.profile, failure.witness, wasted, b, u)
        self.redraws.append(redraw)
        if self.on_redraw:
            self.on_redraw(redraw)
        self._forget_attempt()
        if not self.redraw:
            raise failure

    def _forget_attempt(self) -> None:
        self._attempt, self._attempt_checks, self._attempt_queries = [], {}, 0

    def restart(self, failure: ConditionFailed, *, give_up: bool) -> None:
        """Throw the whole design away and count all its queries as spent in vain."""
        self._reject(failure, ("b", 1), self.asked - sum(redraw.queries for redraw in self.redraws))
        if give_up:
            witness = f"{failure.witness} (given up after {len(self.redraws)} bad draws)"
            raise ConditionFailed(failure.conditions, profile=failure.profile, witness=witness, heads=failure.heads)
        self._start()
        if self.recorder:
            self.recorder.restart()
