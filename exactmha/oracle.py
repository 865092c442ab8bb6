"""The black box: answers one token sequence with one opaque value, and counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from exactmha.errors import InputError
from exactmha.fields.interface import Field, Value
from exactmha.sequences import Token

Answer = Callable[[Sequence[Token]], Value]


class QueryOracle(Protocol):
    """All that a learner sees: the public field, the dimension, and answers."""

    @property
    def field(self) -> Field:
        """The public exact field."""
        ...

    @property
    def dim(self) -> int:
        """The dimension d of the tokens."""
        ...

    def ask(self, sequence: Sequence[Token], /) -> Value:
        """Return f(X) for one sequence of tokens in R^dim; one query."""
        ...


class Oracle:
    """A counting oracle around any function that answers a sequence with an exact value of `field`.

    A value does not carry its field (its t), so values of another field of the same kind cannot be told apart here.
    Queries are counted here and nowhere else. The answering function is kept in a closure, so
    that a learner holding the oracle holds no model.
    """

    __slots__ = ("_ask", "dim", "field", "max_length", "queries", "transcript")

    def __init__(self, answer: Answer, field: Field, dim: int, *, keep_transcript: bool = False) -> None:
        self.field, self.dim = field, dim
        self.queries, self.max_length = 0, 0
        self.transcript: list[tuple[Sequence[Token], Value]] | None = [] if keep_transcript else None

        def ask(sequence: Sequence[Token]) -> Value:
            length = len(sequence)
            if not length:
                raise InputError("a query needs at least one token")
            self.queries += 1
            self.max_length = max(self.max_length, length)
            value = answer(sequence)
            if self.transcript is not None:
                self.transcript.append((sequence, value))
            return value

        self._ask = ask

    def ask(self, sequence: Sequence[Token], /) -> Value:
        """Answer one query."""
        return self._ask(sequence)
