"""A story as a LaTeX document that needs amsmath, geometry and graphicx only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exactmha.explain.breaking import Breaking, Line, Piece
from exactmha.explain.notation import MOST_DIGITS, Latex, tex_text, tex_words
from exactmha.explain.ruler import Ruler
from exactmha.explain.story import Group, Step, Story

ROOM = 450
"""The width of an equation in tenths of an em: A4 paper has 483 between margins of 2 cm."""
GAP = 30
"""The space between short equations side by side."""
MOST_COLUMNS = 4

_HEAD = r"""\documentclass[a4paper,fleqn]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage[margin=2cm]{geometry}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt plus 2pt}\setlength{\mathindent}{1em}
\renewcommand{\arraystretch}{1.2}
\allowdisplaybreaks\sloppy\clubpenalty=10000\widowpenalty=10000
\AtBeginDocument{\setlength{\abovedisplayskip}{3pt plus 3pt}\setlength{\abovedisplayshortskip}{0pt plus 3pt}%
\setlength{\belowdisplayskip}{4pt plus 4pt}\setlength{\belowdisplayshortskip}{4pt plus 4pt}}
\makeatletter % lists without space around items, and never parted from the line before
\@beginparpenalty=10000
\def\@listi{\leftmargin\leftmargini\topsep0pt\partopsep0pt\parsep0pt\itemsep0pt}\let\@listI\@listi
\makeatother
"""
_SHORTENED = (
    f"Of numbers with more than {MOST_DIGITS} digits the first and the last ones are shown, with an index in brackets "
    "that says how many there are."
)


class BrokenLatex(Breaking, Latex):
    """LaTeX with long formulas broken, and with what cannot be broken made smaller."""

    ruler = Ruler(MOST_DIGITS)
    opening, closing, slash = r"\Bigl(", r"\Bigr)", r"\Big/"

    def fitted(self, piece: Piece, room: int) -> Piece:
        """Return a piece at most as wide as its line."""
        return Piece(rf"\scalebox{{{room / piece.width:.3f}}}{{$\displaystyle {piece.text}$}}", room)


_LATEX = BrokenLatex()


def as_latex(story: Story) -> str:
    """Return the document; raises `FalseEquation` for an equation that is false."""
    body = [part for number, step in enumerate(story.steps, 1) for part in _section(number, step)]
    shortened = [_SHORTENED] if any(r"{\ldots}" in part for part in body) else []
    answers = "\n".join(rf"\item[Step {n}.] {tex_words(step.question.answer)}" for n, step in enumerate(story.steps, 1))
    return "\n\n".join(
        [
            rf"{_HEAD}\begin{{document}}",
            rf"{{\LARGE {tex_text(story.title)}\par}}\medskip",
            " ".join([tex_words(story.introduction), *shortened]),
            *body,
            r"\section*{Answers}",
            f"\\begin{{description}}\n{answers}\n\\end{{description}}",
            f"All {story.verified()} equations with numbers were evaluated and hold.",
            "\\end{document}\n",
        ]
    )


def _section(number: int, step: Step) -> Iterator[str]:
    yield rf"\section{{{tex_words(step.title)}}}"
    yield tex_words(step.purpose) + _display(_LATEX.generals(step.formulas, ROOM))
    if step.given:
        yield r"\textbf{This run}" + _display(_LATEX.generals(step.given, ROOM))
    for group in step.groups:
        yield _group(group)
    checked = "\n".join(rf"\item {tex_words(text)}" for text in step.checked)
    proof = tex_words(f"proofs/{step.proof}.md")
    yield f"\\textbf{{Checked}} (the proof is in {proof})\n\\begin{{itemize}}\n{checked}\n\\end{{itemize}}"
    yield rf"\textbf{{Otherwise.}} {tex_words(step.otherwise)}"
    yield rf"\textbf{{Question {number}.}} {tex_words(step.question.text)}"


def _group(group: Group) -> str:
    count = group.verified()
    shown = _display(_LATEX.equations(group.equations, ROOM))
    more = f"\\ldots{{}} and {len(group.hidden)} more, verified alike ({count} in all)." if group.hidden else ""
    return rf"\textbf{{{tex_words(group.heading)}}}{shown}{more}"


def _display(equations: Sequence[Sequence[Line]]) -> str:
    """Return equations as one display that is aligned at their relations; short ones stand side by side.

    It belongs to the paragraph before, so that TeX keeps a heading and its first equation on one page.
    """
    if not equations:
        return ""
    columns = _columns(equations)
    rows = []
    if columns > 1:
        cells = [_row(lines[0]) for lines in equations]
        rows = [r" &\qquad ".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    else:
        # \\* keeps the lines of one equation together
        rows = [" \\\\*\n".join(map(_row, lines)) for lines in equations]
    body = " \\\\\n".join(rows)
    return f"\n\\begin{{alignat*}}{{{columns}}}\n{body}\n\\end{{alignat*}}\n"


def _columns(equations: Sequence[Sequence[Line]]) -> int:
    if any(len(lines) > 1 for lines in equations):
        return 1
    left = max(lines[0].left.width for lines in equations)
    right = max(lines[0].right.width for lines in equations)
    return max(1, min(MOST_COLUMNS, len(equations), (ROOM + GAP) // (left + right + GAP)))


def _row(line: Line) -> str:
    return f"{line.left.text} &{chr(92) + 'quad ' if line.continued else ''}{line.right.text}"
