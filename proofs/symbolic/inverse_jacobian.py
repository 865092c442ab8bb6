"""The inverse of the Jacobian of one profile: the two formulas of Lemma 1 of proofs/stability.

With ``x_h = −1/r_h``, ``p_h = Π_{g≠h}(1 − r_g/r_h)``, ``t_h = Σ_{g≠h} r_g/(1 − r_g/r_h)``, ``Q(x) = Π_h(1 + x·r_h)``
and the Lagrange polynomials ``ℓ_k`` of the nodes ``0, …, 2H``

    ∂λ_h/∂f_k = −Q(k)²·ℓ_k(x_h)/(c_h p_h²),
    ∂c_h/∂f_k = Q(k)²/p_h²·(−ℓ_k(x_h) + 2·t_h/r_h·ℓ_k(x_h) − ℓ_k'(x_h)/r_h).
"""

from __future__ import annotations

from sympy import Expr, Function, Matrix, diff, eye, prod, symbols


def inverse(H: int, r: tuple[Expr, ...], c: tuple[Expr, ...]) -> Matrix:
    """Return the rows ``∂c_1/∂f, ∂λ_1/∂f, ∂c_2/∂f, …`` by the formulas, with columns ``f_0, …, f_{2H}``."""
    x = symbols("x")
    nodes = range(2 * H + 1)
    rows = []
    for h in range(H):
        others = [r[g] for g in range(H) if g != h]
        p = prod(1 - pole / r[h] for pole in others)
        t = sum(pole / (1 - pole / r[h]) for pole in others)
        residue_row, logarithm_row = [], []
        for k in nodes:
            lagrange = prod((x - m) / (k - m) for m in nodes if m != k)
            at_pole, slope = (value.subs(x, -1 / r[h]) for value in (lagrange, diff(lagrange, x)))
            Q = prod(1 + k * pole for pole in r)
            residue_row.append(Q**2 / p**2 * (-at_pole + 2 * t / r[h] * at_pole - slope / r[h]))
            logarithm_row.append(-(Q**2) * at_pole / (c[h] * p**2))
        rows += [residue_row, logarithm_row]
    return Matrix(rows)


def difference(H: int) -> Matrix:
    """Return the formulas times ``∂f/∂(σ, c_1, λ_1, c_2, …)``, minus a zero column (for ``σ``) and the identity."""
    r, c = symbols(f"r1:{H + 1}"), symbols(f"c1:{H + 1}")
    columns = [[1] * (2 * H + 1)]
    for h in range(H):
        columns.append([k * r[h] / (1 + k * r[h]) for k in range(2 * H + 1)])
        columns.append([c[h] * k * r[h] / (1 + k * r[h]) ** 2 for k in range(2 * H + 1)])
    return inverse(H, r, c) * Matrix(columns).T - Matrix.hstack(Matrix.zeros(2 * H, 1), eye(2 * H))


def expansion_difference() -> Matrix:
    """Return the recovered ``(c_h δλ_h, δc_h)`` minus the true ones, for every ``H``.

    ``N = Q²·δf`` is ``p²·(δc·y(y − 1) + c·δλ·(y − 1)) + y²·rest`` with ``y = 1 + x·r``, where ``p`` is the product over
    the other heads and ``rest`` a polynomial. Both are left unspecified, so nothing depends on the number of heads. The
    formulas of Lemma 1 are the two recovered values, with ``N = Σ_k Q(k)²·δf_k·ℓ_k`` put in.
    """
    x, r, c, delta_c, delta_lambda = symbols("x r c delta_c delta_lambda")
    p, rest = Function("p")(x), Function("rest")(x)
    y = 1 + x * r
    N = p**2 * (delta_c * y * (y - 1) + c * delta_lambda * (y - 1)) + y**2 * rest
    p_h, slope_of_p, value, slope = (term.subs(x, -1 / r) for term in (p, p.diff(x), N, N.diff(x)))
    t = slope_of_p / p_h
    recovered_lambda = -value / p_h**2
    recovered_c = (-value + 2 * t / r * value - slope / r) / p_h**2
    return Matrix([recovered_lambda - c * delta_lambda, recovered_c - delta_c]).doit()
