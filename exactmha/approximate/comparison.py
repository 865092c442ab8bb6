"""Amplification compared: between token designs of one instance, and between sizes of random instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median

from flint import fmpq

from exactmha.approximate.balls import decimal_exponent
from exactmha.approximate.choose import KINDS, scale_for
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.run import certify
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import choose, double_error, weight_bound
from exactmha.attention import Attention, Model
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model

DRAWS = 8
FACTORS = (fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(2))
"""Multiples of the default length of the b_j."""


@dataclass(frozen=True, slots=True)
class DesignRow:
    """log10 of the first-order constant over some draws of one kind; None when no draw satisfied the conditions."""

    kind: str
    scale: fmpq | None
    """length of the b_j; None for integer tokens"""
    median: float | None
    best: float | None
    draws: int


def compare_designs(
    model: Model, *, seed: int = 0, scale: fmpq | None = None, draws: int = DRAWS, factors: Sequence[fmpq] = FACTORS
) -> tuple[DesignRow, ...]:
    """Return one row for every kind and scale that the field allows; `draws` designs each, from different seeds."""
    middle = scale or scale_for(len(model.canonical().heads), weight_bound(model))
    rows = []
    for kind in KINDS:
        if kind == "integer":
            rows.append(_row(model, kind, None, seed, draws))
        elif model.field.name == "exponential":
            rows += [_row(model, kind, middle * factor, seed, draws) for factor in factors]
    return tuple(rows)


def _row(model: Model, kind: str, scale: fmpq | None, seed: int, draws: int) -> DesignRow:
    found = []
    for i in range(draws):
        try:
            found.append(decimal_exponent(choose(model, kind=kind, seed=seed + i, scale=scale).constant))
        except SeparationLost:
            continue
    if not found:
        return DesignRow(kind, scale, None, None, 0)
    return DesignRow(kind, scale, median(found), min(found), len(found))


SEEDS = 10
"""Random instances of each size."""


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Random exponential instances of one size: log10 of the first-order constants, and how many doubles certify."""

    heads: int
    dim: int
    least: float
    median: float
    most: float
    certified: int
    """instances with boxes certified from answers that are rounded correctly to doubles"""
    instances: int


def compare_sizes(heads: Sequence[int], dims: Sequence[int], *, seed: int = 0, instances: int = SEEDS) -> list[SizeRow]:
    """Return one row for every size; instances and designs from the seeds `seed`, `seed` + 1, ..."""
    return [_size(h, d, range(seed, seed + instances)) for h in heads for d in dims]


def _size(heads: int, dim: int, seeds: Sequence[int]) -> SizeRow:
    constants, certified = [], 0
    for seed in seeds:
        model = random_model(heads, dim, "exponential", seed)
        chosen = choose(model, seed=seed)
        source = exact_source(Attention(model), chosen.design, heads)
        constants.append(decimal_exponent(chosen.constant))
        rounding = double_error(source)
        certified += rounding is not None and certify(source, rounding).outcome is Outcome.HOLDS
    return SizeRow(heads, dim, min(constants), median(constants), max(constants), certified, len(seeds))


@dataclass(frozen=True, slots=True)
class KindRow:
    """Random exponential instances of one size: the median of log10 of the first-order constant, by kind of design."""

    heads: int
    dim: int
    medians: dict[str, float | None]
    """None where no design of the kind satisfied the conditions for most instances"""
    instances: int


def compare_kinds(heads: Sequence[int], dim: int, *, seed: int = 0, instances: int = SEEDS) -> list[KindRow]:
    """Return one row for every H: the first design of every kind, default length, instances as in `compare_sizes`."""
    return [
        KindRow(h, dim, {kind: _kind_median(h, dim, kind, range(seed, seed + instances)) for kind in KINDS}, instances)
        for h in heads
    ]


def _kind_median(heads: int, dim: int, kind: str, seeds: Sequence[int]) -> float | None:
    found = []
    for seed in seeds:
        try:
            chosen = choose(random_model(heads, dim, "exponential", seed), kind=kind, seed=seed)
        except SeparationLost:
            found.append(inf)  # worse than any
        else:
            found.append(decimal_exponent(chosen.constant))
    middle = median(found)
    return middle if isfinite(middle) else None
