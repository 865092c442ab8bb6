"""Matching: which head of one profile is which head of another (`proofs/matching`)."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from exactmha.errors import ConditionFailed, InconsistentAnswers
from exactmha.fields.interface import Scalar, add_exponents, add_scalars
from exactmha.modular.guess import Guess
from exactmha.recover.profile import Profile


def match_displacements(first: Profile, other: Profile, total: Profile) -> list[int]:
    """Match (b_1, u_1) with (b_1, u_i) through (b_1, u_1 + u_i): r multiplies and c adds.

    Returns `order` with other.heads[order[h]] = first.heads[h]. Raises `ConditionFailed` (C4) when
    the products do not single out one permutation, `InconsistentAnswers` when no model has these profiles.
    """
    return _match(first, other, total, add_scalars)


def match_final_tokens(first: Profile, other: Profile, total: Profile) -> list[int]:
    """Match (b_1, u_i) with (b_j, u_i) through (b_1 + b_j, u_i): r multiplies and c stays equal."""
    return _match(first, other, total, lambda c, c2: c if c == c2 else None)


def expected_sum(first: Profile, other: Profile) -> Guess | None:
    """Guess the profile (b_1 + b_j, u_i) where pairwise different residues already say which head is which."""
    if any(c not in other.residues for c in first.residues):
        return None
    order = [other.residues.index(c) for c in first.residues]
    if len(set(order)) < len(order):
        return None
    exponents = map(add_exponents, first.exponents, (other.exponents[h] for h in order))
    pairs = sorted(zip(exponents, first.residues, strict=True), key=itemgetter(0))
    return Guess(tuple(e for e, _ in pairs), tuple(c for _, c in pairs))


def _match(
    first: Profile, other: Profile, total: Profile, combined: Callable[[Scalar, Scalar], Scalar | None]
) -> list[int]:
    heads = range(len(first.exponents))
    index = {exponent: g for g, exponent in enumerate(total.exponents)}
    pairs = [
        (h, h2, index[product])
        for h, e in enumerate(first.exponents)
        for h2, e2 in enumerate(other.exponents)
        if (product := add_exponents(e, e2)) in index
    ]
    if any(len({pair[i] for pair in pairs}) != len(heads) for i in range(3)):
        raise InconsistentAnswers(
            f"{total.name}: the poles are not products of those of {first.name} and {other.name}, head by head"
        )
    if len(pairs) > len(heads):
        _raise_ambiguous(pairs, total)
    for h, h2, g in pairs:
        if combined(first.residues[h], other.residues[h2]) != total.residues[g]:
            raise InconsistentAnswers(f"{total.name}: the residues do not fit those of {first.name} and {other.name}")
    return [h2 for _, h2, _ in sorted(pairs)]


def _raise_ambiguous(pairs: list[tuple[int, int, int]], total: Profile) -> None:
    heads = [h for h, _, _ in pairs]
    tied = tuple(sorted({h for h in heads if heads.count(h) > 1}))
    witness = ", ".join(f"r_{h + 1}·r'_{h2 + 1} = r''_{g + 1}" for h, h2, g in pairs if h in tied)
    raise ConditionFailed(("C4",), profile=total.name, heads=tied, witness=f"{len(pairs)} products match: {witness}")
