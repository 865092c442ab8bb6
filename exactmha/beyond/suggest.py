"""Short random query sets, and how few queries suffice (`proofs/local-identifiability`).

Queries are drawn one at a time and kept only where they raise the rank of the Jacobian modulo a prime. So a set that
reaches full rank has exactly H(d² + d) queries, and fewer never suffice (invariance of domain).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from exactmha.attention import Model
from exactmha.beyond.blind import independent_rows
from exactmha.beyond.jacobian import Jacobian
from exactmha.errors import BadPlace
from exactmha.heads import opposite
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.random_instance import random_model
from exactmha.randomness import Stream
from exactmha.recover.design import expected_queries

LARGEST = 4
"""Heads and dimensions of the table go up to this."""
_COORDINATE = 3
"""Token coordinates are drawn from −3..3."""
_LEAST_BATCH = 16
_PATIENCE = 3
"""Batches in vain before the search stops."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query set whose Jacobian has independent rows, so that rank = number of queries."""

    sequences: tuple[tuple[tuple[int, ...], ...], ...]
    parameters: int
    tried: int
    """sequences drawn, up to the last one kept; all of them where full rank was not reached"""

    @property
    def rank(self) -> int:
        """The proved rank of the Jacobian, which is the number of queries."""
        return len(self.sequences)

    @property
    def is_full(self) -> bool:
        """True when the set is proved to identify the parameters locally."""
        return self.rank == self.parameters

    @property
    def tokens(self) -> int:
        """Tokens of all sequences together."""
        return sum(map(len, self.sequences))


def suggest(model: Model, length: int, seed: int, attempt: int = 0, limits: Limits = DEFAULT_LIMITS) -> Suggestion:
    """Draw token sequences of length 1..`length` and keep those that raise the rank, until it is full or stays.

    >>> from exactmha.random_instance import example
    >>> found = suggest(example("two-heads-1d").model, 3, seed=0)
    >>> found.rank, found.is_full
    (4, True)
    """
    canonical = replace(model, heads=model.canonical().heads)
    parameters = Jacobian(canonical, [], limits).parameters
    stream = Stream(seed, "queries", length, attempt)
    kept: list[tuple[tuple[int, ...], ...]] = []
    drawn, tried, idle = 0, 0, 0
    while len(kept) < parameters and idle < _PATIENCE:
        batch = [_sequence(stream, length, model.dim) for _ in range(max(_LEAST_BATCH, parameters - len(kept)))]
        both = [*kept, *batch]
        chosen = _independent(Jacobian(canonical, both, limits))
        idle = 0 if len(chosen) > len(kept) else idle + 1
        tried, drawn = drawn + chosen[-1] + 1 - len(kept) if chosen else 0, drawn + len(batch)
        kept = [both[i] for i in chosen]
    return Suggestion(tuple(kept), parameters, tried if len(kept) == parameters else drawn)


def best(suggestions: Iterable[Suggestion]) -> Suggestion:
    """Return the suggestion of highest rank, among these the one with fewest tokens."""
    return min(suggestions, key=lambda found: (-found.rank, found.tokens))


def _sequence(stream: Stream, length: int, dim: int) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(stream.between(-_COORDINATE, _COORDINATE) for _ in range(dim)) for _ in range(stream.between(1, length))
    )


def _independent(jacobian: Jacobian) -> list[int]:
    """Return the positions of the queries that raise the rank modulo the first prime where all is defined."""
    for _, place, rows in jacobian.at_places():
        return independent_rows(rows, place.prime)
    raise BadPlace("no place of the field is good for these queries")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a random instance with H heads in dimension d."""

    heads: int
    dim: int
    reached: tuple[tuple[int, int], ...]
    """(largest length L, rank reached with it), for L = 1, 2, 3, 2H + 1"""

    @property
    def parameters(self) -> int:
        """H(d² + d)."""
        return self.heads * (self.dim**2 + self.dim)

    @property
    def learner(self) -> int:
        """4Hd² − 2H + 1, the queries of the paper's algorithm."""
        return expected_queries(self.heads, self.dim)


def lengths(heads: int) -> tuple[int, int, int, int]:
    """Return the largest lengths that the table compares."""
    return 1, 2, 3, 2 * heads + 1


def rows(heads: Sequence[int], dims: Sequence[int], seed: int = 0, limits: Limits = DEFAULT_LIMITS) -> list[Row]:
    """Return, for random exponential instances, the rank reached with queries of every length of `lengths`."""
    result = []
    for H in heads:
        for d in dims:
            model = _without_opposites(H, d, seed, limits)
            reached = tuple((length, suggest(model, length, seed, limits=limits).rank) for length in lengths(H))
            result.append(Row(H, d, reached))
    return result


def _without_opposites(heads: int, dim: int, seed: int, limits: Limits) -> Model:
    """Return the first random model, by its seed, with W_g ≠ −W_h for all g and h: length 2 sees such heads as one."""
    while True:
        model = random_model(heads, dim, "exponential", seed, limits)
        found = {head.W for head in model.heads}
        if not any(opposite(head).W in found for head in model.heads):
            return model
        seed += 1


def plot(table: Sequence[Row], path: str) -> None:
    """Plot the queries needed, where full rank was reached, against H(d² + d) and 4Hd² − 2H + 1, to an image file."""
    from exactmha.figures import plotting, save_figure

    figure, axes = plotting().subplots(figsize=(6.5, 5), layout="constrained")
    sizes = sorted({row.parameters for row in table})
    axes.plot(sizes, sizes, color="black", linewidth=1, label="parameters H(d² + d), the floor")
    axes.scatter([r.parameters for r in table], [r.learner for r in table], marker="_", label="paper, 4Hd² − 2H + 1")
    names: list[tuple[str, str]] = [("L = 1", "v"), ("L ≤ 2", "s"), ("L ≤ 3", "o"), ("L ≤ 2H + 1", "x")]
    for i, (name, marker) in enumerate(names):
        full = [row for row in table if row.reached[i][1] == row.parameters]
        short = [row for row in table if row.reached[i][1] < row.parameters]
        _points(axes, [(r.parameters, r.parameters) for r in full], marker, f"{name}: needed")
        _points(axes, [(r.parameters, r.reached[i][1]) for r in short], marker, f"{name}: highest rank, not enough")
    axes.set(xlabel="number of parameters", ylabel="queries", xscale="log", yscale="log")
    axes.minorticks_off()
    axes.set_xticks(sizes, [str(size) for size in sizes], fontsize="x-small")
    axes.legend(fontsize="x-small")
    save_figure(figure, path)


def _points(axes: Any, points: Sequence[tuple[int, int]], marker: str, label: str) -> None:
    if points:
        axes.scatter([x for x, _ in points], [y for _, y in points], marker=marker, alpha=0.6, label=label)
