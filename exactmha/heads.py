"""Heads (W, v), models, and the canonical representation (`proofs/canonical-uniqueness`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from exactmha.fields.interface import Scalar, added, negated

Matrix = tuple[tuple[fmpq, ...], ...]


@dataclass(frozen=True, slots=True)
class Head:
    """One head: logits x_n^T W x_i and readout v.

    `W` holds one d × d matrix of rational coordinates per logarithmic unit of the field (√n for the
    exponential field, log β for the radical one, log p for each base number p of the rational one);
    `v` holds d scalars.
    """

    W: tuple[Matrix, ...]
    v: tuple[Scalar, ...]

    @property
    def dim(self) -> int:
        """The dimension d of the tokens."""
        return len(self.v)

    def sort_key(self) -> tuple[object, ...]:
        """A total order on heads of one field, for a deterministic listing."""
        return (self.W, self.v)


@dataclass(frozen=True, slots=True)
class Canonical:
    """The canonical heads of a model, with the record of what was merged and discarded.

    `groups[i]` lists the positions (in the original model) merged into canonical head i;
    `discarded` lists the groups whose v summed to 0.
    """

    heads: tuple[Head, ...]
    groups: tuple[tuple[int, ...], ...]
    discarded: tuple[tuple[int, ...], ...]

    @property
    def is_changed(self) -> bool:
        """True when heads were merged or discarded."""
        return bool(self.discarded) or any(len(group) > 1 for group in self.groups)


def canonical(heads: Iterable[Head]) -> Canonical:
    """Merge heads with equal W, summing their v; discard a merged head whose sum is 0; sort.

    Two models agree on every query if and only if their canonical heads are equal
    (`proofs/canonical-uniqueness`).
    """
    merged: dict[tuple[Matrix, ...], tuple[tuple[Scalar, ...], list[int]]] = {}
    for position, head in enumerate(heads):
        if head.W not in merged:
            merged[head.W] = (head.v, [position])
            continue
        v, positions = merged[head.W]
        merged[head.W] = (added(v, head.v), [*positions, position])
    kept, discarded = [], []
    for W, (v, positions) in merged.items():
        if any(x != 0 for scalar in v for x in scalar):
            kept.append((Head(W, v), tuple(positions)))
        else:
            discarded.append(tuple(positions))
    kept.sort(key=lambda pair: pair[0].sort_key())
    return Canonical(tuple(h for h, _ in kept), tuple(g for _, g in kept), tuple(discarded))


def matrix(rows: Sequence[Sequence[fmpq]]) -> Matrix:
    """Return an immutable matrix."""
    return tuple(tuple(row) for row in rows)


def opposite(head: Head, *, opposite_v: bool = False) -> Head:
    """Return (−W, v), or (−W, −v)."""
    W = tuple(tuple(tuple(-x for x in row) for row in unit) for unit in head.W)
    return Head(W, negated(head.v) if opposite_v else head.v)


def bilinear(matrix: Matrix, b: Sequence[int], u: Sequence[int]) -> fmpq:
    """Return b^T M u for one d × d matrix of coordinates."""
    return sum((x * w * y for x, row in zip(b, matrix, strict=True) for w, y in zip(row, u, strict=True)), fmpq(0))
