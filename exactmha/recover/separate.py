"""Separating the heads of one profile: guess modulo p^k, prove in K (`proofs/interpolation-lemma`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from exactmha.errors import BadPlace, NoInterpolant, Undecided
from exactmha.fields.interface import Field, Value
from exactmha.modular.guess import Guess, MorePrecision, guess_profile
from exactmha.outcome import Outcome, counted
from exactmha.recover.profile import Profile, profile_values

PRECISIONS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 144)
"""p-adic precisions tried in turn; the last lifts whatever a product of two float64 matrices holds (8,928 bits)."""
PLACES = 4
"""Places tried in turn at one precision."""

Clock = Callable[[str], AbstractContextManager[object]]
"""Measures the time of a stage ("images", "guess" or "proof"), for benchmarks."""


def no_clock(_stage: str) -> AbstractContextManager[None]:
    """Measure nothing."""
    return nullcontext()


class Separator:
    """Finds and proves profiles; remembers the precision that the instance needs, and counts images."""

    def __init__(self, field: Field, first_place: int = 0, clock: Clock = no_clock) -> None:
        self._field, self._first_place, self._level, self._clock = field, first_place, 0, clock
        self.most_images = 0
        """the largest number of images asked of one answer"""
        self.precision = PRECISIONS[0]
        """the largest p-adic precision used"""

    def separate(self, name: str, base: Value, answers: Sequence[Value], expected: Guess | None = None) -> Profile:
        """Return the profile with k = 0 value `base` and `answers` at k = 1..2n, proved exactly in K.

        It has at most n heads; fewer when that many already reproduce every answer. A guess `expected` from
        other profiles is proved in the same way, and asks no image. Raises `NoInterpolant` when no guess
        survives the proof at any place and precision.
        """
        if expected is not None and self._is_proved(expected, base, answers):
            return Profile(name, expected.exponents, expected.residues)
        images, place_index = 0, self._first_place
        last_place = self._first_place + PLACES
        while self._level < len(PRECISIONS) and place_index < last_place:
            precision = PRECISIONS[self._level]
            place = self._field.place(place_index, precision)
            images += 1
            self.most_images = max(self.most_images, images)
            self.precision = max(self.precision, precision)
            try:
                with self._clock("images"):
                    samples = [value.image(place) for value in (base, *answers)]
                with self._clock("guess"):
                    guess = guess_profile(samples, place)
            except BadPlace:
                place_index += 1
                continue
            except MorePrecision:
                self._level += 1
                continue
            if self._is_proved(guess, base, answers):
                return Profile(name, guess.exponents, guess.residues)
            place_index += 1
        self._level = min(self._level, len(PRECISIONS) - 1)
        raise NoInterpolant(
            f"{name}: no function of form (P) with at most {counted(len(answers) // 2, 'head')} whose poles are "
            f"monomials of the field was found for the {len(answers)} answers"
        )

    def _is_proved(self, guess: Guess, base: Value, answers: Sequence[Value]) -> bool:
        """Prove in K: distinct poles, non-zero residues, and equality with every answer."""
        with self._clock("proof"):
            if len(set(guess.exponents)) != len(guess.exponents) or not all(any(c) for c in guess.residues):
                return False
            values = profile_values(self._field, len(answers), base, guess.exponents, guess.residues)
            for answer, value in zip(answers, values, strict=True):
                outcome = answer.equals(value)
                if outcome is Outcome.UNDECIDED:
                    raise Undecided("an answer cannot be compared with its interpolant within the size budget")
                if outcome is Outcome.FAILS:
                    return False
            return True
