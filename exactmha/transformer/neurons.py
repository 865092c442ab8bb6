"""Neurons: across a bend the gradient jumps by 2 κ ν, up to sign; nothing else of a network needs to be learned."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from flint import fmpq

from exactmha.errors import ConditionFailed
from exactmha.recover.sample import IntToken
from exactmha.transformer.form import Blocks, Vector, inner, total


def jumps(gradients: Sequence[Blocks], linear: Blocks) -> list[Blocks]:
    """Return g_{l+1} − g_l across bend l, l = 0..L−1; beyond the last bend lies the opposite of the first cell.

    There T(−X) = 2⟨Λ, A(−X)⟩ + T(X), so its gradient is g_L = 2Λ − g_0 and needs no query.
    """
    opposite = tuple(
        tuple(2 * x - y for x, y in zip(block, other, strict=True))
        for block, other in zip(linear, gradients[0], strict=True)
    )
    steps = [*gradients, opposite]
    return [
        tuple(tuple(y - x for x, y in zip(b, a, strict=True)) for b, a in zip(before, after, strict=True))
        for before, after in itertools.pairwise(steps)
    ]


def piece(jump: Blocks, on_bend: IntToken, beyond: IntToken) -> tuple[fmpq, Blocks]:
    """Return (±1/2, jump): the term κ|⟨ν, A⟩| of one bend is ±½ |⟨jump, A⟩|.

    Crossing into the cell of `beyond` turns −κ s ν into κ s ν, s the sign of n·beyond, so the sign is that of
    (Σ_h jump_h)·beyond. Raises `ConditionFailed` (F2) when Σ_h jump_h is not orthogonal to the token on the bend, or
    does not see `beyond`: then more than one line bends T there, or a query left its cell.
    """
    normal: Vector = total(jump)
    side = inner(normal, beyond)
    if inner(normal, on_bend) != 0 or side == 0:
        raise ConditionFailed(
            ("F2", "F4"),
            profile=f"the bend of T at the single token {on_bend}",
            witness="the jump of the gradient is not that of one line",
        )
    return fmpq(1 if side > 0 else -1, 2), jump
