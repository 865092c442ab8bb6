"""Formulas as trees: what is evaluated exactly is the very tree that is shown as text, MathML or LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from exactmha import expressions
from exactmha.limits import DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational."""

    value: fmpq


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name such as r_h; it has no value of its own."""

    name: str
    index: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A name together with what it stands for: the name is shown, its meaning is evaluated."""

    name: Term
    meaning: Term


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of signed terms, in (sign, term) pairs."""

    terms: tuple[tuple[int, Term], ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A product, of numbers or of matrices."""

    factors: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Fraction:
    """A quotient."""

    top: Term
    bottom: Term


@dataclass(frozen=True, slots=True)
class Power:
    """An integer power."""

    base: Term
    exponent: int


@dataclass(frozen=True, slots=True)
class Call:
    """log, exp, sqrt or root(q, N) of the instance grammar; det of a matrix; and f, for general formulas only."""

    name: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Summation:
    """Σ (or Π) over an index, for general formulas only."""

    index: str
    body: Term
    operator: str = "Σ"


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix, by rows."""

    rows: tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class Inverse:
    """The inverse of a square matrix of rationals."""

    of: Term


@dataclass(frozen=True, slots=True)
class Transpose:
    """The transpose of a matrix."""

    of: Term


Term = Number | Symbol | Named | Sum | Product | Fraction | Power | Call | Summation | Matrix | Inverse | Transpose


def number(value: int | fmpq) -> Number:
    """Return a rational as a term."""
    return Number(fmpq(value))


def plus(*terms: Term) -> Term:
    """Return the sum of terms; of none, 0."""
    if not terms:
        return number(0)
    return terms[0] if len(terms) == 1 else Sum(tuple((1, term) for term in terms))


def minus(left: Term, right: Term) -> Sum:
    """Return left − right."""
    return Sum(((1, left), (-1, right)))


def times(*factors: Term) -> Term:
    """Return the product of factors; of none, 1."""
    if not factors:
        return number(1)
    return factors[0] if len(factors) == 1 else Product(factors)


def matrix(rows: Iterable[Iterable[int | fmpq]]) -> Matrix:
    """Return a matrix of rationals as a term."""
    return Matrix(tuple(tuple(number(x) for x in row) for row in rows))


def column(entries: Iterable[Term]) -> Matrix:
    """Return a column vector."""
    return Matrix(tuple((entry,) for entry in entries))


def dot(left: Sequence[Term], right: Sequence[Term]) -> Term:
    """Return Σ left_i·right_i, spelled out."""
    return plus(*(times(x, y) for x, y in zip(left, right, strict=True)))


def parsed(text: str) -> Term:
    """Return an exact value, or an entry of W, that stands in the instance grammar."""
    return _from_node(expressions.parse(text, DEFAULT_LIMITS))


def _from_node(node: expressions.Node) -> Term:
    match node:
        case expressions.Number(value):
            return Number(value)
        case expressions.Sum(((-1, expressions.Number(value)),)):
            return Number(-value)
        case expressions.Sum(terms):
            return Sum(tuple((sign, _from_node(term)) for sign, term in terms))
        case expressions.Product(factors):
            return _quotient([(side, _from_node(factor)) for side, factor in factors])
        case expressions.Power(base, exponent):
            return Power(_from_node(base), exponent)
        case expressions.Call(name, arguments):
            return Call(name, tuple(map(_from_node, arguments)))


def _quotient(factors: Sequence[tuple[int, Term]]) -> Term:
    """Join factors and divisors; a quotient of two literals is one number, as the grammar writes rationals."""
    joined: list[Term] = []
    for side, factor in factors:
        if side > 0:
            joined.append(factor)
        elif isinstance(factor, Number) and isinstance(joined[-1], Number) and factor.value != 0:
            joined[-1] = Number(joined[-1].value / factor.value)
        else:
            joined[-1] = Fraction(joined[-1], factor)
    return times(*joined)


def to_node(term: Term) -> expressions.Node:
    """Return a term without symbols or matrices as a tree of the grammar, which the package evaluates."""
    match term:
        case Number(value):
            return expressions.Number(value)
        case Named(_, meaning):
            return to_node(meaning)
        case Sum(terms):
            return expressions.Sum(tuple((sign, to_node(part)) for sign, part in terms))
        case Product(factors):
            return expressions.Product(tuple((1, to_node(factor)) for factor in factors))
        case Fraction(top, bottom):
            return expressions.Product(((1, to_node(top)), (-1, to_node(bottom))))
        case Power(base, exponent):
            return expressions.Power(to_node(base), exponent)
        case Call(name, arguments) if name in expressions.FUNCTIONS:
            return expressions.Call(name, tuple(map(to_node, arguments)))
    raise TypeError(f"{type(term).__name__} has no value of its own: {term}")
