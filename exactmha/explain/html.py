"""A story as one self-contained HTML page: no network, readable without scripts, formulas as MathML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from exactmha.explain.breaking import Breaking, Line, Piece
from exactmha.explain.notation import MathML
from exactmha.explain.page import page
from exactmha.explain.pictures.catalogue import pictures
from exactmha.explain.pictures.svg import as_figure
from exactmha.explain.prose import words
from exactmha.explain.ruler import Ruler
from exactmha.explain.run import Run
from exactmha.explain.story import Group, Step, Story

ROOM = 360
"""The width of an equation in tenths of an em of TeX's fonts: on A4 paper there is room for wider fonts too."""


class BrokenMathML(Breaking, MathML):
    """MathML with long formulas broken: browsers do not break them, and paper has no scroll bar."""

    ruler = Ruler(10**6)
    opening, closing = (
        f'<mo stretchy="false" form="{form}">{c}</mo>' for form, c in (("prefix", "("), ("postfix", ")"))
    )
    slash = "<mo>/</mo>"

    def fitted(self, piece: Piece, room: int) -> Piece:
        """Return a piece that becomes smaller on paper, where it cannot be scrolled."""
        return Piece(f'<mrow class="fit" style="--fit:{room / piece.width:.3f}">{piece.text}</mrow>', room)


_MATH = BrokenMathML()


def as_html(story: Story, run: Run) -> str:
    """Return the page; raises `FalseEquation` for an equation that is false."""
    steps = list(enumerate(story.steps, 1))
    shown = {picture.step: as_figure(picture, run) for picture in pictures(run)}
    return page(
        story.title,
        words(story.introduction),
        [(f"step-{n}", step.title) for n, step in steps],
        _STEPWISE + "".join(_section(n, step, shown.get(step.title, ""), _turn(n, story)) for n, step in steps),
        f"All {story.verified()} equations with numbers were evaluated exactly when this page was written; "
        f"pictures are drawn in floating point. Made by {words('exactmha explain')}.",
    )


_STEPWISE = '<p class="controls" id="stepwise" hidden></p>'
"""Where the script puts the button that shows one step at a time."""


def _turn(number: int, story: Story) -> str:
    """Return links to the step before and the step after."""
    links = [
        f'<a rel="{rel}" href="#step-{n}">{text} {n}: {escape(story.steps[n - 1].title)}</a>'
        for rel, n, text in (("prev", number - 1, "← Step"), ("next", number + 1, "→ Step"))
        if 1 <= n <= len(story.steps)
    ]
    return f'<nav class="turn" aria-label="Around step {number}">{" ".join(links)}</nav>'


def _section(number: int, step: Step, picture: str, turn: str) -> str:
    given = "".join(map(_line, _MATH.generals(step.given, ROOM)))
    return "\n".join(
        part
        for part in (
            f'<section id="step-{number}" aria-labelledby="title-{number}">'
            f'<h2 id="title-{number}" tabindex="-1">Step {number}: {escape(step.title)}</h2>',
            f"<p>{words(step.purpose)}</p>",
            "".join(map(_line, _MATH.generals(step.formulas, ROOM))),
            f"<details><summary>Predict: {words(step.question.text)}</summary>"
            f"<p>{words(step.question.answer)}</p></details>",
            f"<h3>This run</h3>{given}" if given else "",
            picture,
            "".join(map(_group, step.groups)),
            f"<h3>Checked</h3><ul>{''.join(f'<li>{words(text)}</li>' for text in step.checked)}</ul>",
            f"<aside><strong>Otherwise.</strong> {words(step.otherwise)}</aside>",
            f"<p>Proof: {words(f'proofs/{step.proof}.md')}</p>{turn}</section>",
        )
        if part
    )


def _group(group: Group) -> str:
    count = group.verified()
    lines = "".join(line for equation in group.equations for line in map(_line, _MATH.equations([equation], ROOM)))
    more = f"<p>… and {len(group.hidden)} more, verified alike ({count} in all).</p>" if group.hidden else ""
    return f"<h3>{words(group.heading)}</h3>{lines}{more}"


def _line(lines: Sequence[Line]) -> str:
    """Return a formula in a box that can be scrolled, also with the keyboard."""
    (first, *others) = lines
    formula = "".join(map(_row, lines)) if others else first.left.text + first.right.text
    shown = f'<mtable class="chain" displaystyle="true">{formula}</mtable>' if others else formula
    return f'<div class="eq" tabindex="0" role="group" aria-label="formula">{_MATH.display(shown)}</div>'


def _row(line: Line) -> str:
    space = '<mspace width="2em"/>' if line.continued else ""
    return f"<mtr><mtd>{line.left.text}</mtd><mtd>{space}{line.right.text}</mtd></mtr>"
