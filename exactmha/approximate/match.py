"""Matching in balls: which head of one profile is which head of another (`proofs/stability`, Lemma 2).

The exact learner separates the sum profile. Here the sum profile is *predicted* from the two others, for every
way to match their heads, and compared with its 2H answers: nothing is inverted, so nothing is amplified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from flint import arb

from exactmha.approximate.balls import total
from exactmha.approximate.lost import Contradiction, SeparationLost
from exactmha.approximate.profile import ProfileBox, ProfileSamples, shares

MOST_PREDICTED = 6
"""With more heads the sum profile is separated first, since H! predictions would be too many."""
_MOST_ORDERS = 5040
_MOST_NODES = 200_000
"""Partial matchings looked at in one search; one with few completions could take H! otherwise."""
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


def orders(pairs: Pairs) -> Iterator[tuple[int, ...]]:
    """Yield every permutation that uses allowed pairs alone.

    Raises `SeparationLost` once more than 200 000 partial ones were looked at.
    """
    stack: list[tuple[int, ...]] = [()]
    nodes = 0
    while stack:
        taken = stack.pop()
        nodes += 1
        if nodes > _MOST_NODES:
            raise SeparationLost("match", "a sum profile", f"more than {_MOST_NODES} partial matchings are possible")
        if len(taken) == len(pairs):
            yield taken
            continue
        stack += [(*taken, g) for g in reversed(pairs[len(taken)]) if g not in taken]


def can_be_matched(pairs: Pairs) -> bool:
    """Decide whether any permutation uses allowed pairs alone, by augmenting paths."""
    partner: dict[int, int] = {}

    def place(h: int, seen: set[int]) -> bool:
        for g in pairs[h]:
            if g not in seen:
                seen.add(g)
                if g not in partner or place(partner[g], seen):
                    partner[g] = h
                    return True
        return False

    return all(place(h, set()) for h in range(len(pairs)))


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
    one. Raises `SeparationLost` when several survive or too many are to be tried, `Contradiction` when none does.
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
        witness = f"since no way to match the heads of {first.name} and {other.name} fits them"
        raise Contradiction("match", both.name, len(heads), witness)
    return list(survivors[0])


def _hits(first: ProfileBox, other: ProfileBox, target: ProfileBox, pairs: Pairs) -> Pairs:
    """Keep the pairs whose λ's may add up to one of the separated sum profile."""
    return [
        [g for g in allowed if any((x + other.logits[g]).overlaps(z) for z in target.logits)]
        for x, allowed in zip(first.logits, pairs, strict=True)
    ]
