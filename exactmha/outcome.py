"""Outcomes, levels of evidence, and claims: what a verification says and how strongly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum


class Outcome(Enum):
    """Three outcomes and never a bare boolean: `if outcome:` raises `TypeError`.

    >>> Outcome.of(2 > 1)
    <Outcome.HOLDS: 'holds'>
    """

    HOLDS = "holds"
    """shown to be true"""
    FAILS = "fails"
    """shown to be false"""
    UNDECIDED = "undecided"
    """neither: the decision would take too much, or nothing was found"""

    def __bool__(self) -> bool:
        raise TypeError("an Outcome has three values: compare it with Outcome.HOLDS, .FAILS or .UNDECIDED")

    @classmethod
    def of(cls, decided: bool) -> Outcome:
        """Turn a decided question into an outcome."""
        return cls.HOLDS if decided else cls.FAILS

    @classmethod
    def every(cls, outcomes: Iterable[Outcome]) -> Outcome:
        """Return the outcome of a conjunction: fails if one fails, else undecided if one is, else holds."""
        seen = set(outcomes)
        for worst in (cls.FAILS, cls.UNDECIDED):
            if worst in seen:
                return worst
        return cls.HOLDS


class Evidence(IntEnum):
    """How a claim is supported, weakest first."""

    SAMPLED = 1
    """tried on random inputs"""
    COMPUTED = 2
    """counted or computed in this run"""
    CERTIFIED = 3
    """proved for this instance by exact computation"""
    PROVED = 4
    """a theorem with a label in `proofs/`"""

    @property
    def label(self) -> str:
        """The lower-case name used in reports."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement with its outcome, its level of evidence and the evidence itself, in words."""

    name: str
    statement: str
    outcome: Outcome
    level: Evidence
    evidence: str


EXIT_HOLDS, EXIT_FAILS, EXIT_BAD_INPUT, EXIT_UNDECIDED = 0, 1, 2, 3


def exit_status(outcomes: Iterable[Outcome]) -> int:
    """Return the exit status of a command: 0 all hold, 1 one fails, 3 none fails but one is undecided."""
    return {Outcome.HOLDS: EXIT_HOLDS, Outcome.FAILS: EXIT_FAILS, Outcome.UNDECIDED: EXIT_UNDECIDED}[
        Outcome.every(outcomes)
    ]


def counted(count: int, noun: str) -> str:
    """Return "1 head", "2 heads"; of a noun with a plural in -s."""
    return f"{count} {noun}{'s' * (count != 1)}"
