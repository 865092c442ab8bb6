"""Equations whose sides are evaluated exactly: what is false cannot be displayed.

A side is a tree of numbers. `Equation.verified` evaluates all sides, with the evaluators that also read instance
files, and raises `FalseEquation` unless they are equal (or, for ≠, different).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from flint import fmpq, fmpq_mat

from exactmha import expressions
from exactmha.errors import Undecided
from exactmha.explain.formula import Call, Inverse, Matrix, Named, Number, Product, Term, Transpose, to_node
from exactmha.fields import ExactField
from exactmha.fields.coprime import coordinates, coprime_base
from exactmha.fields.text import ValueAlgebra
from exactmha.forms import Form, FormAlgebra
from exactmha.modular.places import Place
from exactmha.outcome import Outcome

Rows = list[list[Any]]
_SHOWN_DIGITS = 4


class FalseEquation(AssertionError):
    """An equation that was about to be displayed is false: a fault of the story, not of the input."""


class World(ABC):
    """Where sides are evaluated and compared: numbers, and matrices of them."""

    @property
    @abstractmethod
    def algebra(self) -> expressions.Algebra[Any]:
        """The algebra of the numbers."""

    @abstractmethod
    def same(self, left: Any, right: Any) -> Outcome:
        """Decide whether two numbers are equal."""

    def equal(self, left: Term, right: Term) -> Outcome:
        """Decide whether two sides are equal: numbers, or matrices of one shape entry by entry."""
        first, second = self.rows(left), self.rows(right)
        if [len(row) for row in first] != [len(row) for row in second]:
            return Outcome.FAILS
        pairs = [pair for rows in zip(first, second, strict=True) for pair in zip(*rows, strict=True)]
        return Outcome.every(self.same(x, y) for x, y in pairs)

    def rows(self, term: Term) -> Rows:
        """Return the value of a side as a matrix; that of a number is 1 × 1."""
        match term:
            case Named(_, meaning):
                return self.rows(meaning)
            case Matrix(rows):
                return [[self._number(entry) for entry in row] for row in rows]
            case Transpose(of):
                return [list(column) for column in zip(*self.rows(of), strict=True)]
            case Inverse(of):
                inverse = _rational_matrix(of).inv().tolist()
                return [[self.algebra.number(x) for x in row] for row in inverse]
            case Product(factors) if any(_is_matrix(factor) for factor in factors):
                return reduce(self._product, map(self.rows, factors))
            case _:
                return [[self._number(term)]]

    def _number(self, term: Term) -> Any:
        if isinstance(term, Call) and term.name == "det":
            return self._determinant(term.arguments[0])
        return expressions.evaluate(to_node(term), self.algebra)

    def _determinant(self, term: Term) -> Any:
        """Return the determinant of a square matrix: of literals by FLINT, else expanded along rows, for small ones."""
        try:
            return self.algebra.number(_rational_matrix(term).det())
        except TypeError:
            return self._expanded(self.rows(term))

    def _expanded(self, rows: Rows) -> Any:
        if not rows:
            return self.algebra.number(fmpq(1))
        add, multiply, total = self.algebra.add, self.algebra.multiply, self.algebra.number(fmpq(0))
        for j, entry in enumerate(rows[0]):
            minor = self._expanded([[*row[:j], *row[j + 1 :]] for row in rows[1:]])
            total = add(total, multiply(self.algebra.number(fmpq((-1) ** j)), multiply(entry, minor)))
        return total

    def _product(self, left: Rows, right: Rows) -> Rows:
        add, multiply = self.algebra.add, self.algebra.multiply
        return [
            [reduce(add, map(multiply, row, column)) for column in zip(*right, strict=True)]
            for row in left
            if len(row) == len(right) or _wrong_shapes(row, right)
        ]


def _wrong_shapes(row: Sequence[Any], rows: Rows) -> bool:
    raise ValueError(f"a row of {len(row)} entries cannot be multiplied by {len(rows)} rows")


def _is_matrix(term: Term) -> bool:
    if isinstance(term, Named):
        return _is_matrix(term.meaning)
    return isinstance(term, Matrix | Inverse | Transpose)


def _rational_matrix(term: Term) -> fmpq_mat:
    """Return a matrix of literals, transposed where the term says so."""
    if isinstance(term, Transpose):
        return _rational_matrix(term.of).transpose()
    if not isinstance(term, Matrix):
        raise TypeError("only a matrix of numbers can be inverted")
    return fmpq_mat([[_literal(entry) for entry in row] for row in term.rows])


def _literal(term: Term) -> fmpq:
    if not isinstance(term, Number):
        raise TypeError(f"{term} is no number")
    return term.value


class Values(World):
    """The exact field K, in which the answers lie."""

    def __init__(self, field: ExactField) -> None:
        self._algebra = ValueAlgebra(field)

    @property
    def algebra(self) -> ValueAlgebra:
        """The values of K."""
        return self._algebra

    def same(self, left: Any, right: Any) -> Outcome:
        """Decide equality in K."""
        outcome: Outcome = left.equals(right)
        return outcome

    def decimal(self, side: Term) -> str:
        """Return a number of K rounded to a few digits."""
        ((value,),) = self.rows(side)
        return str(value.enclosure(_SHOWN_DIGITS).str(_SHOWN_DIGITS, radius=False))


class Residues(Values):
    """The image of K in Z/p at one place: what the learner guesses with; an equation here is a congruence."""

    def __init__(self, field: ExactField, place: Place) -> None:
        super().__init__(field)
        self._place = place

    def same(self, left: Any, right: Any) -> Outcome:
        """Decide equality in Z/p."""
        return Outcome.of((left.image(self._place) - right.image(self._place)) % self._place.prime == 0)


class _LogAlgebra(FormAlgebra):
    """Rationals, radicals and logarithms, with log of a product, of a power and of an exponential resolved."""

    def call(self, name: str, arguments: Sequence[expressions.Node]) -> Form:
        return self._log(arguments[0]) if name == "log" else super().call(name, arguments)

    def _log(self, node: expressions.Node) -> Form:
        match node:
            case expressions.Product(factors):
                parts = (self.multiply(self.number(fmpq(side)), self._log(factor)) for side, factor in factors)
                return reduce(self.add, parts)
            case expressions.Power(base, exponent):
                return self.multiply(self.number(fmpq(exponent)), self._log(base))
            case expressions.Call("exp", (argument,)):
                return expressions.evaluate(argument, self)
            case expressions.Call("root", (argument, expressions.Number(order))):
                return self.multiply(self.number(1 / order), self._log(argument))
        return super().call("log", [node])


class Forms(World):
    """Rationals and exact logarithms, in which W lies; logarithms are compared over a coprime base."""

    def __init__(self) -> None:
        self._algebra = _LogAlgebra()

    @property
    def algebra(self) -> FormAlgebra:
        """Closed forms."""
        return self._algebra

    def same(self, left: Form, right: Form) -> Outcome:
        """Decide equality: Σ c_q·log q = 0 if and only if Σ c_q·e_q = 0, e_q the exponents of q over a coprime base."""
        difference = self.algebra.add(left, self.algebra.multiply(self.algebra.number(fmpq(-1)), right))
        if difference.radicals:
            return Outcome.FAILS
        base = coprime_base(difference.logs)
        total = [fmpq(0)] * len(base)
        for q, c in difference.logs.items():
            total = [t + c * e for t, e in zip(total, coordinates(q, base), strict=True)]
        return Outcome.of(not any(total))


class Ratios(Forms):
    """Positive numbers exp(form), compared by their exact logarithms."""

    def __init__(self) -> None:
        super().__init__()
        self._logarithms = Forms()

    def rows(self, term: Term) -> Rows:
        """Return the logarithm of a side, as a 1 × 1 matrix."""
        match term:
            case Named(_, meaning):
                return self.rows(meaning)
            case Call("exp", (argument,)):
                return self._logarithms.rows(argument)
        return self._logarithms.rows(Call("log", (term,)))


_WANTED = {"=": Outcome.HOLDS, "≠": Outcome.FAILS}


@dataclass(frozen=True, slots=True)
class Equation:
    """name = side_1 = side_2 = …; with the relation ≠, one of the signs (the last, or number `at`) is ≠ instead.

    The name stands for the first side. With `about` a decimal is shown behind the last side.
    """

    world: World
    sides: tuple[Term, ...]
    name: Term | None = None
    relation: str = "="
    at: int = -1
    about: bool = False

    def relations(self) -> list[str]:
        """Return the signs between the sides."""
        signs = ["="] * (len(self.sides) - 1)
        if self.relation != "=":
            signs[self.at] = self.relation
        return signs

    def decimal(self) -> str:
        """Return the decimal to be shown behind the last side, or nothing."""
        return self.world.decimal(self.sides[-1]) if self.about and isinstance(self.world, Values) else ""

    def verified(self) -> Equation:
        """Return the equation after evaluating all its sides.

        Raises `FalseEquation` when it is false, `Undecided` beyond the size budget of the field.
        """
        if len(self.sides) < 2:
            raise FalseEquation(f"nothing to compare in {self.name}")
        for left, sign, right in zip(self.sides, self.relations(), self.sides[1:], strict=False):
            outcome = self.world.equal(left, right)
            if outcome is Outcome.UNDECIDED:
                raise Undecided("an equation of the story is beyond the size budget")
            if outcome is not _WANTED[sign]:
                raise FalseEquation(f"{left} {sign} {right} is false (name: {self.name})")
        return self
