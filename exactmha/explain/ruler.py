"""How wide a formula is, roughly: by this both pages decide where a long one is broken."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.explain.formula import Term
from exactmha.explain.notation import Notation

_TALL = "H"
"""Marks that something is higher than one line, so that parentheses around it are wide."""

_SHORTENED = 23
"""Digits that are as wide as eight digits, dots, eight digits and a small number in brackets."""


class Ruler(Notation):
    """Writes a formula as a string of as many characters as it has tenths of an em, in the fonts of TeX."""

    def __init__(self, digits: int) -> None:
        self.most_digits = digits

    def digits(self, text: str) -> str:
        """Return 5 a digit; of more than `most_digits`, what their shortened form takes."""
        return "x" * 5 * (len(text) if len(text) <= self.most_digits else _SHORTENED)

    def sign(self, sign: str, *, unary: bool) -> str:  # noqa: ARG002  # both are equally wide
        """Return a sign and the space around it."""
        return "x" * (8 if unary else 13)

    def relation(self, relation: str) -> str:  # noqa: ARG002
        """Return a relation and the space around it."""
        return "x" * 14

    def symbol(self, name: str, index: str) -> str:
        """Return letters, with a smaller index."""
        letters = 5 * len(name) if " " in name else sum(10 if c.isupper() else 6 for c in name)
        return "x" * (letters + 5 * len(index))

    def product(self, factors: Sequence[str]) -> str:
        """Return factors with dots between them."""
        return ("x" * 8).join(factors)

    def fraction(self, top: str, bottom: str) -> str:
        """Return the wider part."""
        return _TALL + max(top, bottom, key=len) + "xx"

    def power(self, base: str, exponent: str) -> str:
        """Return a base with a smaller exponent."""
        return base + "x" * (7 * len(exponent) // 10 + 1)

    def exponential(self, argument: Term) -> str:
        """Return e to a power."""
        return self.power("xxxxx", self.term(argument))

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """Return a root, or a name before parentheses."""
        if name in ("sqrt", "root"):
            return "x" * 9 + arguments[0]
        return "x" * 6 * len(name) + self.group("xxxx".join(arguments))

    def summation(self, operator: str, index: str, body: str) -> str:  # noqa: ARG002
        """Return a large operator before its body."""
        return "x" * 17 + body

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        """Return the widest entry of every column, between parentheses."""
        columns = [max(column, key=len) for column in zip(*rows, strict=True)]
        return _TALL + "x" * 17 + ("x" * 10).join(columns)

    def group(self, text: str) -> str:
        """Return text between parentheses."""
        return "x" * (15 if _TALL in text else 8) + text
