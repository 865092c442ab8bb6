"""The queries of every learner that takes any such layer, against the number of unknowns (`proofs/budget-floor`)."""

from __future__ import annotations

from typing import Any

from exactmha.budget.catalogue import CATALOGUE, Learner, floor
from exactmha.explain.pictures.picture import HEADS, INK, Picture, Scene, Scenes, part
from exactmha.explain.run import Run
from exactmha.figures import whole_numbers

_SPECIAL = "earlier work"
"""Learners that take layers of a special form only."""


def learners() -> list[Learner]:
    """Return the learners that take any layer with H heads, as the catalogue lists them."""
    return [learner for learner in CATALOGUE if learner.origin != _SPECIAL]


def _counts(run: Run) -> list[tuple[Learner, int]]:
    return [(learner, learner.count(len(run.heads), run.dim)) for learner in learners()]


def _draw(axes: Any, run: Run) -> None:
    counts = _counts(run)
    for i, (learner, count) in enumerate(counts):
        colour = HEADS[0] if learner.origin == "paper" else HEADS[4]
        axes.barh(-i, count, color=colour, edgecolor=INK, alpha=0.75)
        axes.patches[-1].set_gid(part(learner.name))
        axes.text(count, -i, f" {count}", va="center", gid=part(learner.name))
    unknowns = floor(len(run.heads), run.dim)
    axes.axvline(unknowns, color=INK, linestyle="--", label=f"H(d² + d) = {unknowns} unknowns")
    axes.set_yticks([-i for i in range(len(counts))], [learner.name for learner, _ in counts])
    axes.set(xlabel="queries", title=f"Learners for H = {len(run.heads)}, d = {run.dim}")
    axes.margins(x=0.12)
    whole_numbers(axes.xaxis)
    axes.legend(fontsize="small", loc="lower right")


def _label(run: Run) -> str:
    return "; ".join(f"{learner.name}: {count} queries" for learner, count in _counts(run))


def _caption(run: Run) -> str:
    return (
        f"By the formulas of the learners: {_label(run)}. Dashed: the number of unknowns. "
        "The command exactmha budget runs them all."
    )


def _scenes(run: Run) -> Scenes:
    heads, dim = len(run.heads), run.dim
    each = [
        Scene(f"{learner.name} ({learner.assumption}): {learner.formula(heads, dim)} = {count}", (learner.name,))
        for learner, count in _counts(run)
    ]
    return Scenes("learner", (Scene("all learners"), *each))


BUDGET = Picture("budget", "What has been proved", lambda _run: (7.4, 3.4), _draw, _label, _caption, _scenes)
