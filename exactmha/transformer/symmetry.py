"""The odd part: T(X) − T(−X) is a plain attention, since negating every token leaves the softmax weights alone."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.fields.interface import Field, Value
from exactmha.oracle import QueryOracle
from exactmha.sequences import Token, TokenSequence, runs_of


class OddOracle:
    """Answers X with T(X) − T(−X) = Σ_h 2Λ_h·A_h(X), by two queries (`proofs/transformer-algorithm`)."""

    __slots__ = ("_oracle", "dim", "field")

    def __init__(self, oracle: QueryOracle) -> None:
        self._oracle = oracle
        self.field: Field = oracle.field
        self.dim: int = oracle.dim

    def ask(self, sequence: Sequence[Token], /) -> Value:
        """Return T(X) − T(−X); two queries of the same length."""
        return self._oracle.ask(sequence) - self._oracle.ask(negated(sequence))


def negated(sequence: Sequence[Token]) -> TokenSequence:
    """Return the sequence with every token negated."""
    return TokenSequence([(tuple(-x for x in token), count) for token, count in runs_of(sequence)])
