"""One sample too few: the partial fractions behind "one-sample-short" of proofs/counterexamples.

``D_n(x) = γ·Π_{k<n}(x − k)/Π_{i≤n}(1 + x·r_i) = Σ_{i≤n} c_i·x·r_i/(1 + x·r_i)`` with
``c_i = −γ·Π_{k<n}(−1/r_i − k)/Π_{l≠i}(1 − r_l/r_i)``. With ``n = 2H`` and the sum split into two halves, this is the
difference of two profiles with ``H`` heads each that agree at ``k = 0, …, 2H − 1``.
"""

from __future__ import annotations

from sympy import Expr, prod, symbols


def residue(i: int, r: tuple[Expr, ...], gamma: Expr) -> Expr:
    """Return ``c_i``."""
    zeros = prod(-1 / r[i] - k for k in range(len(r)))
    return -gamma * zeros / prod(1 - r[j] / r[i] for j in range(len(r)) if j != i)


def difference(n: int) -> Expr:
    """Return left minus right for ``n`` poles."""
    r = symbols(f"r1:{n + 1}")
    x, gamma = symbols("x gamma")
    left = gamma * prod(x - k for k in range(n)) / prod(1 + x * r[i] for i in range(n))
    right = sum(residue(i, r, gamma) * x * r[i] / (1 + x * r[i]) for i in range(n))
    return left - right


def step_difference() -> Expr:
    """Return one summand of the step from ``n`` to ``n + 1``, left minus right; with it the identity holds for every n.

    ``D_{n+1}(x) = D_n(x)·(x − n)/(1 + x·ρ)``, where ``ρ = r_{n+1}``. For each summand of ``D_n``, with ``r = r_i``,

        x·r/(1 + x·r)·(x − n)/(1 + x·ρ) = α·x·r/(1 + x·r) + β·x·ρ/(1 + x·ρ),

    where ``α = (−1/r − n)/(1 − ρ/r)`` is the factor by which ``c_i`` changes, and ``β`` is
    ``−(−1/ρ − n)`` times the summand at ``x = −1/ρ``. So the new residue is ``Σ_i c_i β_i = −(−1/ρ − n)·D_n(−1/ρ)``,
    which is ``c_{n+1}`` by the product form of ``D_n``.
    """
    x, r, rho, n = symbols("x r rho n")

    def summand(z: Expr, pole: Expr) -> Expr:
        return z * pole / (1 + z * pole)

    alpha = (-1 / r - n) / (1 - rho / r)
    beta = -(-1 / rho - n) * summand(-1 / rho, r)
    return summand(x, r) * (x - n) / (1 + x * rho) - alpha * summand(x, r) - beta * summand(x, rho)
