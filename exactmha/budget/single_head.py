"""One head, as in earlier work: d queries of length 1 give v, d² of length 2 give W, one of length 3 checks them.

Proof: `proofs/budget-single-head`. Without the check two heads (W, v), (−W, v) would pass for one head (0, 2v): all
their answers to queries of length 2 are those of that head.

Here it is x_n^T W x_i throughout; arXiv:2601.16873 scores x_i^T W x_n, so its W is the transpose of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from flint import fmpq

from exactmha.budget.isolation import lone_pole
from exactmha.budget.lab import Lab, Row, add_all, assemble, product
from exactmha.errors import ConditionFailed, InconsistentAnswers, NoInterpolant
from exactmha.fields.interface import Exponent, Scalar
from exactmha.heads import Head

_CHECK_COPIES = 2
"""With one copy the check would be blind: r/(1 + r) + r^{-1}/(1 + r^{-1}) = 1."""


def formula(_heads: int, dim: int) -> int:
    """Return d² + d + 1."""
    return dim * dim + dim + 1


def longest(_heads: int, _dim: int) -> int:
    """Return 3."""
    return 3


def learn(lab: Lab) -> tuple[Head, ...]:
    """Recover the only head; raises `NoInterpolant` or `InconsistentAnswers` where the answers show others."""
    v = readout(lab)
    for i in range(1, lab.dim + 1):
        lab.retry([("u", i)], partial(_visible, lab, v, i))
    rows = [lab.retry([("b", j)], partial(_row, lab, v, j)) for j in range(1, lab.dim + 1)]
    heads = assemble(lab, rows, [v])
    if not agrees(lab, heads):
        raise InconsistentAnswers("the check query has another answer: not one head")
    return heads


def readout(lab: Lab) -> list[Scalar]:
    """Ask the d unit tokens: f(e_i) = s·e_i."""
    s = []
    for i in range(lab.dim):
        unit = tuple(int(i == x) for x in range(lab.dim))
        s.append(lab.scalar_of(lab.ask(unit), f"f(e_{i + 1})"))
        lab.keep("base", "base values f(e_i)", x=unit)
    return s


def _visible(lab: Lab, v: Sequence[Scalar], i: int) -> None:
    if not any(product(v, lab.design.u[i - 1])):
        raise ConditionFailed(("C3",), profile=f"token u_{i}", witness=f"v·u_{i} = 0")


def _row(lab: Lab, v: Sequence[Scalar], j: int) -> Row:
    row = Row(lab.design.b[j - 1])
    for i, u in enumerate(lab.design.u, 1):
        row.learn(u, [single_logit(lab, v, row.b, u, f"(b_{j}, u_{i})")])
        lab.keep("silence", "entries of W", b=row.b, u=u, head=0)
    return row


def single_logit(lab: Lab, v: Sequence[Scalar], b: Sequence[int], u: Sequence[int], name: str) -> tuple[int, ...]:
    """Ask "b + u, b", of length 2, and return the exponent of exp(b^T W u)."""
    answer = lab.ask(b, (u, 1))
    try:
        return lone_pole(lab, name, answer, product(v, b), product(v, u), fmpq(1))
    except NoInterpolant as error:
        raise NoInterpolant(
            f"{name}: ((f − v·b)/(v·u))/(1 − (f − v·b)/(v·u)) is no weight exp(b^T W u) of the field: not one head"
        ) from error


def agrees(lab: Lab, heads: Sequence[Head]) -> bool:
    """Ask "two copies of b + u, then b" for new tokens, and compare the answer in K with that of `heads`: one query.

    Heads other than the oracle's disagree outside the zeros of a non-zero analytic function of (b, u)
    (`proofs/budget-single-head`). Raises `InconsistentAnswers` where `heads` cannot be a model of the field.
    """
    return lab.retry([("b", 1), ("u", 1)], partial(_agrees, lab, heads))


def _agrees(lab: Lab, heads: Sequence[Head]) -> bool:
    b, u = lab.design.b[0], lab.design.u[0]
    residues = [product(head.v, u) for head in heads]
    if not all(any(c) for c in residues):
        raise ConditionFailed(("C3",), profile="the check", witness="v·u = 0")
    answer = lab.ask(b, (u, _CHECK_COPIES))
    lab.keep("first", "check of the assumption", b=b, u=u, nodes=[(_CHECK_COPIES, 0)])
    base = lab.field.embed(add_all([product(head.v, b) for head in heads]))
    exponents = [_exponent(lab, head, b, u) for head in heads]
    return lab.same(answer, lab.form(base, fmpq(_CHECK_COPIES), exponents, residues))


def _exponent(lab: Lab, head: Head, b: Sequence[int], u: Sequence[int]) -> Exponent:
    logits = [logit(matrix, b, u) * lab.field.denominator for matrix in head.W]
    if any(x.q != 1 for x in logits):
        raise InconsistentAnswers(
            "the check query: a recovered head is wrong, its weight at integer tokens leaves the field"
        )
    return tuple(int(x.p) for x in logits)


def logit(matrix: Sequence[Sequence[fmpq]], b: Sequence[int], u: Sequence[int]) -> fmpq:
    """Return b^T M u."""
    return sum((x * y * m for x, row in zip(b, matrix, strict=True) for y, m in zip(u, row, strict=True)), fmpq(0))
