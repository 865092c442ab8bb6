"""A story: the steps of a run as data, to be written as text, HTML or LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactmha.explain.equation import Equation
from exactmha.explain.formula import Term

MOST_SHOWN = 9
"""Equations of one kind that are displayed; the others are verified and counted."""


@dataclass(frozen=True, slots=True)
class Group:
    """Equations of one kind under a heading; `equations` are displayed, `hidden` only verified."""

    heading: str
    equations: tuple[Equation, ...]
    hidden: tuple[Equation, ...] = ()

    def verified(self) -> int:
        """Verify all equations, also the hidden ones, and return their number."""
        for equation in (*self.equations, *self.hidden):
            equation.verified()
        return len(self.equations) + len(self.hidden)


def group(heading: str, equations: Sequence[Equation]) -> Group:
    """Return a group that displays the first equations."""
    return Group(heading, tuple(equations[:MOST_SHOWN]), tuple(equations[MOST_SHOWN:]))


@dataclass(frozen=True, slots=True)
class Question:
    """Something to predict before the run reveals it."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the story."""

    title: str
    purpose: str
    formulas: tuple[tuple[Term, ...], ...]
    """general formulas, each a chain of equal sides"""
    given: tuple[tuple[Term, Term], ...]
    """names and what stands for them: tokens, matrices, answers"""
    groups: tuple[Group, ...]
    checked: tuple[str, ...]
    otherwise: str
    """what would have gone wrong"""
    question: Question
    proof: str
    """the label of the page in proofs/ that proves the step"""


@dataclass(frozen=True, slots=True)
class Story:
    """A whole run."""

    title: str
    introduction: str
    steps: tuple[Step, ...]

    def verified(self) -> int:
        """Verify every equation, and return how many there are; raises `FalseEquation` when one is false."""
        return sum(group.verified() for step in self.steps for group in step.groups)
