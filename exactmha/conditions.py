"""The identifiability conditions C1–C4 as records, from which the failure bound is computed.

See `proofs/genericity-bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil


@dataclass(frozen=True, slots=True)
class Part:
    """`count` non-zero polynomials, of degree ≤ `degree_b` in the b's and ≤ `degree_u` in the u's."""

    count: int
    degree_b: int
    degree_u: int


@dataclass(frozen=True, slots=True)
class Condition:
    """One kind of condition: its statement, and its parts for H heads in dimension d."""

    name: str
    title: str
    statement: str
    parts: Callable[[int, int], tuple[Part, ...]]

    def count(self, heads: int, dim: int) -> int:
        """How many polynomials must not vanish."""
        return sum(part.count for part in self.parts(heads, dim))

    def failure_bound(self, heads: int, dim: int, grid: Grid) -> Fraction:
        """Bound the probability that one of them vanishes (Schwartz–Zippel)."""
        return sum(
            (
                part.count * (Fraction(part.degree_b, grid.b_values) + Fraction(part.degree_u, grid.u_values))
                for part in self.parts(heads, dim)
            ),
            Fraction(0),
        )


@dataclass(frozen=True, slots=True)
class Grid:
    """How many consecutive integers around 0 the coordinates of every b, and of every u, are drawn from."""

    b_values: int
    u_values: int


CONDITIONS = (
    Condition(
        "C1",
        "bases",
        "det B ≠ 0 and det U ≠ 0",
        lambda _heads, dim: (Part(1, dim, 0), Part(1, 0, dim)),
    ),
    Condition(
        "C2",
        "distinct poles",
        "b^T(W_h − W_g)u ≠ 0 for h < g in every profile (b, u)",
        lambda heads, dim: (Part((2 * dim**2 - 1) * heads * (heads - 1) // 2, 1, 1),),
    ),
    Condition(
        "C3",
        "visible heads",
        "v_h·u ≠ 0 for every h and every u among u_i, u_1 + u_i",
        lambda heads, dim: (Part((2 * dim - 1) * heads, 0, 1),),
    ),
    Condition(
        "C4",
        "unique match",
        "r_h·r_h' = r_g of the sum profile only for h = h' = g",
        lambda heads, dim: (Part((dim**2 - 1) * heads**2 * (heads - 1), 1, 1),),
    ),
)


def failure_bound(heads: int, dim: int, grid: Grid) -> Fraction:
    """Bound the probability that a design drawn from `grid` violates a condition; above 1 it says nothing.

    Σ over the conditions of count·(degree_b/S_b + degree_u/S_u), whatever the model
    (`proofs/genericity-bound`).
    """
    return sum((condition.failure_bound(heads, dim, grid) for condition in CONDITIONS), Fraction(0))


def grid_for(heads: int, dim: int, bound: Fraction) -> Grid:
    """Return the smallest square grid whose failure bound is at most `bound`."""
    values = max(2, ceil(failure_bound(heads, dim, Grid(1, 1)) / bound))
    return Grid(values, values)
