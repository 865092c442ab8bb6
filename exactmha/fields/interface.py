"""The operations that a learner may use on exact values, and nothing else.

Values are opaque: they may be added, subtracted, multiplied, divided and compared, a rational and
the monomial of an exact exponent may be embedded, and a value may be asked for its image at one
of the field's few public places (a homomorphism to Z/p^k, see `proofs/p-adic-guess`). A learner
that uses only these commutes with field homomorphisms, as the one of the theorem does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import add
from typing import Any, Protocol, Self, runtime_checkable

from flint import fmpq, fmpz

from exactmha.modular.places import Place
from exactmha.outcome import Outcome

Exponent = tuple[int, ...]
"""A monomial of the field: one integer per generator (one for Q(t) and Q(β^{1/N}), one per base number for Q)."""

Scalar = tuple[fmpq, ...]
"""A number of the coefficient field, by its rational coordinates on 1, γ, …, γ^{degree−1} (degree 1 for Q and Q(t))."""


class Value(Protocol):
    """An exact element of the field K, opaque to the learner."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __truediv__(self, other: Self, /) -> Self: ...

    def equals(self, other: Self, /) -> Outcome:
        """Decide equality in K exactly; undecided only beyond the size budget."""
        ...

    def image(self, place: Place, /) -> fmpz:
        """Return the image in Z/p^k; raises `BadPlace` where a denominator is not a unit."""
        ...


class Field(Protocol):
    """A field K in which equality is decidable, as a learner sees it."""

    @property
    def name(self) -> str:
        """`rational`, `radical` or `exponential`."""
        ...

    @property
    def rank(self) -> int:
        """Number of generators of the group of monomials."""
        ...

    @property
    def degree(self) -> int:
        """Number of rational coordinates of a scalar."""
        ...

    @property
    def denominator(self) -> int:
        """N: the exponent n stands for the logarithm (n/N)·unit."""
        ...

    @property
    def logit_bits(self) -> int:
        """Bits of one weight exp(±W_ij), a public bound for the model; 0 when exponents cost nothing."""
        ...

    def embed(self, scalar: Scalar) -> Value:
        """Return the value of a scalar."""
        ...

    def monomial(self, exponent: Exponent) -> Value:
        """Return the value Π generator_j^{exponent_j}, a positive real number."""
        ...

    def place(self, index: int, precision: int) -> Place:
        """Return the public place number `index` at p-adic precision `precision`."""
        ...


@runtime_checkable
class ProfileField(Protocol):
    """A field that computes values of form (P) faster than the operations of `Value` would; the result is the same."""

    def profile_values(
        self, most: int, base: Any, exponents: Sequence[Exponent], residues: Sequence[Scalar], /
    ) -> Iterator[Value]:
        """Yield base + Σ_h c_h·k r_h/(1 + k r_h) for k = 1..most."""
        ...


def rational(field: Field, value: int | fmpq) -> Value:
    """Embed a rational number in any field."""
    return field.embed((fmpq(value), *[fmpq(0)] * (field.degree - 1)))


def add_exponents(left: Exponent, right: Exponent) -> Exponent:
    """Return the exponent of the product of two monomials."""
    return tuple(map(add, left, right))


def add_scalars(left: Scalar, right: Scalar) -> Scalar:
    """Return the sum of two scalars."""
    return tuple(map(add, left, right))


def added(left: Sequence[Scalar], right: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return the sum of two vectors of scalars."""
    return tuple(map(add_scalars, left, right))


def negated(vector: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return the vector with opposite sign."""
    return tuple(tuple(-x for x in scalar) for scalar in vector)


def dot(scalars: Sequence[Scalar], token: Sequence[int]) -> Scalar:
    """Return Σ_i token_i · scalars_i."""
    return tuple(
        sum((fmpq(x) * a for x, a in zip(token, column, strict=True)), fmpq(0)) for column in zip(*scalars, strict=True)
    )
