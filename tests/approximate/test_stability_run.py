"""Certified runs: they contain the truth and every rival, tend to first order, and say "undecided" where they must."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import flint
import pytest
from flint import arb, ctx, fmpq

import exactmha
from exactmha.approximate.balls import largest
from exactmha.approximate.lost import Contradiction, SeparationLost
from exactmha.approximate.match import can_be_matched, matched, orders
from exactmha.approximate.numbers import Reading
from exactmha.approximate.profile import ProfileBox, ProfileSamples, forward, mean_value_profile
from exactmha.approximate.run import (
    CertifiedRun,
    Method,
    _first_row,
    base_misfit,
    certify,
    largest_certified,
    mean_value_enclosure,
)
from exactmha.approximate.samples import Samples, exact_source, magnitude, number_source
from exactmha.approximate.stability import Chosen, choose, contains_truth
from exactmha.approximate.truth import ordered_truth
from exactmha.attention import Attention, Model
from exactmha.errors import InconsistentAnswers, InputError
from exactmha.fields import ExponentialField
from exactmha.fields.interface import Scalar
from exactmha.heads import Head
from exactmha.outcome import Outcome

SIZES = [(heads, dim) for heads in (1, 2, 3, 4) for dim in (1, 2, 3)]
TINY = fmpq(1, 10**80)


def ratio(run: CertifiedRun, chosen: Chosen) -> float:
    assert run.enclosure is not None
    return float(run.enclosure.constant / chosen.constant)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("heads", "dim"), SIZES)
def test_boxes_contain_the_truth_and_tend_to_first_order(heads: int, dim: int, seed: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed)
    chosen = choose(model, seed=seed)
    source = exact_source(Attention(model), chosen.design, heads)
    run = certify(source, TINY)
    assert run.outcome is Outcome.HOLDS
    assert contains_truth(model, chosen.design, [run]) is Outcome.HOLDS
    assert 0.999999 < ratio(run, chosen) < 1.000001
    if heads > 1:  # wrong by design: at this error two heads can no longer be told apart
        lost = certify(source, fmpq(1, 5))
        assert lost.outcome is Outcome.UNDECIDED
        assert lost.step
        assert lost.enclosure is None


@pytest.mark.parametrize(("heads", "dim", "field"), [(1, 2, "exponential"), (2, 2, "rational"), (2, 2, "radical"),
                                                     (3, 2, "exponential")])  # fmt: skip
def test_ratio_to_first_order_tends_to_one(heads: int, dim: int, field: str) -> None:
    model = exactmha.random_model(heads, dim, field, seed=1)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, heads)
    star = largest_certified(source, Method.MEAN_VALUE)
    assert star is not None
    excess = [ratio(certify(source, star.epsilon / 1000**n, Method.MEAN_VALUE), chosen) - 1 for n in range(5)]
    floor = 1e-7  # a radius has 30 bits
    assert all(0 <= after < max(before / 10, floor) for before, after in pairwise(excess))
    assert excess[-1] < floor
    above = certify(source, star.epsilon * 2, Method.MEAN_VALUE)
    assert above.outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2), (3, 1)])
def test_plain_balls_hold_but_overestimate(heads: int, dim: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed=2)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, heads)
    plain, smaller = (certify(source, epsilon, Method.PLAIN) for epsilon in (TINY, TINY / 10**40))
    assert plain.outcome is Outcome.HOLDS
    assert contains_truth(model, chosen.design, [plain, smaller]) is Outcome.HOLDS
    assert ratio(plain, chosen) > 1.2
    assert ratio(smaller, chosen) > 0.99 * ratio(plain, chosen)  # however small ε is


def nudged(model: Model, size: fmpq) -> Model:
    """Move every parameter a little, in a fixed pattern of signs: a rival that gives nearly the same answers."""

    def scalar(x: Scalar, sign: int) -> Scalar:
        return (x[0] + sign * size, *x[1:])

    heads = tuple(
        Head(
            tuple(
                tuple(tuple(x + size * (1 - (i + 2 * j + h) % 3) for j, x in enumerate(row)) for i, row in enumerate(W))
                for W in head.W
            ),
            tuple(scalar(x, 1 - (i + h) % 2 * 2) for i, x in enumerate(head.v)),
        )
        for h, head in enumerate(model.heads)
    )
    assert isinstance(model.field, ExponentialField)
    return Model(ExponentialField(1, int(model.field.denominator * size.denominator)), model.dim, heads)


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2), (3, 2), (2, 3)])
def test_every_rival_with_such_answers_lies_in_the_boxes(heads: int, dim: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed=4)
    chosen = choose(model)
    rival = nudged(model, fmpq(1, 10**40))
    source = exact_source(Attention(model), chosen.design, heads)
    other = exact_source(Attention(rival), chosen.design, heads)
    with ctx.workprec(512):
        ours, theirs = source(), other()
        flat = [(a, b) for p, q in zip(ours.answers, theirs.answers, strict=True) for a, b in zip(p, q, strict=True)]
        gap = largest([abs(a - b) for a, b in [(ours.base, theirs.base), *flat]]).abs_upper()
        epsilon = (gap * arb("1.0000001")).abs_upper().fmpq()
        truth = ordered_truth(rival, chosen.design).entries()
    run = certify(source, epsilon)
    assert run.enclosure is not None
    boxes = run.enclosure.parameters.entries()
    assert all(box.contains(x) for box, x in zip(boxes, truth, strict=True))
    narrow = certify(source, fmpq(1, 10**41) / chosen.constant.abs_upper().fmpq())  # radii below 1e-40
    assert narrow.enclosure is not None
    assert not all(box.contains(x) for box, x in zip(narrow.enclosure.parameters.entries(), truth, strict=True))


def test_answers_of_no_model_are_refuted() -> None:
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, 2)
    with ctx.workprec(256):
        samples = source()
        flat = [samples.base, *(f for profile in samples.answers for f in profile)]
        numbers = [f.mid().fmpq() for f in flat]
    numbers[1 + 2 * 2 * chosen.design.sum_of(1)] += 1  # one answer of the sum profile (b_1, u_1+u_2)
    run = certify(number_source([Reading(x) for x in numbers], chosen.design, 2), fmpq(1, 10**20))
    assert run.outcome is Outcome.FAILS
    assert "no model with at most 2 heads" in run.reason


def scaled(model: Model, factor: fmpq) -> Model:
    heads = tuple(Head(head.W, tuple((x[0] * factor, *x[1:]) for x in head.v)) for head in model.heads)
    return Model(model.field, model.dim, heads)


@pytest.mark.parametrize("factor", [fmpq(1), fmpq(10) ** 400, fmpq(1, 10**300)])
def test_the_largest_error_is_searched_upwards_too(factor: fmpq) -> None:
    # ε* scales with the answers; 2ε* is not certified, and nothing at the size of the answers can be
    model = scaled(exactmha.random_model(1, 1, "exponential", seed=0), factor)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, 1)
    star = largest_certified(source)
    assert star is not None
    assert certify(source, 2 * star.epsilon).outcome is Outcome.UNDECIDED
    top = fmpq(2) ** magnitude(source)
    assert top / 2**12 < star.epsilon < top
    assert certify(source, top).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize("seed", range(12))
def test_both_methods_together_are_never_worse_than_one(seed: int) -> None:
    model = exactmha.random_model(3, 1, "exponential", seed)
    chosen = choose(model)
    source = exact_source(Attention(model), chosen.design, 3)
    stars = [largest_certified(source, method) for method in (None, *Method)]
    assert all(star is not None for star in stars)
    both, *single = (star.epsilon for star in stars if star is not None)
    assert both == max(single)


def test_some_instances_are_certified_by_plain_balls_alone() -> None:
    model = exactmha.random_model(1, 2, "exponential", seed=1)
    source = exact_source(Attention(model), choose(model).design, 1)
    plain = largest_certified(source, Method.PLAIN)
    assert plain is not None
    assert certify(source, plain.epsilon, Method.MEAN_VALUE).outcome is Outcome.UNDECIDED
    assert certify(source, plain.epsilon).outcome is Outcome.HOLDS


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("method", Method)
def test_a_wrong_constant_is_a_contradiction(heads: int, dim: int, method: Method) -> None:
    # all answers plus 1: profiles as before, but f(b_1) is no longer s·b_1
    model = exactmha.random_model(heads, dim, "exponential", seed=0)
    design = choose(model).design
    source = exact_source(Attention(model), design, heads)
    with ctx.workprec(256):
        samples = source()
        flat = [samples.base, *(f for profile in samples.answers for f in profile)]
        numbers = [f.mid().fmpq() for f in flat]
    small = fmpq(1, 10**60)
    right = certify(number_source([Reading(x) for x in numbers], design, heads), small, method)
    assert right.outcome is Outcome.HOLDS
    wrong = certify(number_source([Reading(x + 1) for x in numbers], design, heads), small, method)
    assert wrong.outcome is Outcome.FAILS
    assert wrong.step == "base value"
    assert "no model with at most" in wrong.reason


def first_boxes(samples: Samples) -> dict[tuple[int, int], ProfileBox]:
    return _first_row(samples, mean_value_profile)[0]


def test_the_derivative_of_the_base_misfit_is_sharper_than_balls() -> None:
    # an error in f(b_1) alone moves s·b_1 as well: for some sizes the boxes do not see it, but the mean-value row does
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    design = choose(model).design
    seen = []
    with ctx.workprec(256):
        samples = exact_source(Attention(model), design, 2)()
        epsilon = arb(2) ** -60
        for n in range(-1, 24):
            given = replace(samples, base=samples.base + epsilon * arb(2) ** n).centre().widened(epsilon)
            try:
                mean_value_enclosure(given, epsilon)
            except Contradiction as found:
                seen.append(found.step)
                if found.step == "base value" and base_misfit(given, first_boxes(given)).contains(0):
                    seen.append("only by the row")
            else:
                seen.append("")
    assert seen[0] == ""  # within ε: no contradiction
    assert "only by the row" in seen
    assert seen[-1]


@pytest.mark.parametrize("seed", range(6))
def test_a_head_too_few_is_a_contradiction_for_these_instances(seed: int) -> None:
    model = exactmha.random_model(2, 1, "exponential", seed)
    design = choose(model).design
    run = certify(exact_source(Attention(model), design, 1), TINY)
    assert run.outcome is Outcome.FAILS


def test_permutations_are_counted() -> None:
    everything = [list(range(12))] * 12
    with pytest.raises(SeparationLost, match="partial matchings"):
        list(orders([*everything[:-1], []]))
    assert list(orders([[0, 1], [0]])) == [(1, 0)]
    assert can_be_matched([[0, 1], [0]])
    assert not can_be_matched([[0], [0]])
    assert not can_be_matched([[0, 1, 2], [1], [1]])


def test_too_many_heads_assumed_is_undecided() -> None:
    model = exactmha.random_model(1, 2, "exponential", seed=0)
    chosen = choose(model)
    run = certify(exact_source(Attention(model), chosen.design, 2), TINY)
    assert run.outcome is Outcome.UNDECIDED


def test_precision_is_a_local_matter() -> None:
    before = flint.ctx.prec
    model = exactmha.random_model(2, 1, "exponential", seed=0)
    chosen = choose(model)
    low = certify(exact_source(Attention(model), chosen.design, 2), fmpq(1, 10**12))
    high = certify(exact_source(Attention(model), chosen.design, 2), fmpq(1, 10**200))
    assert flint.ctx.prec == before
    assert low.precision < high.precision


def test_a_model_without_heads_is_refused() -> None:
    model = exactmha.random_model(0, 2, "exponential", seed=0)
    with pytest.raises(InputError, match="without heads"):
        choose(model)


# --- matching -------------------------------------------------------------------------------------------


def point(residues: list[fmpq], logits: list[fmpq], radius: str) -> ProfileBox:
    spread = arb(0, arb(radius))
    return ProfileBox("p", tuple(arb(x) + spread for x in residues), tuple(arb(x) + spread for x in logits))


def sum_samples(residues: list[fmpq], logits: list[fmpq], radius: str) -> ProfileSamples:
    values = forward(list(map(arb, residues)), list(map(arb, logits)))
    return ProfileSamples("sum", arb(0), tuple(x + arb(0, arb(radius)) for x in values))


FIRST = ([fmpq(1), fmpq(2)], [fmpq(0), fmpq(1)])
OTHER = ([fmpq(3), fmpq(-1, 2)], [fmpq(1, 2), fmpq(-1, 4)])


@pytest.mark.parametrize("swap", [False, True])
def test_displacements_are_matched_by_prediction(swap: bool) -> None:
    order = [1, 0] if swap else [0, 1]
    c = [a + OTHER[0][g] for a, g in zip(FIRST[0], order, strict=True)]
    x = [a + OTHER[1][g] for a, g in zip(FIRST[1], order, strict=True)]
    with ctx.workprec(128):
        found = matched(
            point(*FIRST, "1e-9"), point(*OTHER, "1e-9"), sum_samples(c, x, "1e-9"),
            add_residues=True, enclose=mean_value_profile,
        )  # fmt: skip
        assert found == order
        with pytest.raises(SeparationLost, match="2 ways"):
            matched(
                point(*FIRST, "1"), point(*OTHER, "1"), sum_samples(c, x, "3"),
                add_residues=True, enclose=mean_value_profile,
            )  # fmt: skip
        with pytest.raises(InconsistentAnswers, match="no model with at most 2 heads"):
            matched(
                point(*FIRST, "1e-9"), point(*OTHER, "1e-9"), sum_samples(c, [x[0] + 1, x[1]], "1e-9"),
                add_residues=True, enclose=mean_value_profile,
            )  # fmt: skip


def test_final_tokens_are_matched_by_equal_residues_too() -> None:
    c, swapped = [fmpq(1), fmpq(2)], [fmpq(2), fmpq(1)]
    with ctx.workprec(128):
        # head 1 has λ = 0 and λ' = 1/2, head 2 has λ = 1 and λ' = 1/4; the second profile lists head 2 first
        found = matched(
            point(c, [fmpq(0), fmpq(1)], "1e-9"),
            point(swapped, [fmpq(1, 4), fmpq(1, 2)], "1e-9"),
            sum_samples(c, [fmpq(1, 2), fmpq(5, 4)], "10"),  # says nothing
            add_residues=False,
            enclose=mean_value_profile,
        )
        assert found == [1, 0]


def test_tied_heads_stay_undecided() -> None:
    # equal residues, λ = λ' = (0, 1): joined the other way round the sum profile has λ'' = (1, 1), not (0, 2), and
    # only small errors tell these apart
    c = [fmpq(1), fmpq(1)]
    with ctx.workprec(128):
        args = (point(c, [fmpq(0), fmpq(1)], "1e-3"), point(c, [fmpq(0), fmpq(1)], "1e-3"))
        with pytest.raises(SeparationLost, match="match"):
            matched(*args, sum_samples(c, [fmpq(0), fmpq(2)], "1"), add_residues=False, enclose=mean_value_profile)
        found = matched(
            *args, sum_samples(c, [fmpq(0), fmpq(2)], "1e-6"), add_residues=False, enclose=mean_value_profile
        )
        assert found == [0, 1]


def test_many_heads_separate_the_sum_profile_first() -> None:
    heads = 7
    c, x = [fmpq(1)] * heads, [fmpq(2 * h) for h in range(heads)]
    y = [fmpq(h, 3) for h in range(heads)]
    with ctx.workprec(4096):
        found = matched(
            point(c, x, "1e-300"),
            point(c, y, "1e-300"),
            sum_samples([fmpq(2)] * heads, [a + b for a, b in zip(x, y, strict=True)], "1e-300"),
            add_residues=True,
            enclose=mean_value_profile,
        )
    assert found == list(range(heads))
