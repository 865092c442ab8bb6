"""The conditions of our own learners as records: all are seen before anything rests on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """One kind of condition: its statement, how many there are for H heads in dimension d, and what is done if not."""

    name: str
    title: str
    statement: str
    count: Callable[[int, int], int]
    otherwise: str


def _pairs(heads: int) -> int:
    return heads * (heads - 1) // 2


UNTIED = Record(
    "D1",
    "untied residues",
    "(v_h − v_g)·u_i ≠ 0 for h < g and every i",
    lambda heads, dim: dim * _pairs(heads) if dim > 1 else 0,
    "matched by more queries",
)
FIRST_PROBES = Record(
    "D2",
    "probes, first row",
    "some known w has b_1^T W_h w = 0, v_h·w = δ_gh",
    lambda heads, dim: heads * max(0, dim - 2 * heads),
    "the entry by its profile",
)
LATER_PROBES = Record(
    "D3",
    "probes, later rows",
    "some known w has b_j^T W_h w = 0, v_h·w = 2v_h·u_i only for h ≠ g",
    lambda heads, dim: heads * (dim - 1) * max(0, dim - 2 * heads + 1),
    "the entry by its profile",
)
INDEPENDENT = Record(
    "D4",
    "independent readouts",
    "v_1, …, v_H are independent, over Q coordinate by coordinate",
    lambda heads, dim: int(heads <= dim and dim > 1),
    "entries by their profiles",
)
REGULAR = Record(
    "D5",
    "regular pairs",
    "the linear system of every pair of heads is regular",
    lambda heads, dim: (dim - 1) * _pairs(heads) if heads <= dim else 0,
    "b_j drawn again",
)
ONE_CANDIDATE = Record(
    "D6",
    "one candidate",
    "one matching of (b_1, u_i), one exchange in row j fits",
    lambda heads, dim: (dim - 1) * (1 + int(heads <= dim)) if heads > 1 else 0,
    "u_i or b_j drawn again",
)
WITHIN_LIMITS = Record(
    "D7",
    "small weights",
    "the weights at n_h, z and probes have no more bits than allowed",
    lambda _heads, dim: max(0, dim - 1),
    "rows by their profiles",
)
RECORDS = {
    "residues": (UNTIED,),
    "isolation": (UNTIED, FIRST_PROBES, LATER_PROBES, WITHIN_LIMITS),
    "adapted": (INDEPENDENT, REGULAR, ONE_CANDIDATE, WITHIN_LIMITS),
    "grouped": (INDEPENDENT, REGULAR, ONE_CANDIDATE, WITHIN_LIMITS),
    "short": (INDEPENDENT, REGULAR, ONE_CANDIDATE, WITHIN_LIMITS),
}
"""By learner; D1–D7 come on top of bases, distinct poles and visible heads in the profiles used."""
