"""What the model's side, unlike a learner, needs of an exact field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from flint import fmpq

from exactmha.fields.interface import Exponent, Field, Scalar
from exactmha.fields.values import ExactValue

HeadWeights = tuple[Sequence[tuple[Any, ...]], Sequence[Scalar]]
"""For one head: the exponent of every token's weight, and v·x of every token.

Exponents are integers; in the exponential field also fractions, for tokens with denominators.
"""


class ExactField(Field, Protocol):
    """A field in which attention is evaluated and whose numbers are written as text."""

    def embed(self, scalar: Scalar) -> ExactValue:
        """Return the value of a scalar."""
        ...

    def monomial(self, exponent: Exponent) -> ExactValue:
        """Return the value of a monomial."""
        ...

    def attention(self, counts: Sequence[int], heads: Iterable[HeadWeights]) -> ExactValue:
        """Return Σ_h Σ_i m_i w_{h,i} y_{h,i} / Σ_i m_i w_{h,i}, w the monomials of the exponents."""
        ...

    def weight_bits(self, exponent: Sequence[Any]) -> int:
        """Bound the bits of the monomial of an exponent; 0 where monomials stay symbolic."""
        ...

    def log_text(self, coordinates: Sequence[fmpq]) -> str:
        """Return a combination of the field's logarithmic units in the instance grammar."""
        ...

    def scalar_text(self, scalar: Scalar) -> str:
        """Return a scalar in the instance grammar."""
        ...
