"""Perturbed runs stay inside; the worst direction is as bad as the constant says; a box too small is left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flint import arb, ctx, fmpq

import exactmha
from exactmha.approximate import stability
from exactmha.approximate.adversary import _learned, _rerun, attack
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.run import CertifiedRun, Method, certify, largest_certified, reshaped
from exactmha.approximate.samples import Samples, exact_source
from exactmha.approximate.stability import (
    _sharpness_claim,
    analyse,
    choose,
    digits_needed,
    double_error,
    ratio,
    weight_bound,
)
from exactmha.approximate.truth import head_order, ordered_truth, true_parameters
from exactmha.attention import Attention, Model
from exactmha.instance import from_dict
from exactmha.outcome import Outcome


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2), (3, 2)])
def test_runs_stay_inside_and_reach_the_constant(heads: int, dim: int, seed: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed)
    chosen = choose(model, seed=seed)
    source = exact_source(Attention(model), chosen.design, heads)
    run = certify(source, fmpq(1, 10**40))
    assert run.enclosure is not None
    hit = attack(source, run, chosen.jacobian, runs=100, seed=seed)
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
    hit = attack(source, star, chosen.jacobian, runs=40, seed=0)
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
    shrunk = replace(run, enclosure=replace(run.enclosure, parameters=reshaped(small, 2, 2)))
    hit = attack(source, shrunk, chosen.jacobian, runs=0, seed=0)
    assert hit.inside == 0  # every sign pattern of a row reaches the end of that row's box


@pytest.mark.parametrize("wanted", [0, 1, 3, 20])
@pytest.mark.parametrize(("heads", "seed"), [(1, 0), (2, 0), (2, 7)])
def test_digits_are_sufficient_and_one_less_is_not(wanted: int, heads: int, seed: int) -> None:
    model = exactmha.random_model(heads, 1, "exponential", seed=seed)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, heads)
    star = largest_certified(source)
    row = digits_needed(source, wanted, chosen.constant, star)
    assert row.needed
    for digits in (row.needed, row.needed - 1):
        run = certify(source, fmpq(1, 10**digits))
        within = run.enclosure is not None and bool(run.enclosure.parameters.radius <= arb(10) ** -wanted)
        assert within == (digits == row.needed)
    assert digits_needed(source, wanted, chosen.constant, None).needed is None
    worse = digits_needed(source, wanted, chosen.constant * 10**5, star)  # a start too high: the search goes down
    assert worse.needed == row.needed


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


def instance(*heads: tuple[list[list[str]], list[str]]) -> Model:
    return from_dict(
        {
            "format": "exactmha/instance/1",
            "field": "exponential",
            "dim": len(heads[0][1]),
            "heads": [{"W": W, "v": v} for W, v in heads],
        }
    )


def test_more_than_six_heads_keep_their_report() -> None:
    model = exactmha.random_model(7, 2, "exponential", seed=0)
    chosen = choose(model)
    run = certify(exact_source(Attention(model), chosen.design, 7), fmpq(1, 10**80))
    hit = attack(exact_source(Attention(model), chosen.design, 7), run, chosen.jacobian, runs=2, seed=0)
    assert hit.skipped == 7 * 6  # one for every row of the Jacobian
    assert hit.inside == hit.runs == 2 + 7 * 6
    assert "at most 6 heads" in hit.why
    assert stability.promised(model, chosen.design) is None
    claims = stability._attack_claims(hit, "", run, chosen.constant)
    assert "42 more could not be made" in claims[0].evidence
    nothing = replace(hit, runs=0, inside=0)
    assert stability._attack_claims(nothing, "", run, chosen.constant)[0].outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(("apart", "outcome"), [("1e-50", Outcome.HOLDS), ("1e-150", Outcome.UNDECIDED)])
def test_nearly_equal_heads_keep_their_report(apart: str, outcome: Outcome) -> None:
    model = instance(([["1"]], ["1"]), ([[f"1+{apart}"]], ["2"]))
    result = analyse(model, choose(model), epsilon=fmpq(1, 10**900), attacks=2)
    assert result.outcome is outcome  # the isolation of the poles gives up where they are too near
    assert result.a_priori is not None
    assert result.a_priori.radius > 0
    assert result.chosen.margins.pole_gap.value > 0


def test_perturbed_runs_are_the_learner_where_newton_s_method_diverges() -> None:
    model = exactmha.random_model(1, 1, "exponential", seed=0)
    source = exact_source(Attention(model), choose(model).design, 1)
    run = certify(source, fmpq(1, 10**20))
    assert run.enclosure is not None
    with ctx.workprec(256):
        samples, size = source().centre(), arb(run.epsilon)
        expected = _rerun(samples, run.enclosure, size)
        box = run.enclosure.grid[0, 0]
        far = replace(run.enclosure, grid={(0, 0): replace(box, logits=(arb(4),))})
        with pytest.raises(SeparationLost, match="Newton's method"):
            _learned(samples, far, size)
        assert all(abs(x - y) < size for x, y in zip(_rerun(samples, far, size), expected, strict=True))


def test_tiny_answers_are_attacked_at_their_own_scale() -> None:
    model = instance(([["1"]], ["10^-400"]))
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, 1)
    run = largest_certified(source, Method.PLAIN)
    assert run is not None
    hit = attack(source, run, chosen.jacobian, runs=20, seed=0)
    assert hit.inside == hit.runs == 24
    assert hit.skipped == 0


def test_conditions_that_are_not_seen_to_hold() -> None:
    model = instance(([["1"]], ["1"]), ([["1+1e-3000"]], ["2"]))
    with pytest.raises(SeparationLost, match="not seen to hold at 4096 bits"):
        choose(model)


@pytest.mark.parametrize(("size", "digits"), [("10^400", 1000), ("10^400", 30), ("10^-400", 1000)])
def test_answers_of_any_size(size: str, digits: int) -> None:
    model = instance(([["1"]], [size]))
    chosen = choose(model)
    result = analyse(model, chosen, epsilon=fmpq(1, 10**digits), attacks=10)
    assert [claim.outcome for claim in result.claims] == [Outcome.HOLDS] * 4
    assert result.attack is not None
    assert 0.9 < float(result.attack.sharpness) < 1.0001
    assert float(ratio(result.best, chosen.constant) or 0) < 1.0001  # enough bits for answers of this size
    assert (result.doubles is None) == (size == "10^400")


def test_moves_that_the_certificate_excludes_are_no_evidence() -> None:
    model = exactmha.random_model(1, 1, "exponential", seed=0)
    result = analyse(model, choose(model), attacks=2)
    assert result.attack is not None
    bound = ratio(result.best, result.chosen.constant)
    assert _sharpness_claim("", result.attack, bound).outcome is Outcome.HOLDS
    noise = replace(result.attack, sharpness=arb(3))
    assert _sharpness_claim("", noise, bound).outcome is Outcome.UNDECIDED
    assert _sharpness_claim("", replace(noise, sharpness=arb(0.4)), bound).outcome is Outcome.FAILS


def test_the_error_of_doubles_covers_every_answer() -> None:
    # the grid profiles nearly cancel, the sum profiles do not: the largest answer belongs to one of these
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    source = exact_source(Attention(model), choose(model).design, 2)
    error = double_error(source)
    assert error is not None
    with ctx.workprec(200):
        samples = source()
        flat = [samples.base, *(f for profile in samples.answers for f in profile)]
        assert all(abs(arb(float(f.mid())) - f) < arb(error) for f in flat)
        sums = Samples(samples.design, 2, samples.base * 0, tuple(tuple(f * 1000 * p.is_sum for f in row)
                       for p, row in zip(samples.design.profiles, samples.answers, strict=True)))  # fmt: skip
        most = max(abs(float(f.mid())) for row in sums.answers for f in row)
        assert float(double_error(lambda: sums)) >= 2**-53 * most  # type: ignore[arg-type]


def test_every_run_of_the_report_is_compared_with_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    model = exactmha.random_model(1, 1, "exponential", seed=0)
    seen: list[CertifiedRun] = []

    def spy(_model: Model, _design: object, runs: list[CertifiedRun]) -> Outcome:
        seen.extend(runs)
        return Outcome.HOLDS

    monkeypatch.setattr(stability, "contains_truth", spy)
    result = analyse(model, choose(model), attacks=0)
    for run in (result.run, result.plain, result.star, result.plain_star, result.doubles):
        assert any(run is other for other in seen)


@pytest.mark.parametrize(
    ("W", "bound"),
    [("1/10^30", fmpq(1, 10**30)),
     ("10^400", fmpq(10) ** 400), ("3/7", fmpq(3, 7)), ("1000001/1000", fmpq(1000001, 1000))],
)  # fmt: skip
def test_weights_are_bounded_relatively(W: str, bound: fmpq) -> None:
    found = weight_bound(instance(([[W]], ["1"])))
    assert bound <= found <= bound * fmpq(1002, 1000)
    assert weight_bound(instance(([["0"]], ["1"]))) == 1


def test_heads_are_numbered_as_in_the_canonical_form() -> None:
    orders = set()
    for seed in range(6):
        model = exactmha.random_model(2, 2, "exponential", seed)
        chosen = choose(model, seed=seed)
        with ctx.workprec(256):
            order = head_order(model, chosen.design)
            ordered, plain = ordered_truth(model, chosen.design), true_parameters(model)
            assert all(
                x.overlaps(y) for h in (0, 1) for x, y in zip(ordered.head(h), plain.head(order[h]), strict=True)
            )
        orders.add(tuple(order))
    assert orders == {(0, 1), (1, 0)}
