"""Names, commands and file names in prose, recognised once for all notations; and prose on HTML pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from exactmha.cli.main import COMMANDS


@dataclass(frozen=True, slots=True)
class Name:
    """A name in prose, such as b_1, W_h, b_j^T or r_h' (a ratio of head h'); of ^T alone the letter is empty."""

    letter: str
    index: str = ""
    raised: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A command of exactmha, or a file of the project."""

    text: str


Part = str | Name | Code

_WORD = r"[a-z]+(?:-[a-z]+)*"
_RAISED = r"\^(?:[A-Za-z](?![A-Za-z])|\d+)"
_LETTER = r"(?<![A-Za-z])[A-Za-zΣΠ]"
_INDEXED = rf"{_LETTER}_(?:[A-Za-z](?:,[a-z](?![A-Za-z0-9_]))?(?![A-Za-z0-9])|\d+)'?"
_FOUND = re.compile(
    rf"(?P<code>proofs/{_WORD}\.md|exactmha (?:counterexample {_WORD}|(?:{'|'.join(COMMANDS)})\b))"
    rf"|(?P<name>{_INDEXED}(?:{_RAISED})?|{_LETTER}{_RAISED}|{_RAISED})"
    r"|(?P<range>(?<=[A-Za-z0-9])\.\.(?=[A-Za-z0-9]))"
)


def parts(text: str) -> Iterator[Part]:
    """Yield prose as plain text, names and code, in order."""
    end = 0
    for found in _FOUND.finditer(text):
        if found.start() > end:
            yield text[end : found.start()]
        yield _part(found)
        end = found.end()
    if end < len(text):
        yield text[end:]


def _part(found: re.Match[str]) -> Part:
    if found["range"]:
        return "…"
    if found["code"]:
        return Code(found["code"])
    base, _, raised = found["name"].partition("^")
    letter, _, index = base.partition("_")
    return Name(letter, index, raised)


def words(text: str) -> str:
    """Return prose as HTML, with names such as b_1 and U^T set with an index or raised, and commands as code."""
    return "".join(map(_html, parts(text)))


def _html(part: Part) -> str:
    match part:
        case Name(letter, index, raised):
            shown = f"<i>{letter}</i>" if letter not in ("", "Σ", "Π") else letter
            shown += f"<sub>{index.replace(chr(39), '′')}</sub>" if index else ""
            return shown + (f"<sup>{raised}</sup>" if raised else "")
        case Code(text):
            return f"<code>{text}</code>"
    return escape(part, quote=False)
