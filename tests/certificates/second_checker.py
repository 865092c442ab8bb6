"""A second checker of certificates, written from SPECIFICATION.md over SymPy; slow, and used only in tests.

It shares no code with `exactmha/certificates/checker.py` and takes another way wherever there is one:

- text: a scanner that knows canonical JSON only, so there is nothing to re-serialise and compare;
- monomials: elements u/w of the field itself, compared by cross-multiplication, not exponents;
- (P): one polynomial identity in k, P(k)·answer_denominator = answer_numerator·D(k) with D(k) = Π_h (w_h + k u_h).
  In the exponential field that is an identity of genuine polynomials in t, which needs no theorem on the linear
  independence of 1/(a + b t^n);
- W and v are computed, through inverse matrices, and compared with those of the certificate;
- the conditions are counted one by one.

What stands in the file is judged in the order in which it stands there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd
from pathlib import Path
from typing import Any

from sympy import integer_nthroot
from sympy.polys.domains import QQ, ZZ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import ring

ACCEPT, REJECT, MALFORMED = "accept", "reject", "malformed"
MOST_DIM, MOST_HEADS, MOST_ORDER, MOST_BITS = 128, 512, 96, 4_000_000


class Malformed(Exception):
    """No certificate at all."""


class Failed(Exception):
    """A certificate, but no proof."""


def must(condition: object, error: type[Exception]) -> None:
    if not condition:
        raise error


# --- canonical text ------------------------------------------------------------------------------

LEXEME = re.compile(rb'[][{},:]|"[ !#-\[\]-~]*"|0|[1-9][0-9]{0,8}|-[1-9][0-9]{0,7}|true|false|null')
LITERALS = {"true": True, "false": False, "null": None}
DEEPEST = 12


def scan(data: bytes) -> Any:
    """Read a canonical JSON document; anything else that JSON allows is malformed."""
    must(data[-1:] == b"\n", Malformed)
    pieces = LEXEME.findall(data, 0, len(data) - 1)
    must(b"".join(pieces) + b"\n" == data, Malformed)
    lexemes = [piece.decode("ascii") for piece in reversed(pieces)]
    document = one_value(lexemes, 0)
    must(not lexemes, Malformed)
    return document


def one_value(lexemes: list[str], depth: int) -> Any:
    must(lexemes and depth < DEEPEST, Malformed)
    first = lexemes.pop()
    if first == "[":
        return list(members(lexemes, "]", lambda: one_value(lexemes, depth + 1)))
    if first == "{":
        pairs = members(lexemes, "}", lambda: pair(lexemes, depth + 1))
        must(len(dict(pairs)) == len(pairs), Malformed)
        return dict(pairs)
    if first[0] == '"':
        return first[1:-1]
    if first in LITERALS:
        return LITERALS[first]
    must(first[-1].isdigit(), Malformed)
    return int(first)


def members(lexemes: list[str], closing: str, member: Callable[[], Any]) -> list[Any]:
    found: list[Any] = []
    must(lexemes, Malformed)
    if lexemes[-1] == closing:
        lexemes.pop()
        return found
    while True:
        found.append(member())
        must(lexemes, Malformed)
        separator = lexemes.pop()
        if separator == closing:
            return found
        must(separator == ",", Malformed)


def pair(lexemes: list[str], depth: int) -> tuple[str, Any]:
    must(len(lexemes) > 2 and lexemes[-1][0] == '"' and lexemes[-2] == ":", Malformed)
    key = lexemes.pop()[1:-1]
    lexemes.pop()
    return key, one_value(lexemes, depth)


def dump(value: Any) -> str:
    """Write lists of lists of strings canonically, for the transcript."""
    return f'"{value}"' if isinstance(value, str) else "[" + ",".join(map(dump, value)) + "]"


# --- shapes --------------------------------------------------------------------------------------


def keyed(value: Any, *keys: str) -> list[Any]:
    must(isinstance(value, dict) and list(value) == list(keys), Malformed)
    return list(value.values())


def vector(value: Any, length: int | None, entry: Callable[[Any], Any]) -> list[Any]:
    must(isinstance(value, list) and length in (None, len(value)), Malformed)
    return [entry(x) for x in value]


def small(value: Any, low: int, high: int) -> int:
    must(type(value) is int and low <= value <= high, Malformed)
    return int(value)


def same_positions(given: Any, wanted: Sequence[int]) -> bool:
    """Compare with a list of small integers, of which `true` is none."""
    return isinstance(given, list) and [(type(x), x) for x in given] == [(int, n) for n in wanted]


def integer(value: Any) -> int:
    must(isinstance(value, str) and re.fullmatch("-?[0-9a-f]+", value), Malformed)
    number = int(value, 16)
    must(format(number, "x") == value, Malformed)
    return number


def rational(value: Any) -> Any:
    must(isinstance(value, str), Malformed)
    numerator, *denominators = value.split("/")
    a = integer(numerator)
    if not denominators:
        return QQ(a)
    must(len(denominators) == 1, Malformed)
    b = integer(denominators[0])
    must(b > 1 and gcd(a, b) == 1, Malformed)
    return QQ(a, b)


def digest(value: Any) -> str:
    must(isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value), Malformed)
    return str(value)


# --- fields --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A field by its operations; elements are those of a SymPy domain or polynomial ring, values are quotients."""

    rank: int
    degree: int
    unit: int
    read_value: Callable[[Any], tuple[Any, Any]]
    """an oracle answer as (numerator, denominator)"""
    element: Callable[[Sequence[Any]], Any]
    """the element of a scalar"""
    monomial: Callable[[Sequence[int]], tuple[Any, Any]]
    """the positive real of an exponent, as (numerator, denominator)"""
    reduce: Callable[[Any], Any]
    """the normal form of an element: zero if and only if the element is zero"""

    def same(self, left: tuple[Any, Any], right: tuple[Any, Any]) -> bool:
        return not self.reduce(left[0] * right[1] - right[0] * left[1])


