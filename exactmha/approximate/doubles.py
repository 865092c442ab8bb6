"""A real-valued black box in double precision: what a user's own implementation would be."""

from __future__ import annotations

from fractions import Fraction
from math import exp

from exactmha.approximate.numeric import BlackBox
from exactmha.approximate.truth import true_parameters
from exactmha.attention import Model


def double_oracle(model: Model) -> BlackBox:
    """Return f(X) = Σ_h v_h·Σ_i softmax_i(x_n^T W_h x_i) x_i, computed in Python floats from rounded parameters."""
    truth = true_parameters(model)
    v = [[float(x) for x in row] for row in truth.v]
    W = [[[float(x) for x in row] for row in matrix] for matrix in truth.W]

    def answer(tokens: list[list[Fraction]]) -> float:
        points = [[float(x) for x in token] for token in tokens]
        return sum(_head(matrix, readout, points) for matrix, readout in zip(W, v, strict=True))

    return answer


def _head(W: list[list[float]], v: list[float], points: list[list[float]]) -> float:
    last = points[-1]
    scores = [sum(a * W[i][j] * b for i, a in enumerate(last) for j, b in enumerate(x)) for x in points]
    top = max(scores)
    weights = [exp(score - top) for score in scores]
    values = [sum(a * b for a, b in zip(v, x, strict=True)) for x in points]
    return sum(w * y for w, y in zip(weights, values, strict=True)) / sum(weights)
