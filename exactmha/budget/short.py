"""Short queries: with copies of the final token, length about π·sqrt(2H/3) is enough (`proofs/budget-short`).

"k copies of b + u, l copies of b, then b" is the sample of the profile (b, u) at κ = k/(1 + l). Within length L these
are the fractions p/q with p + q ≤ L: 3 for L = 3, 5 for L = 4, 9 for L = 5. The learner is that of `adapted` with
these nodes.
"""

from __future__ import annotations

from math import gcd

from exactmha.budget import adapted
from exactmha.budget.interpolate import Node
from exactmha.budget.lab import Lab
from exactmha.errors import InputError
from exactmha.heads import Head


def short_nodes(length: int) -> list[Node]:
    """Return one node (k, l) for every κ = p/q > 0 in lowest terms with p + q ≤ `length`, the shortest first.

    >>> short_nodes(3)
    [(1, 0), (1, 1), (2, 0)]
    """
    sums = range(2, length + 1)
    return [(p, total - p - 1) for total in sums for p in range(1, total) if gcd(p, total) == 1]


def least_length(heads: int) -> int:
    """Return the least L with at least 2H − 1 nodes."""
    length = 2
    while len(short_nodes(length)) < 2 * heads - 1:
        length += 1
    return length


def formula(heads: int, dim: int) -> int:
    """Return the count of `adapted`: short queries cost no more of them."""
    return adapted.formula(heads, dim)


def longest(heads: int, dim: int) -> int:
    """Return the least length with 2H − 1 nodes, at least 3 where pairs of heads are asked."""
    return max(least_length(heads), 3 if heads > 1 and adapted.has_frame(heads, dim) else 2)


def learn(lab: Lab, length: int | None = None) -> tuple[Head, ...]:
    """Recover all heads with profiles of length at most `length`, by default the least that this learner can do.

    Raises `InputError` where `length` leaves fewer than 2H − 1 nodes: such queries do not determine a profile.
    """
    least = least_length(lab.heads)
    if length is not None and length < least:
        raise InputError(
            f"queries of this length have {len(short_nodes(length))} nodes, a profile needs {2 * lab.heads - 1}",
            field="length",
            value=length,
            hint=f"allow at least {least}",
        )
    return adapted.learn(lab, short_nodes(length or least)[: 2 * lab.heads - 1])
