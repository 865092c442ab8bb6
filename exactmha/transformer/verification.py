"""The Transformer's part checked on one instance: run the learner, then hold every claim against the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from exactmha.conditions import CONDITIONS, Grid
from exactmha.errors import ConditionFailed, ExactMHAError, InconsistentAnswers, InputError
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.randomness import Stream
from exactmha.recover.design import DEFAULT_FAILURE_BOUND, expected_length
from exactmha.recover.learn import Recorder
from exactmha.sequences import Token
from exactmha.transformer.conditions import FORM_CONDITIONS, gradient_queries, symmetry_queries
from exactmha.transformer.equivalence import equivalent
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.form import CanonicalForm, inner
from exactmha.transformer.learn import Retry, Trace, TransformerRecovery, learn_transformer
from exactmha.transformer.model import Transformer
from exactmha.transformer.realise import as_transformer, realise

FRESH_SEQUENCES = 12
"""How many random sequences of distinct tokens the recovered Transformer is tried on."""


@dataclass(frozen=True, slots=True)
class Row:
    """One condition: how many instances there are, how many were checked, the outcome, and where it fails."""

    name: str
    title: str
    statement: str
    count: int
    checked: int
    outcome: Outcome
    witness: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """One stage: its formula in words and numbers (None where it depends on the bends), and the queries used."""

    stage: str
    formula: str
    expected: int | None
    used: int


@dataclass(frozen=True, slots=True)
class TransformerVerification:
    """Everything that a report shows about one verified Transformer."""

    model: Transformer
    truth: CanonicalForm
    seed: int
    heads_told: int
    heads_is_bound: bool
    lines_told: int
    lines_is_bound: bool
    recovery: TransformerRecovery | None
    failure: ExactMHAError | None
    oracle_queries: int
    oracle_max_length: int
    conditions: tuple[Row, ...]
    ledger: tuple[Spent, ...]
    """the finished stages, also of a run that failed"""
    retries: tuple[Retry, ...]
    claims: tuple[Claim, ...]
    not_claimed: str
    """why uniqueness is no claim; empty where it is one"""

    @property
    def outcome(self) -> Outcome:
        """The conjunction of all claims."""
        return Outcome.every(claim.outcome for claim in self.claims)


def verify_transformer(
    model: Transformer,
    *,
    heads_bound: int | None = None,
    lines_bound: int | None = None,
    failure_bound: Fraction = DEFAULT_FAILURE_BOUND,
    grid: Grid | None = None,
    seed: int = 0,
    limits: Limits = DEFAULT_LIMITS,
    recorder: Recorder | None = None,
    progress: Callable[[int], None] | None = None,
) -> TransformerVerification:
    """Run the learner on the Transformer's exact oracle and check every claim about it.

    The learner is told the numbers H of heads and L of lines of the canonical form, or bounds on them; it sees the
    oracle alone. `FRESH_SEQUENCES` more queries are asked of an oracle of its own.
    Raises `InputError` when a bound is below the truth, `LimitError` when an answer is too large.
    """
    truth = model.canonical()
    for name, bound, least in (
        ("--heads-bound", heads_bound, len(truth.W)),
        ("--lines-bound", lines_bound, len(truth.lines)),
    ):
        if bound is not None and bound < least:
            raise InputError(f"a bound below the true number, {least}", field=name, value=bound, hint="give more")
    answer = TransformerAnswer(model, limits)
    oracle = Oracle(answer, model.field, model.dim)
    told = (
        len(truth.W) if heads_bound is None else heads_bound,
        len(truth.lines) if lines_bound is None else lines_bound,
    )
    recovery, failure, trace = None, None, Trace()
    try:
        recovery = learn_transformer(
            oracle,
            heads=told[0],
            lines=told[1],
            heads_is_bound=heads_bound is not None,
            lines_is_bound=lines_bound is not None,
            seed=seed,
            failure_bound=failure_bound,
            grid=grid,
            recorder=recorder,
            progress=progress,
            trace=trace,
        )
    except InputError:
        raise
    except ExactMHAError as error:
        failure = error
    is_bound = heads_bound is not None, lines_bound is not None
    run = _Run(model, truth, told, *is_bound, seed, oracle, trace, recovery, failure)
    return run.report(answer, limits)


@dataclass
class _Run:
    """One finished run of the learner, about to be judged."""

    model: Transformer
    truth: CanonicalForm
    told: tuple[int, int]
    heads_is_bound: bool
    lines_is_bound: bool
    seed: int
    oracle: Oracle
    trace: Trace
    recovery: TransformerRecovery | None
    failure: ExactMHAError | None

    def report(self, answer: TransformerAnswer, limits: Limits) -> TransformerVerification:
        """Gather the evidence."""
        conditions = self._conditions()
        ledger = self._ledger()
        claims = (
            self._equivalent(),
            self._conditions_hold(conditions),
            self._query_count(ledger),
            self._max_length(),
            *self._uniqueness(),
            self._reproduces(answer, limits),
            *self._neurons(),
        )
        return TransformerVerification(
            self.model,
            self.truth,
            self.seed,
            self.told[0],
            self.heads_is_bound,
            self.told[1],
            self.lines_is_bound,
            self.recovery,
            self.failure,
            self.oracle.queries,
            self.oracle.max_length,
            conditions,
            ledger,
            tuple(self.trace.retries),
            claims,
            self._not_claimed(),
        )

    # --- conditions ------------------------------------------------------------------------------

    def _conditions(self) -> tuple[Row, ...]:
        return (*self._odd_rows(), *self._hidden_rows(), *self._form_rows())

    def _odd_rows(self) -> list[Row]:
        """C1–C4, for the odd part; they stay known when a later stage fails."""
        odd, rows = self.trace.odd, []
        blamed = self._blamed() if odd is None else set()
        for condition in CONDITIONS:
            count = condition.count(self.told[0] if odd is None else odd.head_count, self.model.dim)
            checked = 0 if odd is None else odd.checked[condition.name]
            outcome = Outcome.HOLDS if odd is not None and checked == count else Outcome.UNDECIDED
            if blamed == {condition.name}:  # of several, it is not known which one
                outcome = Outcome.FAILS
            rows.append(Row(condition.name, condition.title, condition.statement, count, checked, outcome))
        return rows

    def _hidden_rows(self) -> list[Row]:
        """C1–C4 of the learner's runs inside cells, all runs together."""
        runs, rows = self.recovery.hidden if self.recovery else (), []
        for condition in CONDITIONS if runs else ():
            count = sum(condition.count(run.head_count, self.model.dim) for run in runs)
            checked = sum(run.checked[condition.name] for run in runs)
            outcome = Outcome.HOLDS if checked == count else Outcome.UNDECIDED
            rows.append(
                Row(f"{condition.name} in a cell", condition.title, condition.statement, count, checked, outcome)
            )
        return rows

    def _form_rows(self) -> list[Row]:
        rows = []
        diagnosis = diagnose(self.truth)
        runs = len(self.recovery.hidden) if self.recovery else 0
        lines = self.truth.lines if self.recovery is None else self.recovery.form.lines
        for condition in FORM_CONDITIONS:
            about = lines if condition.name == "F4" else self.truth.lines
            count = condition.count(len(self.truth.W), self.model.dim, len(about), runs)
            checked, outcome, witness = self._form_check(condition.name, count)
            if condition.name in diagnosis and outcome is Outcome.UNDECIDED:
                outcome, witness = Outcome.FAILS, diagnosis[condition.name]
            elif self.recovery is None and condition.name in self._blamed():
                witness = str(self.failure)
                if "F2" not in diagnosis and condition.name == "F2" and len(lines) == self.told[1]:
                    witness = "F2 holds for the true form, but the learner saw bends too close to tell apart"
            rows.append(Row(condition.name, condition.title, condition.statement, count, checked, outcome, witness))
        return rows

    def _form_check(self, name: str, count: int) -> tuple[int, Outcome, str]:
        """Return how many instances of a condition the learner has checked, the outcome, and what was seen."""
        recovery, odd = self.recovery, self.trace.odd
        if recovery is None:
            if name == "F1" and odd is not None and odd.head_count == count == self.told[0]:
                return count, Outcome.HOLDS, ""  # the odd part was finished before the failure
            return 0, Outcome.UNDECIDED, ""
        if name == "F1":
            hidden = recovery.form.invisible_in_odd_part
            if hidden:
                labels = ", ".join(str(h + 1) for h in hidden)
                return count - len(hidden), Outcome.FAILS, f"Λ = 0 for head {labels}, found inside the cells instead"
            complete = not self.heads_is_bound or recovery.odd.head_count == self.told[0]
            return recovery.odd.head_count, Outcome.HOLDS if complete else Outcome.UNDECIDED, ""
        complete = len(recovery.form.lines) == self.told[1]
        if name == "F4":
            outcome = Outcome.HOLDS if recovery.memberships == count else Outcome.UNDECIDED
            return recovery.memberships, outcome, ""
        witness = "" if complete else f"{len(recovery.form.lines)} lines found, but only L ≤ {self.told[1]} is known"
        checked = (count if complete else 0) if name == "F2" else int(complete)
        return checked, Outcome.HOLDS if complete else Outcome.UNDECIDED, witness

    def _blamed(self) -> set[str]:
        return set(self.failure.conditions) if isinstance(self.failure, ConditionFailed) else set()

    # --- the ledger ------------------------------------------------------------------------------

    def _ledger(self) -> tuple[Spent, ...]:
        heads, dim, used = self.told[0], self.model.dim, self.trace.ledger
        lines = self.told[1] if self.recovery is None else len(self.recovery.form.lines)
        found = heads if self.recovery is None else len(self.recovery.form.W)
        runs = 0 if self.recovery is None else len(self.recovery.hidden)
        inside = symmetry_queries(heads, dim) // 2
        return (
            Spent("odd part T(X) − T(−X)", "2(4Hd² − 2H + 1)", symmetry_queries(heads, dim), used["symmetry"]),
            Spent("bends on single tokens", *self._bend_queries(), used["breakpoints"]),
            Spent("heads hidden from the odd part", "4Hd² − 2H + 1 a cell", runs * inside, used["hidden heads"]),
            Spent("gradients in the cells", "L·(H + 1)·d", gradient_queries(found, dim, lines), used["gradients"]),
        )

    def _bend_queries(self) -> tuple[str, int | None]:
        """Return the formula of the second stage, and its value once the cones are known."""
        if self.told[1] == 0:
            return "none for L = 0", 0
        if self.model.dim == 1:
            return "2 for d = 1", 2
        return "5 + 2·(cones cut)", None if self.trace.bends is None else 5 + 2 * self.trace.bends.cuts

    # --- claims ----------------------------------------------------------------------------------

    def _equivalent(self) -> Claim:
        statement = "the recovered Transformer is functionally equivalent: the canonical forms are equal"
        if self.recovery is None:
            outcome = Outcome.FAILS if isinstance(self.failure, InconsistentAnswers) else Outcome.UNDECIDED
            return Claim("equivalent", statement, outcome, Evidence.CERTIFIED, f"no recovery: {self.failure}")
        if self.recovery.form != self.truth:  # lines with n = 0 may cancel, so other forms need not be other functions
            verdict = equivalent(as_transformer(self.recovery.form, self.model.field, self.model.dim), self.model)
            return Claim("equivalent", statement, verdict.outcome, Evidence.CERTIFIED, verdict.reason)
        size = f"{len(self.recovery.form.W)} heads (W, Λ) and {len(self.recovery.form.lines)} lines (κ, ν)"
        evidence = f"exact comparison of {size}"
        return Claim("equivalent", statement, Outcome.HOLDS, Evidence.CERTIFIED, evidence)

    def _conditions_hold(self, rows: Sequence[Row]) -> Claim:
        statement = "C1–C4 for the odd part, F2–F4, and every head is seen in the odd part (F1) or in a cell"
        outcome = Outcome.every(row.outcome for row in rows if row.name != "F1")
        evidence = f"{sum(row.checked for row in rows)} instances checked exactly"
        seen = self.recovery is not None and len(self.recovery.form.W) == self.told[0]
        if not seen and outcome is Outcome.HOLDS:
            outcome = Outcome.UNDECIDED
        failed = [row.witness for row in rows if row.witness and row.name != "F1"]
        if self.failure is not None:
            in_odd_part = isinstance(self.failure, ConditionFailed) and self.trace.odd is None
            if in_odd_part:  # one of those that are named does fail for the last tokens drawn
                outcome = Outcome.FAILS
            evidence = "; ".join(dict.fromkeys([str(self.failure), *failed]))
        elif failed:
            evidence += "; " + "; ".join(dict.fromkeys(failed))
        return Claim("conditions", statement, outcome, Evidence.CERTIFIED, evidence)

    def _query_count(self, ledger: Sequence[Spent]) -> Claim:
        statement = "the queries are those of the ledger, and the formulas of its stages hold"
        if self.recovery is None:
            return Claim("query-count", statement, Outcome.UNDECIDED, Evidence.COMPUTED, "the run did not finish")
        exact = all(row.expected in {None, row.used} for row in ledger)
        exact = exact and self.recovery.queries_total == self.oracle.queries
        evidence = f"the oracle counted {self.oracle.queries}, of which {self.recovery.wasted} for what was drawn again"
        return Claim("query-count", statement, Outcome.of(exact), Evidence.COMPUTED, evidence)

    def _max_length(self) -> Claim:
        expected = expected_length(self.told[0])
        statement = f"no query is longer than 2H + 1 = {expected}"
        outcome = Outcome.of(self.oracle.max_length <= expected)
        evidence = f"the oracle saw a largest length of {self.oracle.max_length}"
        return Claim("max-length", statement, outcome, Evidence.COMPUTED, evidence)

    def _uniqueness(self) -> tuple[Claim, ...]:
        """Where F1 fails this is not proved, so it is no claim."""
        statement = (
            f"no other Transformer with at most {self.told[0]} heads and {self.told[1]} lines, whose neurons keep "
            "their signs inside the cells as these do, gives these answers"
        )
        name, level = "uniqueness", Evidence.CERTIFIED
        if self.recovery is None:
            return (Claim(name, statement, Outcome.UNDECIDED, level, "the run did not finish"),)
        if not self.recovery.is_complete:
            return (Claim(name, statement, Outcome.UNDECIDED, level, f"conditional: {self._missing(self.recovery)}"),)
        if self._not_claimed():
            return ()
        evidence = "the observed conditions and proofs/transformer-algorithm"
        return (Claim(name, statement, Outcome.HOLDS, level, evidence),)

    def _not_claimed(self) -> str:
        """Say why uniqueness is not claimed: part (b) of the theorem needs F1."""
        if self.recovery is None or not self.recovery.is_complete or not self.recovery.form.invisible_in_odd_part:
            return ""
        labels = ", ".join(str(h + 1) for h in self.recovery.form.invisible_in_odd_part)
        return f"F1 fails, Λ = 0 for head {labels}, and uniqueness is proved only where F1 holds"

    def _missing(self, recovery: TransformerRecovery) -> str:
        """Say in words what was not known."""
        parts = []
        if self.heads_is_bound and len(recovery.form.W) < self.told[0]:
            parts.append(f"{len(recovery.form.W)} heads were found where H ≤ {self.told[0]}")
        if len(recovery.form.lines) < self.told[1]:
            parts.append(f"{len(recovery.form.lines)} lines were found where L ≤ {self.told[1]}")
        return "; ".join(parts)

    def _reproduces(self, answer: TransformerAnswer, limits: Limits) -> Claim:
        statement = f"the recovered Transformer answers {FRESH_SEQUENCES} fresh random sequences alike"
        if self.recovery is None:
            return Claim("reproduces-oracle", statement, Outcome.UNDECIDED, Evidence.SAMPLED, "nothing was recovered")
        recovered = TransformerAnswer(as_transformer(self.recovery.form, self.model.field, self.model.dim), limits)
        fresh = Oracle(answer, self.model.field, self.model.dim)
        sequences = fresh_sequences(self.model, self.seed)
        outcome = Outcome.every(fresh.ask(x).equals(recovered(x)) for x in sequences)
        cells = len({answer.pattern(x) for x in sequences})
        evidence = f"exact equality; {cells} activation cells, lengths up to {max(map(len, sequences))}"
        return Claim("reproduces-oracle", statement, outcome, Evidence.SAMPLED, evidence)

    def _neurons(self) -> tuple[Claim, ...]:
        if self.recovery is None:
            return ()
        made = realise(self.recovery.form)
        count, lines = len(made.neurons), len(self.recovery.form.lines)
        statement = f"an ordinary Transformer with {count} neurons realises it, {made.words} ({lines} lines)"
        level = Evidence.PROVED if made.is_least_for_form else Evidence.COMPUTED
        return (Claim("realisation", statement, Outcome.HOLDS, level, "proofs/transformer-canonical"),)


