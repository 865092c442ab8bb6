"""What the value types of all fields share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from flint import arb, ctx, fmpq, fmpz

from exactmha.errors import Undecided
from exactmha.modular.places import Place
from exactmha.outcome import Outcome

_MOST_BALL_BITS = 1 << 20


class ExactValue(ABC):
    """An immutable exact value. It is unhashable, since equal values may be written differently."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...
    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...
    @abstractmethod
    def __mul__(self, other: Self) -> Self: ...
    @abstractmethod
    def __truediv__(self, other: Self) -> Self: ...

    @abstractmethod
    def image(self, place: Place) -> fmpz:
        """Return the image in Z/p^k; raises `BadPlace` where a denominator is not a unit."""

    @abstractmethod
    def is_zero(self) -> Outcome:
        """Decide whether the value is 0."""

    @abstractmethod
    def ball(self) -> arb:
        """Return an enclosure of the real value at FLINT's working precision."""

    @abstractmethod
    def bits(self) -> int:
        """Return the size of the largest rational number in the value, in bits."""

    def equals(self, other: Self) -> Outcome:
        """Decide whether two values are the same element of K."""
        return (self - other).is_zero()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        outcome = self.equals(other)
        if outcome is Outcome.UNDECIDED:
            raise Undecided("equality of two exact values is beyond the size budget")
        return outcome is Outcome.HOLDS

    def enclosure(self, digits: int) -> arb:
        """Return a ball around the value with `digits` correct significant digits (exactly 0 for zero).

        Precision is doubled until it suffices, up to a megabit; FLINT's global precision is left as it was.
        """
        if self.is_zero() is Outcome.HOLDS:
            return arb(0)
        bits = 64 + 4 * digits
        while True:
            with ctx.workprec(bits):
                ball = self.ball()
            if ball.rel_accuracy_bits() >= 3.33 * digits + 4 or bits > _MOST_BALL_BITS:
                return ball
            bits *= 2


def linear_combination(coefficients: Sequence[fmpq], units: Sequence[str]) -> str:
    """Return Σ coefficient·unit in the instance grammar; the unit "1" is left out, the empty sum is 0."""
    text = ""
    for coefficient, unit in zip(coefficients, units, strict=True):
        if coefficient == 0:
            continue
        size = abs(coefficient)
        sign = "-" if coefficient < 0 else "+"
        body = str(size) if unit == "1" else unit if size == 1 else f"{size}*{unit}"
        text += f" {sign} {body}" if text else (f"-{body}" if sign == "-" else body)
    return text or "0"
