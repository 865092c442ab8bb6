"""A story as a LaTeX document that needs amsmath and geometry only."""

from __future__ import annotations

from collections.abc import Iterator

from exactmha.explain.formula import Term
from exactmha.explain.notation import Latex, tex_text
from exactmha.explain.story import Group, Step, Story

_LATEX = Latex()
_HEAD = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage[margin=2cm]{geometry}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt plus 2pt}\allowdisplaybreaks\sloppy
"""


def as_latex(story: Story) -> str:
    """Return the document; raises `FalseEquation` for an equation that is false."""
    parts = [
        rf"{_HEAD}\title{{{tex_text(story.title)}}}\author{{exactmha explain}}\date{{}}",
        r"\begin{document}\maketitle",
        tex_text(story.introduction),
    ]
    for step in story.steps:
        parts += _section(step)
    parts += [f"All {story.verified()} equations with numbers were evaluated and hold.", r"\end{document}", ""]
    return "\n\n".join(parts)


def _section(step: Step) -> Iterator[str]:
    yield rf"\section{{{tex_text(step.title)}}}"
    yield tex_text(step.purpose)
    yield from (_display(formula) for formula in step.formulas)
    yield from (_display(pair) for pair in step.given)
    for group in step.groups:
        yield from _group(group)
    checked = "\n".join(rf"\item {tex_text(text)}" for text in step.checked)
    yield f"\\textbf{{Checked}}\n\\begin{{itemize}}\n{checked}\n\\end{{itemize}}"
    yield rf"\textbf{{Otherwise.}} {tex_text(step.otherwise)}"
    yield rf"\textbf{{Question.}} {tex_text(step.question.text)} \emph{{{tex_text(step.question.answer)}}}"
    yield rf"Proof: \texttt{{proofs/{tex_text(step.proof)}.md}}"


def _group(group: Group) -> Iterator[str]:
    count = group.verified()
    yield rf"\textbf{{{tex_text(group.heading)}}}"
    for equation in group.equations:
        yield rf"\begin{{align*}}{_LATEX.aligned(equation)}\end{{align*}}"
    if group.hidden:
        yield f"\\ldots{{}} and {len(group.hidden)} more, verified alike ({count} in all)."


def _display(chain: tuple[Term, ...]) -> str:
    return rf"\[{_LATEX.general(chain)}\]"
