"""The profile identity, from the definition of softmax attention.

``f(b+u, …, b+u, b) = s·b + Σ_h c_h·k·r_h/(1 + k·r_h)`` with ``k`` copies of ``b+u``,
``r_h = exp(bᵀW_h u)``, ``c_h = v_h·u`` and ``s = Σ_h v_h``: statement (b) of proofs/profile-identity.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, IndexedBase, Matrix, Sum, exp, symbols

Head = tuple[Matrix, Matrix]


def attention(heads: list[Head], tokens: list[Matrix]) -> Expr:
    """Return ``f(X) = Σ_h v_h·Σ_i p_{h,i} x_i`` with ``p_h = softmax_i(x_nᵀ W_h x_i)``, as defined."""
    last = tokens[-1]
    value = 0
    for W, v in heads:
        weights = [exp((last.T * W * token)[0]) for token in tokens]
        value += sum(weight / sum(weights) * v.dot(token) for weight, token in zip(weights, tokens, strict=True))
    return value


def profile(heads: list[Head], b: Matrix, u: Matrix, k: int) -> Expr:
    """Return ``s·b + Σ_h c_h·k·r_h/(1 + k·r_h)``."""
    value = 0
    for W, v in heads:
        r, c = exp((b.T * W * u)[0]), v.dot(u)
        value += v.dot(b) + c * k * r / (1 + k * r)
    return value


def difference(H: int, d: int, k: int) -> Expr:
    """Return left minus right for ``H`` heads, dimension ``d`` and ``k`` copies, all entries being symbols."""
    b, u = (Matrix(symbols(f"{name}1:{d + 1}")) for name in "bu")
    heads = [(Matrix(d, d, symbols(f"W{h}_:{d}:{d}")), Matrix(symbols(f"v{h}_:{d}"))) for h in range(H)]  # W_h and v_h
    return attention(heads, [b + u] * k + [b]) - profile(heads, b, u, k)


def head_difference() -> Expr:
    """Return the summand of one head, left minus right, for symbolic ``k`` and ``d``.

    Both sides are sums of one such summand for each head: if it is 0, the identity holds for every ``H``.
    """
    m, n, i = symbols("m n i", integer=True)
    d, k = symbols("d k", integer=True, positive=True)
    b, u, v, W = (IndexedBase(name) for name in "buvW")
    Token = Callable[[Expr], Expr]

    def logit(token: Token) -> Expr:  # bᵀ W x
        return Sum(b[m] * W[m, n] * token(n), (m, 1, d), (n, 1, d)).expand()

    def readout(token: Token) -> Expr:  # v·x
        return Sum(v[m] * token(m), (m, 1, d)).expand()

    def copy(index: Expr) -> Expr:
        return b[index] + u[index]

    def last(index: Expr) -> Expr:
        return b[index]

    def displacement(index: Expr) -> Expr:
        return u[index]

    def over_copies(term: Expr) -> Expr:
        return Sum(term, (i, 1, k)).doit(deep=False)

    total = over_copies(exp(logit(copy))) + exp(logit(last))
    left = over_copies(exp(logit(copy)) / total * readout(copy)) + exp(logit(last)) / total * readout(last)
    r, c = exp(logit(displacement)), readout(displacement)
    return left - (readout(last) + c * k * r / (k * r + 1))
