"""The Transformer's learner (`proofs/transformer-algorithm`): it sees an oracle and a field, never a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq

from exactmha.conditions import Grid
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError, NoInterpolant, Undecided
from exactmha.fields.interface import Field, Value
from exactmha.oracle import QueryOracle
from exactmha.randomness import Stream
from exactmha.recover.design import DEFAULT_FAILURE_BOUND
from exactmha.recover.learn import Recorder, Recovery, learn
from exactmha.recover.sample import IntToken
from exactmha.sequences import Token
from exactmha.transformer.breakpoints import Bends, Direction, HalfPlane, find_bends, inside
from exactmha.transformer.cells import Cell, Displaced, ask_cell, leaves, unproved
from exactmha.transformer.form import Blocks, CanonicalForm, Weights, canonical_form
from exactmha.transformer.hidden import displaced, learn_in_cell
from exactmha.transformer.lift import Lifter
from exactmha.transformer.neurons import jumps, piece
from exactmha.transformer.symmetry import OddOracle

STAGES = ("symmetry", "breakpoints", "hidden heads", "gradients")
MOST_PLANES = 6
"""Half planes of single tokens tried before the bends are given up."""
MOST_ENLARGED = 12
"""Times the tokens of all cells are made longer until every query is proved to lie in its cell."""
_DIRECTIONS_TRIED = 40


@dataclass(frozen=True, slots=True)
class Sizes:
    """How long tokens are: where exponents cost nothing they may be long, and then fewer things go wrong."""

    plane: int
    """coordinates of p and q are at most this"""
    scale: int
    """the token of a cell is multiplied by this, and by 4 more each time a query may have left its cell"""
    hidden: Grid
    """the grid of the learner inside a cell"""


LONG = Sizes(1 << 12, 1 << 12, Grid((1 << 12) + 1, (1 << 12) + 1))
SHORT = Sizes(5, 4, Grid(5, 9))


@dataclass(frozen=True, slots=True)
class Retry:
    """Something drawn again: a half plane or the length of the cells' tokens, why, and the queries spent in vain."""

    what: str
    conditions: tuple[str, ...]
    witness: str
    queries: int


@dataclass(frozen=True, slots=True)
class TransformerRecovery:
    """What was learned, and everything that the claims about it rest on."""

    form: CanonicalForm
    odd: Recovery
    """the learner's run on T(X) − T(−X)"""
    hidden: tuple[Recovery, ...]
    """its runs inside cells, when the odd part does not show every head"""
    heads_told: int
    heads_is_bound: bool
    lines_told: int
    lines_is_bound: bool
    p: IntToken
    q: IntToken
    samples: tuple[tuple[Direction, fmpq], ...]
    """the directions asked on the half plane, with T there"""
    bends: Bends | None
    cells: tuple[Cell, ...]
    ledger: dict[str, int]
    """queries used, by stage of `STAGES`"""
    max_length: int
    retries: tuple[Retry, ...]
    memberships: int
    """how many times it was proved that a line is not crossed between a base token and its displaced queries"""
    images_per_answer: int

    @property
    def queries(self) -> int:
        """The number of queries that the result uses."""
        return sum(self.ledger.values())

    @property
    def queries_total(self) -> int:
        """All queries asked, with those spent on what was drawn again."""
        return self.queries + self.wasted

    @property
    def wasted(self) -> int:
        """Queries spent on what was drawn again."""
        inner_runs = 2 * (self.odd.queries_total - self.odd.queries)
        inner_runs += sum(run.queries_total - run.queries for run in self.hidden)
        return inner_runs + sum(retry.queries for retry in self.retries)

    @property
    def is_complete(self) -> bool:
        """True when no head and no line can be missing: all that were told of are there."""
        heads = not self.heads_is_bound or len(self.form.W) == self.heads_told
        return heads and len(self.form.lines) == self.lines_told


@dataclass
class Trace:
    """What the finished stages of a run have found, kept when a later one fails."""

    odd: Recovery | None = None
    """the run on T(X) − T(−X)"""
    bends: Bends | None = None
    """of the half plane that was kept"""
    ledger: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    """queries used, by stage"""
    retries: list[Retry] = field(default_factory=list)


