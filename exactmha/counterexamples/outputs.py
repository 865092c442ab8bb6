"""Answers that are not exact: close together, or rounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from flint import arb, ctx, fmpq, fmpz

from exactmha.attention import Attention, Model
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.setting import Degenerate, Setting, learner_queries
from exactmha.errors import Undecided
from exactmha.fields import ExponentialField, RationalField
from exactmha.fields.values import ExactValue
from exactmha.heads import Head
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.sequences import TokenSequence

OUTPUT_ERROR = Fraction(1, 10**6)
DIGITS = 6
CLOSE_FIELDS = ("exponential", "rational")
WHY_CLOSE = "the steps of W, multiples of log(β)/N with N bounded, are not arbitrarily small"
_MOST_BITS = 1 << 14
_PERTURBATIONS = 12


def inexact_outputs(setting: Setting) -> Construction:
    """(W, n v), (W + ε Δ, −n v) with ε about 1/n, against the same with 2n: outputs O(1/n) apart, parameters n‖v‖.

    For tokens with |coordinates| ≤ 1, y = ‖v‖_1 and D = Σ|Δ_ij|, the bound is (y D + 3/2 · y D²)/n
    (`proofs/counterexamples`).
    """
    v, delta = setting.vector(), setting.matrix()
    reach = sum(abs(x) for row in delta for x in row)
    if not reach:
        raise Degenerate("Δ = 0")
    y = sum(map(abs, v))
    constant = y * reach + Fraction(3, 2) * y * reach**2
    n = 2 ** ceil(constant / OUTPUT_ERROR).bit_length()
    W = setting.matrix()
    common = [(setting.matrix(), setting.vector()) for _ in range(setting.heads - 2)]
    field, steps = _steps(setting, n)
    models = [
        _close_model(field, setting, W, delta, v, step, scale, common)
        for step, scale in zip(steps, (n, 2 * n), strict=True)
    ]
    queries = [TokenSequence([(_unit_token(setting), 1) for _ in range(length)]) for length in (2, 3, 4, 5)]
    bound = constant / n
    return Construction(
        (models[0], models[1]),
        f"outputs within {float(OUTPUT_ERROR):.0e} of each other on all sequences of tokens with "
        f"|coordinates| ≤ 1, yet some v differ by {n}·|v|",
        "heads (W, n v), (W + Δ·step, −n v): the answers tend to a derivative along Δ as n grows; here "
        f"n = {n} and {2 * n}",
        close=queries,
        more=(
            Claim(
                "close-everywhere",
                f"|f − f'| ≤ {bound} on every such sequence, of any length",
                Outcome.of(bound <= OUTPUT_ERROR),
                Evidence.PROVED,
                "proofs/counterexamples (inexact-outputs)",
            ),
            _close_on(models, queries, bound),
        ),
    )


def _steps(setting: Setting, n: int) -> tuple[ExponentialField | RationalField, list[list[fmpq]]]:
    """Return a field and the coordinates of the steps ε_n and ε_2n in its units.

    ε_n = 1/n in the exponential field, log(1 + 1/n) = log(n+1) − log n in the rational one.
    """
    if setting.field_name == "exponential":
        return ExponentialField(1, 2 * n), [[fmpq(1, n)], [fmpq(1, 2 * n)]]
    field = RationalField((2, n + 1, 2 * n + 1))
    m = n.bit_length() - 1  # n = 2^m
    return field, [[fmpq(-m), fmpq(1), fmpq(0)], [fmpq(-m - 1), fmpq(0), fmpq(1)]]


def _close_model(
    field: ExponentialField | RationalField,
    setting: Setting,
    W: Sequence[Sequence[int]],
    delta: Sequence[Sequence[int]],
    v: Sequence[int],
    step: Sequence[fmpq],
    scale: int,
    common: Sequence[tuple[Sequence[Sequence[int]], Sequence[int]]],
) -> Model:
    def head(logits: Sequence[Sequence[int]], moved: bool, readout: Sequence[int]) -> Head:
        units = [
            [
                [fmpq(w if g == 0 else 0) + (s * x if moved else 0) for w, x in zip(row, shift, strict=True)]
                for row, shift in zip(logits, delta, strict=True)
            ]
            for g, s in enumerate(step)
        ]
        return Head(tuple(tuple(tuple(row) for row in unit) for unit in units), tuple((fmpq(x),) for x in readout))

    heads = [head(W, False, [scale * x for x in v]), head(W, True, [-scale * x for x in v])]
    return Model(field, setting.dim, tuple(heads + [head(logits, False, readout) for logits, readout in common]))


def _unit_token(setting: Setting) -> tuple[int, ...]:
    return tuple(setting.stream.between(-1, 1) for _ in range(setting.dim))


def _close_on(models: Sequence[Model], queries: Sequence[TokenSequence], bound: Fraction) -> Claim:
    """Enclose the differences on some queries."""
    answer = [Attention(model) for model in models]
    largest = arb(0)
    outcomes = []
    for query in queries:
        difference = answer[0](query) - answer[1](query)
        size = abs(difference.enclosure(10)) if difference.is_zero() is not Outcome.HOLDS else arb(0)
        limit = arb(fmpq(bound.numerator, bound.denominator))
        outcomes.append(Outcome.HOLDS if size <= limit else Outcome.FAILS if size > limit else Outcome.UNDECIDED)
        largest = largest.max(size)
    statement = f"on {len(queries)} such sequences, listed above, the difference is at most that"
    return Claim(
        "close",
        statement,
        Outcome.every(outcomes),
        Evidence.CERTIFIED,
        f"the largest is {largest.str(3, radius=False)}",
    )


def rounded_outputs(setting: Setting) -> Construction:
    """v_1 against v_1 + (10^-m, 0, …): answers rounded to 6 decimals are equal for all queries of the learner."""
    b, u = setting.tokens
    queries = learner_queries(b, u, setting.heads)
    first, *others = setting.some_heads(setting.heads)
    model = setting.model([first, *others])
    attention = Attention(model)
    rounded = _all_rounded(attention, queries)
    if rounded is None:
        raise Degenerate("an answer lies on a boundary of rounding")
    for m in range(DIGITS + 1, DIGITS + 1 + _PERTURBATIONS):
        tiny = setting.scalar(fmpq(1, 10**m))
        moved = Head(first.W, (tuple(a + x for a, x in zip(first.v[0], tiny, strict=True)), *first.v[1:]))
        rival = setting.model([moved, *others])
        if _all_rounded(Attention(rival), queries) == rounded:
            break
    else:
        raise Degenerate("an answer lies on a boundary of rounding")
    statement = f"all {len(queries)} answers to the queries listed above, rounded to {DIGITS} decimals, are equal"
    return Construction(
        (model, rival),
        f"answers rounded to {DIGITS} decimals, all queries of the learner: these two models are not told apart",
        f"v_1' = v_1 + (10^-{m}, 0, …): the answers move by at most 10^-{m}·max |x|, and none crosses a "
        "boundary of rounding",
        close=queries,
        more=(
            Claim(
                "rounded", statement, Outcome.HOLDS, Evidence.CERTIFIED, "every rounding decided by exact enclosures"
            ),
        ),
    )


def _all_rounded(answer: Attention, queries: Sequence[TokenSequence]) -> list[fmpz] | None:
    """Return all answers rounded, or None when one lies on, or too close to, a boundary."""
    try:
        return [rounded_decimal(answer(query), DIGITS) for query in queries]
    except Undecided:
        return None


def rounded_decimal(value: ExactValue, digits: int) -> fmpz:
    """Return ⌊10^digits·x + 1/2⌋, exactly; raises `Undecided` when x is too close to a boundary to tell."""
    bits = 128
    while bits <= _MOST_BITS:
        with ctx.workprec(bits):
            found: fmpz | None = (value.ball() * 10**digits + arb(fmpq(1, 2))).floor().unique_fmpz()
        if found is not None:
            return found
        bits *= 2
    raise Undecided("an answer lies on, or too close to, a boundary of rounding")
