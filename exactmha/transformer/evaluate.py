"""Exact evaluation: the signs of all neurons first, then one plain attention of those that are on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.fields.values import ExactValue
from exactmha.heads import Head
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.sequences import Token
from exactmha.transformer.form import Blocks
from exactmha.transformer.model import Transformer
from exactmha.transformer.sign import sign

_CACHED = 256


class TransformerAnswer:
    """Answers token sequences: T(X) = Σ_{j: g_j(X) > 0} a_j g_j(X), g_j(X) = Σ_h μ_{j,h}·A_h(X).

    Where the set of neurons that are on is fixed, T is the plain attention with v_h = Σ_j a_j μ_{j,h} over them: the
    answer comes out as one collected value of the field. Raises what `Attention` does, and `Undecided` when a sign is.
    """

    def __init__(self, model: Transformer, limits: Limits = DEFAULT_LIMITS) -> None:
        self.model, self._limits = model, limits
        self._readouts = [model.readouts(j) for j in range(len(model.a))]
        self._neurons = [self._attention(blocks) for blocks in self._readouts]
        self._silent = self._attention(_combined((), model))
        self._active = lru_cache(_CACHED)(self._sum_of)

    def pattern(self, sequence: Sequence[Token]) -> tuple[int, ...]:
        """Return the sign of every neuron's input."""
        return tuple(map(sign, self.inputs(sequence)))

    def inputs(self, sequence: Sequence[Token]) -> tuple[ExactValue, ...]:
        """Return w_j·z(X) for every neuron."""
        return tuple(neuron(sequence) for neuron in self._neurons)

    def __call__(self, sequence: Sequence[Token]) -> ExactValue:
        """Return T(X)."""
        if not self._neurons:
            return self._silent(sequence)  # checks the sequence; the value is 0
        return self._active(tuple(s > 0 for s in self.pattern(sequence)))(sequence)

    def _sum_of(self, on: tuple[bool, ...]) -> Attention:
        terms = [(a, blocks) for a, blocks, is_on in zip(self.model.a, self._readouts, on, strict=True) if is_on]
        return self._attention(_combined(terms, self.model))

    def _attention(self, blocks: Blocks) -> Attention:
        return Attention(attention_model(self.model, blocks), self._limits)


def attention_model(model: Transformer, blocks: Blocks) -> Model:
    """Return the plain attention Σ_h blocks_h·A_h(X) with the heads of a Transformer."""
    padding = (fmpq(0),) * (model.field.degree - 1)
    heads = [Head(W, tuple((x, *padding) for x in block)) for W, block in zip(model.W, blocks, strict=True)]
    return Model(model.field, model.dim, tuple(heads))


def _combined(terms: Sequence[tuple[fmpq, Blocks]], model: Transformer) -> Blocks:
    """Return Σ a·blocks."""
    return tuple(
        tuple(sum((a * blocks[h][i] for a, blocks in terms), fmpq(0)) for i in range(model.dim))
        for h in range(len(model.W))
    )
