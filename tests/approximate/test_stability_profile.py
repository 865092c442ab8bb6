"""One profile: derivative and enclosures.

H = 1 by hand, with c = 1, r = 2, σ = 0: y_1 = f_1 − σ = 2/3, y_2 = 4/5, and r = (y_2 − 2y_1)/(2(y_1 − y_2)),
c = y_1 + y_1/r. So ∂r/∂y_1 = y_2/(2(y_1 − y_2)²) = 45/2 and ∂r/∂y_2 = −y_1/(2(y_1 − y_2)²) = −75/4, hence
∂λ = (45/4, −75/8) and ∂c = (3/2 − 15/4, 25/8) = (−9/4, 25/8); ∂/∂σ is minus the sum: −15/8 and −7/8.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flint import arb, arb_mat, ctx, fmpq
from mpmath import mp, mpf

from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.profile import (
    ProfileBox,
    ProfileSamples,
    derivative,
    forward,
    mean_value_profile,
    plain_profile,
    pole_polynomial,
)

CASES = {
    1: ([fmpq(3, 2)], [fmpq(-1, 3)]),
    2: ([fmpq(1), fmpq(-2)], [fmpq(-1), fmpq(1, 2)]),
    3: ([fmpq(2), fmpq(1), fmpq(-1, 2)], [fmpq(-2), fmpq(1, 3), fmpq(3, 2)]),
    4: ([fmpq(1), fmpq(3), fmpq(-1), fmpq(2)], [fmpq(-3), fmpq(-1), fmpq(1), fmpq(2)]),
}
ENCLOSURES = [plain_profile, mean_value_profile]


def exact_box(heads: int) -> ProfileBox:
    c, logits = CASES[heads]
    return ProfileBox("p", tuple(map(arb, c)), tuple(map(arb, logits)))


def samples(heads: int, epsilon: arb) -> ProfileSamples:
    box, sigma = exact_box(heads), fmpq(7, 3)
    values = [arb(sigma) + x + arb(0, epsilon) for x in forward(box.residues, box.logits)]
    return ProfileSamples("p", arb(sigma) + arb(0, epsilon), tuple(values))


def mp_form(c: list[fmpq], logits: list[fmpq], k: int) -> mpf:
    """Compute Σ c_h k r_h/(1 + k r_h) with mpmath, from the formula as it is written."""
    total = mpf(0)
    for a, x in zip(c, logits, strict=True):
        r = mp.exp(mpf(int(x.numerator)) / int(x.denominator))
        total += mpf(int(a.numerator)) / int(a.denominator) * k * r / (1 + k * r)
    return total


@pytest.mark.parametrize("heads", CASES)
def test_values_are_those_of_the_formula(heads: int) -> None:
    c, logits = CASES[heads]
    with mp.workdps(60), ctx.workprec(256):
        for k, value in enumerate(forward(list(map(arb, c)), list(map(arb, logits))), 1):
            expected = mp_form(c, logits, k)
            assert abs(value - arb(mp.nstr(expected, 50))) < arb("1e-45")


def test_derivative_by_hand() -> None:
    with ctx.workprec(128):
        found = derivative(ProfileBox("p", (arb(1),), (arb(2).log(),))).tolist()
        expected = [[fmpq(-7, 8), fmpq(-9, 4), fmpq(25, 8)], [fmpq(-15, 8), fmpq(45, 4), fmpq(-75, 8)]]
        for row, want in zip(found, expected, strict=True):
            for x, y in zip(row, want, strict=True):
                assert x.contains(arb(y))
                assert x.rad() < arb("1e-30")


def lagrange(nodes: int, k: int, x: arb) -> tuple[arb, arb]:
    """Return ℓ_k(x) and ℓ_k'(x) for the nodes 0..nodes−1."""
    value, slope = arb(1), arb(0)
    for j in range(nodes):
        if j != k:
            slope = (slope * (x - j) + value) / (k - j)
            value = value * (x - j) / (k - j)
    return value, slope


def closed_form(heads: int) -> list[list[arb]]:
    """Return ∂(c, λ)/∂(σ, f) by the closed form of Lemma 1 of the proof page."""
    box = exact_box(heads)
    r = [x.exp() for x in box.logits]
    rows: list[list[arb]] = [[] for _ in range(2 * heads)]
    for h in range(heads):
        others = [g for g in range(heads) if g != h]
        p, t = arb(1), arb(0)
        for g in others:
            p *= 1 - r[g] / r[h]
            t += r[g] / (1 - r[g] / r[h])
        for k in range(2 * heads + 1):
            q = arb(1)
            for x in r:
                q *= 1 + k * x
            value, slope = lagrange(2 * heads + 1, k, -1 / r[h])
            rows[heads + h].append(-(q**2) * value / (box.residues[h] * p**2))
            rows[h].append(q**2 / p**2 * (-value + 2 * t / r[h] * value - slope / r[h]))
    return rows


