"""The first-order constant: by hand at H = d = 1, by finite differences of the learner run from scratch elsewhere."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq

import exactmha
from exactmha.approximate.balls import decimal_exponent
from exactmha.approximate.choose import draw
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import dominant, parameter_name, stage_norms
from exactmha.approximate.numeric import midpoint_parameters
from exactmha.approximate.samples import Samples, exact_source
from exactmha.approximate.stability import choose, precise_first_order
from exactmha.approximate.truth import first_order, ordered_truth
from exactmha.attention import Attention, Model
from exactmha.instance import from_dict


def one_head(weight: str, readout: str) -> Model:
    return from_dict(
        {"format": "exactmha/instance/1", "field": "rational", "dim": 1, "heads": [{"W": [[weight]], "v": [readout]}]}
    )


@pytest.mark.parametrize(("b", "u", "expected"), [(1, 1, fmpq(45, 2)), (1, -1, None), (2, 1, None)])
def test_constant_at_one_head_in_dimension_one(b: int, u: int, expected: fmpq | None) -> None:
    # W = log 2, v = 1, b = u = 1: r = 2, c = 1, so |∂λ| = 15/8 + 45/4 + 75/8 = 45/2 (see test_stability_profile)
    model, design = one_head("log(2)", "1"), TokenDesign(((b,),), ((u,),))
    with ctx.workprec(128):
        jacobian, _ = first_order(model, design)
        r, c = arb(2) ** (b * u), arb(u)
        # λ = log((y_2 − 2 y_1)/(2(y_1 − y_2))), so ∂λ/∂y_1 = −2/(y_2 − 2y_1) − 1/(y_1 − y_2), and so on
        y1, y2 = c * r / (1 + r), 2 * c * r / (1 + 2 * r)
        d1, d2 = -2 / (y2 - 2 * y1) - 1 / (y1 - y2), 1 / (y2 - 2 * y1) + 1 / (y1 - y2)
        closed = (abs(d1) + abs(d2) + abs(d1 + d2)) / abs(b * u)
        assert jacobian.W.tolist()[0][0].overlaps(-(d1 + d2) / (b * u))
        row = sum((abs(x) for x in jacobian.W.tolist()[0]), arb(0))
        assert row.overlaps(closed)
        if expected is not None:
            assert jacobian.constant.contains(arb(expected))
            assert jacobian.constant.rad() < arb("1e-25")


@pytest.mark.parametrize(
    ("heads", "dim", "field", "kind"),
    [(1, 2, "exponential", "orthogonal"), (2, 1, "exponential", "orthogonal"), (2, 2, "exponential", "orthogonal"),
     (2, 2, "exponential", "grid"), (3, 2, "exponential", "orthogonal"), (2, 2, "rational", "integer"),
     (2, 2, "radical", "integer")],
)  # fmt: skip
def test_jacobian_is_the_finite_difference_of_the_learner(heads: int, dim: int, field: str, kind: str) -> None:
    model = exactmha.random_model(heads, dim, field, seed=3)
    design = choose(model, kind=kind).design
    source = exact_source(Attention(model), design, heads)
    with ctx.workprec(1200):
        jacobian, _ = first_order(model, design)
        samples, step = source().centre(), arb("1e-100")
        rows = jacobian.parameters.tolist()
        scale = jacobian.constant
        for place in range(design.grid_samples(heads)):
            up = midpoint_parameters(shifted(samples, place, step)).entries()
            down = midpoint_parameters(shifted(samples, place, -step)).entries()
            for row, x, y in zip(rows, up, down, strict=True):
                assert abs((x - y) / (2 * step) - row[place]) < scale * arb("1e-60")


def shifted(samples: Samples, place: int, step: arb) -> Samples:
    """Move one grid sample; 0 is f(b_1)."""
    if place == 0:
        return Samples(samples.design, samples.heads, (samples.base + step).mid(), samples.answers)
    answers, count = [list(profile) for profile in samples.answers], 2 * samples.heads
    grid = [p for p, planned in enumerate(samples.design.profiles) if not planned.is_sum]
    profile, k = divmod(place - 1, count)
    answers[grid[profile]][k] = (answers[grid[profile]][k] + step).mid()
    return Samples(samples.design, samples.heads, samples.base, tuple(map(tuple, answers)))


def test_the_learner_from_scratch_finds_the_truth() -> None:
    model = exactmha.random_model(3, 2, "exponential", seed=0)
    design = draw("orthogonal", 2, 0, 0)
    source = exact_source(Attention(model), design, 3)
    with ctx.workprec(512):
        found, truth = midpoint_parameters(source().centre()), ordered_truth(model, design)
        for x, y in zip(found.entries(), truth.entries(), strict=True):
            assert abs(x - y) < arb("1e-100")


def test_stages_grow_from_the_interpolation_to_the_weights() -> None:
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    design = draw("orthogonal", 2, 0, 0)
    jacobian, grid = precise_first_order(model, design)
    with ctx.workprec(256):
        stages = stage_norms(jacobian, grid, [1, 0])
        worst = dominant(jacobian, [1, 0])
    assert [stage.stage.split(",")[0] for stage in stages] == [
        "interpolation: pole polynomial",
        "poles r",
        "residues c",
        "logarithms log r",
        "readouts v",
        "computed base values s·b_j",
        "interpolation: pole polynomial",
        "poles r",
        "logarithms log r",
        "weights W",
    ]
    by_name = {stage.stage: stage.norm for stage in stages}
    sizes = {stage.stage: decimal_exponent(stage.norm) for stage in stages}
    uses = {
        "residues c, first row": "poles r, first row",
        "logarithms log r, first row": "poles r, first row",
        "readouts v": "residues c, first row",
        "interpolation: pole polynomial, later rows": "computed base values s·b_j",
        "logarithms log r, later rows": "poles r, later rows",
        "weights W": "logarithms log r, later rows",
    }
    growth = {stage.stage: stage.growth for stage in stages}
    assert all(abs(growth[stage] - (sizes[stage] - sizes[before])) < 1e-9 for stage, before in uses.items())
    top = max(by_name["readouts v"].mid(), by_name["weights W"].mid())
    assert jacobian.constant.overlaps(top)
    assert 0 < float(worst.share) <= 1
    assert worst.parameter == parameter_name(worst.row, [1, 0], 2)


def test_parameter_names_follow_the_entries() -> None:
    names = [parameter_name(i, [0, 1], 2) for i in range(12)]
    assert names[:5] == ["v_1[1]", "v_1[2]", "v_2[1]", "v_2[2]", "W_1[1,1]"]
    assert names[-1] == "W_2[2,2]"
    swapped = [parameter_name(i, [1, 0], 2) for i in range(12)]
    assert (swapped[0], swapped[-1]) == ("v_2[1]", "W_1[2,2]")


def test_constant_is_accurate_whatever_it_costs() -> None:
    model = exactmha.random_model(4, 3, "exponential", seed=1)
    jacobian, _ = precise_first_order(model, draw("grid", 3, 0, 0, fmpq(1, 16)))
    assert jacobian.constant.rel_accuracy_bits() >= 40
