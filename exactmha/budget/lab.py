"""What all learners of this package share: asking, the ledger, guess and proof, drawing tokens again.

A learner sees an oracle and a field, never a model. Every query it keeps belongs to one `Step`, from which the
ledger, the report and the certificate are made; queries of tokens drawn again are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flint import fmpq, fmpq_mat

from exactmha.budget.conditions import Record
from exactmha.budget.interpolate import Node, Singular, guess_at, kappa, lift
from exactmha.conditions import Grid
from exactmha.errors import (
    BadPlace,
    ConditionFailed,
    InconsistentAnswers,
    InputError,
    LimitError,
    NoInterpolant,
    Undecided,
)
from exactmha.fields.interface import Exponent, Scalar, Value, add_scalars
from exactmha.heads import Head
from exactmha.modular.guess import Guess, MorePrecision
from exactmha.modular.places import Place
from exactmha.oracle import QueryOracle
from exactmha.outcome import Outcome, counted
from exactmha.recover.design import DEFAULT_FAILURE_BOUND, Design, default_grid
from exactmha.recover.match import match_displacements
from exactmha.recover.profile import Profile, form
from exactmha.recover.sample import add
from exactmha.recover.separate import PLACES, PRECISIONS
from exactmha.sequences import TokenSequence

MOST_REDRAWS = 25
MOST_RESTARTS = 40
T = TypeVar("T")
Vector = Sequence[int | fmpq]


@dataclass(frozen=True, slots=True)
class Step:
    """Some queries and what they are for; `data` holds what a proof needs besides the answers."""

    kind: str
    stage: str
    data: dict[str, Any]
    queries: tuple[TokenSequence, ...]
    answers: tuple[Value, ...]

    @property
    def length(self) -> int:
        """The largest length of its queries."""
        return max(map(len, self.queries), default=0)


@dataclass
class Row:
    """What is known of one final token b: exponents[a][h] is that of exp(b^T W_h u) for u = displacements[a]."""

    b: tuple[int, ...]
    displacements: list[Vector] = field(default_factory=list)
    exponents: list[Sequence[Exponent]] = field(default_factory=list)
    name: str = "b"

    def learn(self, displacement: Vector, exponents: Sequence[Exponent]) -> None:
        """Add one displacement."""
        self.displacements.append(displacement)
        self.exponents.append(tuple(exponents))


@dataclass(frozen=True, slots=True)
class Learned:
    """What a learner found: heads in the order in which its steps number them, and everything its claims rest on."""

    labelled_heads: tuple[Head, ...]
    steps: tuple[Step, ...]
    b: tuple[tuple[int, ...], ...]
    wasted: int
    """queries of tokens drawn again"""
    redraws: tuple[str, ...]
    """why they were drawn again"""
    fallbacks: tuple[str, ...]
    """the conditions that were seen to fail, each with the entry that was therefore learned in the dearer way"""

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads, sorted."""
        return tuple(sorted(self.labelled_heads, key=Head.sort_key))

    @property
    def queries(self) -> int:
        """The number of queries that the result rests on."""
        return sum(len(step.answers) for step in self.steps)

    @property
    def max_length(self) -> int:
        """The largest length among them."""
        return max((step.length for step in self.steps), default=0)


class Restart(Exception):
    """A token could not be drawn well; the whole design is drawn again."""

    def __init__(self, failure: ConditionFailed) -> None:
        self.failure = failure


