"""The sign of an exact number: ReLU needs it. The zero test is exact; Arb decides the rest, with ever more digits."""

from __future__ import annotations

from flint import ctx

from exactmha.errors import Undecided
from exactmha.fields.values import ExactValue
from exactmha.outcome import Outcome

MOST_BITS = 1 << 20
"""Precision at which a number that is not 0 is given up as too close to it."""


def sign(value: ExactValue) -> int:
    """Return −1, 0 or 1.

    0 only by the field's exact zero test (`proofs/zero-test-exponential`, `proofs/zero-test-radical`,
    `proofs/zero-test-rational`); else an enclosure that excludes 0 proves the sign. Raises `Undecided` when the zero
    test is beyond its budget, or when 2^20 bits do not separate the number from 0.
    """
    outcome = value.is_zero()
    if outcome is Outcome.HOLDS:
        return 0
    if outcome is Outcome.UNDECIDED:
        raise Undecided("whether a neuron's input is exactly 0 is beyond the size budget")
    bits = 64
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            ball = value.ball()
            if ball > 0:
                return 1
            if ball < 0:
                return -1
        bits *= 2
    raise Undecided(f"a neuron's input is not 0, but {MOST_BITS} bits do not show its sign")
