"""The number of queries: proofs/query-count.

The stages of the learner add up to ``4nd² − 2n + 1`` queries, and to ``2d² − 1`` profiles, for every ``n`` and ``d``.
"""

from __future__ import annotations

from sympy import Expr, symbols

n, d = symbols("n d", integer=True)

PROFILES = {
    "first profile (b_1, u_1)": 1,
    "first row (b_1, u_i)": d - 1,
    "first-row sums (b_1, u_1 + u_i)": (d - 1),
    "later rows (b_j, u_i)": d * (d - 1),
    "later-row sums (b_1 + b_j, u_i)": (d - 1) * d,
}


def profile_difference() -> Expr:
    """Return the number of profiles, stage by stage, minus ``2d² − 1``."""
    return sum(PROFILES.values()) - (2 * d**2 - 1)


def difference() -> Expr:
    """Return the base query and ``2n`` queries for each profile, minus ``4nd² − 2n + 1``."""
    return 1 + sum(2 * n * profiles for profiles in PROFILES.values()) - (4 * n * d**2 - 2 * n + 1)
