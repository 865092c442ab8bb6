"""Long formulas over several lines: a chain is broken at its relations, a long side at its sums and products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from exactmha.explain.equation import Equation
from exactmha.explain.formula import Fraction, Product, Sum, Term
from exactmha.explain.notation import ATOM, PRODUCT, SUM, Notation, _signed, _verified
from exactmha.explain.ruler import Ruler

CONTINUED = 20
"""How far a continued line is indented, in tenths of an em."""
AROUND = 30
"""What a sign, a relation or parentheses may add to a piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a formula that stays on one line, and its width in tenths of an em."""

    text: str
    width: int

    def after(self, before: str, width: int) -> Piece:
        """Return the piece with something before it."""
        return Piece(before + self.text, width + self.width)


_NOTHING = Piece("", 0)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an equation: what stands left of the place where lines are aligned, and what stands right of it."""

    left: Piece
    right: Piece
    continued: bool = False


class Breaking(Notation):
    """A notation that can break long formulas; mixed into one that says how each kind looks."""

    ruler: Ruler
    opening, closing, slash = "(", ")", "/"
    """parentheses and a slash that may stand on different lines"""

    def equations(self, equations: Sequence[Equation], room: int) -> list[list[Line]]:
        """Return the lines of each equation, after verifying it; raises `FalseEquation` when one does not hold."""
        return self._block([_verified(equation) for equation in equations], room)

    def generals(self, formulas: Sequence[Sequence[Term]], room: int) -> list[list[Line]]:
        """Return the lines of general formulas: identities of the theory, without numbers."""
        return self._block([(sides, ["="] * (len(sides) - 1)) for sides in formulas], room)

    def _block(self, chains: Sequence[tuple[Sequence[Term], Sequence[str]]], room: int) -> list[list[Line]]:
        """Return chains as lines of at most this width, aligned at the first relations unless a left side is long."""
        starts = [self._piece(terms[0]) for terms, _ in chains]
        column = max((start.width for start in starts), default=0)
        if column <= room * 2 // 5:
            sides = [list(zip(relations, terms[1:], strict=True)) for terms, relations in chains]
            lines = [self._right(chain, room - column) for chain in sides]
            return [[Line(start, ls[0].right), *ls[1:]] for start, ls in zip(starts, lines, strict=True)]
        return [self._right([*zip(["", *relations], terms, strict=True)], room) for terms, relations in chains]

    def _right(self, sides: Sequence[tuple[str, Term]], room: int) -> list[Line]:
        """Return relations with the sides after them: one line, or one a side, or more."""
        whole = _joined([self._related(*side) for side in sides])
        if whole.width <= room:
            return [Line(_NOTHING, whole)]
        found: list[Line] = []
        for relation, side in sides:
            short = self._related(relation, side)
            if not sides[0][0] and found and found[-1].right.width + short.width <= room - CONTINUED:
                found[-1] = Line(_NOTHING, _joined([found[-1].right, short]), found[-1].continued)
            else:
                found += self._side(relation, side, room)
        return found

    def _related(self, relation: str, side: Term) -> Piece:
        piece = self._piece(side)
        return piece.after(self.relation(relation), 14) if relation else piece

    def _side(self, relation: str, side: Term, room: int) -> Iterator[Line]:
        """Yield the lines of one side, filled a new summand rather starting a line than broken."""
        shown, width = (self.relation(relation), 14) if relation else ("", 0)
        summands = self._summands(side, room - CONTINUED - AROUND)
        summands[0][0] = summands[0][0].after(shown, width)
        used: list[Piece] = []
        continued = False
        for pieces in summands:
            for i, piece in enumerate(pieces):
                wanted = sum(p.width for p in (*used, *pieces)) if i == 0 else sum(p.width for p in (*used, piece))
                if used and wanted > room - CONTINUED * continued:
                    yield Line(_NOTHING, _joined(used), continued)
                    used, continued = [], True
                used.append(piece)
        yield Line(_NOTHING, _joined(used), continued)

    def _summands(self, side: Term, room: int) -> list[list[Piece]]:
        if isinstance(side, Sum):
            return [self._summand(*part, room, first=not i) for i, part in enumerate(side.terms)]
        return [self.pieces(side, room)]

    def pieces(self, term: Term, room: int, level: int = SUM) -> list[Piece]:
        """Return a term in pieces of at most this width, as far as it can be broken."""
        whole = self._piece(term, level)
        if whole.width <= room:
            return [whole]
        found = self._split(term, room)
        if len(found) == 1:
            return [self.fitted(whole, room)]
        return self._enclosed(found) if self._shown(term)[1] < level else found

    def fitted(self, piece: Piece, room: int) -> Piece:  # noqa: ARG002  # for notations that can scale
        """Return a piece that is wider than its line and cannot be broken."""
        return piece

    def _split(self, term: Term, room: int) -> list[Piece]:
        match term:
            case Sum(terms):
                return [piece for i, part in enumerate(terms) for piece in self._summand(*part, room, first=not i)]
            case Product(factors):
                if _signed(term)[0] < 0:
                    return self._summand(1, term, room, first=True)
                return [piece for i, factor in enumerate(factors) for piece in self._factor(factor, room, first=not i)]
            case Fraction(top, bottom):
                below = self.pieces(bottom, room, ATOM)
                if isinstance(bottom, Fraction) and len(below) > 1:  # a/(b/c) is not a/b/c
                    below = self._enclosed(below)
                below[0] = below[0].after(self.slash, 8)
                return self.pieces(top, room, ATOM) + below
        return [self._piece(term)]

    def _summand(self, sign: int, term: Term, room: int, *, first: bool) -> list[Piece]:
        own_sign, size = _signed(term)
        found = self.pieces(size, room, PRODUCT)
        if sign * own_sign < 0 or not first:
            shown = self.sign("−" if sign * own_sign < 0 else "+", unary=first)
            found[0] = found[0].after(shown, 13)
        return found

    def _factor(self, factor: Term, room: int, *, first: bool) -> list[Piece]:
        found = self.pieces(factor, room, PRODUCT if first else ATOM)
        if not first:
            found[0] = found[0].after(self.product(["", ""]), 8)
        return found

    def _enclosed(self, pieces: Sequence[Piece]) -> list[Piece]:
        start, *others, end = pieces
        return [start.after(self.opening, 6), *others, Piece(end.text + self.closing, end.width + 6)]

    def _piece(self, term: Term, level: int = SUM) -> Piece:
        return Piece(self._at(term, level), len(self.ruler._at(term, level)))


def _joined(pieces: Sequence[Piece]) -> Piece:
    return Piece("".join(piece.text for piece in pieces), sum(piece.width for piece in pieces))
