"""Heads in known, pairwise orthogonal subspaces, as in earlier work: each learned alone (`proofs/budget-orthogonal`).

For b and x in the subspace of one head all other heads give 0 and stay silent: Σ_h (d_h² + d_h) queries of length at
most 2 for subspaces of dimensions d_h, and one more, of length 3 and generic tokens, that checks the assumption.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from exactmha.budget.lab import Lab, combination, product
from exactmha.budget.single_head import agrees, single_logit
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError
from exactmha.fields.interface import Exponent, Scalar
from exactmha.heads import Head

Basis = Sequence[Sequence[int]]
"""Tokens that span the subspace of one head."""


def blocks(heads: int, dim: int) -> list[Basis]:
    """Return the coordinate subspaces that share out R^d among H heads, the first ones larger by one if need be."""
    if heads > dim:
        raise InputError("orthogonal subspaces need H ≤ d", field="heads", value=heads)
    sizes = [dim // heads + (h < dim % heads) for h in range(heads)]
    starts = [sum(sizes[:h]) for h in range(heads)]
    return [
        [tuple(int(x == i) for x in range(dim)) for i in range(start, start + size)]
        for start, size in zip(starts, sizes, strict=True)
    ]


def formula(heads: int, dim: int) -> int:
    """Return Σ_h (d_h² + d_h) + 1 for the subspaces of `blocks`."""
    return sum(len(basis) ** 2 + len(basis) for basis in blocks(heads, dim)) + 1


def longest(_heads: int, _dim: int) -> int:
    """Return 3."""
    return 3


def learn(lab: Lab, subspaces: Sequence[Basis] | None = None) -> tuple[Head, ...]:
    """Recover one head in each subspace; raises `InconsistentAnswers` where a check query shows other heads."""
    bases = blocks(lab.heads, lab.dim) if subspaces is None else subspaces
    _check_orthogonal(bases)
    heads = [_head(lab, basis, h) for h, basis in enumerate(bases, 1)]
    if not agrees(lab, heads):
        raise InconsistentAnswers("the check query has another answer: the heads do not live in these subspaces")
    return tuple(heads)


def _check_orthogonal(bases: Sequence[Basis]) -> None:
    for h, basis in enumerate(bases):
        for other in bases[:h]:
            if any(sum(x * y for x, y in zip(p, q, strict=True)) for p in basis for q in other):
                raise InputError("the subspaces are not pairwise orthogonal", field="subspaces", value=h + 1)


def _head(lab: Lab, basis: Basis, h: int) -> Head:
    """Learn the head of one subspace: v from its basis, W from pairs of random tokens in it."""
    gram = fmpq_mat([[fmpq(sum(x * y for x, y in zip(p, q, strict=True))) for q in basis] for p in basis]).inv()
    values = [lab.scalar_of(lab.ask(p), f"f of a basis token of subspace {h}") for p in basis]
    lab.keep("part", "base values, subspace by subspace", subspace=h)
    weights = [[row[c] for row in values] for c in range(lab.field.degree)]
    coordinates = [(gram * fmpq_mat([[x] for x in column])).entries() for column in weights]
    parts = [combination(list(column), basis) for column in coordinates]
    v: list[Scalar] = [tuple(part[x] for part in parts) for x in range(lab.dim)]

    size = range(len(basis))

    def attempt() -> tuple[list[list[int]], list[list[int]], list[list[Exponent]]]:
        rows, columns = ([list(t[: len(basis)]) for t in tokens] for tokens in (lab.design.b, lab.design.u))
        finals, displacements = ([_token(y, basis) for y in table] for table in (rows, columns))
        if any(not any(product(v, u)) for u in displacements):
            raise ConditionFailed(("C3",), profile=f"subspace {h}", witness="v·u = 0")
        exponents = [
            [single_logit(lab, v, b, u, f"subspace {h}, ({j}, {i})") for i, u in enumerate(displacements, 1)]
            for j, b in enumerate(finals, 1)
        ]
        if fmpq_mat(len(rows), len(rows), [fmpq(x) for r in rows for x in r]).det() == 0:
            raise ConditionFailed(("C1",), profile=f"subspace {h}", witness="dependent tokens")
        if fmpq_mat(len(rows), len(rows), [fmpq(x) for r in columns for x in r]).det() == 0:
            raise ConditionFailed(("C1",), profile=f"subspace {h}", witness="dependent tokens")
        return rows, columns, exponents

    drawn = [(kind, position + 1) for kind in ("b", "u") for position in size]
    rows, columns, exponents = lab.retry(drawn, attempt)
    lab.keep("part", "entries of W, subspace by subspace", subspace=h)
    left = fmpq_mat([[fmpq(x) for x in r] for r in rows]).inv() * fmpq(1, lab.field.denominator)
    right = fmpq_mat([[fmpq(x) for x in r] for r in columns]).transpose().inv()
    dual = gram * fmpq_mat([[fmpq(x) for x in p] for p in basis])
    matrices = []
    for g in range(lab.field.rank):
        inner = left * fmpq_mat([[fmpq(e[g]) for e in r] for r in exponents]) * right
        matrices.append(tuple(tuple(r) for r in (dual.transpose() * inner * dual).tolist()))
    return Head(tuple(matrices), tuple(v))


def _token(coordinates: Sequence[int], basis: Basis) -> tuple[int, ...]:
    return tuple(sum(y * p[x] for y, p in zip(coordinates, basis, strict=True)) for x in range(len(basis[0])))
