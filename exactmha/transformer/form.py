"""The canonical form of a Transformer: T = ⟨Λ, A⟩ + Σ_l κ_l |⟨ν_l, A⟩| (`proofs/transformer-canonical`).

A = (A_1, …, A_H) ∈ R^{Hd} stacks the attention of the heads. Plain data: neither a model nor an oracle is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd, lcm

from flint import fmpq

from exactmha.heads import Matrix

Vector = tuple[fmpq, ...]
"""A vector of R^d."""
Blocks = tuple[Vector, ...]
"""A vector of R^{Hd}, one block of R^d per head."""
Weights = tuple[Matrix, ...]
"""One W: a d × d matrix per logarithmic unit of the field."""


@dataclass(frozen=True, slots=True)
class Line:
    """One term κ |⟨ν, A⟩|: κ ≠ 0, ν made of coprime integers of which the first non-zero one is positive."""

    kappa: fmpq
    nu: Blocks

    @property
    def token_normal(self) -> Vector:
        """n = Σ_h ν_h: on a single token x every A_h is x, so ⟨ν, A⟩ = n·x."""
        return total(self.nu)


@dataclass(frozen=True, slots=True)
class CanonicalForm:
    """Distinct W_h, sorted, every one used (Λ_h ≠ 0 or some ν_{l,h} ≠ 0); lines distinct and sorted by ν."""

    W: tuple[Weights, ...]
    linear: Blocks
    lines: tuple[Line, ...]

    @property
    def invisible_in_odd_part(self) -> tuple[int, ...]:
        """The heads with Λ_h = 0, which T(X) − T(−X) does not show."""
        return tuple(h for h, block in enumerate(self.linear) if not any(block))


def canonical_form(
    W: Sequence[Weights], linear: Sequence[Vector], pieces: Iterable[tuple[fmpq, Sequence[Vector]]]
) -> CanonicalForm:
    """Return the canonical form of ⟨linear, A⟩ + Σ κ |⟨μ, A⟩| over the pieces (κ, μ).

    Blocks of equal W are added; c·ν with c > 0 or c < 0 counts as |c|·κ on the line of ν; terms that cancel and heads
    that nothing uses are dropped.
    """
    kept = sorted(set(W))
    place = [kept.index(each) for each in W]
    merged = [(kappa, _merged(blocks, place, len(kept))) for kappa, blocks in pieces]
    linear = _merged(linear, place, len(kept))
    nonzero = [(kappa, blocks) for kappa, blocks in _collected(merged) if kappa != 0]
    used = [h for h in range(len(kept)) if any(linear[h]) or any(any(blocks[h]) for _, blocks in nonzero)]
    # heads that are dropped have zero blocks, so the normal forms of the ν stay what they are
    lines = sorted((tuple(blocks[h] for h in used), kappa) for kappa, blocks in nonzero)
    return CanonicalForm(
        tuple(kept[h] for h in used),
        tuple(linear[h] for h in used),
        tuple(Line(kappa, nu) for nu, kappa in lines),
    )


def _merged(blocks: Sequence[Vector], place: Sequence[int], count: int) -> Blocks:
    """Add the blocks of heads with equal W."""
    result: list[Vector | None] = [None] * count
    for block, h in zip(blocks, place, strict=True):
        old = result[h]
        result[h] = block if old is None else added(old, block)
    return tuple(block for block in result if block is not None)


def _collected(pieces: Iterable[tuple[fmpq, Blocks]]) -> list[tuple[fmpq, Blocks]]:
    """Return Σ κ for every line R·ν that occurs, with its normal form ν."""
    found: dict[tuple[tuple[int, ...], ...], fmpq] = {}
    for kappa, blocks in pieces:
        factor, nu = normalised(blocks)
        if factor == 0:  # a neuron that sees nothing
            continue
        key = tuple(tuple(int(x.numerator) for x in block) for block in nu)  # fmpq hash and compare, ints sort faster
        found[key] = found.get(key, fmpq(0)) + abs(factor) * kappa
    return [(kappa, tuple(tuple(map(fmpq, block)) for block in key)) for key, kappa in found.items()]


def normalised(blocks: Sequence[Vector]) -> tuple[fmpq, Blocks]:
    """Return (c, ν) with blocks = c·ν, ν of coprime integers, its first non-zero entry positive; c = 0 for zero."""
    entries = [x for block in blocks for x in block]
    first = next((x for x in entries if x != 0), None)
    if first is None:
        return fmpq(0), tuple(blocks)
    scale = lcm(*(int(x.denominator) for x in entries))
    content = gcd(*(int((x * scale).numerator) for x in entries))
    factor = fmpq(content if first > 0 else -content, scale)
    return factor, tuple(tuple(x / factor for x in block) for block in blocks)


def added(left: Vector, right: Vector) -> Vector:
    """Return the sum of two vectors."""
    return tuple(x + y for x, y in zip(left, right, strict=True))


def total(blocks: Sequence[Vector]) -> Vector:
    """Return the sum of the blocks."""
    return tuple(sum(column, fmpq(0)) for column in zip(*blocks, strict=True))


def inner(left: Sequence[fmpq], right: Sequence[int | fmpq]) -> fmpq:
    """Return the scalar product of two vectors."""
    return sum((x * y for x, y in zip(left, right, strict=True)), fmpq(0))
