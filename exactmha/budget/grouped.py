"""As `adapted`, but one query settles several finite choices, as many as can be tried (`proofs/budget-adapted`).

All outcomes of the choices that share a query are tried, at most 2^14 of them. With m matchings and n rows of exchanges
a query, (H!)^m ≤ 2^14 and 2^{nH(H−1)/2} ≤ 2^14 (but at least 1), it asks H(d² + d) + ⌈(d − 1)/m⌉ + ⌈(d − 1)/n⌉ queries
for 2 ≤ H ≤ min(d, 6).
"""

from __future__ import annotations

from exactmha.budget import adapted
from exactmha.budget.lab import Lab
from exactmha.heads import Head

CANDIDATES = 1 << 14


def formula(heads: int, dim: int) -> int:
    """Return H(d² + d) + ⌈(d − 1)/m⌉ + ⌈(d − 1)/n⌉ for 2 ≤ H ≤ min(d, 6); `adapted.formula` has the other cases."""
    return adapted.formula(heads, dim, CANDIDATES)


def label(heads: int, dim: int) -> str:
    """Return the expression that `formula` is for these H and d."""
    return adapted.label(heads, dim, CANDIDATES)


def longest(heads: int, dim: int) -> int:
    """Return 2H."""
    return adapted.longest(heads, dim)


def learn(lab: Lab) -> tuple[Head, ...]:
    """Recover all heads of an oracle with exactly `lab.heads` canonical heads."""
    return adapted.learn(lab, candidates=CANDIDATES)
