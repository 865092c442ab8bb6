"""A real-valued black box in double precision: what a user's own implementation would be."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isfinite

from flint import arb, ctx

from exactmha.approximate.balls import MOST_BITS, precisions
from exactmha.approximate.jacobian import Parameters
from exactmha.approximate.numeric import BlackBox
from exactmha.approximate.truth import true_parameters
from exactmha.attention import Model
from exactmha.errors import InputError

_CORRECT_BITS = 64
"""Bits of a parameter before it is rounded to the 53 of a double."""


def double_oracle(model: Model) -> BlackBox:
    """Return f(X) = Σ_h v_h·Σ_i softmax_i(x_n^T W_h x_i) x_i, computed in Python floats from rounded parameters.

    Raises `InputError` when a parameter is no finite double.
    """
    truth = _accurate_parameters(model)
    v = [[_double(x) for x in row] for row in truth.v]
    W = [[[_double(x) for x in row] for row in matrix] for matrix in truth.W]

    def answer(tokens: list[list[Fraction]]) -> float:
        points = [[float(x) for x in token] for token in tokens]
        return sum(_head(matrix, readout, points) for matrix, readout in zip(W, v, strict=True))

    return answer


def _accurate_parameters(model: Model) -> Parameters:
    """Enclose the parameters with 64 correct bits each, whatever FLINT's working precision is."""
    for bits in precisions():
        with ctx.workprec(bits):
            truth = true_parameters(model)
        if all(x.is_zero() or x.rel_accuracy_bits() >= _CORRECT_BITS for x in truth.entries()):
            return truth
    raise InputError(f"a parameter is not known to {_CORRECT_BITS} bits at a precision of {MOST_BITS} bits")


def _double(ball: arb) -> float:
    with ctx.workprec(_CORRECT_BITS):
        number = float(ball.mid())
        if not isfinite(number):
            raise InputError("a parameter is too large for a double", value=str(ball.str(4, radius=False)))
    return number


def _head(W: list[list[float]], v: list[float], points: list[list[float]]) -> float:
    last = points[-1]
    scores = [sum(a * W[i][j] * b for i, a in enumerate(last) for j, b in enumerate(x)) for x in points]
    top = max(scores)
    weights = [exp(score - top) for score in scores]
    values = [sum(a * b for a, b in zip(v, x, strict=True)) for x in points]
    return sum(w * y for w, y in zip(weights, values, strict=True)) / sum(weights)
