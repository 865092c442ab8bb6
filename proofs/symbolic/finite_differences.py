"""The linear system for the pole polynomial: proofs/head-rank-from-bound, statement 2.

With ``g_k = (f_k − f_0)/k`` and ``Q(x) = Π_h(1 + x·r_h)`` the ``H``-th differences of ``Q(k)·g_k`` vanish, and so do
the moments ``Σ_k w_k k^i Q(k) g_k``, ``i < H``, ``w_k = (−1)^k·binomial(2H − 1, k − 1)``.
"""

from __future__ import annotations

from sympy import Expr, Symbol, binomial, prod, symbols


def sequence(k: Expr, H: int) -> Expr:
    """Return ``Q(k)·g_k`` with ``g_k`` from the samples ``f_k = σ + Σ_h c_h·k·r_h/(1 + k·r_h)``."""
    r, c = symbols(f"r1:{H + 1}"), symbols(f"c1:{H + 1}")
    sigma = Symbol("sigma")

    def f(x: Expr) -> Expr:
        return sigma + sum(c[h] * x * r[h] / (1 + x * r[h]) for h in range(H))

    return prod(1 + k * r[h] for h in range(H)) * (f(k) - f(0)) / k


def difference(H: int) -> Expr:
    """Return ``Δ^H[Q(k)·g_k]`` at a symbolic start ``i``; the right side is 0."""
    i = Symbol("i")
    return sum((-1) ** (H - n) * binomial(H, n) * sequence(i + n, H) for n in range(H + 1))


def moment(H: int, i: int) -> Expr:
    """Return ``Σ_{k=1}^{2H} w_k·k^i·Q(k)·g_k``; the right side is 0 for ``i < H``."""
    return sum((-1) ** k * binomial(2 * H - 1, k - 1) * k**i * sequence(k, H) for k in range(1, 2 * H + 1))


def pascal_difference() -> Expr:
    """Return the coefficient of ``y(i+l)`` in ``Δ^{H+1}y(i) − (Δ^H y(i+1) − Δ^H y(i))``, over ``(−1)^{H+1−l}``.

    It is 0 for symbolic ``H`` and ``l``: the differences as defined by binomial coefficients are iterated ones.
    """
    H, n = symbols("H l", integer=True, positive=True)
    return binomial(H + 1, n) - (binomial(H, n - 1) + binomial(H, n))


def newton_difference() -> Expr:
    """Return ``Δ binomial(k, j) − binomial(k, j − 1)`` for symbolic ``k`` and ``j``.

    It is 0: each difference lowers the degree by one, so the ``H``-th difference of a polynomial of degree less than
    ``H`` is 0 for every ``H``. And ``Q(k)·g_k = Σ_h c_h r_h·Π_{g≠h}(1 + k·r_g)`` is such a polynomial.
    """
    k, j = symbols("k j", integer=True, positive=True)
    return binomial(k + 1, j) - binomial(k, j) - binomial(k, j - 1)
