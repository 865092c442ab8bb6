"""A short reference of the public names, from their docstrings, as one HTML page in the style of the stories."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from html import escape

import exactmha
from exactmha.explain.page import page


def as_html() -> str:
    """Return the page: every public name of `exactmha` with its signature, its docstring and its public members."""
    names = list(exactmha.__all__)
    return page(
        "exactmha: public names",
        f"Version {escape(exactmha.__version__)}. Everything here is imported from <code>exactmha</code>.",
        [(name, name) for name in names],
        "".join(_entry(name, getattr(exactmha, name)) for name in names),
        "Made from the docstrings by exactmha reference.",
    )


def _entry(name: str, value: object) -> str:
    members = "".join(f"<h3>{title}</h3>{_document(member)}" for title, member in _members(value))
    return (
        f'<section id="{name}" aria-labelledby="title-{name}"><h2 id="title-{name}">{name}</h2>'
        f'<pre tabindex="0">{escape(_signature(name, value))}</pre>{_document(value)}{members}</section>'
    )


def _members(value: object) -> Iterator[tuple[str, object]]:
    """Yield (title, member) for the documented public methods and properties of a class."""
    for name, member in vars(value).items() if isinstance(value, type) else ():
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or not (inspect.isfunction(plain) or isinstance(plain, property)):
            continue
        if inspect.getdoc(plain):
            title = name if isinstance(plain, property) else f"{name}{_parameters(plain)}"
            yield f"<code>{escape(title)}</code>", plain


def _signature(name: str, value: object) -> str:
    if not isinstance(value, type):
        return f"{name}{_parameters(value)}"
    return f"class {name}" if issubclass(value, BaseException) else f"class {name}{_parameters(value)}"


def _parameters(value: object) -> str:
    """Return a signature, one line or one parameter a line when that is long."""
    if not callable(value):
        return ""
    try:
        signature = inspect.signature(value)
    except ValueError:  # some built-in classes have none
        return ""
    text = str(signature)
    return text if len(text) < 90 else text.replace(", ", ",\n    ").replace("(", "(\n    ", 1)


def _document(value: object) -> str:
    """Return a docstring as HTML: paragraphs, examples and indented formulas as they stand."""
    blocks = re.split(r"\n\s*\n", inspect.getdoc(value) or "")
    return "".join(map(_block, filter(None, blocks)))


def _block(text: str) -> str:
    if text.startswith((">>>", "    ")):
        return f'<pre tabindex="0">{escape(text)}</pre>'
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return f"<p>{shown}</p>"
