"""Errors in the answers of a Transformer: boxes that hold the true (W, 2Λ) and the true jumps 2κν."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq

from exactmha.errors import InputError
from exactmha.outcome import Outcome
from exactmha.transformer import approximate
from exactmha.transformer.approximate import approximate_odd_part, enclosed_gradient, enclosed_jump, odd_part
from exactmha.transformer.cells import stays
from exactmha.transformer.instance import from_dict
from exactmha.transformer.model import Transformer
from exactmha.transformer.random_transformer import random_transformer

EPSILON = fmpq(1, 10**40)


@pytest.mark.parametrize("shape", [(1, 2, 2, 2), (2, 2, 3, 3)])
def test_the_odd_part_lies_in_its_boxes(shape: tuple[int, int, int, int]) -> None:
    found = approximate_odd_part(random_transformer(*shape, "exponential", 0), EPSILON)
    assert found.run.outcome is found.truth_inside is Outcome.HOLDS
    assert found.run.epsilon == 2 * EPSILON
    assert found.run.enclosure is not None
    assert found.run.enclosure.parameters.radius < arb("1e-20")


def test_another_odd_part_is_seen_not_to_lie_there(monkeypatch: pytest.MonkeyPatch) -> None:
    model, other = (random_transformer(1, 2, 2, 2, "exponential", seed) for seed in (0, 1))
    truth = odd_part(other)
    real = approximate.contains_truth
    monkeypatch.setattr(approximate, "contains_truth", lambda _odd, design, runs: real(truth, design, runs))
    assert approximate_odd_part(model, EPSILON).truth_inside is Outcome.FAILS


def test_large_errors_are_undecided() -> None:
    found = approximate_odd_part(random_transformer(2, 2, 3, 3, "exponential", 0), fmpq(1, 2))
    assert found.run.outcome is Outcome.UNDECIDED


def test_bad_input() -> None:
    with pytest.raises(InputError, match="must be positive"):
        approximate_odd_part(random_transformer(1, 1, 1, 1, "exponential", 0), fmpq(0))


def two_lines() -> Transformer:
    """|n_1·x| and |n_2·x| with n = (1, 0) and (0, 1) on single tokens."""
    heads = [
        {"W": [["1", "2"], ["-1", "1"]], "O": [["2", "0"], ["0", "-1"]]},
        {"W": [["-1", "0"], ["1", "3"]], "O": [["-1", "0"], ["0", "2"]]},
    ]
    content = {"format": "exactmha/instance/1", "field": "exponential", "dim": 2, "heads": heads}
    return from_dict({**content, "ffn": {"w": [["1", "0"], ["0", "1"]], "a": ["3", "-5"]}})


def test_the_jumps_lie_in_their_boxes() -> None:
    """From (−2, 3) to (2, 3) only the first coordinate changes its sign: 2κν, with κ = 3/2 and ν = (2, 0) ⊕ (−1, 0)."""
    model, delta = two_lines(), fmpq(1, 8)
    before, after = (fmpq(-2), fmpq(3)), (fmpq(2), fmpq(3))
    for base in (before, after):
        for u in ((delta, fmpq(0)), (fmpq(0), delta)):
            assert all(stays(base, u, line) for line in model.canonical().lines)  # type: ignore[arg-type]  # rational
    found = approximate_odd_part(model, EPSILON)
    assert found.run.enclosure is not None
    W = found.run.enclosure.parameters.W
    expected = [[6, 0], [-3, 0]]
    if W[0][0][0] < 0:  # the boxes are in the order of their logits
        expected.reverse()
    jump = enclosed_jump(model, W, before, after, delta=delta, epsilon=EPSILON, bits=256)
    for block, true in zip(jump, expected, strict=True):
        for box, x in zip(block, true, strict=True):
            assert box.contains(arb(x))
            assert arb(EPSILON) < box.rad() < arb("1e-20")
            assert not box.contains(arb(x) + arb("1e-15"))


def test_errors_of_the_answers_move_the_jump_even_where_W_is_exact() -> None:
    """Answers with the errors +ε, −ε, +ε, … leave exact W alone, and give a jump that is in the box but is not 2κν."""
    model, base, delta = two_lines(), (fmpq(2), fmpq(3)), fmpq(1, 8)
    W = [[[arb(x) for x in row] for row in matrices[0]] for matrices in model.canonical().W]
    real, calls = approximate.TransformerAnswer(model), []

    class Shifted:
        def __init__(self, value: arb) -> None:
            self.ball = lambda: value

    def shifted(sequence: object) -> Shifted:
        calls.append(sequence)
        return Shifted(real(sequence).ball() + (-1) ** len(calls) * arb(EPSILON))  # type: ignore[arg-type]

    with ctx.workprec(256):
        box = enclosed_gradient(model, W, base, delta, EPSILON)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(approximate, "TransformerAnswer", lambda _model: shifted)
            other = enclosed_gradient(model, W, base, delta, fmpq(0))
        for block, moved in zip(box, other, strict=True):
            assert all(x.contains(y) and x.rad() > arb(EPSILON) > y.rad() for x, y in zip(block, moved, strict=True))
    assert len(calls) == 2 * 2 + 1
