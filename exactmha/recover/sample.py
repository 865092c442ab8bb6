"""Asking: the queries of one profile."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.fields.interface import Value
from exactmha.oracle import QueryOracle
from exactmha.sequences import TokenSequence

IntToken = tuple[int, ...]


def ask_base(oracle: QueryOracle, b: IntToken) -> Value:
    """Ask f(b) = s·b: one query of length 1."""
    return oracle.ask(TokenSequence([(b, 1)]))


def ask_profile(oracle: QueryOracle, b: IntToken, u: IntToken, count: int) -> Sequence[Value]:
    """Ask "k copies of b + u, then b" for k = 1..count: `count` queries of length at most count + 1."""
    token = add(b, u)
    return [oracle.ask(TokenSequence.copies(k, token, b)) for k in range(1, count + 1)]


def add(left: IntToken, right: IntToken) -> IntToken:
    """Return the sum of two tokens."""
    return tuple(x + y for x, y in zip(left, right, strict=True))
