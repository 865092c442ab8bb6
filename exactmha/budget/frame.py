"""Bases of R^d adapted to the readouts: displacements that only one head sees, or none (`proofs/budget-adapted`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz, fmpz_mat

from exactmha.budget.lab import Vector, solve
from exactmha.fields.interface import Scalar


@dataclass(frozen=True, slots=True)
class Frame:
    """A basis of R^d: n_h with v_g·n_h = c δ_gh, z with v_h·z = 0 for all h, and whatever completes it."""

    duals: tuple[Vector, ...]
    blind: tuple[Vector, ...]
    others: tuple[Vector, ...]
    scale: int
    """c"""


def adapted_frame(v: Sequence[Sequence[Scalar]], fallback: Sequence[Vector]) -> Frame:
    """Return the frame of independent readouts, in small integers; without duals where there are none."""
    heads, degree, dim = len(v), len(v[0][0]), len(v[0])
    rows = [[x[part] for x in v_h] for v_h in v for part in range(degree)]
    right = [[fmpq(int(g == h and part == 0)) for h in range(heads)] for g in range(heads) for part in range(degree)]
    solutions = solve(rows, right)
    if any(x is None for x in solutions):
        return Frame((), (), tuple(fallback), 1)
    blind = _kernel(rows, dim)
    common = fmpz(1)
    for solution in solutions:
        for x in solution or []:
            common = common.lcm(x.denominator)
    duals = [_reduced([int(x * common) for x in solution or []], blind) for solution in solutions]
    basis: list[Vector] = [*duals, *blind]
    others: list[Vector] = []
    for u in fallback:
        if _rank([*basis, *others, u]) > len(basis) + len(others):
            others.append(u)
    return Frame(tuple(duals), tuple(blind), tuple(others), int(common))


def _kernel(rows: Sequence[Sequence[fmpq]], dim: int) -> list[Vector]:
    """Return a reduced basis of the integer vectors that all `rows` map to 0."""
    integers = []
    for row in rows:
        common = fmpz(1)
        for x in row:
            common = common.lcm(x.denominator)
        integers.append([int(x * common) for x in row])
    matrix, nullity = fmpz_mat(integers).nullspace()
    if nullity == 0:
        return []
    vectors = [[int(matrix[i, j]) for i in range(dim)] for j in range(nullity)]
    return [tuple(int(x) for x in row) for row in fmpz_mat(vectors).lll().tolist()]


def _reduced(vector: Sequence[int], lattice: Sequence[Vector]) -> tuple[int, ...]:
    """Subtract multiples of lattice vectors that make a vector shorter."""
    result = list(vector)
    for z in reversed(lattice):
        norm = sum(int(x) ** 2 for x in z)
        times = (2 * sum(x * int(y) for x, y in zip(result, z, strict=True)) + norm) // (2 * norm)
        result = [x - times * int(y) for x, y in zip(result, z, strict=True)]
    return tuple(result)


def _rank(vectors: Sequence[Vector]) -> int:
    return int(fmpz_mat([[int(x) for x in vector] for vector in vectors]).rank())
