"""The factorisation of a Loewner matrix: statement 1 of proofs/loewner-rank.

``L = C·diag(c_1 r_1, …, c_H r_H)·C'ᵀ`` with ``L_ij = (F(x_i) − F(y_j))/(x_i − y_j)``, ``C_ih = 1/(1 + x_i r_h)``
and ``C'_jh = 1/(1 + y_j r_h)``.
"""

from __future__ import annotations

from sympy import Expr, Matrix, Symbol, diag, symbols


def summand(x: Expr, r: Expr, c: Expr) -> Expr:
    """Return ``c·x·r/(1 + x·r)``, one head's part of ``F(x)``."""
    return c * x * r / (1 + x * r)


def difference(H: int) -> Matrix:
    """Return ``L − C·diag(c_h r_h)·C'ᵀ`` for ``H`` heads and ``H × H`` nodes, all of them symbols."""
    x, y, r, c = (symbols(f"{name}1:{H + 1}") for name in "xyrc")
    sigma = Symbol("sigma")

    def F(z: Expr) -> Expr:
        return sigma + sum(summand(z, r[h], c[h]) for h in range(H))

    L = Matrix(H, H, lambda i, j: (F(x[i]) - F(y[j])) / (x[i] - y[j]))
    C = Matrix(H, H, lambda i, h: 1 / (1 + x[i] * r[h]))
    C_prime = Matrix(H, H, lambda j, h: 1 / (1 + y[j] * r[h]))
    return L - C * diag(*[c[h] * r[h] for h in range(H)]) * C_prime.T


def head_difference() -> Expr:
    """Return one head's part of an entry, left minus right.

    An entry of either side is the sum of the parts of the heads (the constant cancels in the difference quotient),
    so the factorisation holds for every ``H`` and any numbers of nodes if this is 0.
    """
    x, y, r, c = symbols("x y r c")
    quotient = (summand(x, r, c) - summand(y, r, c)) / (x - y)
    return quotient - c * r / ((1 + x * r) * (y * r + 1))
