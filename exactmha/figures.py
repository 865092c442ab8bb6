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
    _image_format(path)
    check_writable(path, *inputs)
    try:
        plotting()
    except InputError as error:
        raise error.located(field="--plot", file=path) from None


def _image_format(path: str) -> str:
    if not path.lower().endswith(_SUFFIXES):
        raise InputError("is no image file", field="--plot", value=path, hint="end it in .png, .pdf or .svg")
    return Path(path).suffix[1:].lower()


def save_figure(figure: Any, path: str) -> None:
    """Write a figure to an image file, whole or not at all, and close it."""
    write_atomically(path, _image(figure, _image_format(path)))


def png(figure: Any) -> bytes:
    """Return a figure as a PNG image, and close it."""
    return _image(figure, "png")


def _image(figure: Any, kind: str) -> bytes:
    image = io.BytesIO()
    figure.savefig(image, dpi=150, format=kind)
    plotting().close(figure)
    return image.getvalue()


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only, for an axis that counts."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))
