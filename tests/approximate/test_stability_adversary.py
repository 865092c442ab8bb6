"""Perturbed runs stay inside; the worst direction is as bad as the constant says; a box too small is left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flint import arb, ctx, fmpq

import exactmha
from exactmha.approximate.adversary import attack
from exactmha.approximate.run import Method, certify, largest_certified, reshaped
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import analyse, choose, digits_needed
from exactmha.attention import Attention
from exactmha.outcome import Outcome


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2), (3, 2)])
def test_runs_stay_inside_and_reach_the_constant(heads: int, dim: int, seed: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed)
    chosen = choose(model, seed=seed)
    source = exact_source(Attention(model), chosen.design, heads)
    run = certify(source, fmpq(1, 10**40))
    assert run.enclosure is not None
    hit = attack(source, run.enclosure, run.epsilon, chosen.constant, runs=100, seed=seed, precision=run.precision)
    assert hit.inside == hit.runs == 100 + 2 * heads * (dim + dim**2)
    assert 0.9 < float(hit.sharpness) < 1.0001
    assert float(hit.worst_random) < 1.0001


@pytest.mark.parametrize(("heads", "dim"), [(3, 3), (4, 3), (4, 1)])
def test_large_cases_and_the_largest_error(heads: int, dim: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed=0)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, heads)
    star = largest_certified(source, Method.MEAN_VALUE)
    assert star is not None
    assert star.enclosure is not None
    hit = attack(source, star.enclosure, star.epsilon, chosen.constant, runs=40, seed=0, precision=star.precision)
    assert hit.inside == hit.runs
    assert float(hit.sharpness) > 0.5


def test_boxes_that_are_too_small_are_left() -> None:
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, 2)
    run = certify(source, fmpq(1, 10**40))
    assert run.enclosure is not None
    with ctx.workprec(512):
        small = [arb(x.mid(), x.rad() * arb("0.9")) for x in run.enclosure.parameters.entries()]
    shrunk = replace(run.enclosure, parameters=reshaped(small, 2, 2))
    hit = attack(source, shrunk, run.epsilon, chosen.constant, runs=0, seed=0, precision=run.precision)
    assert hit.inside == 0  # every sign pattern of a row reaches the end of that row's box


def test_digits_are_sufficient_and_nearly_necessary() -> None:
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, 2)
    star = largest_certified(source, Method.MEAN_VALUE)
    row = digits_needed(source, 20, chosen.constant, star)
    assert row.needed is not None
    run = certify(source, fmpq(1, 10**row.needed))
    assert run.enclosure is not None
    assert run.enclosure.parameters.radius < arb("1e-20")
    fewer = certify(source, fmpq(1, 10 ** (row.needed - 1)))
    assert fewer.enclosure is not None
    assert fewer.enclosure.parameters.radius > arb("1e-20")
    assert digits_needed(source, 20, chosen.constant, None).needed is None


def test_analysis_of_a_rational_instance() -> None:
    model = exactmha.random_model(2, 2, "rational", seed=0)
    result = analyse(model, choose(model), attacks=50)
    assert result.outcome is Outcome.HOLDS
    assert [claim.name for claim in result.claims] == ["certified", "truth-inside", "attack", "sharpness"]
    assert result.star is not None
    assert result.plain_star is not None
    assert result.plain_star.epsilon < result.star.epsilon
    large = analyse(model, choose(model), epsilon=fmpq(1, 10), attacks=10)
    assert large.outcome is Outcome.UNDECIDED
    assert large.run.enclosure is None
    assert large.attack is not None
    assert large.attack.epsilon == result.star.epsilon
