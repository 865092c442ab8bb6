"""The small grammar of exact expressions: read into a tree, never evaluated as code.

    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/") signed)*
    signed  := ("+" | "-")* power
    power   := atom ("^" ["-"] digits)?
    atom    := number | name "(" sum ("," sum)* ")" | "(" sum ")"
    number  := digits ["." digits] [("e" | "E") ["+" | "-"] digits]

Decimal notation is exact: `0.25` is 1/4. Which function names mean something is decided by the
`Algebra` in which the tree is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from flint import fmpq, fmpz

from exactmha.errors import InputError, LimitError
from exactmha.limits import DEFAULT_LIMITS, Limits

FUNCTIONS = {"log": 1, "sqrt": 1, "root": 2, "exp": 1}
"""Function names of the grammar and their numbers of arguments."""


@dataclass(frozen=True, slots=True)
class Number:
    """A rational literal."""

    value: fmpq


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of signed terms."""

    terms: tuple[tuple[int, Node], ...]
    """(sign, term) pairs"""


@dataclass(frozen=True, slots=True)
class Product:
    """A product of factors and divisors, left to right."""

    factors: tuple[tuple[int, Node], ...]
    """(+1, factor) or (-1, divisor) pairs"""


@dataclass(frozen=True, slots=True)
class Power:
    """An integer power."""

    base: Node
    exponent: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function call."""

    name: str
    arguments: tuple[Node, ...]


Node = Number | Sum | Product | Power | Call

T = TypeVar("T")


class Algebra(Protocol[T]):
    """Where a tree is evaluated; it bounds what an evaluation may build."""

    def number(self, value: fmpq) -> T:
        """Embed a rational."""
        ...

    def add(self, left: T, right: T) -> T:
        """Return left + right."""
        ...

    def multiply(self, left: T, right: T) -> T:
        """Return left · right."""
        ...

    def divide(self, left: T, right: T) -> T:
        """Return left / right."""
        ...

    def power(self, base: T, exponent: int) -> T:
        """Return base^exponent."""
        ...

    def call(self, name: str, arguments: Sequence[Node]) -> T:
        """Evaluate a function call; the arguments come unevaluated."""
        ...


_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/^(),]))", re.ASCII)


def _tokens(text: str) -> list[str]:
    found, position, end = [], 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            rest = text[position:].lstrip()
            raise InputError(
                f"unexpected character at position {len(text) - len(rest) + 1}",
                value=rest[:20],
                hint="use digits, . + - * / ^ ( ) and log(q), sqrt(n), root(n,N)",
            )
        found.append(match.group(match.lastindex or 0))
        position = match.end()
    return found


def parse_number(text: str, limits: Limits = DEFAULT_LIMITS) -> fmpq:
    """Return the exact rational of a literal such as `12`, `0.25` or `1.5e-3`."""
    mantissa, _, scale = text.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    shift = int(scale) if scale and len(scale) < 10 else (10**9 if scale else 0)
    if len(whole) + len(decimals) + abs(shift) > limits.number_digits:
        raise LimitError(
            f"a number has more than {limits.number_digits} digits", value=text, hint="see --limit number_digits"
        )
    exponent = shift - len(decimals)
    power = fmpz(10) ** abs(exponent)
    digits = fmpz(whole + decimals)
    return fmpq(digits * power) if exponent >= 0 else fmpq(digits, power)


class _Parser:
    """Recursive descent over the tokens; recursion is bounded by `limits.expression_depth`."""

    def __init__(self, tokens: list[str], limits: Limits) -> None:
        self.tokens, self.limits, self.at, self.depth = tokens, limits, 0, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            wanted = f"'{expected}'" if expected else "a number, a function or '('"
            raise InputError(f"expected {wanted} but found {token or 'the end'}", hint="check the expression")
        self.at += 1
        return token

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > self.limits.expression_depth:
            raise LimitError(
                f"nested more than {self.limits.expression_depth} deep", hint="see --limit expression_depth"
            )
        terms = [(1, self.product())]
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            terms.append((sign, self.product()))
        self.depth -= 1
        return terms[0][1] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Node:
        factors = [(1, self.signed())]
        while self.peek() in ("*", "/"):
            side = 1 if self.take() == "*" else -1
            factors.append((side, self.signed()))
        return factors[0][1] if len(factors) == 1 else Product(tuple(factors))

    def signed(self) -> Node:
        sign = 1
        while self.peek() in ("+", "-"):
            sign = sign if self.take() == "+" else -sign
        power = self.power()
        return power if sign == 1 else Sum(((-1, power),))

    def power(self) -> Node:
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take()
        sign = -1 if self.peek() == "-" and self.take() else 1
        digits = self.take()
        if not digits.isdigit():
            raise InputError("an exponent must be an integer", value=digits, hint="write root(n,N) for n^(1/N)")
        if len(digits) > 9:
            raise LimitError("an exponent is too large", value=digits, hint="at most 9 digits")
        return Power(base, sign * int(digits))

    def atom(self) -> Node:
        token = self.take()
        if token[0].isdigit():
            return Number(parse_number(token, self.limits))
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if not token[0].isalpha() and token[0] != "_":
            raise InputError(f"expected a number, a function or '(' but found {token}", hint="check the expression")
        if token not in FUNCTIONS:
            raise InputError("unknown name", value=token, hint=f"known functions: {', '.join(FUNCTIONS)}")
        self.take("(")
        arguments = [self.sum()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum())
        self.take(")")
        if len(arguments) != FUNCTIONS[token]:
            raise InputError(f"{token} takes {FUNCTIONS[token]} argument(s)", value=len(arguments))
        return Call(token, tuple(arguments))


def parse(text: str, limits: Limits = DEFAULT_LIMITS) -> Node:
    """Read an exact expression into a tree.

    Raises `InputError` (what, where) on anything outside the grammar, `LimitError` beyond `limits`.

    >>> parse("0.25")
    Number(value=1/4)
    """
    if len(text) > limits.expression_chars:
        raise LimitError(
            f"an expression has more than {limits.expression_chars} characters", hint="see --limit expression_chars"
        )
    tokens = _tokens(text)
    if not tokens:
        raise InputError("empty expression", hint="write a number such as 1/2")
    parser = _Parser(tokens, limits)
    tree = parser.sum()
    if parser.peek():
        raise InputError("unexpected text after the expression", value=parser.peek())
    return tree


def evaluate(node: Node, algebra: Algebra[T]) -> T:
    """Evaluate a tree in `algebra`."""
    match node:
        case Number(literal):
            return algebra.number(literal)
        case Sum(terms):
            total = algebra.number(fmpq(0))
            minus = algebra.number(fmpq(-1))
            for sign, term in terms:
                addend = evaluate(term, algebra)
                total = algebra.add(total, addend if sign > 0 else algebra.multiply(minus, addend))
            return total
        case Product(factors):
            result = evaluate(factors[0][1], algebra)
            for side, factor in factors[1:]:
                other = evaluate(factor, algebra)
                result = algebra.multiply(result, other) if side > 0 else algebra.divide(result, other)
            return result
        case Power(base, exponent):
            return algebra.power(evaluate(base, algebra), exponent)
        case Call(name, arguments):
            return algebra.call(name, arguments)


def calls(node: Node) -> Iterator[Call]:
    """Yield every function call in a tree."""
    match node:
        case Sum(parts) | Product(parts):
            for _, part in parts:
                yield from calls(part)
        case Power(base, _):
            yield from calls(base)
        case Call(_, arguments):
            yield node
            for argument in arguments:
                yield from calls(argument)


def checked(value: fmpq, limits: Limits) -> fmpq:
    """Return `value`, or raise `LimitError` when it has more than `limits.number_digits` digits."""
    if value.height_bits() > limits.number_bits:
        raise LimitError(f"a number has more than {limits.number_digits} digits", hint="see --limit number_digits")
    return value


def checked_power(value: fmpq, exponent: int, limits: Limits) -> fmpq:
    """Return value^exponent, refusing before the work when the result would pass `limits.number_digits`."""
    if value == 0 and exponent < 0:
        raise InputError("division by zero", value=f"0^{exponent}")
    if value.height_bits() > 1 and (value.height_bits() - 1) * abs(exponent) > limits.number_bits:
        raise LimitError(f"a power has more than {limits.number_digits} digits", hint="see --limit number_digits")
    return value**exponent
