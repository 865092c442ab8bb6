"""Random Transformers, reproducible from a seed."""

from __future__ import annotations

import json

from flint import fmpq

from exactmha.errors import InputError, LimitError
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.random_instance import random_model
from exactmha.randomness import Stream
from exactmha.transformer.form import inner
from exactmha.transformer.instance import from_dict, to_text
from exactmha.transformer.model import Transformer

_DRAWS = 1000


def random_transformer(
    heads: int, dim: int, width: int, neurons: int, field: str, seed: int, limits: Limits = DEFAULT_LIMITS
) -> Transformer:
    """Return a random Transformer with `neurons` neurons that satisfies F1 and F2 and uses all `heads` heads.

    W as in `random_model`; entries of O and w are integers up to 3, those of a are p/q ≠ 0 with |p| ≤ 6, q ≤ 3. All
    neurons lie on one line where p = 1, or H = d = 1. For d = 1 and H, p > 1 all n are parallel, so F2 allows but one
    neuron.
    """
    for name, value, least, most in (
        ("--width", width, 1, limits.width),
        ("--neurons", neurons, 0, limits.neurons),
    ):
        if value < least:
            raise InputError(f"must be at least {least}", field=name, value=value)
        if value > most:
            raise LimitError(f"must be at most {most}", field=name, value=value, hint=f"see --limit {name[2:]}")
    if (dim == 1 and min(neurons, heads, width) > 1) or (neurons == 0) != (heads == 0):
        raise InputError(
            "no such Transformer satisfies F1 and F2",
            field="--neurons",
            value=neurons,
            hint="take at most one for --dim 1, and none exactly when --heads is 0",
        )
    attention = random_model(heads, dim, field, seed, limits)
    stream = Stream(seed, "transformer", field, heads, dim, width, neurons)
    for _ in range(_DRAWS):
        model = Transformer(
            attention.field,
            dim,
            tuple(head.W for head in attention.heads),
            tuple(_matrix(stream, width, dim) for _ in range(heads)),
            _matrix(stream, neurons, width),
            tuple(_coefficient(stream) for _ in range(neurons)),
        )
        if _suits(model):
            return from_dict(json.loads(to_text(model)), limits)  # the field is the one that its file would have
    raise InputError("every draw of small numbers was degenerate", field="--seed", value=seed, hint="try another seed")


def _suits(model: Transformer) -> bool:
    """Check F1, F2, and that no head is lost."""
    form = model.canonical()
    normals = [line.token_normal for line in form.lines]
    return (
        len(form.W) == len(model.W)
        and not form.invisible_in_odd_part
        and all(map(any, normals))
        and all(not parallel(n, m) for i, n in enumerate(normals) for m in normals[:i])
    )


def parallel(left: tuple[fmpq, ...], right: tuple[fmpq, ...]) -> bool:
    """Decide whether two vectors are linearly dependent: equality in the inequality of Cauchy and Schwarz."""
    return inner(left, right) ** 2 == inner(left, left) * inner(right, right)


def _matrix(stream: Stream, height: int, width: int) -> tuple[tuple[fmpq, ...], ...]:
    return tuple(tuple(fmpq(stream.between(-3, 3)) for _ in range(width)) for _ in range(height))


def _coefficient(stream: Stream) -> fmpq:
    numerator = stream.between(1, 6)
    return fmpq(numerator if stream.below(2) else -numerator, stream.between(1, 3))