def within_limits(factors: Iterable[tuple[int, int]]) -> None:
    """Refuse a monomial Π number^exponent that is too long to be written out."""
    must(sum(number.bit_length() * abs(exponent) for number, exponent in factors) <= MOST_BITS, Malformed)


def rational_field(description: Any) -> Field:
    _, base = keyed(description, "name", "base")
    numbers = vector(base, None, integer)
    must(len(numbers) <= MOST_ORDER, Malformed)
    must(all(g > 1 for g in numbers), Failed)
    must(all(gcd(g, h) == 1 for g, h in combinations(numbers, 2)), Failed)

    def monomial(exponent: Sequence[int]) -> tuple[Any, Any]:
        result = QQ(1)
        within_limits(zip(numbers, exponent, strict=True))
        for g, e in zip(numbers, exponent, strict=True):
            result *= QQ(g) ** e
        return result, QQ(1)

    return Field(len(numbers), 1, 1, lambda x: (rational(x), QQ(1)), lambda c: c[0], monomial, lambda x: x)


def is_power(beta: Any, n: int) -> bool:
    return all(integer_nthroot(int(part), n)[1] for part in (beta.numerator, beta.denominator))


def radical_field(description: Any) -> Field:
    _, beta_text, order_number = keyed(description, "name", "beta", "order")
    beta, order = rational(beta_text), small(order_number, 1, MOST_ORDER)
    must(beta > 0 and beta != 1, Failed)
    must(not any(order % n == 0 and is_power(beta, n) for n in range(2, order + 1)), Failed)
    K, gamma = ring("gamma", QQ)
    modulus = gamma**order - beta

    def element(scalar: Sequence[Any]) -> Any:
        return sum((c * gamma**i for i, c in enumerate(scalar)), K(0))

    def monomial(exponent: Sequence[int]) -> tuple[Any, Any]:
        whole, rest = divmod(exponent[0], order)
        within_limits([(max(int(beta.numerator), int(beta.denominator)), whole + 1)])
        return beta**whole * gamma**rest, K(1)

    def read(value: Any) -> tuple[Any, Any]:
        return element(vector(value, order, rational)), K(1)

    return Field(1, order, order, read, element, monomial, lambda x: x.rem([modulus]))


