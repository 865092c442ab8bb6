"""Amplification compared: between token designs of one instance, and between sizes of random instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from flint import fmpq

from exactmha.approximate.balls import decimal_exponent
from exactmha.approximate.choose import KINDS, scale_for
from exactmha.approximate.run import certify
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import choose, double_error, weight_bound
from exactmha.attention import Attention, Model
from exactmha.errors import ConditionFailed
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model

DRAWS = 8
FACTORS = (fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(2))
"""Multiples of the default length of the b_j."""


@dataclass(frozen=True, slots=True)
class DesignRow:
    """log10 of the first-order constant over some draws of one kind; None when no draw satisfied the conditions."""

    kind: str
    scale: fmpq
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
            rows.append(_row(model, kind, fmpq(1), seed, draws))
        elif model.field.name == "exponential":
            rows += [_row(model, kind, middle * factor, seed, draws) for factor in factors]
    return tuple(rows)


def _row(model: Model, kind: str, scale: fmpq, seed: int, draws: int) -> DesignRow:
    found = []
    for i in range(draws):
        try:
            found.append(decimal_exponent(choose(model, kind=kind, seed=seed + i, scale=scale).constant))
        except ConditionFailed:
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
        certified += certify(source, double_error(source)).outcome is Outcome.HOLDS
    return SizeRow(heads, dim, min(constants), median(constants), max(constants), certified, len(seeds))
