"""C1–C4 recounted by listing every polynomial, their degrees by SymPy, and the failure bound by drawing and counting.

The polynomials are written down here from `proofs/genericity-bound`; the package only says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest
import sympy

from exactmha.conditions import CONDITIONS, Condition, Grid, failure_bound, grid_for

BY_NAME: dict[str, Condition] = {condition.name: condition for condition in CONDITIONS}
SIZES = [(heads, dim) for heads in range(5) for dim in range(1, 5)]

Numbers = tuple[int, ...]
Pair = tuple[Numbers, Numbers]
"""(numbers of the b's that are added, numbers of the u's that are added)"""


def profiles(dim: int) -> list[Pair]:
    rest = range(1, dim)
    found: list[Pair] = [((j,), (i,)) for j in range(dim) for i in range(dim)]
    found += [((0,), (0, i)) for i in rest]
    return found + [((0, j), (i,)) for j in rest for i in range(dim)]


def sum_profiles(dim: int) -> list[tuple[Pair, Pair, Pair]]:
    """(profile, profile, the profile of their sum)."""
    rest = range(1, dim)
    found: list[tuple[Pair, Pair, Pair]] = [(((0,), (0,)), ((0,), (i,)), ((0,), (0, i))) for i in rest]
    return found + [(((0,), (i,)), ((j,), (i,)), ((0, j), (i,))) for j in rest for i in range(dim)]


def listed(heads: int, dim: int) -> dict[str, list[tuple[object, ...]]]:
    """One entry for every polynomial that must not vanish."""
    displacements = [(i,) for i in range(dim)] + [(0, i) for i in range(1, dim)]
    return {
        "C1": [("B",), ("U",)],
        "C2": [(profile, h, g) for profile in profiles(dim) for h, g in combinations(range(heads), 2)],
        "C3": [(u, h) for u in displacements for h in range(heads)],
        "C4": [
            (triple, h, g, third)
            for triple in sum_profiles(dim)
            for h, g, third in product(range(heads), repeat=3)
            if h != g
        ],
    }


# --- counts and degrees ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("heads", "dim"), SIZES)
def test_counts_by_listing(heads: int, dim: int) -> None:
    expected = {name: len(polynomials) for name, polynomials in listed(heads, dim).items()}
    assert {name: condition.count(heads, dim) for name, condition in BY_NAME.items()} == expected


def test_counts_of_the_readme() -> None:
    assert [condition.count(3, 3) for condition in CONDITIONS] == [2, 51, 15, 144]


def symbols(name: str, count: int, dim: int) -> list[sympy.Matrix]:
    return [sympy.Matrix(sympy.symbols(f"{name}{i}_:{dim}")) for i in range(count)]


def as_polynomials(heads: int, dim: int) -> dict[str, list[sympy.Expr]]:
    """The listed polynomials in the coordinates of the tokens, for some matrices and vectors."""
    bs, us = symbols("b", dim, dim), symbols("u", dim, dim)
    W = [sympy.Matrix(dim, dim, lambda p, q, h=h: (h + 2) ** (p * dim + q + 1)) for h in range(heads)]
    v = [sympy.Matrix(dim, 1, lambda p, _, h=h: (h + 2) ** (p + 1)) for h in range(heads)]

    def value(profile: Pair, h: int) -> sympy.Expr:
        b, u = (sum((tokens[i] for i in n), sympy.zeros(dim, 1)) for tokens, n in zip((bs, us), profile, strict=True))
        return (b.T * W[h] * u)[0]

    found: dict[str, list[sympy.Expr]] = {"C1": [sympy.Matrix.hstack(*tokens).det() for tokens in (bs, us)]}
    polynomials = listed(heads, dim)
    found["C2"] = [value(profile, h) - value(profile, g) for profile, h, g in polynomials["C2"]]  # type: ignore[arg-type]
    found["C3"] = [v[h].dot(sum((us[i] for i in n), sympy.zeros(dim, 1))) for n, h in polynomials["C3"]]  # type: ignore[index]
    found["C4"] = [
        value(first, h) + value(other, g) - value(both, third)
        for (first, other, both), h, g, third in polynomials["C4"]  # type: ignore[misc]
    ]
    return found


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3)])
def test_degrees_by_sympy(heads: int, dim: int) -> None:
    tokens = {name: [x for token in symbols(name, dim, dim) for x in token] for name in "bu"}
    for name, polynomials in as_polynomials(heads, dim).items():
        found = []
        for polynomial in map(sympy.expand, polynomials):
            assert polynomial != 0
            found.append(tuple(sympy.Poly(polynomial, *tokens[kind]).total_degree() for kind in "bu"))
        parts = BY_NAME[name].parts(heads, dim)
        assert sorted(found) == sorted(
            degrees for part in parts for degrees in [(part.degree_b, part.degree_u)] * part.count
        )
        total = {"C1": dim, "C2": 2, "C3": 1, "C4": 2}[name]
        assert {b + u for b, u in found} <= {total}


# --- the bound -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("heads", "dim"), SIZES)
@pytest.mark.parametrize("values", [1, 2, 7, 10**20])
def test_bound_of_a_square_grid(heads: int, dim: int, values: int) -> None:
    degree = {"C1": dim, "C2": 2, "C3": 1, "C4": 2}
    expected = Fraction(sum(len(found) * degree[name] for name, found in listed(heads, dim).items()), values)
    assert failure_bound(heads, dim, Grid(values, values)) == expected
    assert sum(c.failure_bound(heads, dim, Grid(values, values)) for c in CONDITIONS) == expected


def test_bound_of_an_oblong_grid_by_hand() -> None:
    # H = 2, d = 2: C1 2/S_b + 2/S_u, C2 7 times and C4 3·4 times (1/S_b + 1/S_u), C3 6 times 1/S_u
    expected = Fraction(2 + 7 + 12, 5) + Fraction(2 + 7 + 12 + 6, 11)
    assert failure_bound(2, 2, Grid(5, 11)) == expected
    assert [c.failure_bound(2, 2, Grid(5, 11)) for c in CONDITIONS] == [
        Fraction(2, 5) + Fraction(2, 11),
        Fraction(7, 5) + Fraction(7, 11),
        Fraction(6, 11),
        Fraction(12, 5) + Fraction(12, 11),
    ]


@pytest.mark.parametrize(("heads", "dim"), SIZES)
@pytest.mark.parametrize(
    "bound", [Fraction(1), Fraction(1, 3), Fraction(7, 1000), Fraction(1, 2**40), Fraction(1, 2**200)]
)
def test_grid_for_is_minimal(heads: int, dim: int, bound: Fraction) -> None:
    grid = grid_for(heads, dim, bound)
    assert grid.b_values == grid.u_values >= 2
    assert failure_bound(heads, dim, grid) <= bound
    smaller = Grid(grid.b_values - 1, grid.u_values - 1)
    assert grid.b_values == 2 or failure_bound(heads, dim, smaller) > bound


# --- direct evaluation: draw, and look -------------------------------------------------------------------------


Vector = Sequence[int]
Model = Sequence[tuple[Sequence[Vector], Vector]]


def added(tokens: Sequence[Vector], numbers: Numbers) -> Vector:
    return [sum(tokens[i][p] for i in numbers) for p in range(len(tokens))]


def bilinear(b: Vector, W: Sequence[Vector], u: Vector) -> int:
    return sum(x * sum(w * y for w, y in zip(row, u, strict=True)) for x, row in zip(b, W, strict=True))


def determinant(rows: Sequence[Vector]) -> int:
    if len(rows) == 1:
        return rows[0][0]
    minors = ([row[:j] + row[j + 1 :] for row in map(list, rows[1:])] for j in range(len(rows)))
    return sum((-1) ** j * rows[0][j] * determinant(minor) for j, minor in enumerate(minors))


def failures(model: Model, B: Sequence[Vector], U: Sequence[Vector]) -> Iterator[str]:
    """The names of the conditions that fail for these tokens."""
    dim, heads = len(B), range(len(model))
    if determinant(B) == 0 or determinant(U) == 0:
        yield "C1"
    poles = {(b, u): [bilinear(added(B, b), W, added(U, u)) for W, _ in model] for b, u in profiles(dim)}
    if any(len(set(found)) < len(model) for found in poles.values()):
        yield "C2"
    displacements = [(i,) for i in range(dim)] + [(0, i) for i in range(1, dim)]
    if any(sum(x * y for x, y in zip(v, added(U, n), strict=True)) == 0 for _, v in model for n in displacements):
        yield "C3"
    for triple in sum_profiles(dim):
        first, other, both = (poles[profile] for profile in triple)
        if any(first[h] + other[g] in both for h in heads for g in heads if h != g):
            yield "C4"
            return


def drawn(random: Random, rows: int, columns: int, low: int, high: int) -> list[list[int]]:
    return [[random.randint(low, high) for _ in range(columns)] for _ in range(rows)]


def random_heads(random: Random, heads: int, dim: int, size: int) -> Model:
    return [(drawn(random, dim, dim, -size, size), drawn(random, 1, dim, -size, size)[0]) for _ in range(heads)]


def tokens(random: Random, dim: int, values: int) -> list[list[int]]:
    """Coordinates from the program's grid of so many values around 0."""
    return drawn(random, dim, dim, -(values // 2), -(values // 2) + values - 1)


@pytest.mark.parametrize(
    ("heads", "dim", "grid"),
    [(1, 1, Grid(5, 7)), (3, 1, Grid(30, 31)), (1, 3, Grid(25, 40)), (2, 2, Grid(90, 101)), (3, 2, Grid(300, 501))],
)
def test_failures_are_rarer_than_the_bound(heads: int, dim: int, grid: Grid) -> None:
    random, draws, failed = Random(1), 3000, 0
    for _ in range(draws):
        model = random_heads(random, heads, dim, 3)
        if len({str(W) for W, _ in model}) < heads or not all(any(v) for _, v in model):
            continue  # not canonical
        failed += any(failures(model, tokens(random, dim, grid.b_values), tokens(random, dim, grid.u_values)))
    bound = failure_bound(heads, dim, grid)
    assert bound < 1
    assert 0 < failed / draws < bound


@pytest.mark.parametrize("name", ["C2", "C3", "C4"])
def test_worst_models_come_near_their_share_of_the_bound(name: str) -> None:
    # matrices that differ in one entry, v with one entry: polynomials x·y and x, zero about 2/S and 1/S of the time
    worst: dict[str, Model] = {
        "C2": [([[0, 0], [0, 0]], [1, 0]), ([[1, 0], [0, 0]], [1, 0])],
        "C3": [([[0, 0], [0, 0]], [1, 0])],
        "C4": [([[0, 0], [0, 0]], [1, 0]), ([[1, 0], [0, 0]], [1, 0]), ([[-1, 0], [0, 0]], [1, 0])],
    }
    model, random, grid = worst[name], Random(2), Grid(401, 401)
    draws = 6000
    failed = sum(name in failures(model, tokens(random, 2, 401), tokens(random, 2, 401)) for _ in range(draws))
    share = float(BY_NAME[name].failure_bound(len(model), 2, grid))
    assert share / 20 < failed / draws < share + 4 * (share / draws) ** 0.5


@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(4, 3), Grid(3, 5)])
def test_no_single_polynomial_vanishes_more_often_than_schwartz_zippel_says(grid: Grid) -> None:
    # d = 1, every draw of (b, u): b·u·(W_1 − W_2), v·u, det B = b, det U = u
    draws = [
        (b, u)
        for b in range(-(grid.b_values // 2), -(grid.b_values // 2) + grid.b_values)
        for u in range(-(grid.u_values // 2), -(grid.u_values // 2) + grid.u_values)
    ]
    shares = {
        "C1": [Fraction(sum(x[i] == 0 for x in draws), len(draws)) for i in range(2)],
        "C2": [Fraction(sum(b * u == 0 for b, u in draws), len(draws))],
        "C3": [Fraction(sum(u == 0 for _, u in draws), len(draws))] * 2,
    }
    for name, vanishing in shares.items():
        assert sum(vanishing) <= BY_NAME[name].failure_bound(2, 1, grid)
    assert (
        sum(shares["C1"])
        == BY_NAME["C1"].failure_bound(2, 1, grid)
        == Fraction(1, grid.b_values) + Fraction(1, grid.u_values)
    )
    assert sum(shares["C3"]) == BY_NAME["C3"].failure_bound(2, 1, grid) == Fraction(2, grid.u_values)


@pytest.mark.parametrize(("size", "low", "high"), [(2, 0.30, 0.42), (3, 0.05, 0.13), (4, 0.0005, 0.015)])
def test_measured_pass_rates_of_small_grids(size: int, low: float, high: float) -> None:
    """With all coordinates at most 3 in size, 36% of draws pass at H = d = 2, 9% at 3 and 0.3% at 4."""
    random, draws = Random(3), 3000
    passed = 0
    for _ in range(draws):
        model = random_heads(random, size, size, 3)
        passed += not any(failures(model, tokens(random, size, 7), tokens(random, size, 7)))
    assert low < passed / draws < high
