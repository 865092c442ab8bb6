"""Assembling against hand computations and against SymPy: U^T v = c, and B W U = L."""

from __future__ import annotations

from random import Random

import pytest
import sympy
from flint import fmpq

from exactmha.heads import Head
from exactmha.recover.assemble import WeightSolver, readout


def rational(x: sympy.Rational) -> fmpq:
    return fmpq(int(x.p), int(x.q))


def basis(random: Random, dim: int) -> sympy.Matrix:
    while True:
        drawn = sympy.Matrix(dim, dim, lambda _i, _j: random.randint(-9, 9))
        if drawn.det() != 0:
            return drawn


def test_readout_by_hand() -> None:
    # u_1 = (1, 1), u_2 = (1, −1), v = (2, 3): u_1·v = 5, u_2·v = −1
    assert readout([(1, 1), (1, -1)], [(fmpq(5),), (fmpq(-1),)]) == ((fmpq(2),), (fmpq(3),))


def test_readout_in_one_dimension() -> None:
    assert readout([(-4,)], [(fmpq(6),)]) == ((fmpq(-3, 2),),)


def test_readout_with_irrational_coordinates_by_hand() -> None:
    # v = (1 + 2γ, 3 − γ): u_1·v = v_1 + v_2 = 4 + γ, u_2·v = 2 v_2 = 6 − 2γ
    residues = [(fmpq(4), fmpq(1)), (fmpq(6), fmpq(-2))]
    assert readout([(1, 1), (0, 2)], residues) == ((fmpq(1), fmpq(2)), (fmpq(3), fmpq(-1)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_readout_against_sympy(dim: int, seed: int) -> None:
    random = Random(seed)
    U, c = basis(random, dim), sympy.Matrix(dim, 2, lambda _i, _j: sympy.Rational(random.randint(-9, 9), 7))
    displacements = [tuple(int(U[k, i]) for k in range(dim)) for i in range(dim)]  # the columns of U
    residues = [(rational(c[i, 0]), rational(c[i, 1])) for i in range(dim)]
    v = U.T.LUsolve(c)
    expected = tuple((rational(v[k, 0]), rational(v[k, 1])) for k in range(dim))
    assert readout(displacements, residues) == expected


def test_weights_by_hand() -> None:
    # W = [[1, 2], [3, 4]], b = (1, 0), (1, 1), u = (0, 1), (1, −1):
    # b_1 W = (1, 2), b_2 W = (4, 6), so L = [[2, −1], [6, −2]]
    solver = WeightSolver([(1, 0), (1, 1)], [(0, 1), (1, -1)], 1)
    found = solver.head([[(2,), (-1,)], [(6,), (-2,)]], ((fmpq(7),), (fmpq(8),)))
    one, two, three, four = (fmpq(n) for n in (1, 2, 3, 4))
    assert found == Head((((one, two), (three, four)),), ((fmpq(7),), (fmpq(8),)))


def test_the_denominator_is_the_unit_of_the_exponents() -> None:
    # exponent 5 in units of 1/6 with b = 2, u = −1: W = 5/6 / (−2)
    (((entry,),),) = WeightSolver([(2,)], [(-1,)], 6).head([[(5,)]], ((fmpq(1),),)).W
    assert entry == fmpq(-5, 12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("generators", [0, 1, 3])
def test_weights_against_sympy(dim: int, generators: int, seed: int) -> None:
    random, denominator = Random(seed), 6
    B, U = basis(random, dim), basis(random, dim)
    Ws = [
        sympy.Matrix(dim, dim, lambda _i, _j: sympy.Rational(random.randint(-9, 9), denominator))
        for _ in range(generators)
    ]
    Ls = [B * W * U * denominator for W in Ws]
    exponents = [[tuple(int(L[j, i]) for L in Ls) for i in range(dim)] for j in range(dim)]
    solver = WeightSolver(
        [tuple(int(x) for x in B.row(j)) for j in range(dim)],
        [tuple(int(x) for x in U.col(i)) for i in range(dim)],
        denominator,
    )
    found = solver.head(exponents, ((fmpq(1),),) * dim)
    expected = [tuple(tuple(rational(x) for x in W.row(i)) for i in range(dim)) for W in Ws]
    assert list(found.W) == expected
