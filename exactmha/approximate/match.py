"""Matching in balls: which head of one profile is which head of another (`proofs/stability`, Lemma 2).

The exact learner separates the sum profile. Here the sum profile is *predicted* from the two others, for every
way to match their heads, and compared with its 2H answers: nothing is inverted, so nothing is amplified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from flint import arb

from exactmha.approximate.balls import total
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.profile import ProfileBox, ProfileSamples, shares
from exactmha.errors import InconsistentAnswers

MOST_PREDICTED = 6
"""With more heads the sum profile is separated first, since H! predictions would be too many."""
_MOST_ORDERS = 5040
Pairs = list[list[int]]
"""pairs[h]: the heads of the other profile that may be head h of the first"""


class Prediction:
    """The sum profile predicted from `first` and `other`, for any matching of their heads.

    λ'' = λ_h + λ'_g. `add_residues`: displacements add, c'' = c_h + c'_g; else final tokens add, and
    c'' = c_h = c'_g, of which c_h is used.
    """

    def __init__(self, first: ProfileBox, other: ProfileBox, *, add_residues: bool) -> None:
        count = 2 * len(first.logits)
        self._terms = [
            [
                [(c + (other.residues[g] if add_residues else 0)) * share for share in shares(x + y, count)]
                for g, y in enumerate(other.logits)
            ]
            for x, c in zip(first.logits, first.residues, strict=True)
        ]

    def values(self, order: Sequence[int]) -> list[arb]:
        """Return F_k, k = 1..2H, when head h of `first` is head order[h] of `other`."""
        columns = [self._terms[h][g] for h, g in enumerate(order)]
        return [total(list(parts)) for parts in zip(*columns, strict=True)]


def orders(pairs: Pairs, taken: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield every permutation that uses allowed pairs alone."""
    if len(taken) == len(pairs):
        yield taken
        return
    for g in pairs[len(taken)]:
        if g not in taken:
            yield from orders(pairs, (*taken, g))


def matched(
    first: ProfileBox,
    other: ProfileBox,
    both: ProfileSamples,
    *,
    add_residues: bool,
    enclose: Callable[[ProfileSamples], ProfileBox],
) -> list[int]:
    """Return the only `order` (other.heads[order[h]] = first.heads[h]) whose prediction meets all answers.

    `both` are the samples of the sum profile. The true order always survives; so a single survivor is the true
    one. Raises `SeparationLost` when several survive, `InconsistentAnswers` when none does.
    """
    heads = range(len(first.logits))
    pairs = [[g for g in heads if add_residues or first.residues[h].overlaps(other.residues[g])] for h in heads]
    if len(heads) > MOST_PREDICTED:
        pairs = _hits(first, other, enclose(both), pairs)
    prediction = Prediction(first, other, add_residues=add_residues)
    survivors = []
    tried = 0
    for order in islice(orders(pairs), _MOST_ORDERS + 1):
        tried += 1
        values = prediction.values(order)
        if all((both.base + x).overlaps(f) for x, f in zip(values, both.answers, strict=True)):
            survivors.append(order)
    if len(survivors) > 1 or tried > _MOST_ORDERS:
        raise SeparationLost("match", both.name, f"{len(survivors)} ways to match the heads fit the answers")
    if not survivors:
        raise InconsistentAnswers(
            f"{both.name}: no model with {len(heads)} heads has these answers within the error, since no way to "
            f"match the heads of {first.name} and {other.name} fits them"
        )
    return list(survivors[0])


def _hits(first: ProfileBox, other: ProfileBox, target: ProfileBox, pairs: Pairs) -> Pairs:
    """Keep the pairs whose λ's may add up to one of the separated sum profile."""
    return [
        [g for g in allowed if any((x + other.logits[g]).overlaps(z) for z in target.logits)]
        for x, allowed in zip(first.logits, pairs, strict=True)
    ]
