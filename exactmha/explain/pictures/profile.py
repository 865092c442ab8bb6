"""f_k against k, continued to negative k: the poles −1/r_h, the summands of the heads, and the 2H + 1 samples.

`proofs/profile-identity` derives the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, isfinite
from typing import Any

from exactmha.errors import InputError
from exactmha.explain.pictures.picture import (
    DASHES,
    HEADS,
    INK,
    PAPER,
    SOFT,
    Picture,
    Scene,
    Scenes,
    decimal,
    part,
    signed,
)
from exactmha.explain.run import Run

NEAREST, FARTHEST = 0.02, 25.0
"""Poles nearer to 0 or farther out than this cannot be seen; the caption names them."""
_TICKS = 20
"""Positions of the slider from one k to the next."""


class Curve:
    """The first profile of a run in floats: base value, samples, poles p_h = −1/r_h, residues."""

    def __init__(self, run: Run) -> None:
        first, field = run.sampled("b_1", "u_1"), run.model.field
        self.base = decimal(run.exact_answer(first, 0))
        self.samples = [decimal(run.exact_answer(first, k)) for k in range(len(first.answers) + 1)]
        weights = [decimal(field.monomial(e)) for e in first.profile.exponents]
        self.poles = [-1 / r if r else float("-inf") for r in weights]
        self.residues = [decimal(field.embed(c)) for c in first.profile.residues]

    @property
    def is_drawable(self) -> bool:
        """True when all numbers are finite floats and no pole falls on 0."""
        return all(map(isfinite, (*self.samples, *self.poles, *self.residues))) and all(self.poles)

    def summand(self, h: int, k: float) -> float:
        """Return c_h·k r_h/(1 + k r_h) = c_h·k/(k − p_h)."""
        return self.residues[h] * k / (k - self.poles[h])

    def total(self, k: float) -> float:
        """Return f_k."""
        return self.base + sum(self.summand(h, k) for h in range(len(self.poles)))

    def seen(self) -> list[float]:
        """Return the poles that are drawn, from left to right."""
        return sorted(p for p in self.poles if NEAREST <= -p <= FARTHEST)

    def breaks(self) -> list[float]:
        """Return the poles in the range that is shown, from left to right, those too near 0 to be seen included."""
        return sorted(p for p in self.poles if -p <= FARTHEST)

    def x_range(self) -> tuple[float, float]:
        """Return the range of k that is shown."""
        return 1.6 * min([*self.seen(), -1.0]), len(self.samples) - 0.4

    def y_range(self) -> tuple[float, float]:
        """Return a range that shows the samples, all summands at the last, and the curve on both sides of each pole."""
        last, ends = len(self.samples) - 1, [self.x_range()[0], *self.seen(), 0.0]
        values = [*self.samples, 0.0, *(self.summand(h, last) for h in range(len(self.poles)))]
        values += [self.total((first + second) / 2) for first, second in pairwise(ends)]
        low, high = min(values), max(values)
        margin = 0.3 * (high - low or 1.0)
        return low - margin, high + margin


def drawable(run: Run) -> Curve:
    """Return the curve of a run; raises `InputError` when its numbers are no finite floats."""
    curve = Curve(run)
    if not curve.is_drawable:
        raise InputError("the numbers of this run are too large or too small to be drawn")
    return curve


def _draw(axes: Any, run: Run) -> None:
    curve = drawable(run)
    left, right = curve.x_range()
    ends = [left, *curve.breaks(), right]
    for first, second in pairwise(ends):  # one piece between two poles
        gap = 1e-6 * (right - left)
        ks = [first + gap + (second - first - 2 * gap) * i / 400 for i in range(401)]
        is_first = first == left
        for h in range(len(curve.poles)):
            values = [curve.summand(h, k) for k in ks]
            label = f"head {h + 1}" if is_first else None
            axes.plot(ks, values, color=HEADS[h], linestyle=DASHES[h], label=label, gid=part(f"head-{h + 1}"))
        total = [curve.total(k) for k in ks]
        axes.plot(ks, total, color=INK, linewidth=2, label="$f_k$" if is_first else None, gid=part("total"))
    for h, p in enumerate(curve.poles):
        if p in curve.seen():
            axes.axvline(p, color=SOFT, linewidth=0.8, linestyle=(0, (5, 4)))
            name = rf"$-1/r_{h + 1}={signed(p, 3)}$"
            axes.annotate(
                name,
                (p, 0.03),
                xycoords=("data", "axes fraction"),
                rotation=90,
                ha="center",
                bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.85},
            )
    axes.axvline(0, color=SOFT, linewidth=0.6)
    samples = range(len(curve.samples))
    axes.plot(samples, curve.samples, "o", color=INK, markerfacecolor=PAPER, label="answers", gid=part("answers"))
    axes.set(xlabel="number of copies k", ylabel="answer", title=_title(curve))
    axes.set(xlim=(left, right), ylim=curve.y_range())
    axes.locator_params(axis="x", integer=True)
    axes.legend(fontsize="small", loc="best")


def _title(curve: Curve) -> str:
    seen, count = len(curve.seen()), len(curve.poles)
    return (
        "One profile: a pole for every head" if seen == count else f"One profile: {seen} of its {count} poles in view"
    )


def _listed(poles: Sequence[float]) -> str:
    return ", ".join(signed(p, 4) for p in poles)


def _label(run: Run) -> str:
    curve = Curve(run)
    return (
        f"The answers f_k against k: {len(curve.samples)} samples at k ≥ 0 and poles at {_listed(curve.poles)}, "
        "all negative."
    )


def _caption(run: Run) -> str:
    curve = Curve(run)
    hidden = [p for p in curve.poles if p not in curve.seen()]
    poles = f" Vertical lines: the poles −1/r ({_listed(curve.seen())})." if curve.seen() else ""
    return (
        f"Solid: f_k, the base value f_0 = {signed(curve.base, 4)} plus the parts of the heads (broken lines). "
        f"Dots: the answers.{poles}" + (f" Too near 0 or too far out to be seen: {_listed(hidden)}." if hidden else "")
    )


def _scenes(run: Run) -> Scenes:
    curve = drawable(run)
    left, right = curve.x_range()
    positions = [i / _TICKS for i in range(ceil(left * _TICKS), int(right * _TICKS) + 1)]
    scenes = tuple(Scene(_reading(curve, k), cursor=k) for k in positions)
    heads = tuple((f"head-{h + 1}", f"head {h + 1}") for h in run.heads)
    return Scenes("k", scenes, positions.index(1.0), (*heads, ("total", "f_k"), ("answers", "answers")))


def _reading(curve: Curve, k: float) -> str:
    on_pole = any(abs(k - p) < 1e-9 for p in curve.poles)
    return f"{'a pole' if on_pole else f'f ≈ {signed(curve.total(k), 5)}'} at k = {signed(k)}"


PROFILE = Picture(
    "profile",
    "Copies make a rational function",
    lambda _run: (7.4, 4.2),
    _draw,
    _label,
    _caption,
    _scenes,
)
