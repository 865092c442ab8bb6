"""Prose on HTML pages."""

from __future__ import annotations

import re
from html import escape

_INDEXED = re.compile(r"(?<![A-Za-z])([A-Za-zΣΠ])_([A-Za-z0-9])(?![A-Za-z0-9])")
_RAISED = re.compile(r"\^([A-Za-z])(?![A-Za-z])")


def words(text: str) -> str:
    """Return prose with names such as b_1 and U^T set with an index or raised."""
    return _RAISED.sub(r"<sup>\1</sup>", _INDEXED.sub(r"<i>\1</i><sub>\2</sub>", escape(text, quote=False)))