@pytest.mark.parametrize("heads", CASES)
def test_derivative_is_the_closed_form_of_the_proof(heads: int) -> None:
    with ctx.workprec(512):
        found, expected = derivative(exact_box(heads)), closed_form(heads)
        for row, want in zip(found.tolist(), expected, strict=True):
            for x, y in zip(row, want, strict=True):
                assert x.overlaps(y)
                assert x.rad() < abs(y) * arb("1e-60")


@pytest.mark.parametrize("enclose", ENCLOSURES)
@pytest.mark.parametrize("heads", CASES)
def test_boxes_contain_the_truth(heads: int, enclose: Callable[[ProfileSamples], ProfileBox]) -> None:
    with ctx.workprec(512):
        found, truth = enclose(samples(heads, arb("1e-40"))), exact_box(heads)
        for box, x in zip((*found.residues, *found.logits), (*truth.residues, *truth.logits), strict=True):
            assert box.contains(x)
            assert 0 < box.rad() < arb("1e-20")


@pytest.mark.parametrize("heads", CASES)
def test_box_is_as_large_as_the_derivative_says(heads: int) -> None:
    epsilon = arb("1e-60")
    with ctx.workprec(1024):
        box = mean_value_profile(samples(heads, epsilon))
        assert box.sensitivity is not None
        for x, row in zip((*box.residues, *box.logits), closed_form(heads), strict=True):
            moved = sum((abs(y) for y in row), arb(0)) * epsilon
            assert moved * arb("0.999") < x.rad() < moved * arb("1.001")


def test_plain_balls_are_larger_by_a_constant_factor() -> None:
    factors = []
    for heads in (1, 3):
        with ctx.workprec(1024):
            given = samples(heads, arb("1e-80"))
            plain, tight = plain_profile(given), mean_value_profile(given)
            factors.append(max(p.rad() / t.rad() for p, t in zip(plain.residues, tight.residues, strict=True)))
    assert factors[0] < 10
    assert factors[1] > 50


@pytest.mark.parametrize("enclose", ENCLOSURES)
@pytest.mark.parametrize("heads", [2, 3, 4])
def test_too_large_errors_are_undecided(heads: int, enclose: Callable[[ProfileSamples], ProfileBox]) -> None:
    with ctx.workprec(256), pytest.raises(SeparationLost) as lost:
        enclose(samples(heads, arb("0.05")))
    assert lost.value.step in {"pole polynomial", "isolated poles", "residues", "Krawczyk box", "sensitivity"}
    assert lost.value.profile == "p"


def test_equal_poles_are_never_certified() -> None:
    c, logits = (arb(1), arb(2)), (arb(1), arb(1))
    with ctx.workprec(256):
        given = ProfileSamples("p", arb(0), tuple(x + arb(0, arb("1e-50")) for x in forward(c, logits)))
        for enclose in ENCLOSURES:
            with pytest.raises(SeparationLost):
                enclose(given)


def test_an_invisible_head_is_never_certified() -> None:
    c, logits = (arb(1), arb(0)), (arb(1), arb(2))
    with ctx.workprec(256):
        given = ProfileSamples("p", arb(0), tuple(x + arb(0, arb("1e-50")) for x in forward(c, logits)))
        for enclose in ENCLOSURES:
            with pytest.raises(SeparationLost):
                enclose(given)


def test_negative_relative_weights_are_no_profile() -> None:
    # r = −1/8 gives a function of form (P), but no softmax has a negative weight
    with ctx.workprec(256):
        r = arb(-1) / 8
        values = tuple(k * r / (1 + k * r) + arb(0, arb("1e-50")) for k in (1, 2))
        for enclose in ENCLOSURES:
            with pytest.raises(SeparationLost, match=r"positive|negative"):
                enclose(ProfileSamples("p", arb(0), values))


def test_pole_polynomial_by_hand() -> None:
    # r = 1/2 and 1/3, c = −1 and −2 (the by-hand example of README): Q = (1 + x/2)(1 + x/3) = 1 + 5x/6 + x²/6
    answers = (fmpq(13, 6), fmpq(17, 10), fmpq(7, 5), fmpq(25, 21))
    with ctx.workprec(128):
        found = pole_polynomial(ProfileSamples("p", arb(3), tuple(map(arb, answers))))
        assert found[0].contains(arb(fmpq(5, 6)))
        assert found[1].contains(arb(fmpq(1, 6)))
        box = mean_value_profile(ProfileSamples("p", arb(3), tuple(map(arb, answers))))
        assert box.logits[0].contains(-arb(3).log())
        assert box.logits[1].contains(-arb(2).log())
        assert [x.unique_fmpz() for x in box.residues] == [-2, -1]


def test_permuted_moves_the_derivative_too() -> None:
    box = ProfileBox("p", (arb(1), arb(2)), (arb(3), arb(4)), arb_mat([[1] * 5, [2] * 5, [3] * 5, [4] * 5])).permuted(
        [1, 0]
    )
    assert box.residues[0] == 2
    assert box.logits[0] == 4
    assert box.sensitivity is not None
    assert [row[0] for row in box.sensitivity.tolist()] == [2, 1, 4, 3]
