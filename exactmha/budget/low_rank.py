"""One head of low rank r, from r(2d − r) measurements ⟨b aᵀ, W⟩ with random a and b (`proofs/budget-low-rank`).

Earlier work takes O(rd) such measurements and minimises a nuclear norm. Exactly: with the first r rows and the first
r columns of L = B W U, W has rank at most r and det L_rr ≠ 0 give L = L_dr L_rr^{-1} L_rd. With d queries for v and
one of length 3 that checks the assumption, d + r(2d − r) + 1 queries. Where W has several coordinates (over Q
with several logarithms), each of these matrices must have rank at most r.
"""

from __future__ import annotations

from functools import partial

from flint import fmpq, fmpq_mat

from exactmha.budget.lab import Lab, Row, assemble, product
from exactmha.budget.single_head import agrees, readout, single_logit
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError
from exactmha.fields.interface import Exponent, Scalar
from exactmha.heads import Head


def formula(dim: int, rank: int) -> int:
    """Return d + r(2d − r) + 1."""
    return dim + rank * (2 * dim - rank) + 1


def learn(lab: Lab, rank: int) -> tuple[Head, ...]:
    """Recover the only head, of rank at most `rank`; raises `InconsistentAnswers` where the check query disagrees."""
    if not 1 <= rank <= lab.dim:
        raise InputError("must be from 1 to d", field="rank", value=rank)
    v = readout(lab)
    design = [(kind, i) for kind in ("b", "u") for i in range(1, lab.dim + 1)]
    return (lab.retry(design, partial(_measured, lab, v, rank)),)


def _measured(lab: Lab, v: list[Scalar], rank: int) -> Head:
    places = range(lab.dim)
    if any(not any(product(v, u)) for u in lab.design.u):
        raise ConditionFailed(("C3",), profile="u", witness="v·u = 0")
    seen: dict[tuple[int, int], Exponent] = {}
    for j in places:
        for i in places:
            if min(i, j) < rank:
                b, u = lab.design.b[j], lab.design.u[i]
                seen[j, i] = single_logit(lab, v, b, u, f"(b_{j + 1}, u_{i + 1})")
    lab.keep("measure", "measurements ⟨b aᵀ, W⟩")
    if any(_hides(lab, seen, rank, g) for g in range(lab.field.rank)):
        raise ConditionFailed(("rank L_rr = rank W",), profile="the first r tokens", witness="they hide a part of W")
    completed = [_completed(lab, seen, rank, g) for g in range(lab.field.rank)]
    rows = []
    for j in places:
        row = Row(lab.design.b[j])
        for i in places:
            row.learn(lab.design.u[i], [tuple(table[j, i] for table in completed)])  # type: ignore[misc]  # rational
        rows.append(row)
    (head,) = assemble(lab, rows, [v])
    # Not drawn again until it agrees: on a small grid wrong heads agree with some tokens.
    if not agrees(lab, [head]):
        raise InconsistentAnswers("the check query has another answer: not one head of so low a rank")
    return head


def _completed(lab: Lab, seen: dict[tuple[int, int], Exponent], rank: int, g: int) -> fmpq_mat:
    """Return L from its first r rows and columns; fewer of them where the core shows a smaller rank."""
    core = fmpq_mat([[fmpq(seen[j, i][g]) for i in range(rank)] for j in range(rank)])
    columns, rows = _pivots(core), _pivots(core.transpose())
    if not columns:
        return fmpq_mat(lab.dim, lab.dim)
    inverse = fmpq_mat([[core[j, i] for i in columns] for j in rows]).inv()
    left = fmpq_mat([[fmpq(seen[j, i][g]) for i in columns] for j in range(lab.dim)])
    right = fmpq_mat([[fmpq(seen[j, i][g]) for i in range(lab.dim)] for j in rows])
    return left * inverse * right


def _hides(lab: Lab, seen: dict[tuple[int, int], Exponent], rank: int, g: int) -> bool:
    """Whether the first r rows or columns of L have a larger rank than what they share."""
    first, places = range(rank), range(lab.dim)
    core = fmpq_mat([[fmpq(seen[j, i][g]) for i in first] for j in first])
    rows = fmpq_mat([[fmpq(seen[j, i][g]) for i in places] for j in first])
    columns = fmpq_mat([[fmpq(seen[j, i][g]) for i in first] for j in places])
    return bool(max(rows.rank(), columns.rank()) > core.rank())


def _pivots(matrix: fmpq_mat) -> list[int]:
    reduced, rank = matrix.rref()
    return [next(i for i, x in enumerate(row) if x != 0) for row in reduced.tolist()[:rank]]
