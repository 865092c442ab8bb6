"""All answers of one run as balls, and where they come from; no model is seen here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flint import arb, ctx

from exactmha.approximate.balls import largest, midpoint, precisions
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.numbers import Reading
from exactmha.approximate.profile import ProfileSamples
from exactmha.errors import InputError
from exactmha.fields.values import ExactValue
from exactmha.sequences import Token

_ACCURATE = 8


@dataclass(frozen=True)
class Samples:
    """Enclosures of f(b_1) and of the 2H answers of every profile of the design, in its order."""

    design: TokenDesign
    heads: int
    base: arb
    answers: tuple[tuple[arb, ...], ...]

    def widened(self, epsilon: arb) -> Samples:
        """Return the samples with `epsilon` added to every radius."""
        spread = arb(0, epsilon.abs_upper())
        return replace(
            self,
            base=self.base + spread,
            answers=tuple(tuple(f + spread for f in profile) for profile in self.answers),
        )

    def centre(self) -> Samples:
        """Return the midpoints as exact balls."""
        return replace(
            self,
            base=midpoint(self.base),
            answers=tuple(tuple(midpoint(f) for f in profile) for profile in self.answers),
        )

    def top(self) -> arb:
        """Enclose max |answer|, sum profiles too."""
        return largest([abs(self.base), *(abs(f) for profile in self.answers for f in profile)])

    def of(self, index: int, base: arb) -> ProfileSamples:
        """Return the samples of profile number `index`, with the value at k = 0."""
        return ProfileSamples(self.design.profiles[index].name, base, self.answers[index])

    def grid_vector(self) -> list[arb]:
        """Return f(b_1) and the answers of the grid profiles, in the order of `TokenDesign.position`."""
        grid = [
            f
            for planned, profile in zip(self.design.profiles, self.answers, strict=True)
            for f in profile
            if not planned.is_sum
        ]
        return [self.base, *grid]


SampleSource = Callable[[], Samples]
"""Returns the samples at FLINT's working precision: asked once, enclosed as often as needed."""


def magnitude(source: SampleSource) -> int:
    """Return some e with |answer| ≤ 2^e for all answers, e − 2 being too small; 0 where all answers are 0."""
    top = arb(0)
    for bits in precisions():
        with ctx.workprec(bits):
            top = source().top()
        if top.rel_accuracy_bits() > _ACCURATE:
            break
    mantissa, exponent = top.abs_upper().man_exp()
    return int(mantissa).bit_length() + int(exponent) if mantissa else 0


def ask(
    answer: Callable[[Sequence[Token]], ExactValue], design: TokenDesign, heads: int
) -> tuple[ExactValue, list[list[ExactValue]]]:
    """Ask an exact oracle all 2H(2d² − 1) + 1 queries of the design."""
    base = answer(design.base_query())
    return base, [[answer(query) for query in planned.queries(heads)] for planned in design.profiles]


def exact_source(answer: Callable[[Sequence[Token]], ExactValue], design: TokenDesign, heads: int) -> SampleSource:
    """Ask an exact oracle once; the source encloses its answers at any precision."""
    if heads < 1:
        raise InputError("a model without heads has no parameters that an error could move", field="heads", value=heads)
    base, answers = ask(answer, design, heads)
    return lambda: Samples(
        design, heads, base.ball(), tuple(tuple(value.ball() for value in profile) for profile in answers)
    )


def number_source(answers: Sequence[Reading], design: TokenDesign, heads: int) -> SampleSource:
    """Make a source of given numbers: f(b_1), then the 2H answers of every profile of the design."""
    size = 2 * heads
    if len(answers) != 1 + size * len(design.profiles):
        raise InputError("wrong number of answers", value=len(answers))
    rows = [answers[1 + size * p : 1 + size * (p + 1)] for p in range(len(design.profiles))]
    return lambda: Samples(design, heads, _ball(answers[0]), tuple(tuple(map(_ball, row)) for row in rows))


def _ball(answer: Reading) -> arb:
    return arb(answer.centre) + arb(0, arb(answer.radius).abs_upper())
