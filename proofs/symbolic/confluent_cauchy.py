"""The Jacobian of one profile, a confluent Cauchy matrix: Lemma 1 of proofs/stability.

``DF`` has the columns ``∂F/∂c_h = x·r_h/(1 + x·r_h)`` and ``∂F/∂λ_h = c_h·x·r_h/(1 + x·r_h)²``, ``λ_h = log r_h``. In
the order ``c_1, λ_1, c_2, λ_2, …`` and at nodes ``x_1, …, x_{2H}``

    det DF = (−1)^H·Π_k x_k·Π_{k<l}(x_l − x_k)·Π_h c_h r_h³·Π_{g<h}(r_g − r_h)⁴/Π_{k,h}(1 + x_k r_h)².
"""

from __future__ import annotations

from itertools import combinations

from sympy import Expr, Matrix, Symbol, diff, exp, log, prod, symbols
from sympy.polys.matrices import DomainMatrix


def jacobian(nodes: list[Expr], r: tuple[Expr, ...], c: tuple[Expr, ...]) -> Matrix:
    """Return ``DF``, by differentiating ``F_x = Σ_h c_h·x·r_h/(1 + x·r_h)`` in ``c_h`` and ``log r_h``."""
    rows = []
    for x in nodes:
        row = []
        for pole, residue in zip(r, c, strict=True):
            logarithm = Symbol("lambda")
            value = residue * x * exp(logarithm) / (1 + x * exp(logarithm))
            row += [diff(value, argument).subs(logarithm, log(pole)) for argument in (residue, logarithm)]
        rows.append(row)
    return Matrix(rows)


def determinant(nodes: list[Expr], r: tuple[Expr, ...], c: tuple[Expr, ...]) -> Expr:
    """Return the closed form of ``det DF``."""
    H = len(r)
    numerator = (-1) ** H * prod(nodes) * prod(y - x for x, y in combinations(nodes, 2))
    numerator *= prod(c[h] * r[h] ** 3 for h in range(H)) * prod((p - q) ** 4 for p, q in combinations(r, 2))
    return numerator / prod((1 + x * pole) ** 2 for x in nodes for pole in r)


def difference(H: int, *, symbolic_nodes: bool) -> Expr:
    """Return ``Π_{k,h}(1 + x_k r_h)²·(det DF − closed form)`` at symbolic nodes or at ``1, …, 2H``."""
    nodes = list(symbols(f"x1:{2 * H + 1}")) if symbolic_nodes else list(range(1, 2 * H + 1))
    r, c = symbols(f"r1:{H + 1}"), symbols(f"c1:{H + 1}")
    denominators = [prod((1 + x * pole) ** 2 for pole in r) for x in nodes]
    rows = jacobian(nodes, r, c)
    cleared = Matrix(2 * H, 2 * H, lambda k, h: (denominators[k] * rows[k, h]).cancel())
    left = DomainMatrix.from_Matrix(cleared).to_dense().det()
    return left.as_expr() - (prod(denominators) * determinant(nodes, r, c)).cancel()


def elimination_difference() -> Expr:
    """Return the elimination step of a Cauchy matrix ``1/(x + y)`` with pivot row ``p`` and column ``q``.

    ``1/(x + y) − (p + q)/((x + q)(p + y)) = α(x)·β(y)/(x + y)``, where ``α(x) = (x − p)/(x + q)`` and
    ``β(y) = (y − q)/(p + y)``: what is left is a Cauchy matrix, rows and columns multiplied by ``α`` and ``β``.
    """
    x, y, p, q = symbols("x y p q")
    return 1 / (x + y) - (p + q) / ((x + q) * (p + y)) - (x - p) / (x + q) * (y - q) / (p + y) / (x + y)


def confluence_difference() -> Expr:
    """Return the same step for the column ``∂/∂y 1/(x + y)`` at the pivot's own ``y = q``.

    It becomes ``α(x)/((p + q)(x + q))``: again a Cauchy column at ``q``, ready for the next pivot row ``p'``. In the
    other pairs ``∂/∂y(α·β/(x + y))`` is ``α·β·∂/∂y 1/(x + y)`` up to a multiple of the first column. So two steps with
    pivots ``(p, q)``, ``(p', q)`` reduce ``H`` pairs to ``H − 1``, and the determinant of the pairs
    ``1/(x + y), ∂/∂y 1/(x + y)`` is, for every ``H``, ``Π_{k<l}(x_l − x_k)·Π_{g<h}(y_h − y_g)⁴/Π_{k,h}(x_k + y_h)²``.
    """
    x, y, p, q = symbols("x y p q")
    column = 1 / (x + y) - (p + q) / ((x + q) * (p + y))
    return diff(column, y).subs(y, q) - (x - p) / (x + q) / ((p + q) * (x + q))


def step_difference() -> Expr:
    """Return the factor of the two steps minus the quotient of the closed forms, with one other row and one other pair.

    Other rows and pairs enter both as the same factors, once for each.
    """
    x, y, p, p2, q = symbols("x y p p2 q")

    def alpha(row: Expr, pivot: Expr) -> Expr:
        return (row - pivot) / (row + q)

    def beta(column: Expr, pivot: Expr) -> Expr:
        return (column - q) / (pivot + column)

    pivots = 1 / (p + q) * alpha(p2, p) / ((p + q) * (p2 + q))
    steps = pivots * alpha(x, p) * alpha(x, p2) * (beta(y, p) * beta(y, p2)) ** 2
    differences = (p2 - p) * (x - p) * (x - p2) * (y - q) ** 4
    return steps - differences / ((p + q) * (p2 + q) * (x + q) * (p + y) * (p2 + y)) ** 2


def columns_difference() -> Matrix:
    """Return the columns of ``DF`` minus ``x/(x + y)`` and ``−c·x·y·∂/∂y 1/(x + y)``, ``y = 1/r``.

    This turns the determinant of the pairs into ``det DF``: the factors are ``x_k`` for a row and ``−c_h y_h`` for a
    column, ``y_h − y_g = (r_g − r_h)/(r_g r_h)`` and ``x_k + y_h = (1 + x_k r_h)/r_h``.
    """
    x, y, r, c = symbols("x y r c")
    cauchy = Matrix([[x / (x + y), -c * x * y * diff(1 / (x + y), y)]])
    return jacobian([x], (r,), (c,)) - cauchy.subs(y, 1 / r)
