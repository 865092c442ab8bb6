"""Assembling: residues give v, logarithms of the poles give W (`proofs/algorithm`)."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from exactmha.fields.interface import Exponent, Scalar
from exactmha.heads import Head, Matrix, matrix

Tokens = Sequence[Sequence[int]]


def readout(displacements: Tokens, residues: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Solve u_i·v = residues[i], i = 1..d, for one head's v; the displacements must be a basis."""
    solution = fmpq_mat([[fmpq(x) for x in u] for u in displacements]).solve(fmpq_mat([list(c) for c in residues]))
    return tuple(tuple(row) for row in solution.tolist())


class WeightSolver:
    """Solves W = B^{-1} L U^{-1} for every head, with the b_j^T as rows of B and the u_i as columns of U."""

    def __init__(self, finals: Tokens, displacements: Tokens, denominator: int) -> None:
        self._left = fmpq_mat([[fmpq(x) for x in b] for b in finals]).inv() * fmpq(1, denominator)
        self._right = fmpq_mat([[fmpq(x) for x in u] for u in displacements]).transpose().inv()

    def head(self, exponents: Sequence[Sequence[Exponent]], v: tuple[Scalar, ...]) -> Head:
        """Return the head with b_j^T W u_i = exponents[j][i] units, one matrix per generator."""
        rank = len(exponents[0][0])
        return Head(tuple(self._matrix([[e[g] for e in row] for row in exponents]) for g in range(rank)), v)

    def _matrix(self, logits: Sequence[Sequence[int]]) -> Matrix:
        return matrix((self._left * fmpq_mat(list(map(list, logits))) * self._right).tolist())
