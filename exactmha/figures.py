"""Drawing to image files with matplotlib, which is an optional extra."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from exactmha.errors import InputError
from exactmha.files import check_writable, write_atomically

_SUFFIXES = (".png", ".pdf", ".svg")


def plotting() -> Any:
    """Return matplotlib's pyplot, drawing to files only; raises `InputError` where it is not installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise InputError("a picture needs matplotlib", hint='pip install -e ".[plot]"') from None
    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot


def check_figure(path: str, *inputs: str) -> None:
    """Raise `InputError` when a figure could not be written to `path`: before the long run, not after it."""
    image_format(path)
    check_writable(path, *inputs)
    try:
        plotting()
    except InputError as error:
        raise error.located(field="--plot", file=path) from None


def image_format(path: str) -> str:
    """Return png, pdf or svg; raises `InputError` for another name of a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError("is no image file", field="--plot", value=path, hint="end it in .png, .pdf or .svg")
    return suffix[1:]


def save_figure(figure: Any, path: str) -> None:
    """Write a figure to an image file, whole or not at all, and close it."""
    write_atomically(path, image(figure, image_format(path)))


def image(figure: Any, kind: str = "png") -> bytes:
    """Return a figure as an image (png, pdf or svg), the same bytes every time, and close it."""
    drawn, pyplot = io.BytesIO(), plotting()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with pyplot.rc_context({"svg.hashsalt": "exactmha"}):
        figure.savefig(drawn, dpi=150, format=kind, metadata=undated)
    pyplot.close(figure)
    return drawn.getvalue()


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only, for an axis that counts."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))
