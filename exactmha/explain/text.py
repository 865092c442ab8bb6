"""A story for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from exactmha.errors import InputError
from exactmha.explain.notation import Plain
from exactmha.explain.story import Group, Step, Story

LEAST_WIDTH, WIDTH = 80, 110
_LABEL = 11
_PLAIN = Plain()


def as_text(story: Story, only: int | None = None, width: int = WIDTH) -> str:
    """Return a story, or its step number `only`, as plain text with the answers to its questions at the end.

    Raises `FalseEquation` for an equation that is false, `InputError` when there is no such step.
    """
    page, steps = _Page(width), numbered(story, only)
    lines = [] if only else [*wrap(story.title, width), "", *wrap(story.introduction, width), ""]
    for number, step in steps:
        lines += [*page.step(number, len(story.steps), step), ""]
    if only is None:
        lines += [f"All {story.verified()} equations with numbers were evaluated and hold.", ""]
    lines += ["Answer" if only else "Answers to the questions"]
    for number, step in steps:
        lines += page.labelled(f"Step {number}", step.question.answer)
    return "\n".join(lines) + "\n"


def numbered(story: Story, only: int | None) -> list[tuple[int, Step]]:
    """Return the steps to show with their numbers, from 1."""
    steps = list(enumerate(story.steps, 1))
    if only is None:
        return steps
    if not 1 <= only <= len(steps):
        raise InputError("no such step", field="--step", value=only, hint=f"this story has the steps 1 to {len(steps)}")
    return [steps[only - 1]]


@dataclass(frozen=True, slots=True)
class _Page:
    """Lines of at most `width` characters, where words allow it."""

    width: int

    def step(self, number: int, count: int, step: Step) -> Iterator[str]:
        yield f"Step {number} of {count}: {step.title}"
        yield from self.labelled("Purpose", step.purpose)
        for i, formula in enumerate(step.formulas):
            yield from self.labelled("Formula" if i == 0 else "", _PLAIN.general(formula))
        for i, pair in enumerate(step.given):
            yield from self.labelled("Numbers" if i == 0 else "", _PLAIN.general(pair))
        for i, group in enumerate(step.groups):
            yield from self._group("Numbers" if i == 0 and not step.given else "", group)
        for i, text in enumerate(step.checked):
            yield from self.labelled("Checked" if i == 0 else "", text)
        yield from self.labelled("Otherwise", step.otherwise)
        yield from self.labelled("Question", step.question.text)
        yield from self.labelled("Proof", f"proofs/{step.proof}.md")

    def _group(self, label: str, group: Group) -> Iterator[str]:
        count = group.verified()
        yield from self.labelled(label, f"{group.heading}:")
        for equation in group.equations:
            yield from self.labelled("", _PLAIN.equation(equation), indent=2)
        if group.hidden:
            yield from self.labelled("", f"… and {len(group.hidden)} more, verified alike ({count} in all)", indent=2)

    def labelled(self, label: str, text: str, indent: int = 0) -> Sequence[str]:
        """Return a text wrapped beside its label."""
        first = f"  {label:{_LABEL}}" + " " * indent
        return wrap(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=" " * (len(first) + 2 * (indent > 0)),
            break_long_words=False,
            break_on_hyphens=False,
        )
