"""Random canonical instances, reproducible from a seed, and the teaching example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from exactmha.attention import Model
from exactmha.conditions import Grid
from exactmha.errors import InputError, LimitError
from exactmha.fields import FIELD_NAMES
from exactmha.instance import FORMAT, from_dict
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.randomness import Stream

_SPARE_DRAWS = 1000


def random_model(heads: int, dim: int, field: str, seed: int, limits: Limits = DEFAULT_LIMITS) -> Model:
    """Return a random model with exactly `heads` canonical heads of small height.

    Exponential: entries of W are p/q, |p| ≤ 6, q ≤ 3. Rational: a·log 2 + b·log 3, |a|, |b| ≤ 2.
    Radical: (p/N)·log β, |p| ≤ 2N, with β and N drawn from the seed, and v in Q(β^{1/N}).
    Raises `InputError` for an unknown field or a negative size.
    """
    if field not in FIELD_NAMES:
        raise InputError("unknown field", field="--field", value=field, hint=f"choose from {', '.join(FIELD_NAMES)}")
    for name, value, least, most in (("--heads", heads, 0, limits.heads), ("--dim", dim, 1, limits.dim)):
        if value < least:
            raise InputError(f"must be at least {least}", field=name, value=value)
        if value > most:
            raise LimitError(f"must be at most {most}", field=name, value=value, hint=f"see --limit {name[2:]}")
    stream = Stream(seed, "instance", field, heads, dim)
    weight, readout, zero = _entries(field, stream)
    drawn: dict[str, dict[str, Any]] = {}
    for _ in range(heads + _SPARE_DRAWS):
        if len(drawn) == heads:
            break
        W = [[weight() for _ in range(dim)] for _ in range(dim)]
        v = [readout() for _ in range(dim)]
        if set(v) != {zero}:
            drawn.setdefault(str(W), {"W": W, "v": v})
    model = from_dict({"format": FORMAT, "field": field, "dim": dim, "heads": list(drawn.values())}, limits)
    found = model.canonical()
    if len(found.heads) < heads:
        raise InputError(
            f"only {len(found.heads)} different heads of small height were drawn",
            field="--heads",
            value=heads,
            hint="ask for fewer heads or a larger dimension",
        )
    return Model(model.field, dim, found.heads)


def _entries(field: str, stream: Stream) -> tuple[Callable[[], str], Callable[[], str], str]:
    """Return the drawers of exact strings for entries of W and of v, and how the latter write 0."""

    def small() -> str:
        return str(fmpq(stream.between(-6, 6), stream.between(1, 3)))

    if field == "exponential":
        return small, small, "0"
    if field == "rational":
        return lambda: f"{stream.between(-2, 2)}*log(2) + {stream.between(-2, 2)}*log(3)", small, "0"
    beta, order = (2, 3, 5, 6)[stream.below(4)], stream.between(2, 4)
    return (
        lambda: f"{stream.between(-2 * order, 2 * order)}/{order}*log({beta})",
        lambda: f"{small()} + {stream.between(-2, 2)}*root({beta},{order})",
        f"0 + 0*root({beta},{order})",
    )


@dataclass(frozen=True, slots=True)
class Example:
    """A small instance to learn from, with a grid on which its numbers stay small."""

    content: dict[str, Any]
    grid: Grid

    @property
    def model(self) -> Model:
        """The model."""
        return from_dict(self.content)


EXAMPLES = {
    # five queries, every number doable by hand: tokens are −1 or 1, so the weights are 2, 3 or their inverses
    "two-heads-1d": Example(
        {
            "format": FORMAT,
            "field": "rational",
            "dim": 1,
            "heads": [{"W": [["log(2)"]], "v": ["1"]}, {"W": [["log(3)"]], "v": ["2"]}],
        },
        Grid(3, 3),
    ),
    # the smallest case in which heads must be matched: 29 queries, all numbers fractions
    "two-heads-2d": Example(
        {
            "format": FORMAT,
            "field": "rational",
            "dim": 2,
            "heads": [
                {"W": [["log(2)", "0"], ["log(3)", "log(2)"]], "v": ["1", "1"]},
                {"W": [["0", "log(3)"], ["log(2)", "0"]], "v": ["2", "-1"]},
            ],
        },
        Grid(3, 5),
    ),
}


def example(name: str) -> Example:
    """Return one of `EXAMPLES`."""
    if name not in EXAMPLES:
        raise InputError("unknown example", field="--example", value=name, hint=f"choose from {', '.join(EXAMPLES)}")
    return EXAMPLES[name]