class Lab:
    """One run of one learner."""

    def __init__(
        self, oracle: QueryOracle, heads: int, *, seed: int = 0, grid: Grid | None = None, first_place: int = 0
    ) -> None:
        if heads < 1:
            raise InputError("a learner of this package needs at least one head", field="heads", value=heads)
        self.oracle, self.field, self.dim, self.heads = oracle, oracle.field, oracle.dim, heads
        chosen = grid or default_grid(oracle.field, heads, oracle.dim, DEFAULT_FAILURE_BOUND)
        self.design = Design(seed, oracle.dim, chosen)
        self.steps: list[Step] = []
        self.fallbacks: list[str] = []
        self.redraws: list[str] = []
        self.asked = 0
        self.first_place, self._level = first_place, 0
        self._pending: list[tuple[TokenSequence, Value]] = []

    @property
    def no_model(self) -> str:
        """What inconsistent answers have, in words."""
        return f"no model with {counted(self.heads, 'head')}"

    # --- asking ---------------------------------------------------------------------------------

    def ask(self, b: Vector, *runs: tuple[Vector, int]) -> Value:
        """Ask "m_i copies of b + x_i for each run (x_i, m_i), then b"."""
        tokens = [(tuple(p + q for p, q in zip(b, x, strict=True)), count) for x, count in runs]
        query = TokenSequence([*tokens, (tuple(b), 1)])
        self.asked += 1  # as the oracle does: also where the answer is too large
        answer = self.oracle.ask(query)
        self._pending.append((query, answer))
        return answer

    def ask_profile(self, b: Vector, u: Vector, nodes: Sequence[Node]) -> list[Value]:
        """Ask the samples of the profile (b, u) at the given nodes."""
        zero = (0,) * self.dim
        return [self.ask(b, (u, k), (zero, extra)) for k, extra in nodes]

    def keep(self, kind: str, stage: str, **data: Any) -> None:
        """Make one step of all queries asked since the last one."""
        queries, answers = zip(*self._pending, strict=True)
        self.steps.append(Step(kind, stage, data, queries, answers))
        self._pending = []

    def fall_back(self, condition: Record, where: str) -> None:
        """Note a condition that was seen to fail, and what is therefore learned in the dearer way."""
        self.fallbacks.append(f"{condition.name} ({condition.title}) fails in {where}: {condition.otherwise}")

    # --- exact values ---------------------------------------------------------------------------

    def zero(self) -> Scalar:
        """Return the scalar 0."""
        return (fmpq(0),) * self.field.degree

    def rational(self, x: int | fmpq) -> Scalar:
        """Return a rational as a scalar."""
        return (fmpq(x), *self.zero()[1:])

    def same(self, left: Value, right: Value) -> bool:
        """Decide equality in K; raises `Undecided` beyond the size budget."""
        outcome = left.equals(right)
        if outcome is Outcome.UNDECIDED:
            raise Undecided("two values cannot be compared within the size budget")
        return outcome is Outcome.HOLDS

    def form(self, base: Value, at: fmpq, exponents: Sequence[Exponent], residues: Sequence[Scalar]) -> Value:
        """Return base + Σ_h c_h·κ r_h/(1 + κ r_h) in K."""
        return base + form(self.field, at, exponents, residues)

    def search(self, name: str, guess: Callable[[Place], T], is_proved: Callable[[T], bool]) -> T:
        """Guess at the public places, at rising precision, until a guess is proved in K.

        Raises `ConditionFailed` where the system of the guess is singular at all places, else `NoInterpolant`.
        """
        index, last, singular = self.first_place, self.first_place + PLACES, True
        while self._level < len(PRECISIONS) and index < last:
            place = self.field.place(index, PRECISIONS[self._level])
            try:
                found = guess(place)
            except MorePrecision:
                self._level += 1
                continue
            except (BadPlace, ZeroDivisionError) as error:
                singular = singular and isinstance(error, Singular)
                index += 1
                continue
            if is_proved(found):
                return found
            singular = False
            index += 1
        if singular and index == last:
            raise ConditionFailed(("C2", "C3"), profile=name, witness="fewer heads are told apart than there are")
        self._level = min(self._level, len(PRECISIONS) - 1)
        raise NoInterpolant(f"{name}: no monomials of the field were found that give these answers")

    def scalar_of(self, value: Value, name: str) -> Scalar:
        """Return the scalar that an answer is, proved in K."""

        def guess(place: Place) -> Scalar:
            found = place.scalar_of(value.image(place))
            if found is None:
                raise MorePrecision(name)
            return found

        return self.search(name, guess, lambda scalar: self.same(value, self.field.embed(scalar)))

    # --- profiles -------------------------------------------------------------------------------

    def profile(
        self,
        name: str,
        b: Vector,
        u: Vector,
        base: Value,
        nodes: Sequence[Node],
        total: Scalar | None = None,
        heads: int | None = None,
    ) -> Profile:
        """Ask the profile (b, u) at 2n nodes, or 2n − 1 if the sum `total` of its n residues is known, and prove it.

        Raises `ConditionFailed` (C2 or C3) where the answers show fewer than n heads, `NoInterpolant` where none fits.
        """
        n = self.heads if heads is None else heads
        answers = self.ask_profile(b, u, nodes)

        def guess(place: Place) -> Guess:
            samples = [value.image(place) for value in (base, *answers)]
            image = None if total is None else self.field.embed(total).image(place)
            return lift(guess_at(nodes, samples, image, n, place), place)

        def is_proved(found: Guess) -> bool:
            if not all(any(c) for c in found.residues):
                return False
            if total is not None and add_all(found.residues) != total:
                return False
            values = (self.form(base, kappa(node), found.exponents, found.residues) for node in nodes)
            return all(self.same(answer, value) for answer, value in zip(answers, values, strict=True))

        found = self.search(name, guess, is_proved)
        return Profile(name, found.exponents, found.residues)

    # --- drawing again --------------------------------------------------------------------------

    def unless_too_large(self, attempt: Callable[[], T]) -> T | None:
        """Run `attempt`; drop its steps and return None where one of its queries is beyond the size limits."""
        mark, fallbacks = len(self.steps), len(self.fallbacks)
        try:
            return attempt()
        except LimitError:
            self._drop(mark, fallbacks)
            return None

    def _drop(self, steps: int, fallbacks: int) -> None:
        """Drop all later steps and fallbacks; the queries stay counted."""
        del self.steps[steps:], self.fallbacks[fallbacks:]
        self._pending = []

    def retry(self, tokens: Sequence[tuple[str, int]], attempt: Callable[[], T]) -> T:
        """Draw the tokens and run `attempt` until no condition fails; the steps of failed attempts are dropped."""
        last: ConditionFailed | None = None
        for _ in range(MOST_REDRAWS):
            mark, fallbacks = len(self.steps), len(self.fallbacks)
            try:
                for token in tokens:
                    self.design.draw(*token)
                return attempt()
            except ConditionFailed as failure:
                self.redraws.append(str(failure))
                self._drop(mark, fallbacks)
                last = failure
        if last is None:
            raise AssertionError("a failed attempt leaves its failure")
        raise Restart(last)

    def run(self, learner: Callable[[Lab], tuple[Head, ...]]) -> Learned:
        """Run a learner; where tokens cannot be drawn well, from the beginning with fresh ones."""
        for restarts in range(MOST_RESTARTS + 1):
            try:
                heads = learner(self)
                break
            except Restart as event:
                if restarts == MOST_RESTARTS:
                    raise event.failure from None
                self.steps, self._pending, self.fallbacks = [], [], []
        wasted = self.asked - sum(len(step.answers) for step in self.steps)
        return Learned(
            heads, tuple(self.steps), tuple(self.design.b), wasted, tuple(self.redraws), tuple(self.fallbacks)
        )


