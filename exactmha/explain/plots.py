"""The pictures of a run as matplotlib figures, for files and notebooks; drawn in floating point."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from exactmha.errors import InputError
from exactmha.explain.drawing import FARTHEST, Curve
from exactmha.explain.run import Run
from exactmha.figures import plotting, whole_numbers

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart; lines differ in their dashes, too."""
DASHES = ("--", ":", "-.", (0, (4, 1)), (0, (8, 2)), (0, (1, 4)))


def run_figure(run: Run) -> Any:
    """Return a figure with f_k against k on the left and the queries by stage on the right.

    Raises `InputError` where matplotlib is missing or the numbers are no finite floats.
    """
    curve = Curve(run)
    if not curve.is_drawable:
        raise InputError("the numbers of this run are too large or too small to be drawn", field="--plot")
    figure, (left, right) = plotting().subplots(
        1, 2, figsize=(11, 4.2), layout="constrained", gridspec_kw={"width_ratios": [2, 1]}
    )
    _draw_profile(left, curve)
    _draw_ledger(right, run)
    return figure


def _draw_profile(axes: Any, curve: Curve) -> None:
    near = sorted(p for p in curve.poles if p >= -FARTHEST)
    low, high, last = *curve.y_range(), len(curve.samples) - 1
    ends = [1.15 * min([*near, -1.0]), *near, last + 0.6]
    for first, second in pairwise(ends):  # one piece between two poles
        gap = 1e-6 * (ends[-1] - ends[0])
        ks = [first + gap + (second - first - 2 * gap) * i / 400 for i in range(401)]
        for h in range(len(curve.poles)):
            label = f"head {h + 1}" if first == ends[0] else None
            axes.plot(ks, [curve.summand(h, k) for k in ks], color=COLOURS[h], linestyle=DASHES[h], label=label)
        axes.plot(ks, [curve.total(k) for k in ks], "k", linewidth=2, label="f_k" if first == ends[0] else None)
    for p in near:
        axes.axvline(p, color="gray", linewidth=0.8, linestyle=(0, (5, 4)))
    axes.plot(range(last + 1), curve.samples, "o", color="black", markerfacecolor="white", label="answers")
    axes.set(xlabel="number of copies k", ylabel="answer", title="One profile: a pole for every head", ylim=(low, high))
    whole_numbers(axes.xaxis)
    axes.legend(fontsize="small", loc="lower right")


def _draw_ledger(axes: Any, run: Run) -> None:
    bottom = 0
    for i, row in enumerate(row for row in run.verification.ledger if row.used):
        axes.bar(0, row.used, bottom=bottom, color=COLOURS[i], edgecolor="black", alpha=0.75, label=row.stage)
        bottom += row.used
    axes.bar(1, run.verification.expected_queries, color="white", edgecolor="black", hatch="//")
    axes.set_xticks([0, 1], ["asked", "4Hd² − 2H + 1"])
    axes.set(ylabel="queries", title=f"{run.recovery.queries} queries", xlim=(-0.6, 1.6))
    whole_numbers(axes.yaxis)
    axes.figure.legend(*axes.get_legend_handles_labels(), fontsize="small", loc="outside lower center", ncols=3)
