"""A story as one self-contained HTML page: no network, readable without scripts, formulas as MathML."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from exactmha.explain import drawing
from exactmha.explain.notation import MathML
from exactmha.explain.page import page
from exactmha.explain.run import Run
from exactmha.explain.story import Group, Step, Story

_MATH = MathML()
PICTURES: dict[str, Callable[[Run], str]] = {
    "Copies make a rational function": drawing.profile_picture,
    "Matching heads across the first row": drawing.matching_picture,
    "The later rows": drawing.grid_picture,
    "Counting every query": drawing.ledger_picture,
}
"""The title of a step, and the picture that it shows."""


def as_html(story: Story, run: Run) -> str:
    """Return the page; raises `FalseEquation` for an equation that is false."""
    steps = list(enumerate(story.steps, 1))
    return page(
        story.title,
        _words(story.introduction),
        [(f"step-{n}", step.title) for n, step in steps],
        "".join(_section(n, step, run) for n, step in steps),
        f"All {story.verified()} equations with numbers were evaluated exactly when this page was written; "
        "pictures are drawn in floating point. Made by exactmha explain.",
    )


def _section(number: int, step: Step, run: Run) -> str:
    picture = PICTURES.get(step.title)
    given = "".join(_line(_MATH.general(pair)) for pair in step.given)
    return "\n".join(
        part
        for part in (
            f'<section id="step-{number}" aria-labelledby="title-{number}">'
            f'<h2 id="title-{number}">Step {number}: {escape(step.title)}</h2>',
            f"<p>{_words(step.purpose)}</p>",
            "".join(_line(_MATH.general(formula)) for formula in step.formulas),
            f"<details><summary>Predict: {_words(step.question.text)}</summary>"
            f"<p>{_words(step.question.answer)}</p></details>",
            f"<h3>This run</h3>{given}" if given else "",
            picture(run) if picture else "",
            "".join(map(_group, step.groups)),
            f"<h3>Checked</h3><ul>{''.join(f'<li>{_words(text)}</li>' for text in step.checked)}</ul>",
            f"<aside><strong>Otherwise.</strong> {_words(step.otherwise)}</aside>",
            f"<p>Proof: proofs/{step.proof}.md</p></section>",
        )
        if part
    )


def _group(group: Group) -> str:
    count = group.verified()
    lines = "".join(_line(_MATH.equation(equation)) for equation in group.equations)
    more = f"<p>… and {len(group.hidden)} more, verified alike ({count} in all).</p>" if group.hidden else ""
    return f"<h3>{_words(group.heading)}</h3>{lines}{more}"


def _line(formula: str) -> str:
    """Return a formula in a box that can be scrolled, also with the keyboard."""
    return f'<div class="eq" tabindex="0" role="group" aria-label="formula">{_MATH.display(formula)}</div>'


_INDEXED = re.compile(r"(?<![A-Za-z])([A-Za-zΣΠ])_([A-Za-z0-9])(?![A-Za-z0-9])")
_RAISED = re.compile(r"\^([A-Za-z])(?![A-Za-z])")


def _words(text: str) -> str:
    """Return prose with names such as b_1 and U^T set with an index or raised."""
    return _RAISED.sub(r"<sup>\1</sup>", _INDEXED.sub(r"<i>\1</i><sub>\2</sub>", escape(text, quote=False)))
