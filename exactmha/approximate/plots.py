"""Two pictures: amplification against H, with the line where doubles end; parameter error against ε and its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from flint import arb, fmpq

from exactmha.approximate.adversary import attack
from exactmha.approximate.balls import decimal_exponent
from exactmha.approximate.run import certify, largest_certified
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import Chosen, choose
from exactmha.attention import Attention, Model
from exactmha.figures import plotting, save_figure, whole_numbers
from exactmha.random_instance import random_model

MOST_HEADS = 6
SEEDS = 5
DOUBLE_DIGITS = 52 * 0.30103
_STEP = 4
_POINTS = 8
_RUNS = 20


@dataclass(frozen=True, slots=True)
class Curve:
    """log10 of ε, of the certified bound C(ε)·ε, and of the largest observed parameter error."""

    name: str
    epsilon: list[float]
    bound: list[float]
    observed: list[float]


def amplification(dim: int, field: str, heads: int = MOST_HEADS, seeds: int = SEEDS) -> dict[int, list[float]]:
    """Return log10 of the first-order constant of random instances, by H."""
    return {
        h: [decimal_exponent(choose(random_model(h, dim, field, seed), seed=seed).constant) for seed in range(seeds)]
        for h in range(1, heads + 1)
    }


def error_curve(name: str, model: Model, chosen: Chosen) -> Curve:
    """Return bound and observed error for ε*, the largest certified power of two, then for 10^−n, n in steps of 4.

    At ε* the bound is visibly above what is observed; then both tend to the first-order line.
    """
    source = exact_source(Attention(model), chosen.design, len(model.canonical().heads))
    curve = Curve(name, [], [], [])
    star = largest_certified(source)
    if star is None:
        return curve
    first = ceil(-decimal_exponent(arb(star.epsilon))) + 1
    later = (certify(source, fmpq(10) ** -n) for n in range(first, first + _STEP * (_POINTS - 1), _STEP))
    for run in (star, *later):
        if run.enclosure is None:
            continue
        hit = attack(source, run, chosen.jacobian, runs=_RUNS, seed=0)
        curve.epsilon.append(decimal_exponent(arb(run.epsilon)))
        curve.bound.append(decimal_exponent(run.enclosure.constant * arb(run.epsilon)))
        curve.observed.append(
            decimal_exponent(hit.sharpness.max(hit.worst_random) * chosen.constant * arb(run.epsilon))
        )
    return curve


def plot(by_heads: dict[int, list[float]], curves: Sequence[Curve], path: str, *, instances: str) -> None:
    """Draw both pictures into one image file; `instances` says of which field and dimension those on the left are."""
    figure, (left, right) = plotting().subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    title = f"Digits lost, to first order: {instances}, {min(map(len, by_heads.values()))} instances each"
    for heads, values in by_heads.items():
        left.scatter([heads] * len(values), values, color="tab:blue", s=14)
    left.plot(list(by_heads), [median(values) for values in by_heads.values()], color="tab:blue", label="median of (a)")
    left.axhline(DOUBLE_DIGITS, color="black", linestyle="--", linewidth=1, label="doubles: no digit left above")
    left.set(xlabel="number of heads H", ylabel="log10 of the amplification", title=title)
    for i, curve in enumerate(curves):
        colour = f"C{i}"
        right.plot(curve.epsilon, curve.bound, color=colour, linestyle="--", label=f"{curve.name}: certified")
        right.scatter(curve.epsilon, curve.observed, color=colour, s=16, label=f"{curve.name}: worst observed")
    right.set(xlabel="log10 of ε", ylabel="log10 of the parameter error", title="Parameters, from ε* downwards")
    for axes in (left, right):
        axes.legend(fontsize="x-small")
    whole_numbers(left.xaxis)
    save_figure(figure, path)