def exponential_field(description: Any) -> Field:
    _, radicand, denominator = keyed(description, "name", "radicand", "denominator")
    n, unit = integer(radicand), integer(denominator)
    must(n >= 1 and unit >= 1, Failed)
    K, _ = ring("t", QQ)

    def power(e: int) -> Any:
        return K({(e,): QQ(1)})

    def read(value: Any) -> tuple[Any, Any]:
        must(isinstance(value, list) and value, Malformed)
        top, bottom = K(rational(value[0])), K(1)
        terms = [vector(term, 4, lambda x: x) for term in value[1:]]
        triples = [tuple(integer(x) for x in (n, a, b)) for _, a, n, b in terms]
        must(all(min(triple) >= 1 and gcd(triple[1], triple[2]) == 1 for triple in triples), Malformed)
        must(triples == sorted(set(triples)), Malformed)
        for (n, a, b), (c_text, *_) in zip(triples, terms, strict=True):
            c, pole = rational(c_text), a + b * power(n)
            must(c, Malformed)
            top, bottom = top * pole + c * bottom, bottom * pole
        return top, bottom

    def monomial(exponent: Sequence[int]) -> tuple[Any, Any]:
        e = exponent[0]
        return (power(e), K(1)) if e >= 0 else (K(1), power(-e))

    return Field(1, 1, unit, read, lambda c: K(c[0]), monomial, lambda x: x)


FIELDS = {"rational": rational_field, "radical": radical_field, "exponential": exponential_field}


# --- polynomials in k ----------------------------------------------------------------------------


def times_linear(polynomial: list[Any], constant: Any, slope: Any, reduce: Callable[[Any], Any]) -> list[Any]:
    """Return polynomial·(constant + slope·k), coefficients in increasing order."""
    padded_low, padded_high = [*polynomial, 0], [0, *polynomial]
    return [reduce(constant * x + slope * y) for x, y in zip(padded_low, padded_high, strict=True)]


def at(polynomial: list[Any], k: int) -> Any:
    result: Any = 0
    for coefficient in reversed(polynomial):
        result = result * k + coefficient
    return result


def interpolant(field: Field, base: tuple[Any, Any], poles: list[Any], residues: list[Any]) -> tuple[list[Any], Any]:
    """Return P and D with base + Σ_h c_h·k r_h/(1 + k r_h) = P(k)/D(k), r_h = u_h/w_h."""
    one = field.element([QQ(1)] + [QQ(0)] * (field.degree - 1))
    denominator = [one * base[1]]
    for u, w in poles:
        denominator = times_linear(denominator, w, u, field.reduce)
    numerator = [one * base[0]]
    for u, w in poles:
        numerator = times_linear(numerator, w, u, field.reduce)
    for h, ((u, _), c) in enumerate(zip(poles, residues, strict=True)):
        part = [0, c * u * base[1]]
        for g, (u_g, w_g) in enumerate(poles):
            if g != h:
                part = times_linear(part, w_g, u_g, field.reduce)
        longest = max(len(part), len(numerator))
        part, numerator = ([*p, *[0] * (longest - len(p))] for p in (part, numerator))
        numerator = [x + y for x, y in zip(numerator, part, strict=True)]
    return numerator, denominator


# --- steps ---------------------------------------------------------------------------------------


class Steps:
    """Hands out the steps one by one, each of the kind whose turn it is."""

    def __init__(self, steps: list[Any]) -> None:
        self.remaining, self.number = list(reversed(steps)), -1

    def take(self, kind: str, *keys: str) -> list[Any]:
        step = self.remaining.pop()
        self.number += 1
        must(isinstance(step, dict) and step.get("kind") == kind, Failed)
        return keyed(step, "kind", *keys)[1:]


def schedule(dim: int) -> list[tuple[str, tuple[tuple[int, ...], ...]]]:
    """List the steps between `base` and `heads` with what each is about."""
    first = ((1,), (1,))
    plan: list[tuple[str, Any]] = [("profile", first)]
    for i in range(2, dim + 1):
        other, total = ((1,), (i,)), ((1,), (1, i))
        plan += [("profile", other), ("profile", total), ("match", (first, other, total))]
    plan.append(("readout", ()))
    for j in range(2, dim + 1):
        for i in range(1, dim + 1):
            other, total = ((j,), (i,)), ((1, j), (i,))
            plan += [("profile", other), ("profile", total), ("match", (((1,), (i,)), other, total))]
    return plan


