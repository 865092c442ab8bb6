"""Which head of (b_1, u_1) is which head of (b_1, u_2): the true pairs, and the false ones that C4 excludes.

`proofs/matching` proves the criterion.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from exactmha.explain.equation import Equation
from exactmha.explain.formula import times
from exactmha.explain.pictures.picture import (
    HEADS,
    INK,
    PAPER,
    PLAIN,
    SOFT,
    Picture,
    Scene,
    Scenes,
    decimal,
    logarithm,
    part,
    short,
    signed,
)
from exactmha.explain.run import Run
from exactmha.recover.learn import Sampled


class Matched:
    """The two profiles and their sum profile. Both lists stand in order of size, largest ratio first.

    So crossing lines show that size does not tell which head is which.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.first, self.second = run.sampled("b_1", "u_1"), run.sampled("b_1", "u_2")
        self.total = run.sampled("b_1", "u_1+u_2")
        self.left, self.right = (_places(run, sampled) for sampled in (self.first, self.second))

    def says(self, h: int, g: int) -> str:
        """Return what the product of two ratios is, or is not, verified."""
        product = times(self.run.pole(self.first, h), self.run.pole(self.second, g))
        pair = f"head {h + 1} with ratio {self.right[g] + 1}: "
        if h == g:
            equation = Equation(self.run.values, (product, self.run.pole(self.total, h)))
            return f"{pair}{PLAIN.equation(equation)}, a ratio of the sum profile: one head"
        excluded = [
            Equation(self.run.values, (product, self.run.pole(self.total, k)), None, "≠") for k in self.run.heads
        ]
        return f"{pair}{'; '.join(map(PLAIN.equation, excluded))}: not one head"


def _places(run: Run, sampled: Sampled) -> dict[int, int]:
    """Return the place of every head when its ratio is listed by size, largest first."""
    sizes = [logarithm(run, exponent) for exponent in sampled.profile.exponents]
    order = sorted(run.heads, key=lambda h: -sizes[h])
    return {h: i for i, h in enumerate(order)}


def _pair(h: int, g: int) -> str:
    return f"pair-{h + 1}-{g + 1}"


def _draw(axes: Any, run: Run) -> None:
    matched = Matched(run)
    for h in run.heads:
        for g in run.heads:
            y = (-matched.left[h], -matched.right[g])
            style = {"color": HEADS[h], "linewidth": 3} if h == g else {"color": SOFT, "linestyle": ":", "linewidth": 1}
            axes.plot((0, 1), y, gid=part(_pair(h, g)), zorder=2 if h == g else 1, **style)
    for h in run.heads:
        _node(axes, 0, -matched.left[h], f"head {h + 1}, r = {_number(run, matched.first, h)} ", "right")
        place = matched.right[h]
        _node(axes, 1, -place, f" ratio {place + 1}, r = {_number(run, matched.second, h)}", "left")
    axes.text(0, 0.55, "$(b_1, u_1)$", ha="center")
    axes.text(1, 0.55, "$(b_1, u_2)$", ha="center")
    axes.set(xlim=(-0.95, 1.95), ylim=(0.4 - len(run.heads), 0.9), title="Which head is which? Ratios by size")
    axes.set_axis_off()


def _node(axes: Any, x: float, y: float, text: str, side: str) -> None:
    axes.plot([x], [y], "o", color=INK, markerfacecolor=PAPER, markersize=11, zorder=3)
    axes.text(x + (0.06 if side == "left" else -0.06), y, text, ha=side, va="center")


def _number(run: Run, sampled: Sampled, h: int) -> str:
    exponent, text = sampled.profile.exponents[h], PLAIN.term(run.pole(sampled, h))
    value = decimal(run.model.field.monomial(exponent))
    return short(text, value) if isfinite(value) and value else f"exp({signed(logarithm(run, exponent), 4)})"


def _label(run: Run) -> str:
    matched = Matched(run)
    by_size = sorted(run.heads, key=lambda h: matched.left[h])
    return "; ".join(f"head {h + 1} has ratio {matched.right[h] + 1}" for h in by_size)


def _caption(run: Run) -> str:
    return (
        f"Ratios r of two profiles, largest first. Thick: the matching ({_label(run)}). Dotted: pairs that C4 "
        "excludes, since their product is no ratio of the sum profile."
    )


def _scenes(run: Run) -> Scenes:
    matched = Matched(run)
    left, right = (sorted(run.heads, key=lambda h: places[h]) for places in (matched.left, matched.right))
    pairs = [Scene(matched.says(h, g), (_pair(h, g),)) for h in left for g in right]
    true = tuple(_pair(h, h) for h in run.heads)
    return Scenes("pair", (Scene("all pairs"), *pairs, Scene(f"the matching: {_label(run)}", true)))


MATCHING = Picture(
    "matching",
    "Matching heads across the first row",
    lambda run: (7.4, 1.2 + 0.55 * len(run.heads)),
    _draw,
    _label,
    _caption,
    _scenes,
)
