"""Exponents before and after assembly: the logarithms of the ratios, and W_h = B^{-1} L_h U^{-1}.

`proofs/algorithm` derives the assembly.
"""

from __future__ import annotations

from typing import Any

from exactmha.explain.pictures.picture import HEADS, INK, PLAIN, Picture, Scene, Scenes, logarithm, part, short
from exactmha.explain.run import Run
from exactmha.fields.interface import Exponent

_GAP = 0.9
"""Rows left free between the matrices of two heads, for their titles."""


Entries = list[list[tuple[str, float]]]
"""A matrix of entries, each as text and as a float."""


def _draw(axes: Any, run: Run) -> None:
    dim, H = run.dim, len(run.heads)
    for h in run.heads:
        top = -h * (dim + _GAP)
        _matrix(axes, h, (0.0, top), f"log of ratio {h + 1} of $(b_j, u_i)$", _observed(run, h))
        _matrix(axes, h, (dim + 0.6, top), f"$W_{h + 1}$", _assembled(run, h))
        middle = top - dim / 2
        axes.annotate("", (dim + 0.5, middle), (dim + 0.1, middle), arrowprops={"arrowstyle": "->", "color": INK})
    axes.set(xlim=(-0.1, 2 * dim + 0.7), ylim=(-H * (dim + _GAP) + _GAP - 0.1, 0.8))
    axes.set_axis_off()


def _matrix(axes: Any, h: int, corner: tuple[float, float], title: str, entries: Entries) -> None:
    """Draw a matrix: the larger an entry, the stronger its colour; hatched where it is negative."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    left, top = corner
    largest = max(abs(value) for row in entries for _, value in row) or 1.0
    gid = part(f"head-{h + 1}")
    axes.text(left + len(entries) / 2, top + 0.15, title, ha="center", gid=gid)
    for j, row in enumerate(entries):
        for i, (text, value) in enumerate(row):
            x, y = left + i, top - j - 1
            axes.add_patch(
                Rectangle(
                    (x, y),
                    1,
                    1,
                    facecolor=to_rgba(HEADS[h], 0.4 * abs(value) / largest),
                    edgecolor=to_rgba(HEADS[h], 0.35),
                    hatch="////" if value < 0 else None,
                    gid=gid,
                )
            )
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize="small", gid=gid)


def _observed(run: Run, h: int) -> Entries:
    """Return log r_h(b_j, u_i)."""
    names = range(1, run.dim + 1)
    rows = [[run.sampled(f"b_{j}", f"u_{i}") for i in names] for j in names]
    return [
        [_shown(run, PLAIN.term(run.log_pole(sampled, h)), sampled.profile.exponents[h]) for sampled in row]
        for row in rows
    ]


def _assembled(run: Run, h: int) -> Entries:
    """Return W_h; its entry j, i is the exponent that the unit vectors e_j and e_i give."""
    head = run.recovery.labelled_heads[h]
    units = [tuple(int(k == place) for k in range(run.dim)) for place in range(run.dim)]
    return [
        [_shown(run, PLAIN.term(term), run.exponent(head, units[j], units[i])) for i, term in enumerate(row)]
        for j, row in enumerate(run.weights(head).rows)
    ]


def _shown(run: Run, text: str, exponent: Exponent) -> tuple[str, float]:
    value = logarithm(run, exponent)
    return short(text, value), value


def _label(run: Run) -> str:
    return f"For each of {len(run.heads)} heads the matrix of the logarithms of its ratios, and beside it the matrix W."


def _caption(_run: Run) -> str:
    return (
        "Left: what was measured, log r_h(b_j, u_i), with rows b_j and columns u_i. Right: W_h, after multiplying with "
        "the inverses of B and U. Stronger colour: larger; hatched: negative."
    )


def _scenes(run: Run) -> Scenes:
    heads = [
        Scene(f"head {h + 1}: {run.dim**2} logarithms become the {run.dim**2} entries of W_{h + 1}", (f"head-{h + 1}",))
        for h in run.heads
    ]
    return Scenes("head", (Scene("all heads"), *heads))


EXPONENTS = Picture(
    "exponents",
    "Assembling W",
    lambda run: (1.0 + 2.0 * run.dim, 0.4 + 0.5 * len(run.heads) * (run.dim + _GAP)),
    _draw,
    _label,
    _caption,
    _scenes,
)
