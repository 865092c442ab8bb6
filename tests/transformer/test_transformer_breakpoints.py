"""Bends of a piecewise linear function whose normals are chosen here: the rays follow from them by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import pytest
from flint import fmpq

from exactmha.errors import ConditionFailed, InconsistentAnswers
from exactmha.fields import RationalField
from exactmha.oracle import Oracle
from exactmha.sequences import Token, runs_of
from exactmha.transformer.breakpoints import (
    MOST_ROUNDS,
    Bends,
    Direction,
    HalfPlane,
    cross,
    find_bends,
    inside,
    is_between,
    meeting,
)
from exactmha.transformer.lift import Lifter

FIELD = RationalField((2,))
Lines = Sequence[tuple[fmpq | int, tuple[int, ...]]]


def plane_of(lines: Lines, slope: tuple[int, ...], p: tuple[int, ...], q: tuple[int, ...]) -> tuple[HalfPlane, Oracle]:
    """The half plane of s·x + Σ κ|n·x|."""

    def answer(sequence: Sequence[Token]):  # type: ignore[no-untyped-def]
        ((x, _),) = runs_of(sequence)
        total = sum((fmpq(a) * b for a, b in zip(slope, x, strict=True)), fmpq(0))
        for kappa, n in lines:
            total += kappa * abs(sum((fmpq(a) * b for a, b in zip(n, x, strict=True)), fmpq(0)))
        return FIELD.embed((total,))

    oracle = Oracle(answer, FIELD, len(p))
    return HalfPlane(oracle, Lifter(FIELD), p, q), oracle


def rays(lines: Lines, p: tuple[int, ...], q: tuple[int, ...]) -> list[Direction]:
    """(s, t) with n·(s p + t q) = 0, t > 0, primitive, by increasing angle."""
    found = []
    for _, n in lines:
        np, nq = (sum(a * b for a, b in zip(n, x, strict=True)) for x in (p, q))
        s, t = (-nq, np) if np > 0 else (nq, -np)
        found.append((s // gcd(s, t), t // gcd(s, t)))
    return sorted(found, key=lambda ray: fmpq(-ray[0], ray[1]))


LINES: Lines = [(2, (1, 2, 3)), (-1, (4, -1, 1)), (fmpq(1, 3), (0, 5, -2)), (5, (7, 7, -8))]
P, Q = (3, 1, -2), (-1, 4, 2)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_all_bends_are_found_exactly(count: int) -> None:
    lines = LINES[:count]
    plane, oracle = plane_of(lines, (1, -2, 5), P, Q)
    bends = find_bends(plane, count, is_bound=False)
    assert list(bends.rays) == rays(lines, P, Q)
    assert oracle.queries == len(plane.samples) == len(set(plane.samples)) == 5 + 2 * bends.cuts
    assert oracle.max_length == 1
    for (before, after), ray in zip(zip(bends.slopes, bends.slopes[1:], strict=False), bends.rays, strict=True):
        assert before != after
        assert before[0] * ray[0] + before[1] * ray[1] == after[0] * ray[0] + after[1] * ray[1]


def test_pieces_of_a_circle_are_opposite() -> None:
    plane, _ = plane_of(LINES, (0, 0, 0), P, Q)
    bends = find_bends(plane, 4, is_bound=False)
    assert bends.slopes[-1] == tuple(-x for x in bends.slopes[0])  # T is even, so its slopes are odd


def test_bends_close_together() -> None:
    """Three rays within 10^-5 of each other, two of them within 10^-12."""
    lines: Lines = [(1, (10**6, 1)), (1, (10**6 + 1, 1)), (-1, (10**6, -7))]
    plane, oracle = plane_of(lines, (0, 0), (2, 1), (-1, 3))
    assert list(find_bends(plane, 3, is_bound=False).rays) == rays(lines, (2, 1), (-1, 3))
    assert oracle.queries < 5 + 2 * 3 * MOST_ROUNDS + 60


def test_a_bound_finds_what_is_there() -> None:
    plane, _ = plane_of(LINES[:2], (1, 0, 0), P, Q)
    assert list(find_bends(plane, 4, is_bound=True).rays) == rays(LINES[:2], P, Q)


@pytest.mark.parametrize("lines", [[], [(1, (0, 0, 0))], [(2, (1, 2, 3)), (-2, (1, 2, 3))]])
def test_a_bound_and_no_bend_at_all(lines: Lines) -> None:
    plane, oracle = plane_of(lines, (1, 0, 4), P, Q)
    bends = find_bends(plane, 3, is_bound=True)
    assert bends == Bends((), (), (), bends.cuts)
    assert oracle.queries == 5 + 2 * bends.cuts


def test_more_bends_than_lines_is_a_contradiction() -> None:
    plane, _ = plane_of(LINES, (1, 0, 0), P, Q)
    with pytest.raises(InconsistentAnswers, match="more than"):
        find_bends(plane, 3, is_bound=False)


@pytest.mark.parametrize(
    "lines",
    [
        [(1, (1, 2, 3)), (2, (2, 4, 6))],  # parallel
        [(1, (1, 2, 3)), (2, (0, 0, 0))],  # invisible
    ],
)
def test_fewer_bends_than_lines_are_named(lines: Lines) -> None:
    plane, _ = plane_of(lines, (1, 0, 0), P, Q)
    with pytest.raises(ConditionFailed, match=r"F2 or F3 fails .* 1 bends for 2 lines"):
        find_bends(plane, 2, is_bound=False)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_directions_inside_a_piece(count: int) -> None:
    plane, _ = plane_of(LINES[:count], (0, 0, 0), P, Q)
    bends = find_bends(plane, count, is_bound=False)
    for piece in range(count):
        for _, direction in zip(range(5), inside(bends, piece), strict=False):
            right = bends.rays[piece]
            assert cross(direction, right) > 0
            if piece:
                assert is_between(bends.rays[piece - 1], direction, right)
            elif count > 1:
                assert is_between((-bends.rays[-1][0], -bends.rays[-1][1]), direction, right)


def test_directions_inside_a_piece_too_narrow_for_simple_ones() -> None:
    bends = Bends(((10**6, 1), (10**6 - 1, 1), (10**6 - 2, 1)), ((fmpq(0), fmpq(0)),) * 4, ())
    direction = next(inside(bends, 1))
    assert is_between((10**6, 1), direction, (10**6 - 1, 1))


def test_meeting() -> None:
    assert meeting((fmpq(1), fmpq(2)), (fmpq(3), fmpq(1, 2))) == (3, 4)  # −2 s + (3/2) t = 0
    assert meeting((fmpq(1), fmpq(2)), (fmpq(1), fmpq(2))) is None
    assert meeting((fmpq(1), fmpq(2)), (fmpq(1), fmpq(5))) is None  # only on ±p
