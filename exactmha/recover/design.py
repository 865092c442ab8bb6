"""The random design: tokens B and U, and the query count by stage (`proofs/query-count`, `proofs/genericity-bound`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from flint import fmpz_mat

from exactmha.conditions import Grid, grid_for
from exactmha.errors import ConditionFailed, InputError
from exactmha.fields.interface import Field
from exactmha.randomness import Stream
from exactmha.recover.sample import IntToken

DEFAULT_FAILURE_BOUND = Fraction(1, 2**40)
WEIGHT_BITS = 12_000
"""Size budget of one weight in the rational and radical fields: the grid is chosen so that it is about this large."""
_U_WIDER = 16
"""There u is drawn this much wider than b: c_h = v_h·u vanishes with probability about 1/range."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the algorithm and the number of queries it asks."""

    name: str
    queries: int


def ledger(heads: int, dim: int) -> tuple[Stage, ...]:
    """Return the stages of the algorithm; their queries sum to 4Hd² − 2H + 1 (`proofs/query-count`)."""
    profile = 2 * heads
    return (
        Stage("base value f(b_1)", 1),
        Stage("first profile (b_1, u_1)", profile),
        Stage("first row (b_1, u_i)", (dim - 1) * profile),
        Stage("first row, sums (b_1, u_1+u_i)", (dim - 1) * profile),
        Stage("later rows (b_j, u_i)", dim * (dim - 1) * profile),
        Stage("later rows, sums (b_1+b_j, u_i)", dim * (dim - 1) * profile),
    )


def expected_queries(heads: int, dim: int) -> int:
    """Return 4Hd² − 2H + 1."""
    return 4 * heads * dim**2 - 2 * heads + 1


def expected_length(heads: int) -> int:
    """Return 2H + 1, the largest length of a query."""
    return 2 * heads + 1


def default_grid(field: Field, heads: int, dim: int, bound: Fraction) -> Grid:
    """Choose the grid: for the failure bound where exponents cost nothing, else from the size budget."""
    if field.logit_bits == 0:
        return grid_for(heads, dim, bound)
    product = WEIGHT_BITS // (dim * field.logit_bits)
    b_half = max(2, isqrt(product // _U_WIDER))
    u_half = max(4, product // b_half)
    return Grid(2 * b_half + 1, 2 * u_half + 1)


class Design:
    """The tokens b_1..b_d and u_1..u_d, drawn one by one from (seed, token, attempt) and nothing else."""

    def __init__(self, seed: int, dim: int, grid: Grid) -> None:
        if min(grid.b_values, grid.u_values) < 2:
            raise InputError("a grid needs at least 2 values", field="--grid", value=min(grid.b_values, grid.u_values))
        self._seed, self._dim, self._grid = seed, dim, grid
        self._attempts: dict[tuple[str, int], int] = {}
        self.b: list[IntToken] = []
        self.u: list[IntToken] = []

    def draw(self, kind: str, position: int) -> IntToken:
        """Draw token b_position or u_position afresh (kind "b" or "u"), dropping later tokens of that kind.

        Raises `ConditionFailed` (C1) when it depends linearly on the earlier ones.
        """
        attempt = self._attempts.get((kind, position), 0)
        self._attempts[kind, position] = attempt + 1
        values = self._grid.b_values if kind == "b" else self._grid.u_values
        stream = Stream(self._seed, "design", kind, position, attempt)
        token = self._placed(kind, tuple(stream.below(values) - values // 2 for _ in range(self._dim)))
        tokens = self.b if kind == "b" else self.u
        tokens[position - 1 :] = [token]
        if fmpz_mat([list(t) for t in tokens]).rank() < position:
            name = f"{kind}_{position}"
            witness = f"{name} = {token} depends linearly on the earlier {kind}'s"
            raise ConditionFailed(("C1",), profile=f"token {name}", witness=witness)
        return token

    def _placed(self, kind: str, drawn: IntToken) -> IntToken:  # noqa: ARG002  # for designs that move their b's
        """Return the token that stands for the numbers drawn."""
        return drawn
