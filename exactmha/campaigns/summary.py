"""Summaries and plots of a campaign's rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p
from statistics import median

from exactmha.campaigns.tasks import Row
from exactmha.figures import plotting, save_figure, whole_numbers
from exactmha.outcome import Outcome

SIGNIFICANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one (field, H, d, grid)."""

    field: str
    heads: int
    dim: int
    grid: int
    runs: int
    verified: int
    with_redraw: int
    """runs in which at least one condition failed and a token was drawn again"""
    failure_bound: float
    seconds: float
    """median"""

    @property
    def redraw_rate(self) -> float:
        """Observed share of runs that needed a re-draw."""
        return self.with_redraw / self.runs

    @property
    def contradicts_bound(self) -> bool:
        """True when so many re-draws have probability below `SIGNIFICANCE` if the bound is right."""
        return self.failure_bound < 1 and _tail(self.runs, self.with_redraw, self.failure_bound) < SIGNIFICANCE


def _tail(runs: int, least: int, p: float) -> float:
    """Return the binomial tail Σ_{k≥least} C(n, k) p^k (1 − p)^(n−k) for n runs and p < 1; by logarithms, for any n."""
    if not least or not p:
        return 0.0 if least else 1.0
    everything = lgamma(runs + 1)
    return sum(
        exp(everything - lgamma(k + 1) - lgamma(runs - k + 1) + k * log(p) + (runs - k) * log1p(-p))
        for k in range(least, runs + 1)
    )


def grouped(rows: Iterable[Row]) -> list[Group]:
    """Group rows by (field, H, d, grid), sorted."""
    groups: dict[tuple[str, int, int, int], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.field, row.heads, row.dim, row.grid].append(row)
    return [
        Group(
            *key,
            runs=len(members),
            verified=sum(row.outcome == Outcome.HOLDS.value for row in members),
            with_redraw=sum(row.redraws > 0 for row in members),
            failure_bound=max(row.failure_bound for row in members),
            seconds=median(row.seconds for row in members),
        )
        for key, members in sorted(groups.items())
    ]


def plot(groups: Sequence[Group], path: str) -> None:
    """Plot success, re-draws against the predicted bound, and time against H and d, to an image file."""
    figure, (success, redraws, times) = plotting().subplots(1, 3, figsize=(13, 4), layout="constrained")
    markers = {"exponential": "o", "rational": "s", "radical": "^"}
    for field, marker in markers.items():
        mine = [group for group in groups if group.field == field]
        if not mine:
            continue
        success.scatter([g.heads for g in mine], [g.verified / g.runs for g in mine], marker=marker, label=field)
        shown = [g for g in mine if g.failure_bound < 1]
        redraws.scatter([g.failure_bound for g in shown], [g.redraw_rate for g in shown], marker=marker, label=field)
        by_dim: dict[int, list[Group]] = defaultdict(list)
        for group in mine:
            by_dim[group.dim].append(group)
        for dim, line in sorted(by_dim.items()):
            line.sort(key=lambda g: g.heads)
            times.plot([g.heads for g in line], [g.seconds for g in line], marker=marker, label=f"{field}, d = {dim}")
    success.set(xlabel="number of heads H", ylabel="share of runs verified", ylim=(-0.05, 1.05), title="Verified")
    redraws.axline((0, 0), (1, 1), color="black", linestyle="--", linewidth=1, label="bound")
    redraws.set(xlabel="predicted failure bound", ylabel="observed share with a re-draw", title="Re-draws")
    times.set(xlabel="number of heads H", ylabel="median seconds", yscale="log", title="Time of one verification")
    for axes in (success, times):
        whole_numbers(axes.xaxis)
    success.legend()
    redraws.legend()
    times.legend(fontsize="x-small")
    save_figure(figure, path)
