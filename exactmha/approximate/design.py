"""The profiles that the algorithm asks, for tokens with denominators, and where their samples stand in one vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from exactmha.errors import InputError
from exactmha.sequences import Token, TokenSequence

STAGES = ("first row", "first row, sums", "later rows", "later rows, sums")


@dataclass(frozen=True, slots=True)
class PlannedProfile:
    """Profile (b, u): "k copies of b + u, then b", k = 1..2H. Row j and column i count from 0."""

    stage: str
    name: str
    row: int
    column: int
    is_sum: bool
    b: Token
    u: Token

    def queries(self, heads: int) -> Iterator[TokenSequence]:
        """Yield its 2H queries."""
        token = add(self.b, self.u)
        return (TokenSequence.copies(k, token, self.b) for k in range(1, 2 * heads + 1))


@dataclass(frozen=True)
class TokenDesign:
    """Final tokens b_1..b_d and displacements u_1..u_d, two bases of Q^d (condition C1)."""

    b: tuple[Token, ...]
    u: tuple[Token, ...]
    name: str = "given"

    def __post_init__(self) -> None:
        for kind, tokens in (("b", self.b), ("u", self.u)):
            if len(tokens) != len(self.b) or any(len(token) != len(self.b) for token in tokens):
                raise InputError("a design needs d tokens b and d tokens u in R^d", field=kind)
            if fmpq_mat(_rows(tokens)).rank() < len(tokens):
                raise InputError("the tokens are no basis (condition C1)", field=kind)

    @property
    def dim(self) -> int:
        """The dimension d."""
        return len(self.b)

    @cached_property
    def b_inverse(self) -> fmpq_mat:
        """B^{-1}, the b_j^T being the rows of B."""
        return fmpq_mat(_rows(self.b)).inv()

    @cached_property
    def u_inverse(self) -> fmpq_mat:
        """U^{-1}, the u_i being the columns of U."""
        return fmpq_mat(_rows(self.u)).transpose().inv()

    @cached_property
    def profiles(self) -> tuple[PlannedProfile, ...]:
        """The 2d² − 1 profiles in the order in which they are asked."""
        return tuple(self._profiles())

    def _profiles(self) -> Iterator[PlannedProfile]:
        first = self.b[0]
        for i, u in enumerate(self.u):
            yield PlannedProfile(STAGES[0], f"(b_1, u_{i + 1})", 0, i, False, first, u)
            if i:
                yield PlannedProfile(STAGES[1], f"(b_1, u_1+u_{i + 1})", 0, i, True, first, add(self.u[0], u))
        for j, b in enumerate(self.b[1:], 1):
            for i, u in enumerate(self.u):
                yield PlannedProfile(STAGES[2], f"(b_{j + 1}, u_{i + 1})", j, i, False, b, u)
                yield PlannedProfile(STAGES[3], f"(b_1+b_{j + 1}, u_{i + 1})", j, i, True, add(first, b), u)

    def sum_of(self, index: int) -> int:
        """Return the number of the sum profile that matches grid profile number `index`: the one after it."""
        if not self.profiles[index + 1].is_sum:
            raise ValueError("this profile has no sum profile")
        return index + 1

    def position(self, row: int, column: int, heads: int) -> int:
        """Return where the 2H samples of grid profile (row, column) begin in the vector of grid samples.

        The vector is f(b_1), then the grid profiles row by row; sum profiles serve matching only.
        """
        return 1 + 2 * heads * (row * self.dim + column)

    def grid_samples(self, heads: int) -> int:
        """Return 1 + 2Hd², the length of that vector."""
        return 1 + 2 * heads * self.dim**2

    def base_query(self) -> TokenSequence:
        """Return the query of length 1, the token b_1."""
        return TokenSequence([(self.b[0], 1)])

    def condition_numbers(self) -> tuple[fmpq, fmpq]:
        """Return cond(B) and cond(U) in the ∞-norm, exactly."""
        b, u = fmpq_mat(_rows(self.b)), fmpq_mat(_rows(self.u)).transpose()
        return _norm(b) * _norm(self.b_inverse), _norm(u) * _norm(self.u_inverse)


def add(left: Token, right: Token) -> Token:
    """Return the sum of two tokens."""
    return tuple(x + y for x, y in zip(left, right, strict=True))


def _rows(tokens: Sequence[Token]) -> list[list[fmpq]]:
    return [[fmpq(x) for x in token] for token in tokens]


def _norm(matrix: fmpq_mat) -> fmpq:
    return max((sum((abs(x) for x in row), fmpq(0)) for row in matrix.tolist()), default=fmpq(0))
