"""Without the canonical form: models that differ as lists of heads and are one function (`proofs/counterexamples`)."""

from __future__ import annotations

from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.fields.interface import added, negated
from exactmha.heads import Head


def unmerged(setting: Setting) -> Construction:
    """(W, v), (W, v') and (W, v + v'): equal logits give equal weights, and f is linear in v.

    The first model has H heads, of which two share W; the second has H − 1.
    """
    shared, *others = setting.some_heads(setting.heads - 1)
    second = Head(shared.W, setting.head().v)
    total = added(shared.v, second.v)
    if not any(map(any, total)):
        raise Degenerate("the v of equal W cancel")
    merged = Head(shared.W, total)
    return Construction(
        (setting.model([shared, second, *others]), setting.model([merged, *others])),
        "a head can be split in two with the same W, and no query shows it",
        "equal W give equal softmax weights p, and v·Σ p_i x_i + v'·Σ p_i x_i = (v + v')·Σ p_i x_i for every X",
        same=True,
    )


def zero_sum(setting: Setting) -> Construction:
    """(W, v), (W, −v) for two different W, in both models with the same H − 2 other heads."""
    first, second, *others = setting.some_heads(setting.heads)
    pairs = [[head, Head(head.W, negated(head.v))] for head in (first, second)]
    return Construction(
        (setting.model([*pairs[0], *others]), setting.model([*pairs[1], *others])),
        "a pair of heads with equal W and opposite v can be put anywhere, with any W, and no query shows it",
        "(W, v) and (W, −v) together contribute v·Σ p_i x_i − v·Σ p_i x_i = 0 to every answer",
        same=True,
    )
