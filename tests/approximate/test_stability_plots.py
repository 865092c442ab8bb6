"""Both pictures are drawn, from numbers that keep the order: observed below certified."""

from __future__ import annotations

from math import log10
from pathlib import Path

import pytest

import exactmha
from exactmha.approximate.plots import amplification, error_curve, plot
from exactmha.approximate.run import largest_certified
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import choose
from exactmha.attention import Attention
from exactmha.errors import InputError

pytest.importorskip("matplotlib")


def test_amplification_grows_with_the_heads() -> None:
    found = amplification(1, "exponential", heads=3, seeds=3)
    middle = [sorted(values)[1] for values in found.values()]
    assert list(found) == [1, 2, 3]
    assert middle[0] + 1 < middle[1] < middle[2] - 1


def test_observed_errors_stay_below_the_certified_bound(tmp_path: Path) -> None:
    model = exactmha.random_model(2, 1, "exponential", seed=0)
    chosen = choose(model)
    curve = error_curve("x", model, chosen)
    star = largest_certified(exact_source(Attention(model), chosen.design, 2))
    assert star is not None
    assert abs(curve.epsilon[0] - log10(float(star.epsilon))) < 1e-9
    assert len(curve.epsilon) == len(curve.bound) == len(curve.observed) > 3
    assert all(b + 1e-9 > o > b - 3 for b, o in zip(curve.bound, curve.observed, strict=True))
    assert curve.bound[0] > curve.observed[0] + 0.05  # at ε*, visibly
    assert curve.bound[-1] < curve.observed[-1] + 0.01
    assert curve.epsilon == sorted(curve.epsilon, reverse=True)
    path = tmp_path / "picture.png"
    plot({1: [1.0, 2.0], 2: [3.0]}, [curve], str(path), instances="random, d = 1")
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="is no image file"):
        plot({1: [1.0]}, [curve], str(tmp_path / "picture.xyz"), instances="random, d = 1")
