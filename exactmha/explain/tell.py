"""From a run to its story."""

from __future__ import annotations

from exactmha.explain import steps_ask, steps_begin, steps_join
from exactmha.explain.run import Run
from exactmha.explain.story import Story
from exactmha.outcome import counted

THEOREM = (
    "The theorem: for all H and d and every layer of H attention heads in dimension d, in canonical form and answering "
    "exactly, 4Hd² − 2H + 1 queries of at most 2H + 1 tokens, built from tokens drawn from a density, with "
    "probability one determine every head (W_h, v_h), and the learner below computes it; it is told H and d and sees "
    "nothing but the answers."
)
CHAPTERS = (
    steps_begin.black_box,
    steps_begin.canonical_heads,
    steps_begin.tokens,
    steps_ask.copies,
    steps_ask.separate,
    steps_ask.how_many,
    steps_join.match_displacements,
    steps_join.readout,
    steps_join.match_finals,
    steps_join.assemble,
    steps_join.count,
    steps_join.verdict,
)
"""The steps in the order of the algorithm; one returns None where there is nothing to do."""


def tell(run: Run) -> Story:
    """Return the story of a run."""
    heads, dim, redrawn = len(run.heads), run.dim, sum(redraw.queries for redraw in run.recovery.redraws)
    spent = f", and {redrawn} for tokens drawn again" if redrawn else ""
    return Story(
        f"How {counted(heads, 'attention head')} in dimension {dim} {'is' if heads == 1 else 'are'} learned from "
        f"{run.recovery.queries} queries{spent}",
        f"{THEOREM} Here it is followed on one layer with H = {heads} and d = {dim} over the {run.model.field.name} "
        f"field, with tokens drawn from seed {run.recovery.seed}. Every equation with numbers was evaluated exactly, "
        "both sides, before it was shown.",
        tuple(step for chapter in CHAPTERS if (step := chapter(run)) is not None),
    )