def add_all(scalars: Iterable[Scalar]) -> Scalar:
    """Return the sum of at least one scalar."""
    first, *others = scalars
    for other in others:
        first = add_scalars(first, other)
    return first


def scaled(scalar: Scalar, factor: int | fmpq) -> Scalar:
    """Return factor·scalar."""
    return tuple(factor * x for x in scalar)


def product(v: Sequence[Scalar], x: Vector) -> Scalar:
    """Return v·x for a vector of scalars and a rational vector."""
    return tuple(sum((fmpq(c) * a for c, a in zip(x, column, strict=True)), fmpq(0)) for column in zip(*v, strict=True))


def combination(coefficients: Sequence[fmpq], vectors: Sequence[Vector]) -> tuple[fmpq, ...]:
    """Return Σ coefficients_a·vectors_a."""
    return tuple(
        sum((c * x for c, x in zip(coefficients, column, strict=True)), fmpq(0))
        for column in zip(*vectors, strict=True)
    )


def solve(rows: Sequence[Sequence[int | fmpq]], right: Sequence[Sequence[int | fmpq]]) -> list[list[fmpq] | None]:
    """Solve rows·x = y for every column y of `right`: the solution without free variables, or None."""
    unknowns, count = len(rows[0]), len(right[0])
    reduced, rank = fmpq_mat([[fmpq(x) for x in (*row, *y)] for row, y in zip(rows, right, strict=True)]).rref()
    table = reduced.tolist()[:rank]
    pivots = [next(j for j, x in enumerate(row) if x != 0) for row in table]
    solutions: list[list[fmpq] | None] = []
    for column in range(unknowns, unknowns + count):
        # a pivot in a column of the right side means that the columns of `right` are not all attained
        x = [fmpq(0)] * unknowns
        attained = all(pivot < unknowns or row[column] == 0 for pivot, row in zip(pivots, table, strict=True))
        for pivot, row in zip(pivots, table, strict=True):
            if pivot < unknowns:
                x[pivot] = row[column]
        solutions.append(x if attained else None)
    return solutions


def assemble(lab: Lab, rows: Sequence[Row], v: Sequence[Sequence[Scalar]]) -> tuple[Head, ...]:
    """Return the heads with b_j^T W_h u = logarithm of what row j knows, and the given v_h."""
    left = fmpq_mat([[fmpq(x) for x in row.b] for row in rows]).inv() * fmpq(1, lab.field.denominator)
    inverses = [fmpq_mat([[fmpq(x) for x in u] for u in row.displacements]).transpose().inv() for row in rows]
    heads = []
    for h in range(lab.heads):
        matrices = []
        for g in range(lab.field.rank):
            products = [
                (fmpq_mat([[fmpq(e[h][g]) for e in row.exponents]]) * inverse).entries()
                for row, inverse in zip(rows, inverses, strict=True)
            ]
            matrices.append(tuple(tuple(r) for r in (left * fmpq_mat(products)).tolist()))
        heads.append(Head(tuple(matrices), tuple(v[h])))
    return tuple(heads)


def check_sum(lab: Lab, answer: Value, s: Sequence[Scalar], token: Vector) -> None:
    """Check s·x against the answer f(x); raises `InconsistentAnswers`, as a wrong number of heads would have it."""
    if not lab.same(answer, lab.field.embed(product(s, token))):
        raise InconsistentAnswers(f"f(x) differs from s·x: these answers have {lab.no_model}")


def matched_by_sum(lab: Lab, row: Row, first: Profile, i: int, base: Value, nodes: Sequence[Node]) -> Profile:
    """Ask the profiles (b, u_i) and (b, u_1 + u_i); return the first of them in the order of `first`."""
    u_1, u_i = lab.design.u[0], lab.design.u[i - 1]
    other = lab.profile(f"(b_1, u_{i})", row.b, u_i, base, nodes)
    total = lab.profile(f"(b_1, u_1+u_{i})", row.b, add(u_1, u_i), base, nodes)
    other = other.permuted(match_displacements(first, other, total))
    lab.keep("by-sum", "first row, with sums", b=row.b, u=u_i, first=u_1, nodes=list(nodes))
    return other