def diagnose(form: CanonicalForm) -> dict[str, str]:
    """Name, from the true canonical form, which of F1 and F2 fail, and for which heads and lines."""
    found = {}
    hidden = form.invisible_in_odd_part
    if hidden:
        found["F1"] = "; ".join(f"Λ_{h + 1} = 0" for h in hidden)
    normals = [line.token_normal for line in form.lines]
    reasons = [
        f"n_{i + 1} = 0: line {i + 1} is invisible on single tokens" for i, n in enumerate(normals) if not any(n)
    ]
    reasons += [
        f"n_{i + 1} and n_{j + 1} are parallel: lines {i + 1} and {j + 1} bend at the same tokens"
        for j, m in enumerate(normals)
        for i, n in enumerate(normals[:j])
        if any(n) and any(m) and inner(n, m) ** 2 == inner(n, n) * inner(m, m)
    ]
    if reasons:
        found["F2"] = "; ".join(reasons)
    return found


def fresh_sequences(model: Transformer, seed: int) -> list[list[Token]]:
    """Return `FRESH_SEQUENCES` random sequences of 1 to 4 distinct small integer tokens."""
    stream = Stream(seed, "fresh", "transformer")
    half = 4 if model.field.logit_bits == 0 else 2
    sequences = []
    for i in range(FRESH_SEQUENCES):
        tokens: list[Token] = []
        length = min(1 + i % 4, (2 * half + 1) ** model.dim)
        while len(tokens) < length:
            token = tuple(stream.between(-half, half) for _ in range(model.dim))
            if token not in tokens:
                tokens.append(token)
        sequences.append(tokens)
    return sequences
