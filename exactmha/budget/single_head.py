"""One head, as in earlier work: d queries of length 1 give v, d² of length 2 give W (`proofs/budget-single-head`).

Here it is x_n^T W x_i throughout; arXiv:2601.16873 scores x_i^T W x_n, so its W is the transpose of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from flint import fmpq

from exactmha.budget.isolation import lone_pole
from exactmha.budget.lab import Lab, Row, assemble, product
from exactmha.errors import ConditionFailed, NoInterpolant
from exactmha.fields.interface import Scalar
from exactmha.heads import Head


def formula(_heads: int, dim: int) -> int:
    """Return d² + d."""
    return dim * dim + dim


def longest(_heads: int, _dim: int) -> int:
    """Return 2."""
    return 2


def learn(lab: Lab) -> tuple[Head, ...]:
    """Recover the only head; raises `NoInterpolant` where an answer shows no weight of one head."""
    v = readout(lab)
    for i in range(1, lab.dim + 1):
        lab.retry([("u", i)], partial(_visible, lab, v, i))
    rows = [lab.retry([("b", j)], partial(_row, lab, v, j)) for j in range(1, lab.dim + 1)]
    return assemble(lab, rows, [v])


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
