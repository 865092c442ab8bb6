"""Matching by residues: later rows need no matching queries (`proofs/budget-residues`).

2H(d² + d − 1) + 1 queries of length at most 2H + 1. In later rows c_h = v_h·u_i is known; where the v_h·u_i of one
entry are pairwise different, they say which head is which. Tied entries are matched by 2H more queries, as in the
paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from exactmha.budget.conditions import UNTIED
from exactmha.budget.interpolate import copies
from exactmha.budget.lab import Lab, Row, add_all, assemble, check_sum, matched_by_sum, product
from exactmha.errors import InconsistentAnswers
from exactmha.fields.interface import Scalar, Value
from exactmha.heads import Head
from exactmha.recover.assemble import readout
from exactmha.recover.match import match_final_tokens
from exactmha.recover.profile import Profile
from exactmha.recover.sample import add


def formula(heads: int, dim: int) -> int:
    """Return 2H(d² + d − 1) + 1."""
    return 2 * heads * (dim * dim + dim - 1) + 1


def longest(heads: int, _dim: int) -> int:
    """Return 2H + 1."""
    return 2 * heads + 1


def learn(lab: Lab) -> tuple[Head, ...]:
    """Recover all heads of an oracle with exactly `lab.heads` canonical heads."""
    row, profiles, base = first_profile(lab)
    for i in range(2, lab.dim + 1):
        entry = partial(matched_by_sum, lab, row, profiles[0], i, base, copies(2 * lab.heads))
        extend(row, profiles, lab, lab.retry([("u", i)], entry))
    v, s = readouts(lab, profiles, base)
    rows = [row]
    for j in range(2, lab.dim + 1):
        rows.append(lab.retry([("b", j)], partial(_later_row, lab, row, v, s, j)))
    return assemble(lab, rows, v)


def first_profile(lab: Lab) -> tuple[Row, list[Profile], Value]:
    """Ask f(b_1) and the profile (b_1, u_1), which numbers the heads."""

    def attempt() -> tuple[Row, list[Profile], Value]:
        b, u = lab.design.b[0], lab.design.u[0]
        base = lab.ask(b)
        lab.keep("base", "base value f(b_1)", x=b)
        nodes = copies(2 * lab.heads)
        first = lab.profile("(b_1, u_1)", b, u, base, nodes)
        lab.keep("first", "first profile (b_1, u_1)", b=b, u=u, nodes=nodes)
        return Row(b, [u], [first.exponents]), [first], base

    return lab.retry([("b", 1), ("u", 1)], attempt)


def extend(row: Row, profiles: list[Profile], lab: Lab, profile: Profile) -> None:
    """Add the profile of the latest displacement to the first row."""
    row.learn(lab.design.u[len(profiles)], profile.exponents)
    profiles.append(profile)


def readouts(lab: Lab, profiles: Sequence[Profile], base: Value) -> tuple[list[tuple[Scalar, ...]], list[Scalar]]:
    """Return the v_h from U^T v_h = c_h, and s; s·b_1 is checked against f(b_1)."""
    v = [readout(lab.design.u, [profile.residues[h] for profile in profiles]) for h in range(lab.heads)]
    s = [add_all(parts) for parts in zip(*v, strict=True)]
    check_sum(lab, base, s, lab.design.b[0])
    return v, s


def _later_row(lab: Lab, first: Row, v: Sequence[Sequence[Scalar]], s: Sequence[Scalar], j: int) -> Row:
    row = Row(lab.design.b[j - 1])
    for i in range(1, lab.dim + 1):
        later_entry(lab, first, row, v, s, (j, i))
    return row


def later_entry(
    lab: Lab,
    first: Row,
    row: Row,
    v: Sequence[Sequence[Scalar]],
    s: Sequence[Scalar],
    place: tuple[int, int],
) -> None:
    """Learn the entry (b_j, u_i) of a later row by its profile, matched by residues, or by a sum where those tie."""
    j, i = place
    u, nodes = lab.design.u[i - 1], copies(2 * lab.heads)
    base = lab.field.embed(product(s, row.b))
    found = lab.profile(f"(b_{j}, u_{i})", row.b, u, base, nodes)
    known = [product(v_h, u) for v_h in v]
    if any(c not in found.residues for c in known):
        raise InconsistentAnswers(f"(b_{j}, u_{i}): the residues are not v_h·u: {lab.no_model}")
    if len(set(known)) == len(known):
        order = [found.residues.index(c) for c in known]
        lab.keep("by-residues", "later rows", b=row.b, u=u, nodes=nodes)
    else:
        order = _matched_by_final_tokens(lab, first, row, s, (known, found), place)
    row.learn(u, [found.exponents[h] for h in order])


def _matched_by_final_tokens(
    lab: Lab,
    first: Row,
    row: Row,
    s: Sequence[Scalar],
    seen: tuple[Sequence[Scalar], Profile],
    place: tuple[int, int],
) -> list[int]:
    (known, found), (j, i) = seen, place
    u, nodes, b = lab.design.u[i - 1], copies(2 * lab.heads), add(first.b, row.b)
    total = lab.profile(f"(b_1+b_{j}, u_{i})", b, u, lab.field.embed(product(s, b)), nodes)
    numbered = Profile(f"(b_1, u_{i})", tuple(first.exponents[i - 1]), tuple(known))
    order = match_final_tokens(numbered, found, total)
    lab.keep("by-final-tokens", "later rows, tied residues", b=row.b, u=u, first=first.b, nodes=nodes)
    lab.fall_back(UNTIED, f"(b_{j}, u_{i})")
    return order
