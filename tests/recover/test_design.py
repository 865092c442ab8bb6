"""The ledger recounted from the list of profiles, the tokens recomputed with hashlib, the grids from their purpose."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from flint import fmpq

from exactmha.conditions import Grid
from exactmha.errors import ConditionFailed, InputError
from exactmha.fields import ExponentialField, RadicalField, RationalField
from exactmha.recover.design import (
    WEIGHT_BITS,
    Design,
    default_grid,
    expected_length,
    expected_queries,
    ledger,
)


def queries_by_stage(heads: int, dim: int) -> list[int]:
    """Count the queries (number of copies, b, u) of every stage; b and u are sets of the drawn tokens' numbers."""
    rest, copies = range(2, dim + 1), range(1, 2 * heads + 1)
    profiles = [
        [((1,), (1,))],
        [((1,), (i,)) for i in rest],
        [((1,), (1, i)) for i in rest],
        [((j,), (i,)) for j in rest for i in range(1, dim + 1)],
        [((1, j), (i,)) for j in rest for i in range(1, dim + 1)],
    ]
    stages = [{(0, (1,), ())}, *({(k, b, u) for b, u in stage for k in copies} for stage in profiles)]
    assert len(set.union(*stages)) == sum(map(len, stages)), "no query is asked twice"
    return [len(stage) for stage in stages]


@pytest.mark.parametrize("dim", range(1, 7))
@pytest.mark.parametrize("heads", range(7))
def test_ledger_stage_by_stage(heads: int, dim: int) -> None:
    assert [stage.queries for stage in ledger(heads, dim)] == queries_by_stage(heads, dim)
    assert sum(queries_by_stage(heads, dim)) == 4 * heads * dim**2 - 2 * heads + 1 == expected_queries(heads, dim)
    assert expected_length(heads) == max(2 * heads + 1, 1)


def test_ledger_of_the_readme() -> None:
    assert [stage.queries for stage in ledger(3, 3)] == [1, 6, 12, 12, 36, 36]
    assert [stage.name for stage in ledger(1, 1)][:2] == ["base value f(b_1)", "first profile (b_1, u_1)"]


