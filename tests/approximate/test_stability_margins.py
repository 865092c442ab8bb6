"""Margins and the a priori theorem, against brute force and against rivals."""

from __future__ import annotations

from itertools import permutations

import pytest
from flint import arb, ctx, fmpq
from mpmath import mp

import exactmha
from exactmha.approximate.choose import draw
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.margins import a_priori, curvature, margins
from exactmha.approximate.profile import ProfileBox
from exactmha.approximate.run import certify
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import choose
from exactmha.approximate.truth import ordered_truth
from exactmha.attention import Attention
from exactmha.errors import InputError
from exactmha.instance import from_dict
from exactmha.outcome import Outcome

TWO_HEADS = {
    "format": "exactmha/instance/1",
    "field": "exponential",
    "dim": 2,
    "heads": [{"W": [["1", "0"], ["0", "2"]], "v": ["1", "3"]}, {"W": [["-1", "1/2"], ["1", "0"]], "v": ["2", "-1"]}],
}
UNIT = TokenDesign(((1, 0), (0, 1)), ((1, 0), (0, 1)))


def test_margins_by_hand() -> None:
    # with B = U = 1: λ = entries of W, c = entries of v. Gaps |1+1|, |0−1/2|, |0−1|, |2−0|; residues 1, 3, 2, 1
    model = from_dict(TWO_HEADS)
    with ctx.workprec(128):
        found = margins(UNIT, ordered_truth(model, UNIT))
        assert found.pole_gap.value is not None
        assert found.pole_gap.value.contains(arb(fmpq(1, 2)))
        assert found.pole_gap.where == "(b_1, u_2)"
        assert found.residue.value == 1
    assert (found.cond_b, found.cond_u) == (1, 1)


def test_match_gap_is_that_of_brute_force() -> None:
    model = from_dict(TWO_HEADS)
    with ctx.workprec(128):
        found = margins(UNIT, ordered_truth(model, UNIT)).match_gap.value
    W, v = [[[1, 0], [0, 2]], [[-1, 0.5], [1, 0]]], [[1, 3], [2, -1]]

    def form(c: list[float], logits: list[float]) -> list[float]:
        return [sum(a * k / (k + mp.exp(-x)) for a, x in zip(c, logits, strict=True)) for k in range(1, 5)]

    gaps = []
    for order in permutations(range(2)):
        if order == (0, 1):
            continue
        first = form([v[h][0] + v[order[h]][1] for h in (0, 1)], [W[h][0][0] + W[order[h]][0][1] for h in (0, 1)])
        true = form([sum(v[h]) for h in (0, 1)], [sum(W[h][0]) for h in (0, 1)])
        gaps.append(max(abs(a - b) for a, b in zip(first, true, strict=True)))
        for i in (0, 1):
            c = [v[h][i] for h in (0, 1)]
            later = form(c, [W[h][0][i] + W[order[h]][1][i] for h in (0, 1)])
            true = form(c, [W[h][0][i] + W[h][1][i] for h in (0, 1)])
            gaps.append(max([abs(a - b) for a, b in zip(later, true, strict=True)] + [abs(c[0] - c[1])]))
    assert found is not None
    assert abs(float(found) - float(min(gaps))) < 1e-12


def test_condition_numbers_by_hand() -> None:
    # B = (1 2; 3 4): norm 7, inverse (−2 1; 3/2 −1/2) of norm 3; U has columns (1,1), (0,1): norm 2, inverse of norm 2
    assert TokenDesign(((1, 2), (3, 4)), ((1, 1), (0, 1))).condition_numbers() == (21, 4)


def test_no_basis_is_refused() -> None:
    with pytest.raises(InputError, match="C1"):
        TokenDesign(((1, 2), (2, 4)), ((1, 0), (0, 1)))


def test_curvature_bounds_the_second_derivatives() -> None:
    # H = 1: sup |∂²F/∂c∂λ| = 1/4 twice, and sup |∂²F/∂λ²| = |c|/(6√3), c up to 3 + 1
    box = ProfileBox("p", (arb(3),), (arb(0),))
    top = max(abs(mp.diff(lambda x: 4 / (1 + mp.exp(-x)), t / 10, 2)) for t in range(-40, 41))
    found = float(curvature(box))
    assert 0.5 + float(top) <= found <= 0.5 + float(top) + 0.01


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)])
def test_a_priori_promises_are_kept(heads: int, dim: int) -> None:
    model = exactmha.random_model(heads, dim, "exponential", seed=5)
    chosen = choose(model)
    with ctx.workprec(512):
        promised = a_priori(chosen.design, ordered_truth(model, chosen.design))
    assert promised is not None
    assert promised.radius > 0
    with ctx.workprec(512):
        assert promised.constant >= chosen.constant  # a Lipschitz constant on a ball is at least the derivative
        epsilon = promised.radius.lower().fmpq()
    run = certify(exact_source(Attention(model), chosen.design, heads), epsilon)
    assert run.outcome is Outcome.HOLDS  # the certificate is never worse than the a priori theorem here
    assert run.enclosure is not None
    assert run.enclosure.constant < promised.constant


def test_a_priori_is_not_claimed_for_many_heads() -> None:
    model = exactmha.random_model(7, 1, "exponential", seed=0)
    design = draw("orthogonal", 1, 0, 0)
    with ctx.workprec(1024):
        truth = ordered_truth(model, design)
        assert a_priori(design, truth) is None
        assert margins(design, truth).match_gap.value is None
