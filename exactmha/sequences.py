"""Token sequences: what an oracle is asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import overload

from flint import fmpq

from exactmha.errors import InputError

Token = tuple[int | fmpq, ...]
"""A column vector of R^d with exact coordinates."""


class TokenSequence(Sequence[Token]):
    """An immutable token sequence stored as runs (token, count); it behaves as the plain sequence.

    >>> q = TokenSequence.copies(2, (5, 1), (4, 0))
    >>> len(q), list(q)
    (3, [(5, 1), (5, 1), (4, 0)])
    """

    __slots__ = ("_length", "runs")

    def __init__(self, runs: Sequence[tuple[Token, int]]) -> None:
        if any(count < 0 for _, count in runs):
            raise InputError("a token cannot occur a negative number of times", field="runs")
        self.runs = tuple([run for run in runs if run[1]])
        self._length = sum([count for _, count in self.runs])

    @classmethod
    def copies(cls, count: int, token: Token, last: Token) -> TokenSequence:
        """Return `count` copies of `token`, then `last`: length count + 1."""
        return cls([(token, count), (last, 1)])

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Token]: ...
    def __getitem__(self, index: int | slice) -> Token | Sequence[Token]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if position >= 0:
            for token, count in self.runs:
                if position < count:
                    return token
                position -= count
        raise IndexError("token sequence index out of range")


def runs_of(sequence: Sequence[Token]) -> Sequence[tuple[Token, int]]:
    """Return (token, count) pairs whose last pair holds the final token; earlier order does not matter to attention."""
    if isinstance(sequence, TokenSequence):
        return sequence.runs
    return [(tuple(_exact(x) for x in token), 1) for token in sequence]


def _exact(x: object) -> int | fmpq:
    """Return a coordinate as `int` or `fmpq`; floats are refused, since they are rarely what is meant."""
    if isinstance(x, int | fmpq):
        return x
    if isinstance(x, Fraction):
        return fmpq(x.numerator, x.denominator)
    raise InputError("a coordinate must be an int, a Fraction or an fmpq", value=x, hint="exact numbers only")
