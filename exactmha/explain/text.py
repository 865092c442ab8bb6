"""A story for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from exactmha.errors import InputError
from exactmha.explain.notation import Plain
from exactmha.explain.story import Group, Step, Story

WIDTH = 110
_LABEL = 11
_PLAIN = Plain()


def as_text(story: Story, only: int | None = None) -> str:
    """Return a story, or its step number `only`, as plain text; raises `FalseEquation` for an equation that is false.

    Raises `InputError` when there is no such step.
    """
    steps = numbered(story, only)
    lines = [] if only else [story.title, "", *wrap(story.introduction, WIDTH), ""]
    for number, step in steps:
        lines += [*_step(number, len(story.steps), step), ""]
    if only is None:
        lines += [f"All {story.verified()} equations with numbers were evaluated and hold.", ""]
    return "\n".join(lines[:-1]) + "\n"


def numbered(story: Story, only: int | None) -> list[tuple[int, Step]]:
    """Return the steps to show with their numbers, from 1."""
    steps = list(enumerate(story.steps, 1))
    if only is None:
        return steps
    if not 1 <= only <= len(steps):
        raise InputError("no such step", field="--step", value=only, hint=f"this story has the steps 1 to {len(steps)}")
    return [steps[only - 1]]


def _step(number: int, count: int, step: Step) -> Iterator[str]:
    yield f"Step {number} of {count}: {step.title}"
    yield from _labelled("Purpose", step.purpose)
    for i, formula in enumerate(step.formulas):
        yield from _labelled("Formula" if i == 0 else "", _PLAIN.general(formula))
    for i, pair in enumerate(step.given):
        yield from _labelled("Numbers" if i == 0 else "", _PLAIN.general(pair))
    for group in step.groups:
        yield from _group(group)
    for i, text in enumerate(step.checked):
        yield from _labelled("Checked" if i == 0 else "", text)
    yield from _labelled("Otherwise", step.otherwise)
    yield from _labelled("Question", step.question.text)
    yield from _labelled("Answer", step.question.answer)
    yield from _labelled("Proof", f"proofs/{step.proof}.md")


def _group(group: Group) -> Iterator[str]:
    count = group.verified()
    yield from _labelled("", f"{group.heading}:")
    for equation in group.equations:
        yield from _labelled("", _PLAIN.equation(equation), indent=2)
    if group.hidden:
        yield from _labelled("", f"… and {len(group.hidden)} more, verified alike ({count} in all)", indent=2)


def _labelled(label: str, text: str, indent: int = 0) -> Sequence[str]:
    """Return a text wrapped beside its label."""
    first = f"  {label:{_LABEL}}" + " " * indent
    return wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * (len(first) + 2 * (indent > 0)),
        break_long_words=False,
        break_on_hyphens=False,
    )