class _Counting:
    """Passes queries on, and counts them for the ledger."""

    def __init__(self, oracle: QueryOracle, progress: Callable[[int], None] | None) -> None:
        self._oracle, self._progress = oracle, progress
        self.field: Field = oracle.field
        self.dim: int = oracle.dim
        self.count, self.longest = 0, 0

    def ask(self, sequence: Sequence[Token], /) -> Value:
        """Pass one query on."""
        self.count += 1
        self.longest = max(self.longest, len(sequence))
        if self._progress:
            self._progress(self.count)
        return self._oracle.ask(sequence)


def learn_transformer(
    oracle: QueryOracle,
    *,
    heads: int,
    lines: int,
    heads_is_bound: bool = False,
    lines_is_bound: bool = False,
    seed: int = 0,
    failure_bound: Fraction = DEFAULT_FAILURE_BOUND,
    grid: Grid | None = None,
    first_place: int = 0,
    recorder: Recorder | None = None,
    progress: Callable[[int], None] | None = None,
    trace: Trace | None = None,
) -> TransformerRecovery:
    """Recover T = ⟨Λ, A⟩ + Σ_l κ_l |⟨ν_l, A⟩| of an exact Transformer oracle, exactly.

    Asks 2(4Hd² − 2H + 1) queries for the odd part, length at most 2H + 1; queries of length 1 for the bends, as many
    as it takes; L·(H + 1)·d queries of length at most H + 2 for the gradients; and, where the odd part does not show
    all heads, 4Hd² − 2H + 1 in each cell used to find them. `heads` and `lines` are H and L, the sizes of the canonical
    form, or only bounds on them: then the result is conditional unless the bound is reached. `trace` is filled stage by
    stage, and shows what was finished when an error ends the run.

    Raises `ConditionFailed` (C1–C4, F1–F4) when a condition fails and drawing again does not help,
    `InconsistentAnswers` when the answers are proved not to come from such a Transformer, `Undecided` and
    `NoInterpolant` as `learn` does.
    """
    for name, value in (("heads", heads), ("lines", lines)):
        if value < 0:
            raise InputError("must not be negative", field=name, value=value)
    asked, trace = _Counting(oracle, progress), Trace() if trace is None else trace
    run = _Run(asked, heads, heads_is_bound, lines, lines_is_bound, seed, Lifter(oracle.field, first_place), trace)
    # 1. the odd part T(X) − T(−X) = Σ_h 2Λ_h·A_h(X) is a plain attention: every head with Λ_h ≠ 0
    try:
        odd = learn(
            OddOracle(asked),
            heads_bound=heads,
            seed=seed,
            failure_bound=failure_bound,
            grid=grid,
            first_place=first_place,
            recorder=recorder,
        )
    except NoInterpolant as error:
        cause = f"there are more heads, or, of the numbers to be found, {run.lifter.too_large()}"
        raise NoInterpolant(f"T(X) − T(−X): {error}; {cause}") from None
    trace.odd = odd
    trace.ledger["symmetry"] = 2 * odd.queries
    # 2. the bends of T on a half plane of single tokens, exactly: one for each line
    plane, bends = run.find_bends()
    trace.bends = bends
    # 3. heads that the odd part does not show, and 4. the gradients in the cells between the bends
    hidden, cells, form = run.gradients(odd, plane, bends)
    return TransformerRecovery(
        form=form,
        odd=odd,
        hidden=tuple(hidden),
        heads_told=heads,
        heads_is_bound=heads_is_bound,
        lines_told=lines,
        lines_is_bound=lines_is_bound,
        p=plane.p if plane else (),
        q=plane.q if plane else (),
        samples=tuple((d, plane.value(d)) for d in plane.samples) if plane else (),
        bends=bends,
        cells=tuple(cells),
        ledger=dict(trace.ledger),
        max_length=asked.longest,
        retries=tuple(trace.retries),
        memberships=run.memberships,
        images_per_answer=max(odd.images_per_answer, run.lifter.most_images),
    )


