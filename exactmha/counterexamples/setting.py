"""What all constructions share: sizes, small random numbers, rank-one changes of W, and the learner's queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from flint import fmpq, fmpz_mat

from exactmha.attention import Model
from exactmha.conditions import Grid
from exactmha.errors import ConditionFailed, ExactMHAError
from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.fields.interface import Scalar
from exactmha.heads import Head, Matrix
from exactmha.randomness import Stream
from exactmha.recover.design import Design
from exactmha.recover.sample import IntToken, add
from exactmha.sequences import TokenSequence

Integers = Sequence[Sequence[int]]

FIELDS: dict[str, ExactField] = {
    "rational": RationalField((2, 3)),
    "radical": RadicalField(fmpq(2), 2),
    "exponential": ExponentialField(1, 1),
}
"""The field in which a construction is carried out, by name: logarithms of 2 and 3; Q(√2); t = e."""


class Degenerate(ExactMHAError):
    """The small random numbers of this draw do not suit the construction; draw again."""


@dataclass(frozen=True)
class Setting:
    """H, d, the field, the seed, and the largest absolute value `height` of a number drawn."""

    heads: int
    dim: int
    field_name: str
    seed: int
    height: int = 3

    @property
    def field(self) -> ExactField:
        """The exact field."""
        return FIELDS[self.field_name]

    @cached_property
    def stream(self) -> Stream:
        """The numbers of this draw."""
        return Stream(self.seed, "counterexample", self.heads, self.dim, self.height)

    def vector(self, spread: int | None = None) -> tuple[int, ...]:
        """Draw a non-zero integer vector of R^d with coordinates of absolute value at most `spread` (the height)."""
        most = spread or self.height
        while True:
            drawn = tuple(self.stream.between(-most, most) for _ in range(self.dim))
            if any(drawn):
                return drawn

    def matrix(self, spread: int | None = None) -> list[list[int]]:
        """Draw a d × d integer matrix with entries of absolute value at most `spread`, by default the height."""
        most = spread or self.height
        return [[self.stream.between(-most, most) for _ in range(self.dim)] for _ in range(self.dim)]

    def head(self, spread: int | None = None) -> Head:
        """Draw a head with v ≠ 0; with a `spread`, v from a range d times as wide, which costs the weights nothing."""
        wide = spread and spread * self.dim
        return self.with_logits([self.matrix(spread) for _ in range(self.field.rank)], self.vector(wide))

    def some_heads(self, count: int, spread: int | None = None) -> tuple[Head, ...]:
        """Draw `count` heads with different W."""
        heads = tuple(self.head(spread) for _ in range(count))
        if len({head.W for head in heads}) < count:
            raise Degenerate("two heads were drawn equal")
        return heads

    def with_logits(self, units: Sequence[Integers], v: Iterable[int | fmpq]) -> Head:
        """Return the head whose W has these integer multiples of the field's units, divided by N, and v rational."""
        scale = fmpq(1, self.field.denominator)
        W = tuple(tuple(tuple(x * scale for x in row) for row in unit) for unit in units)
        return Head(W, tuple(self.scalar(x) for x in v))

    def with_readout(self, head: Head, v: Iterable[int]) -> Head:
        """Return the head with another rational v."""
        return Head(head.W, tuple(self.scalar(x) for x in v))

    def scalar(self, x: int | fmpq) -> Scalar:
        """Return a rational as a scalar of the field."""
        return (fmpq(x), *[fmpq(0)] * (self.field.degree - 1))

    def model(self, heads: Iterable[Head]) -> Model:
        """Return a model over this field."""
        return Model(self.field, self.dim, tuple(heads))

    def changed(self, head: Head, x: Sequence[int], y: Sequence[int]) -> Head:
        """Return the head with x yᵀ, in the field's first unit, added to W."""
        first, *others = head.W
        scale = fmpq(1, self.field.denominator)
        moved: Matrix = tuple(
            tuple(w + scale * a * b for w, b in zip(row, y, strict=True)) for row, a in zip(first, x, strict=True)
        )
        return Head((moved, *others), head.v)

    @property
    def grid(self) -> Grid:
        """The grid of the design."""
        return Grid(2 * self.height + 1, 2 * self.height + 1)

    @cached_property
    def tokens(self) -> tuple[list[IntToken], list[IntToken]]:
        """B and U: what the learner draws from this seed and grid at the first attempt."""
        design = Design(self.seed, self.dim, self.grid)
        try:
            for kind in ("b", "u"):
                for position in range(1, self.dim + 1):
                    design.draw(kind, position)
        except ConditionFailed as failure:
            raise Degenerate(str(failure)) from None
        return design.b, design.u


def orthogonal(vectors: Sequence[Sequence[int]], dim: int) -> tuple[int, ...]:
    """Return a non-zero integer vector of R^dim with product 0 with all `vectors`, which must not span."""
    nullspace, nullity = fmpz_mat([list(v) for v in vectors] or [[0] * dim]).nullspace()
    if not nullity:
        raise Degenerate("the vectors span the whole space")
    column = [int(nullspace[i, 0]) for i in range(dim)]
    common = gcd(*column)
    return tuple(x // common for x in column)


def dual(tokens: Sequence[Sequence[int]], position: int) -> tuple[int, ...]:
    """Return an integer y with y·tokens[position] ≠ 0 and y·token = 0 for the others, for a basis."""
    others = [token for i, token in enumerate(tokens) if i != position]
    return orthogonal(others, len(tokens[0]))


def profiles(
    b: Sequence[IntToken], u: Sequence[IntToken], *, matching: bool = True
) -> Iterator[tuple[IntToken, IntToken]]:
    """Yield the (b, u) of the learner's profiles in its order; `matching` includes the sum profiles."""
    yield b[0], u[0]
    for other in u[1:]:
        yield b[0], other
        if matching:
            yield b[0], add(u[0], other)
    for row in b[1:]:
        for each in u:
            yield row, each
            if matching:
                yield add(b[0], row), each


def learner_queries(
    b: Sequence[IntToken], u: Sequence[IntToken], told: int, *, matching: bool = True
) -> tuple[TokenSequence, ...]:
    """Return all queries of the learner with tokens B, U: 4Hd² − 2H + 1 of them, or 2Hd² + 1 without `matching`."""
    asked = [TokenSequence([(b[0], 1)])]
    for last, displacement in profiles(b, u, matching=matching):
        asked += copies(last, displacement, range(1, 2 * told + 1))
    return tuple(asked)


def copies(b: IntToken, u: IntToken, counts: Iterable[int]) -> list[TokenSequence]:
    """Return "k copies of b + u, then b" for the given k."""
    return [TokenSequence.copies(k, add(b, u), b) for k in counts]
