"""Cells: where no neuron changes sign, T is a plain attention ⟨g, A⟩, and small displacements give its gradient g.

With known W the value of "k copies of b + u, then b" is T(b) + Σ_h (g_h·u) k r_h/(1 + k r_h) there, so the samples
k = 1..H are a linear system for the g_h·u, non-singular when the r_h are distinct. One more sample, k = H + 1, shows
when the displaced tokens have left the cell (`proofs/transformer-algorithm`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpz_mod_mat

from exactmha.errors import ConditionFailed, NoInterpolant
from exactmha.fields.interface import Exponent, Value
from exactmha.modular.places import Place
from exactmha.oracle import QueryOracle
from exactmha.randomness import Stream
from exactmha.recover.profile import profile_values
from exactmha.recover.sample import IntToken, ask_profile
from exactmha.transformer.form import Blocks, Line, Weights, inner, total
from exactmha.transformer.lift import Lifter, is_same, rationals_of

_BASES_TRIED = 25
Displaced = tuple[IntToken, IntToken]
"""(b, u): the queries "k copies of b + u, then b"."""


@dataclass(frozen=True, slots=True)
class Side:
    """The samples of one displacement in one cell, proved: the answers are T(b) + Σ_h c_h·k r_h/(1 + k r_h)."""

    u: IntToken
    answers: tuple[Value, ...]
    exponents: tuple[Exponent, ...]
    residues: tuple[fmpq, ...]
    """c_h = g_h·u"""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a single token b in it, T(b), the samples around b, and the gradient g of T there."""

    base: IntToken
    value: fmpq
    sides: tuple[Side, ...]
    gradient: Blocks


def displacements(W: Sequence[Weights], base: IntToken, unit: int, seed: int) -> tuple[IntToken, ...]:
    """Return a basis u_1..u_d for which the r_h = exp(b^T W_h u_i) are distinct: unit vectors, else small random ones.

    Raises `ConditionFailed` (C2) when none is found, as when b^T W_h is the same for two heads.
    """
    dim = len(base)
    stream = Stream(seed, "displacements", *base)
    for attempt in range(_BASES_TRIED):
        basis = [tuple(int(i == j) if attempt == 0 else stream.between(-3, 3) for j in range(dim)) for i in range(dim)]
        regular = fmpq_mat([list(map(fmpq, u)) for u in basis]).rank() == dim
        if regular and all(len(set(exponents_of(W, base, u, unit))) == len(W) for u in basis):
            return tuple(basis)
    raise ConditionFailed(("C2",), profile=f"the cell of {base}", witness="no displacements tell all heads apart")


def exponents_of(W: Sequence[Weights], base: IntToken, u: IntToken, unit: int) -> tuple[Exponent, ...]:
    """Return unit·b^T W_h u for every head: the exact logarithms of the r_h."""
    return tuple(
        tuple(
            int((unit * sum((x * inner(row, u) for x, row in zip(base, matrix, strict=True)), fmpq(0))).numerator)
            for matrix in weights
        )
        for weights in W
    )


def ask_cell(oracle: QueryOracle, lifter: Lifter, W: Sequence[Weights], base: IntToken, value: fmpq, seed: int) -> Cell:
    """Ask for the gradient of T in the cell of b: exactly (H + 1)·d queries of length at most H + 2.

    `value` is T(b). Raises `ConditionFailed` where displaced queries are seen to leave the cell (F4): no rational
    gradient fits them, or it contradicts T(b) = Σ_h g_h·b. That none leaves it is only known once the lines are.
    """
    sides = tuple(
        _side(oracle, lifter, exponents_of(W, base, u, oracle.field.denominator), base, value, u)
        for u in displacements(W, base, oracle.field.denominator, seed)
    )
    solver = fmpq_mat([list(map(fmpq, side.u)) for side in sides]).inv()
    gradient = tuple(
        tuple((solver * fmpq_mat([[side.residues[h]] for side in sides])).entries()) for h in range(len(W))
    )
    if W and inner(total(gradient), base) != value:
        raise leaves(base, "the gradient found contradicts the value on b itself")
    return Cell(base, value, sides, gradient)


def _side(
    oracle: QueryOracle,
    lifter: Lifter,
    exponents: tuple[Exponent, ...],
    base: IntToken,
    value: fmpq,
    u: IntToken,
) -> Side:
    """Ask H + 1 samples and solve for the H numbers g_h·u."""
    answers = tuple(ask_profile(oracle, base, u, len(exponents) + 1))
    field = oracle.field
    start = field.embed(lifter.scalar(value))

    def is_proved(residues: list[fmpq]) -> bool:
        values = profile_values(field, len(answers), start, exponents, [lifter.scalar(c) for c in residues])
        return all(is_same(answer, found) for answer, found in zip(answers, values, strict=True))

    rises = [answer - start for answer in answers]
    try:
        residues = lifter.solve(lambda place: _residues_at(place, rises, exponents), is_proved, "a gradient")
    except NoInterpolant:
        raise leaves(base, f"no rational gradient fits the answers for the displacement {u}") from None
    return Side(u, answers, exponents, tuple(residues))


def _residues_at(place: Place, rises: Sequence[Value], exponents: Sequence[Exponent]) -> list[fmpq] | None:
    """Solve Σ_h c_h·k r_h/(1 + k r_h) = rises_k, k = 1..H, modulo p^k, and guess the rational c_h."""
    count = len(exponents)
    if not count:
        return []
    ring = place.ring
    poles = [ring(place.monomial(exponent)) for exponent in exponents]
    shares = [k * r / (1 + k * r) for k in range(1, count + 1) for r in poles]
    images = [ring(rise.image(place)) for rise in rises[:count]]
    solution = fmpz_mod_mat(count, count, shares, ring).solve(fmpz_mod_mat(count, 1, images, ring))
    return rationals_of(place, [x.to_fmpz() if hasattr(x, "to_fmpz") else int(x) for x in solution.entries()])


def stays(base: IntToken, u: IntToken, line: Line) -> bool:
    """Prove that ⟨ν, A⟩ has the sign of n·b on every query "k copies of b + u, then b".

    There A_h = b + p_h u with 0 < p_h < 1, so ⟨ν, A⟩ lies strictly between n·b + Σ_h min(0, ν_h·u) and the same with
    max, or is n·b. Rational arithmetic only; False when this interval reaches 0, which proves nothing.
    """
    start = inner(line.token_normal, base)
    shifts = [inner(block, u) for block in line.nu]
    low = start + sum((x for x in shifts if x < 0), fmpq(0))
    high = start + sum((x for x in shifts if x > 0), fmpq(0))
    return start != 0 and (low >= 0 or high <= 0)


def leaves(base: IntToken, witness: str) -> ConditionFailed:
    """Return the error for a cell that its displaced queries leave, or may leave."""
    return ConditionFailed(("F4",), profile=f"the cell of the single token {base}", witness=witness)


def unproved(asked: Sequence[Displaced], lines: Sequence[Line]) -> list[tuple[Displaced, int]]:
    """Return the displacements, and lines, for which `stays` proves nothing; empty when every query was in its cell."""
    return [((b, u), i) for b, u in asked for i, line in enumerate(lines) if not stays(b, u, line)]
