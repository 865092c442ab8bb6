"""What the notebooks of the course use: runs by name, and verified equations that notebooks show as mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exactmha.errors import InputError
from exactmha.explain.equation import Equation
from exactmha.explain.notation import Latex, Plain
from exactmha.explain.pictures.catalogue import figure
from exactmha.explain.run import Run, gather
from exactmha.explain.story import Step
from exactmha.explain.tell import tell
from exactmha.random_instance import example


class Shown:
    """Equations, each verified when it is written; a notebook shows them as mathematics."""

    def __init__(self, equations: Sequence[Equation]) -> None:
        self.equations = tuple(equations)

    def __repr__(self) -> str:
        return "\n".join(map(Plain().equation, self.equations))

    def _repr_latex_(self) -> str:
        lines = r" \\ ".join(map(Latex().aligned, self.equations))
        return rf"$$\begin{{align*}} {lines} \end{{align*}}$$"


def open_run(name: str) -> Run:
    """Run the learner on a built-in example, such as "two-heads-1d", with the small tokens that belong to it."""
    found = example(name)
    return gather(found.model, found.grid)


def step(run: Run, title: str) -> Step:
    """Return the step of a run's story with this title; raises `InputError` when there is none."""
    steps = tell(run).steps
    for candidate in steps:
        if candidate.title == title:
            return candidate
    raise InputError("no such step", value=title, hint=f"titles: {', '.join(s.title for s in steps)}")


def show(run: Run, title: str, heading: str) -> Shown:
    """Return the equations of one step under the heading that starts with `heading`.

    Raises `InputError` when there is no such step or heading.
    """
    groups = step(run, title).groups
    for group in groups:
        if group.heading.startswith(heading):
            return Shown((*group.equations, *group.hidden))
    raise InputError("no such heading", value=heading, hint=f"headings: {', '.join(g.heading for g in groups)}")


def picture(run: Run, name: str) -> Any:
    """Return a matplotlib figure: profile, matching, grid, exponents, ledger or budget; notebooks show it at once.

    Raises `InputError` where matplotlib is missing or the run has no such picture.
    """
    return figure(run, name)
