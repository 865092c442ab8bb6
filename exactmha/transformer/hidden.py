"""Heads that the odd part does not show (F1 fails): inside a cell T is a plain attention, which can be learned."""

from __future__ import annotations

from exactmha.conditions import Grid
from exactmha.oracle import QueryOracle
from exactmha.recover.design import Design
from exactmha.recover.learn import Recovery, learn
from exactmha.recover.sample import IntToken


class CellDesign(Design):
    """Tokens b_j near a token of the cell, b_j = center + small, and small displacements u_i."""

    def __init__(self, seed: int, dim: int, grid: Grid, center: IntToken) -> None:
        super().__init__(seed, dim, grid)
        self._center = center

    def _placed(self, kind: str, drawn: IntToken) -> IntToken:
        if kind == "u":
            return drawn
        return tuple(x + y for x, y in zip(self._center, drawn, strict=True))


def learn_in_cell(oracle: QueryOracle, center: IntToken, grid: Grid, *, heads_bound: int, seed: int) -> Recovery:
    """Learn the heads (W_h, g_h) of T in the cell of `center`, those with g_h ≠ 0 (`proofs/transformer-algorithm`).

    Asks 4Hd² − 2H + 1 queries, H = `heads_bound`, plus those of re-drawn tokens. That all of them lay in the cell is
    checked later, with the lines. Raises what `learn` does.
    """
    design = CellDesign(seed, oracle.dim, grid, center)
    return learn(oracle, heads_bound=heads_bound, seed=seed, grid=grid, design=design)


def displaced(recovery: Recovery) -> list[tuple[IntToken, IntToken]]:
    """Return the (b, u) of all profiles that a run of the learner asked for."""
    first, *later = recovery.b
    u_first, *u_later = recovery.u
    pairs = [(first, u_first)]
    for u in u_later:
        pairs += [(first, u), (first, _plus(u_first, u))]
    for b in later:
        for u in recovery.u:
            pairs += [(b, u), (_plus(first, b), u)]
    return pairs


def _plus(left: IntToken, right: IntToken) -> IntToken:
    return tuple(x + y for x, y in zip(left, right, strict=True))