def transposed(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def combination(coefficients: Sequence[int], scalars: Sequence[Sequence[Any]]) -> list[Any]:
    return [sum((c * s[x] for c, s in zip(coefficients, scalars, strict=True)), QQ(0)) for x in range(len(scalars[0]))]


def inverse(rows: list[list[int]]) -> Any:
    """Return the inverse of an integer matrix over Q; fails when its determinant is zero."""
    matrix = DomainMatrix([[ZZ(x) for x in row] for row in rows], (len(rows), len(rows)), ZZ)
    must(matrix.det(), Failed)
    return matrix.convert_to(QQ).inv()


def entries(matrix: Any) -> list[list[Any]]:
    return matrix.to_dense().to_list()


class Run:
    """One certificate being checked."""

    def __init__(self, data: bytes) -> None:
        document = scan(data)
        keys = ("format", "claim", "field", "dim", "instance", "transcript", "steps")
        version, claim, description, dim, instance, transcript, steps = keyed(document, *keys)
        must(version == "exactmha/certificate/1", Malformed)
        heads, told, bound, queries, length = keyed(claim, "heads", "told", "bound", "queries", "length")
        self.told, self.heads = small(told, 0, MOST_HEADS), small(heads, 0, MOST_HEADS)
        must(isinstance(bound, bool), Malformed)
        self.queries, self.length = small(queries, 0, 10**9), small(length, 0, 10**9)
        self.dim = small(dim, 1, MOST_DIM)
        must(isinstance(description, dict) and isinstance(description.get("name"), str), Malformed)
        must(description["name"] in FIELDS, Malformed)
        digest(instance)
        self.transcript = digest(transcript)
        self.steps = Steps(vector(steps, 6 + 3 * (self.dim**2 - 1), lambda step: step))
        self.claim = {**claim, "dim": dim, "field": description["name"], "instance": instance}
        self.field = FIELDS[description["name"]](description)
        must(self.heads == self.told or (bound and self.heads < self.told), Failed)
        self.asked = hashlib.sha256()
        self.profiles: dict[Any, tuple[int, list[tuple[int, ...]], list[Any], list[Any]]] = {}
        self.seen = dict.fromkeys(("C1", "C2", "C3", "C4"), 0)

    def check(self) -> None:
        self.tokens()
        (self.base_text,) = self.steps.take("base", "answer")
        self.base = self.field.read_value(self.base_text)
        self.record([self.b_text[0], self.base_text])
        for kind, about in schedule(self.dim):
            if kind == "profile":
                self.profile(*about)
            elif kind == "match":
                self.match(*about)
            else:
                self.readout()
        self.recovered_heads()
        self.conclusion()

    def record(self, line: Any) -> None:
        self.asked.update(dump(line).encode() + b"\n")

    def tokens(self) -> None:
        self.b_text, self.u_text = self.steps.take("tokens", "b", "u")
        self.b, self.u = (
            vector(rows, self.dim, lambda row: vector(row, self.dim, integer)) for rows in (self.b_text, self.u_text)
        )
        self.b_inverse, self.u_inverse = inverse(self.b), inverse(transposed(self.u))
        self.seen["C1"] += 2

    def scalar(self, value: Any) -> list[Any]:
        return vector(value, self.field.degree, rational)

    @staticmethod
    def sum_token(tokens: list[list[int]], names: tuple[int, ...]) -> list[int]:
        return [sum(entries) for entries in zip(*(tokens[n - 1] for n in names), strict=True)]

    def profile(self, b_names: tuple[int, ...], u_names: tuple[int, ...]) -> None:
        b, u, answers, exponents, residues = self.steps.take("profile", "b", "u", "answers", "exponents", "residues")
        must(same_positions(b, b_names) and same_positions(u, u_names), Failed)
        rank = self.field.rank
        powers = [tuple(e) for e in vector(exponents, self.heads, lambda e: vector(e, rank, integer))]
        scalars = vector(residues, self.heads, self.scalar)
        poles = [self.field.monomial(e) for e in powers]
        for left, right in combinations(poles, 2):
            must(not self.field.same(left, right), Failed)
            self.seen["C2"] += 1
        for c in scalars:
            must(any(c), Failed)
            self.seen["C3"] += b_names == (1,)
        token_b, token_u = self.sum_token(self.b, b_names), self.sum_token(self.u, u_names)
        base = self.base if b_names == (1,) else self.constant(token_b)
        P, D = interpolant(self.field, base, poles, [self.field.element(c) for c in scalars])
        must(isinstance(answers, list) and len(answers) == 2 * self.told, Malformed)
        for k, answer in enumerate(answers, 1):
            top, bottom = self.field.read_value(answer)
            must(self.field.same((at(P, k), at(D, k)), (top, bottom)), Failed)
        self.record([[format(x, "x") for x in token_b], [format(x, "x") for x in token_u], answers])
        self.profiles[b_names, u_names] = self.steps.number, powers, poles, scalars

    def constant(self, token: list[int]) -> tuple[Any, Any]:
        one = self.field.element([QQ(1)] + [QQ(0)] * (self.field.degree - 1))
        return self.field.element(combination(token, self.s)), one

    def match(self, first: Any, other: Any, total: Any) -> None:
        references = self.steps.take("match", "first", "other", "sum")
        known = [self.profiles[name] for name in (first, other, total)]
        must(same_positions(references, [step for step, *_ in known]), Failed)
        (_, _, poles_a, c_a), (_, _, poles_b, c_b), (_, _, poles_s, c_s) = known
        hits = []
        for h, (u, w) in enumerate(poles_a):
            for g, (x, y) in enumerate(poles_b):
                for place, pole in enumerate(poles_s):
                    self.seen["C4"] += h != g
                    if self.field.same((u * x, w * y), pole):
                        hits.append((h, g, place))
        must(hits == [(h, h, h) for h in range(self.heads)], Failed)
        if first[0] == other[0]:
            must(c_s == [combination([1, 1], pair) for pair in zip(c_a, c_b, strict=True)], Failed)
        else:
            must(c_a == c_b == c_s, Failed)

    def readout(self) -> None:
        v, s = self.steps.take("readout", "v", "s")
        given = vector(v, self.heads, lambda row: vector(row, self.dim, self.scalar))
        self.s = vector(s, self.dim, self.scalar)
        row = [self.profiles[(1,), (i,)][3] for i in range(1, self.dim + 1)]
        to_v = transposed(entries(self.u_inverse))  # U^T v = c, so v = (U^{-1})^T c
        for h in range(self.heads):
            must(given[h] == [combination(line, [c[h] for c in row]) for line in to_v], Failed)
        zero = [[QQ(0)] * self.field.degree] * self.dim
        must(self.s == [combination([1] * (self.heads + 1), parts) for parts in transposed([zero, *given])], Failed)
        must(self.field.same(self.constant(self.b[0]), self.base), Failed)

    def recovered_heads(self) -> None:
        (W,) = self.steps.take("heads", "W")
        size = self.dim
        given = vector(
            W,
            self.heads,
            lambda matrices: vector(
                matrices, self.field.rank, lambda m: vector(m, size, lambda r: vector(r, size, rational))
            ),
        )
        places = range(1, size + 1)
        for h in range(self.heads):
            for g in range(self.field.rank):
                L = [[QQ(self.profiles[(j,), (i,)][1][h][g], self.field.unit) for i in places] for j in places]
                found = self.b_inverse * DomainMatrix(L, (size, size), QQ) * self.u_inverse
                must(entries(found) == given[h][g], Failed)

    def conclusion(self) -> None:
        (conditions,) = self.steps.take("conclusion", "conditions")
        must([integer(n) for n in keyed(conditions, *self.seen)] == list(self.seen.values()), Failed)
        asked = 1 + sum(2 * self.told for _ in self.profiles)
        must(asked == self.queries, Failed)
        must(self.length == 2 * self.told + 1, Failed)
        must(self.asked.hexdigest() == self.transcript, Failed)

    def hold_against(self, claim: dict[str, Any]) -> None:
        for key, wanted in claim.items():
            must(key in self.claim, Malformed)
            must(type(wanted) is type(self.claim[key]) and wanted == self.claim[key], Failed)


def check(path: str | Path, claim: dict[str, Any] | None = None) -> str:
    """Judge a certificate: "accept", "reject" or "malformed"."""
    try:
        run = Run(Path(path).read_bytes())
        run.check()
        run.hold_against(claim or {})
    except Malformed:
        return MALFORMED
    except Failed:
        return REJECT
    return ACCEPT
