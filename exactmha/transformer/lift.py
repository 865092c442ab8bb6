"""Reading a rational number off an opaque value: guessed from its images at public places, proved in K."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from flint import fmpq

from exactmha.errors import BadPlace, NoInterpolant, Undecided
from exactmha.fields.interface import Field, Scalar, Value
from exactmha.modular.places import Place
from exactmha.outcome import Outcome
from exactmha.recover.separate import PLACES, PRECISIONS

Guess = TypeVar("Guess")


class Lifter:
    """Guesses modulo p^k and proves in K, with more precision or another prime until a guess is proved.

    It remembers the precision that was needed, and counts how many images one answer was asked for.
    """

    def __init__(self, field: Field, first_place: int = 0) -> None:
        self.field, self._first_place, self._level = field, first_place, 0
        self.most_images = 0
        """the largest number of images asked of one answer"""
        self.precision = PRECISIONS[0]
        """the largest p-adic precision used"""

    def rational(self, value: Value) -> fmpq:
        """Return q with value = q, proved. Raises `NoInterpolant` when no rational number is found."""
        found: fmpq = self.solve(
            lambda place: _rational_at(place, [value]),
            lambda guess: is_same(value, self.field.embed(self.scalar(guess[0]))),
            "a value on a single token",
        )[0]
        return found

    def scalar(self, q: fmpq) -> Scalar:
        """Return a rational as a scalar of the field."""
        return (q, *[fmpq(0)] * (self.field.degree - 1))

    def solve(self, guess: Callable[[Place], Guess | None], is_proved: Callable[[Guess], bool], what: str) -> Guess:
        """Return the first guess that is proved; `guess` returns None where a place shows nothing."""
        images, is_shown = 0, False
        for level in range(self._level, len(PRECISIONS)):
            for index in range(self._first_place, self._first_place + PLACES):
                images += 1
                self.most_images = max(self.most_images, images)
                self.precision = max(self.precision, PRECISIONS[level])
                try:
                    found = guess(self.field.place(index, PRECISIONS[level]))
                except (BadPlace, ZeroDivisionError):  # a denominator, or a pivot, is no unit here
                    continue
                is_shown = found is not None
                if found is None:
                    break
                if is_proved(found):
                    self._level = level
                    return found
        cause = "none of those guessed is right" if is_shown else self.too_large()
        raise NoInterpolant(f"no rational numbers were found for {what}: {cause}")

    def too_large(self) -> str:
        """Say for which numbers the largest precision is not enough."""
        bits = int(self.field.place(self._first_place, PRECISIONS[-1]).modulus).bit_length()
        return f"they are not rational, or too large to be lifted (numerator and denominator over about {bits} bits)"


def _rational_at(place: Place, values: Sequence[Value]) -> list[fmpq] | None:
    return rationals_of(place, [value.image(place) for value in values])


def rationals_of(place: Place, images: Sequence[object]) -> list[fmpq] | None:
    """Return small rationals with these images, or None when this precision shows none."""
    found = []
    for residue in images:
        scalar = place.scalar_of(residue)  # type: ignore[arg-type]  # an fmpz
        if scalar is None or any(scalar[1:]):
            return None
        found.append(scalar[0])
    return found


def is_same(left: Value, right: Value) -> bool:
    """Decide equality in K; raises `Undecided` beyond the size budget."""
    outcome = left.equals(right)
    if outcome is Outcome.UNDECIDED:
        raise Undecided("an answer cannot be compared with what was guessed within the size budget")
    return outcome is Outcome.HOLDS
