"""One head of low rank r, from r(2d − r) measurements ⟨b aᵀ, W⟩ with random a and b (`proofs/budget-low-rank`).

Earlier work takes O(rd) such measurements and minimises a nuclear norm. Exactly: with the first r rows and the first
r columns of L = B W U, W has rank at most r and det L_rr ≠ 0 give L = L_dr L_rr^{-1} L_rd. With d queries for v and
one that checks the assumption, d + r(2d − r) + 1 queries of length at most 2. Where W has several coordinates (over Q
with several logarithms), each of these matrices must have rank at most r.
"""

from __future__ import annotations

from functools import partial

from flint import fmpq, fmpq_mat

from exactmha.budget.lab import Lab, Row, assemble, product
from exactmha.budget.orthogonal import logit
from exactmha.budget.single_head import readout, single_logit
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
    completed = [_completed(lab, seen, rank, g) for g in range(lab.field.rank)]
    rows = []
    for j in places:
        row = Row(lab.design.b[j])
        for i in places:
            row.learn(lab.design.u[i], [tuple(table[j, i] for table in completed)])  # type: ignore[misc]  # rational
        rows.append(row)
    (head,) = assemble(lab, rows, [v])
    core = [fmpq_mat([[fmpq(seen[j, i][g]) for i in range(rank)] for j in range(rank)]) for g in range(lab.field.rank)]
    _check(lab, head, is_core_regular=all(matrix.rank() == rank for matrix in core))
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


def _pivots(matrix: fmpq_mat) -> list[int]:
    reduced, rank = matrix.rref()
    return [next(i for i, x in enumerate(row) if x != 0) for row in reduced.tolist()[:rank]]


def _check(lab: Lab, head: Head, *, is_core_regular: bool) -> None:
    """Ask for one logit more, of tokens that are sums of the others, and compare it with b^T W u.

    Where it differs though det L_rr = 0, these tokens may hide a part of W: they are drawn again.
    """
    b, u = ([sum(column) for column in zip(*tokens, strict=True)] for tokens in (lab.design.b, lab.design.u))
    if not any(product(head.v, u)):
        raise ConditionFailed(("C3",), profile="check", witness="v·u = 0")
    measured = single_logit(lab, head.v, b, u, "the check")
    lab.keep("check", "check of the assumption")
    expected = [logit(matrix, b, u) * lab.field.denominator for matrix in head.W]
    if [fmpq(x) for x in measured] != expected:
        if not is_core_regular:
            raise ConditionFailed(("det L_rr ≠ 0",), profile="the first r tokens", witness="they hide a part of W")
        raise InconsistentAnswers("the check query measures another ⟨b aᵀ, W⟩: W is no matrix of so low a rank")
