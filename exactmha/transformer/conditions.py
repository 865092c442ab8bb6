"""The conditions F1–F4 of the Transformer's learner as records (`proofs/transformer-algorithm`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormCondition:
    """One kind of condition: its statement, and how many instances there are.

    `count` takes H heads, d, L lines, and the number of runs of the learner inside cells, with 2d² − 1 profiles each.
    """

    name: str
    title: str
    statement: str
    count: Callable[[int, int, int, int], int]


FORM_CONDITIONS = (
    FormCondition(
        "F1",
        "heads in the odd part",
        "Λ_h ≠ 0 for every h; where it fails, head h is looked for inside the cells",
        lambda heads, _dim, _lines, _runs: heads,
    ),
    FormCondition(
        "F2",
        "visible neurons",
        "n_l ≠ 0, and n_l, n_m not parallel for l < m",
        lambda _heads, _dim, lines, _runs: lines + lines * (lines - 1) // 2,
    ),
    FormCondition(
        "F3",
        "all lines found",
        "as many bends are proved as there are lines at most",
        lambda _heads, _dim, _lines, _runs: 1,
    ),
    FormCondition(
        "F4",
        "cells",
        "⟨ν_l, A⟩ keeps its sign from b to every displaced query",
        lambda _heads, dim, lines, runs: lines * (lines * dim + runs * (2 * dim**2 - 1)),
    ),
)


def symmetry_queries(heads: int, dim: int) -> int:
    """Return 2(4Hd² − 2H + 1), the queries of the symmetry stage."""
    return 2 * (4 * heads * dim**2 - 2 * heads + 1)


def gradient_queries(heads: int, dim: int, lines: int) -> int:
    """Return L·(H + 1)·d: in each of L cells, H + 1 samples of d displacements for the H·d numbers of a gradient."""
    return lines * (heads + 1) * dim
