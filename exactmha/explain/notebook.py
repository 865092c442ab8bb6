"""What the notebooks of the course use: runs by name, and verified equations that notebooks show as mathematics."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.attention import Attention, Model
from exactmha.cli.report import model_lines
from exactmha.counterexamples.build import Counterexample, smallest
from exactmha.counterexamples.catalogue import assumption
from exactmha.counterexamples.setting import Setting
from exactmha.errors import InputError
from exactmha.explain.equation import Equation
from exactmha.explain.notation import Latex, Plain
from exactmha.explain.pictures.catalogue import figure, find
from exactmha.explain.run import Run, gather
from exactmha.explain.story import Step
from exactmha.explain.tell import tell
from exactmha.fields.values import ExactValue
from exactmha.figures import image
from exactmha.outcome import Outcome
from exactmha.random_instance import example
from exactmha.sequences import TokenSequence


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


class Drawn:
    """A picture of a run; a notebook shows it as an image, and its caption where there are no images."""

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.picture = run, find(name, run)

    def __repr__(self) -> str:
        return self.picture.caption(self.run)

    def _repr_png_(self) -> bytes:
        return image(figure(self.run, self.picture.name))


def picture(run: Run, name: str) -> Drawn:
    """Return a picture of a run: profile, matching, grid, exponents, ledger or budget.

    Raises `InputError` when the run has no such picture, and when it is shown where matplotlib is missing.
    """
    return Drawn(run, name)


class Dropped:
    """An exact counterexample, shown in short: the statement, the models, the claims."""

    def __init__(self, found: Counterexample) -> None:
        self.found = found

    @property
    def models(self) -> tuple[Model, ...]:
        """The two models, or the only one."""
        return self.found.construction.models

    @property
    def agree(self) -> Sequence[TokenSequence]:
        """Queries on which the models give equal answers."""
        return self.found.construction.agree

    @property
    def differ(self) -> Sequence[TokenSequence]:
        """Queries on which they give different answers; in most counterexamples one."""
        return self.found.construction.differ

    @property
    def outcome(self) -> Outcome:
        """Holds when every claim does."""
        return self.found.outcome

    def answers(self, query: TokenSequence) -> list[ExactValue]:
        """Return the exact answer of every model to one query."""
        return [Attention(model)(query) for model in self.models]

    def __repr__(self) -> str:
        lines = [self.found.construction.statement]
        for number, model in enumerate(self.models, 1):
            lines += [f"Model {number}:", *model_lines(model)]
        return "\n".join([*lines, *(f"{claim.outcome.value}: {claim.statement}" for claim in self.found.claims)])


def drop(name: str, field: str = "rational") -> Dropped:
    """Build and verify the smallest counterexample of this name, as `exactmha counterexample NAME --smallest` does.

    Raises `InputError` when there is none of this name or in this field.
    """
    dropped = assumption(name)
    return Dropped(smallest(dropped, Setting(*dropped.least, field, 0)))