def drawn_by_hand(seed: int, kind: str, position: int, attempt: int, dim: int, values: int) -> tuple[int, ...]:
    """Coordinates from SHAKE-256 of the seed and the token, one byte each for at most 256 values, by rejection."""
    data = hashlib.shake_256(f"exactmha/{seed}/design/{kind}/{position}/{attempt}#0".encode()).digest(64)
    mask = (1 << (values - 1).bit_length()) - 1
    accepted = [byte & mask for byte in data if byte & mask < values]
    return tuple(x - values // 2 for x in accepted[:dim])


def independent(tokens: list[tuple[int, ...]]) -> bool:
    return sympy.Matrix(tokens).rank() == len(tokens)


@pytest.mark.parametrize("seed", range(20))
def test_tokens_come_from_seed_token_and_attempt_alone(seed: int) -> None:
    grid = Grid(3, 200)
    design = Design(seed, 3, grid)
    for kind, values in (("u", 200), ("b", 3)):  # the order of drawing does not matter
        accepted: list[tuple[int, ...]] = []
        while len(accepted) < 3:
            for attempt in range(50):
                token = drawn_by_hand(seed, kind, len(accepted) + 1, attempt, 3, values)
                if independent([*accepted, token]):
                    assert design.draw(kind, len(accepted) + 1) == token
                    accepted.append(token)
                    break
                with pytest.raises(ConditionFailed):
                    design.draw(kind, len(accepted) + 1)
        assert (design.u if kind == "u" else design.b) == accepted


def test_a_dependent_token_is_named_as_c1() -> None:
    zeros = [seed for seed in range(60) if drawn_by_hand(seed, "u", 1, 0, 1, 2) == (0,)]  # coordinates −1 and 0
    assert 15 < len(zeros) < 45
    for seed in zeros:
        with pytest.raises(ConditionFailed) as caught:
            Design(seed, 1, Grid(2, 2)).draw("u", 1)
        assert caught.value.conditions == ("C1",)
        assert caught.value.profile == "token u_1"
        assert caught.value.witness == "u_1 = (0,) depends linearly on the earlier u's"


def test_a_new_draw_drops_the_later_tokens_of_its_kind() -> None:
    design = Design(0, 3, Grid(1000, 1000))
    for position in (1, 2, 3):
        design.draw("b", position)
        design.draw("u", position)
    first, last = design.b[0], design.u
    redrawn = design.draw("b", 2)
    assert design.b == [first, redrawn]
    assert design.u == last
    assert len(design.u) == 3


@pytest.mark.parametrize("kind", ["b", "u"])
@pytest.mark.parametrize("values", [2, 3, 4, 7])
def test_coordinates_are_the_integers_around_zero(kind: str, values: int) -> None:
    grid = Grid(values, 50) if kind == "b" else Grid(50, values)
    seen = set()
    for seed in range(100):
        design = Design(seed, 1, grid)
        try:
            seen |= set(design.draw(kind, 1))
        except ConditionFailed:  # 0 is in every grid, and is no basis
            seen.add(0)
    assert seen == set(range(-(values // 2), -(values // 2) + values))


@pytest.mark.parametrize("grid", [Grid(1, 5), Grid(5, 1), Grid(0, 0)])
def test_a_grid_of_one_value_is_refused(grid: Grid) -> None:
    with pytest.raises(InputError, match="at least 2 values"):
        Design(0, 2, grid)


def bound_by_hand(heads: int, dim: int, values: int) -> Fraction:
    """Σ count·degree / S with degrees d, 2, 1, 2."""
    pairs = heads * (heads - 1) // 2
    c1, c2, c3 = 2 * dim, 2 * (2 * dim**2 - 1) * pairs, (2 * dim - 1) * heads
    c4 = 2 * (dim**2 - 1) * heads**2 * (heads - 1)
    return Fraction(c1 + c2 + c3 + c4, values)


@pytest.mark.parametrize("bound", [Fraction(1, 2**40), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize(("heads", "dim"), [(0, 1), (1, 1), (3, 3), (8, 8), (32, 32)])
def test_exponential_grid_is_the_smallest_within_the_bound(heads: int, dim: int, bound: Fraction) -> None:
    grid = default_grid(ExponentialField(1, 6), heads, dim, bound)
    assert grid.b_values == grid.u_values
    assert bound_by_hand(heads, dim, grid.b_values) <= bound
    assert grid.b_values == 2 or bound_by_hand(heads, dim, grid.b_values - 1) > bound


@pytest.mark.parametrize("bits", [1, 3, 20, 100, 10**6])
@pytest.mark.parametrize("dim", [1, 3, 8])
def test_other_grids_come_from_the_size_budget(bits: int, dim: int) -> None:
    fields = RationalField((2, 3), bits), RadicalField(fmpq(2), 3, bits)
    grids = [default_grid(field, 3, dim, Fraction(1, 2**40)) for field in fields]
    assert grids[0] == grids[1]
    b_half, u_half = grids[0].b_values // 2, grids[0].u_values // 2
    assert u_half > b_half >= 2  # c = v·u vanishes with probability about 1/range: u is the wider
    # d weights of `bits` bits to the power b·u: within the budget, and not far below it, unless at its least
    spent = dim * bits * b_half * u_half
    assert spent <= WEIGHT_BITS or (b_half, u_half) == (2, 4)
    assert spent > WEIGHT_BITS // 2 or (b_half, u_half) == (2, 4)


def test_larger_weights_get_smaller_grids() -> None:
    grids = [default_grid(RationalField((2,), bits), 2, 2, Fraction(1, 2)) for bits in (1, 2, 4, 8, 16, 32, 64)]
    assert all(a.b_values >= b.b_values and a.u_values >= b.u_values for a, b in pairwise(grids))
    assert grids[0].u_values > 4 * grids[-1].u_values
