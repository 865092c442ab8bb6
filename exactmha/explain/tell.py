"""From a run to its story."""

from __future__ import annotations

from exactmha.explain import steps_ask, steps_join
from exactmha.explain.run import Run
from exactmha.explain.story import Story
from exactmha.outcome import counted

CHAPTERS = (
    steps_ask.black_box,
    steps_ask.canonical_heads,
    steps_ask.tokens,
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
    heads, dim = len(run.heads), run.dim
    return Story(
        f"How {counted(heads, 'attention head')} in dimension {dim} {'is' if heads == 1 else 'are'} learned from "
        f"{run.recovery.queries} queries",
        f"A run of the learner on a layer over the {run.model.field.name} field, with tokens drawn from seed "
        f"{run.recovery.seed}. Every equation with numbers was evaluated exactly, both sides, before it was shown.",
        tuple(step for chapter in CHAPTERS if (step := chapter(run)) is not None),
    )
