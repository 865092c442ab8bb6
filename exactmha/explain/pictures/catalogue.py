"""All pictures of one table, and figures of them."""

from __future__ import annotations

from typing import Any

from exactmha.errors import InputError
from exactmha.explain.pictures.budget import BUDGET
from exactmha.explain.pictures.exponents import EXPONENTS
from exactmha.explain.pictures.grid import GRID_OF_PROFILES
from exactmha.explain.pictures.ledger import LEDGER
from exactmha.explain.pictures.matching import MATCHING
from exactmha.explain.pictures.picture import INK, PAPER, SOFT, Picture
from exactmha.explain.pictures.profile import PROFILE
from exactmha.explain.run import Run
from exactmha.figures import plotting

PICTURES = (PROFILE, MATCHING, GRID_OF_PROFILES, EXPONENTS, LEDGER, BUDGET)
NAMES = tuple(picture.name for picture in PICTURES)
_ONLY_PLANE = {MATCHING, GRID_OF_PROFILES}
"""Pictures of matchings: there are none in dimension 1."""
STYLE = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.facecolor": PAPER,
    "legend.edgecolor": SOFT,
    "hatch.color": INK,
}


def pictures(run: Run) -> list[Picture]:
    """Return the pictures that a run has."""
    return [picture for picture in PICTURES if run.dim > 1 or picture not in _ONLY_PLANE]


def find(name: str, run: Run) -> Picture:
    """Return a picture of a run by its name; raises `InputError` where there is none."""
    for picture in pictures(run):
        if picture.name == name:
            return picture
    known = ", ".join(picture.name for picture in pictures(run))
    raise InputError("no such picture of this run", field="--picture", value=name, hint=f"pictures: {known}")


def figure(run: Run, name: str) -> Any:
    """Return a matplotlib figure of one picture.

    Raises `InputError` where matplotlib is missing, the run has no such picture, or its numbers are no finite floats.
    """
    picture, pyplot = find(name, run), plotting()
    with pyplot.rc_context(STYLE):
        drawn, axes = pyplot.subplots(figsize=picture.size(run), layout="constrained")
        picture.draw(axes, run)
    return drawn