@dataclass
class _Run:
    """One run: draws, asks, and draws again where a condition fails."""

    oracle: _Counting
    heads: int
    heads_is_bound: bool
    lines: int
    lines_is_bound: bool
    seed: int
    lifter: Lifter
    trace: Trace
    memberships: int = 0

    def __post_init__(self) -> None:
        self.sizes = LONG if self.oracle.field.logit_bits == 0 else SHORT

    # --- the bends -------------------------------------------------------------------------------

    def find_bends(self) -> tuple[HalfPlane | None, Bends | None]:
        """Return the half plane and its bends; another half plane where two bends coincide or lie on its border."""
        if self.lines == 0:
            return None, None
        for attempt in range(MOST_PLANES):
            before = self.oracle.count
            plane = self._plane(attempt)
            try:
                bends = self._bends(plane)
            except ConditionFailed as failure:
                last = failure
                self._retry("half plane", failure, before)
                continue
            self.trace.ledger["breakpoints"] = self.oracle.count - before
            return plane, bends
        raise last

    def _plane(self, attempt: int) -> HalfPlane:
        half = self.sizes.plane << attempt
        stream = Stream(self.seed, "half plane", attempt)
        dim = self.oracle.dim
        if dim == 1:
            return HalfPlane(self.oracle, self.lifter, (1,), (0,))
        while True:
            p, q = (tuple(stream.between(-half, half) for _ in range(dim)) for _ in range(2))
            if any(p[i] * q[j] != p[j] * q[i] for i in range(dim) for j in range(i)):
                return HalfPlane(self.oracle, self.lifter, p, q)

    def _bends(self, plane: HalfPlane) -> Bends:
        if self.oracle.dim > 1:
            return find_bends(plane, self.lines, is_bound=self.lines_is_bound)
        # d = 1: all n are parallel, and the only bend is the token 0
        up, down = plane.value((1, 0)), plane.value((-1, 0))
        if up + down == 0 and self.lines_is_bound:
            return Bends((), (), ())
        if up + down == 0 or (self.lines > 1 and not self.lines_is_bound):
            witness = f"for d = 1 all bends are at the token 0, T(1) + T(−1) = {up + down}, and L = {self.lines}"
            raise ConditionFailed(("F2", "F3"), profile="the single tokens 1 and −1", witness=witness)
        return Bends(((0, 1),), ((up, fmpq(0)), (-down, fmpq(0))), ())

    # --- the cells -------------------------------------------------------------------------------

    def gradients(
        self, odd: Recovery, plane: HalfPlane | None, bends: Bends | None
    ) -> tuple[list[Recovery], list[Cell], CanonicalForm]:
        """Return the canonical form, with longer tokens until every query is proved to lie in its cell (F4)."""
        known = {head.W: tuple(scalar[0] / 2 for scalar in head.v) for head in odd.heads}
        if any(any(scalar[1:]) for head in odd.heads for scalar in head.v):
            raise Undecided("Λ is not rational; only Transformers with rational O, w and a are learned")
        if plane is None or bends is None or not bends.rays:
            if len(known) < self.heads and not self.heads_is_bound:
                raise self._unseen_heads(len(known))
            return [], [], canonical_form(list(known), list(known.values()), [])
        for attempt in range(MOST_ENLARGED):
            before = self.oracle.count
            scale = self.sizes.scale << (2 * attempt)
            try:
                return self._attempt(known, plane, bends, scale)
            except ConditionFailed as failure:
                if "F4" not in failure.conditions:
                    raise
                last = failure
                self._retry("cells", failure, before)
        raise last

    def _attempt(
        self, known: dict[Weights, tuple[fmpq, ...]], plane: HalfPlane, bends: Bends, scale: int
    ) -> tuple[list[Recovery], list[Cell], CanonicalForm]:
        start = self.oracle.count
        hidden = self._hidden(set(known), plane, bends, scale) if len(known) < self.heads else []
        used = sum(run.queries for run in hidden)
        wasted = self.oracle.count - start - used
        zero = (fmpq(0),) * self.oracle.dim
        W = sorted({*known, *(head.W for run in hidden for head in run.heads)})
        linear: Blocks = tuple(known.get(each, zero) for each in W)
        cells = [self._cell(W, plane, bends, number, scale) for number in range(len(bends.rays))]
        beyond = [*(cell.base for cell in cells[1:]), tuple(-x for x in cells[0].base)]
        steps = jumps([cell.gradient for cell in cells], linear)
        pieces = [
            piece(jump, plane.token(ray), token) for jump, ray, token in zip(steps, bends.rays, beyond, strict=True)
        ]
        form = canonical_form(W, linear, pieces)
        self._recheck(form, W, cells, hidden)
        self.trace.ledger["hidden heads"] = used
        self.trace.ledger["gradients"] = self.oracle.count - start - used - wasted
        return hidden, cells, form

    def _hidden(self, known: set[Weights], plane: HalfPlane, bends: Bends, scale: int) -> list[Recovery]:
        """Learn inside one cell after the other until all heads are seen; in every cell when only a bound is known."""
        runs = []
        for number in range(len(bends.rays)):
            if len(known) == self.heads:
                break
            center = _scaled(plane.token(next(inside_tokens(plane, bends, number))), scale * _ROOM)
            try:
                run = learn_in_cell(
                    self.oracle, center, self.sizes.hidden, heads_bound=self.heads, seed=self.seed + number
                )
            except (NoInterpolant, InconsistentAnswers) as error:
                raise leaves(center, f"the learner inside the cell failed: {error}") from None
            runs.append(run)
            known |= {head.W for head in run.heads}
        if len(known) < self.heads and not self.heads_is_bound:
            raise self._unseen_heads(len(known))
        return runs

    def _unseen_heads(self, seen: int) -> ConditionFailed:
        witness = f"{seen} of {self.heads} heads are visible in T(X) − T(−X) or in a cell"
        return ConditionFailed(("F1", "F2"), profile="the odd part and all cells", witness=witness)

    def _cell(self, W: Sequence[Weights], plane: HalfPlane, bends: Bends, number: int, scale: int) -> Cell:
        alpha, beta = bends.slopes[number]
        for tried, direction in enumerate(inside_tokens(plane, bends, number)):
            base = _scaled(plane.token(direction), scale)
            value = scale * (alpha * direction[0] + beta * direction[1])
            try:
                return ask_cell(self.oracle, self.lifter, W, base, value, self.seed)
            except ConditionFailed as failure:
                if failure.conditions != ("C2",) or tried == _DIRECTIONS_TRIED:
                    raise
        raise AssertionError("every cell has infinitely many directions")

    def _recheck(
        self, form: CanonicalForm, W: Sequence[Weights], cells: Sequence[Cell], hidden: Sequence[Recovery]
    ) -> None:
        """Prove, now that the lines are known, that every query lay in the cell it was used for (F4)."""
        if tuple(W) != form.W:
            raise leaves(cells[0].base, "a head that was seen is used by no line")
        asked: list[Displaced] = [(cell.base, side.u) for cell in cells for side in cell.sides]
        asked += [pair for run in hidden for pair in displaced(run)]
        bad = unproved(asked, form.lines)
        if bad:
            ((b, u), line) = bad[0]
            raise leaves(b, f"the displacement {u} may cross line {line + 1} ({len(bad)} such cases)")
        self.memberships = len(asked) * len(form.lines)

    def _retry(self, what: str, failure: ConditionFailed, before: int) -> None:
        self.trace.retries.append(Retry(what, failure.conditions, str(failure), self.oracle.count - before))


_ROOM = 1 << 4
"""The learner inside a cell needs longer tokens than a gradient does: its displacements are not unit vectors."""


def inside_tokens(plane: HalfPlane, bends: Bends, piece_number: int) -> Iterator[Direction]:
    """Yield directions inside a piece; for d = 1 there is only one."""
    if len(plane.p) == 1:
        return iter([(1, 0)])
    return inside(bends, piece_number)


def _scaled(token: IntToken, factor: int) -> IntToken:
    return tuple(factor * x for x in token)
