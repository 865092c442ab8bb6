"""What a picture is: an axes to draw on, a caption, and scenes for a reader to step through in HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactmha.explain.notation import Plain
from exactmha.explain.run import Run
from exactmha.fields.interface import Exponent
from exactmha.fields.values import ExactValue

INK, PAPER, SOFT = "#1b1b1b", "#fdfdfb", "#5a5a5a"
"""Lines and text, background, what stands back; a page replaces them by the colours of its theme."""
HEADS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart; lines differ in their dashes, too."""
DASHES = ("--", ":", "-.", (0, (4, 1)))
MOST_CHARACTERS = 14
"""Longer numbers stand in pictures as decimals."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One position of a picture's slider."""

    says: str
    parts: tuple[str, ...] | None = None
    """the parts that stand out; None: all"""
    cursor: float | None = None
    """where the cursor stands, on the horizontal axis"""


@dataclass(frozen=True, slots=True)
class Scenes:
    """What the slider of a picture runs through."""

    label: str
    scenes: tuple[Scene, ...]
    start: int = 0
    toggles: tuple[tuple[str, str], ...] = ()
    """(part, name) of parts that a reader may hide"""


@dataclass(frozen=True, slots=True)
class Picture:
    """One kind of picture. Whatever is drawn with `gid=part("x")` belongs to part x of the scenes."""

    name: str
    step: str
    """the title of the step that shows it"""
    size: Callable[[Run], tuple[float, float]]
    """width and height in inches"""
    draw: Callable[[Any, Run], None]
    """draws on a matplotlib axes; raises `InputError` where numbers are no finite floats"""
    label: Callable[[Run], str]
    """what the picture shows, for those who do not see it"""
    caption: Callable[[Run], str]
    scenes: Callable[[Run], Scenes]


def part(name: str) -> str:
    """Return the group id of a part; several artists may share one."""
    return f"part:{name}"


def decimal(value: ExactValue) -> float:
    """Return a float near an exact value; infinite when it is too large for one."""
    return float(value.enclosure(17).mid())


def logarithm(run: Run, exponent: Exponent) -> float:
    """Return a float near the logarithm of a monomial, however large that is."""
    return float(run.model.field.monomial(exponent).enclosure(17).log().mid())


def short(text: str, value: float) -> str:
    """Return an exact text if it is short, else a decimal."""
    return text if len(text) <= MOST_CHARACTERS else f"≈ {signed(value, 4)}"


def signed(number: float, digits: int = 6) -> str:
    """Return a number with a true minus sign."""
    return f"{number:.{digits}g}".replace("-", "−")


PLAIN = Plain()
