"""Exact one-parameter families of models with the same answers to a list of queries (`proofs/local-identifiability`).

Each is a straight line θ + t·δ through the canonical parameters, proved to leave every answer unchanged for *all* t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul

from flint import fmpq, fmpq_mat

from exactmha.beyond.blind import Direction, dependency, null_vector, primitive
from exactmha.beyond.jacobian import Jacobian
from exactmha.errors import Undecided
from exactmha.heads import Head


@dataclass(frozen=True, slots=True)
class Family:
    """A line θ + t·direction on which no answer changes, the kind of proof, and the proof in words."""

    kind: str
    direction: Direction
    proof: str


def find_family(jacobian: Jacobian) -> Family | None:
    """Return the first family found, of the kinds `logits`, `opposite pair` and `readout`; None proves nothing."""
    searches: tuple[Callable[[Jacobian], Family | None], ...] = (_logits, _opposite_pair, _readout)
    return next((family for search in searches if (family := search(jacobian)) is not None), None)


def _logits(jacobian: Jacobian) -> Family | None:
    """W_h + t·Δ with x_n^T Δ (x_i − x_n) = 0 for all tokens of all queries in which v_h·(x_i − x_n) ≠ 0 somewhere."""
    for h in range(len(jacobian.model.heads)):
        delta = _unseen(jacobian, [q for q in range(len(jacobian.queries)) if jacobian.is_visible(q, h)])
        if delta is not None:
            return Family(
                "logits",
                _direction(jacobian, {h: delta}),
                f"W_{h + 1} + t·δW: in every query no logit of head {h + 1} relative to the last token changes, or "
                f"v_{h + 1} has the same product with all tokens",
            )
    return None


def _opposite_pair(jacobian: Jacobian) -> Family | None:
    """(W + t·Δ, v), (−W − t·Δ, v): together they add v·(x_1 + x_2) to two tokens, whatever W is."""
    heads = jacobian.model.heads
    for h, head in enumerate(heads):
        for g in range(h + 1, len(heads)):
            if not _are_opposite(head, heads[g]):
                continue
            seen = [
                q for q, query in enumerate(jacobian.queries) if jacobian.is_visible(q, h) and not query.is_balanced
            ]
            delta = _unseen(jacobian, seen)
            if delta is not None:
                return Family(
                    "opposite pair",
                    _direction(jacobian, {h: delta, g: [-x for x in delta]}),
                    f"W_{h + 1} + t·δW = −(W_{g + 1} − t·δW) and v_{h + 1} = v_{g + 1}: together these two heads add "
                    "v·(x_1 + x_2) to a query of two tokens, whatever W is; longer queries do not see δW",
                )
    return None


def _readout(jacobian: Jacobian) -> Family | None:
    """V + t·δv with J_v·δv = 0: answers are linear in all v together."""
    columns = [column for h in range(len(jacobian.model.heads)) for column in jacobian.v_columns(h)]
    direction = null_vector(jacobian, columns)
    if direction is None:
        return None
    return Family("readout", direction, "v + t·δv: answers are linear in v for fixed W, and δv alone has answer 0")


def _are_opposite(left: Head, right: Head) -> bool:
    return left.v == right.v and all(
        a == -b
        for one, two in zip(left.W, right.W, strict=True)
        for r, s in zip(one, two, strict=True)
        for a, b in zip(r, s, strict=True)
    )


def _unseen(jacobian: Jacobian, queries: Sequence[int]) -> list[fmpq] | None:
    """Return a matrix Δ ≠ 0 (row by row) with x_n^T Δ (x_i − x_n) = 0 for all tokens of these queries."""
    rows = {
        tuple(primitive(row))
        for q in queries
        for shift in jacobian.queries[q].shifts[1:]
        if any(row := [a * u for a in jacobian.queries[q].last for u in shift])
    }
    size = jacobian.dim**2
    if len(rows) * size > jacobian.limits.jacobian_cells:
        raise Undecided("the search for a family is beyond the size budget")
    return _orthogonal(sorted(rows), size, jacobian.field.place(0, 1).prime)


def _orthogonal(rows: Sequence[Sequence[fmpq]], size: int, prime: int) -> list[fmpq] | None:
    """Return coprime integers, not all 0, orthogonal to all rows of integers; None when there are none.

    Rows that are independent modulo the prime are independent; what they give is checked against the others.
    """
    if not rows:
        return [fmpq(int(i == 0)) for i in range(size)]
    found = dependency([[int(x) % prime for x in row] for row in rows], prime)
    if found is None:
        return None
    (*others, free), equations = found
    left = fmpq_mat(len(others), len(others), [rows[i][j] for i in equations for j in others])
    right = fmpq_mat(len(others), 1, [-rows[i][free] for i in equations])
    vector = [fmpq(int(j == free)) for j in range(size)]
    for j, x in zip(others, left.solve(right).entries() if others else [], strict=True):
        vector[j] = x
    is_proved = all(sum(map(mul, row, vector), fmpq(0)) == 0 for row in rows)
    return primitive(vector) if is_proved else None


def _direction(jacobian: Jacobian, moves: dict[int, list[fmpq]]) -> Direction:
    """Return the direction that moves W_h by moves[h] and nothing else."""
    zeros = [fmpq(0)] * (jacobian.field.degree - 1)
    values = [jacobian.field.embed((fmpq(0), *zeros))] * jacobian.parameters
    for h, delta in moves.items():
        for column, x in zip(jacobian.w_columns(h), delta, strict=True):
            values[column] = jacobian.field.embed((x, *zeros))
    return tuple(values)
