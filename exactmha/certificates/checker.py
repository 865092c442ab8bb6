"""Stand-alone checker of certificates: standard library only, `python -I -S checker.py FILE`.

It shares no code with the rest of the package. Two kinds of certificates, of a recovery and of a
counterexample, are written down in SPECIFICATION.md, next to this file; the mathematics it relies on in
proofs/uniqueness-from-transcript.md, and for counterexamples in proofs/canonical-uniqueness.md and
proofs/loewner-rank.md.

    python -I -S checker.py FILE [--instance INSTANCE] [--claim JSON]

Exit status: 0 accepted (the exact statement proved is printed, with what it rests on), 1 rejected
(the first step that fails and a named reason), 2 unreadable.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import gcd, isqrt
from typing import Any, NamedTuple, NoReturn

FORMAT = "exactmha/certificate/1"
COUNTEREXAMPLE = "exactmha/counterexample/1"
MOST_BYTES = 1 << 30
MOST_DIM = 128
MOST_HEADS = 512
MOST_ORDER = 96
MOST_WEIGHT_BITS = 4_000_000
MOST_NUMBER_BITS = 66_667
MOST_FRACTION_DIGITS = 100_000
MOST_LOG_BITS = 2_000_000
MOST_LOG_BASES = 64
MOST_CHARACTERS = 100_000
MOST_DEPTH = 40
MOST_QUERIES = 1_000_000
MOST_RUNS = 256
MOST_LENGTH = 10**9
MOST_PRODUCTS = 2_000_000
MOST_WORK = 10**9
MOST_PLACES = 3
PLACES_TRIED = 20_000

PRIMES = (2**61 - 1, 2**89 - 1, 2**107 - 1)

CONDITIONS = ("C1", "C2", "C3", "C4")


class Unreadable(Exception):
    """The input is no certificate (or instance, or claim) at all: exit status 2."""


class Rejected(Exception):
    """A step fails: exit status 1. `reason` is one of the names in SPECIFICATION.md."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.step = "the certificate"


def reject(reason: str, message: str) -> NoReturn:
    raise Rejected(reason, message)


# --- reading -------------------------------------------------------------------------------------


def read_file(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Unreadable(f"{path}: is not a regular file")
        with os.fdopen(descriptor, "rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MOST_BYTES:
        raise Unreadable(f"{path}: is larger than {MOST_BYTES} bytes")
    return data


def parse_json(data: bytes, name: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in items}) != len(items):
            raise Unreadable(f"{name}: a key occurs twice")
        return dict(items)

    def refuse(text: str) -> NoReturn:
        raise Unreadable(f"{name}: {text[:40]} is not allowed as a JSON number")

    def integer(text: str) -> int:
        if len(text) > 9:
            refuse(text)
        return int(text)

    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=refuse, parse_float=refuse, parse_int=integer
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{name}: is not strict JSON in UTF-8: {str(error)[:100]}") from None


def canonical_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def fields(value: Any, names: tuple[str, ...], where: str) -> list[Any]:
    """Return the members of an object that has exactly these keys, in this order."""
    if not isinstance(value, dict) or tuple(value) != names:
        raise Unreadable(f"{where}: must be an object with the keys {', '.join(names)}, in this order")
    return [value[name] for name in names]


def whole(value: Any, low: int, high: int, where: str) -> int:
    if type(value) is not int or not low <= value <= high:
        raise Unreadable(f"{where}: must be an integer from {low} to {high}")
    return value


def listed(value: Any, length: int, where: str) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise Unreadable(f"{where}: must be a list of {length}")
    return value


def same_integers(given: Any, wanted: tuple[int, ...]) -> bool:
    """Compare a list of small integers; `true` is no integer here."""
    return isinstance(given, list) and all(type(x) is int for x in given) and tuple(given) == wanted


HEX = re.compile(r"-?[1-9a-f][0-9a-f]*|0", re.ASCII)


def integer(value: Any, where: str) -> int:
    """Read an integer in canonical hexadecimal."""
    if not isinstance(value, str) or not HEX.fullmatch(value):
        raise Unreadable(f"{where}: must be an integer in canonical hexadecimal")
    return int(value, 16)


def rational(value: Any, where: str) -> Fraction:
    """Read a rational a or a/b in canonical hexadecimal: b > 1, lowest terms."""
    if not isinstance(value, str):
        raise Unreadable(f"{where}: must be a rational in canonical hexadecimal")
    top, slash, bottom = value.partition("/")
    if slash and min(len(top), len(bottom)) > MOST_FRACTION_DIGITS:  # Python's gcd takes quadratic time
        raise Unreadable(f"{where}: numerator and denominator have more than {MOST_FRACTION_DIGITS} hexadecimal digits")
    result = Fraction(integer(top, where), integer(bottom, where) if slash and bottom != "0" else 1)
    if slash and (bottom.startswith("-") or hexadecimal(result) != value):
        raise Unreadable(f"{where}: must be a rational in lowest terms with denominator above 1")
    return result


def shown(n: int) -> str:
    """Write an integer for people: decimal when short, else hexadecimal, which has no limit."""
    return str(n) if n.bit_length() <= 64 else f"{n:#x}"


def hexadecimal(q: Fraction) -> str:
    return f"{q.numerator:x}" if q.denominator == 1 else f"{q.numerator:x}/{q.denominator:x}"


# --- the three exact fields ----------------------------------------------------------------------
# A scalar is a tuple of Fractions (coordinates on 1, γ, …); an exponent is a tuple of integers. For recoveries each
# field reads its values, and decides whether an answer equals base + Σ_h c_h·k r_h/(1 + k r_h); for counterexamples
# it decides whether a sum of softmax averages is zero, and has homomorphisms to Z/m.


Exponents = list[tuple[int, ...]]
"""One exponent for every run of a query."""
Share = tuple[Exponents, list[tuple[Fraction, ...]]]
"""One head's part of an answer: the exponent of the weight, and v·x, of every run."""
RationalShare = tuple[list[tuple[Fraction, ...]], list[tuple[Fraction, ...]]]
"""The same before the exponents are known to be integers, or made so."""
Sparse = tuple[tuple[int, int], ...]
"""A polynomial in t: (exponent, coefficient), exponents increasing."""


class Place(NamedTuple):
    """A homomorphism to Z/m by the images of the generators of the monomials and of 1, γ, γ², …

    `order` is m − 1 where m is a known prime, so that exponents may be reduced; else 0.
    """

    modulus: int
    generators: list[int]
    scalars: list[int]
    order: int


class Meter:
    """Counts the multiplications ahead, weighed by the length of their numbers, so that no file takes for ever."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, count: int, bits: int) -> None:
        words = bits // 64 + 1
        self.spent += count * words * isqrt(words)
        if self.spent > MOST_WORK:
            raise Unreadable(f"the queries together need more than {MOST_WORK} steps of work")


def integral(rows: Iterable[tuple[Fraction, ...]]) -> tuple[list[tuple[int, ...]], int]:
    """Return rows of rationals as integers over one denominator."""
    rows, scale = list(rows), 1
    for row in rows:
        for x in row:
            if scale % x.denominator:
                scale = bounded(Fraction(scale * x.denominator // gcd(scale, x.denominator))).numerator
    return [tuple(x.numerator * (scale // x.denominator) for x in row) for row in rows], scale


def common_bits(rows: Iterable[tuple[Fraction, ...]]) -> int:
    """Bound the bits of every entry over the common denominator: one large denominator makes all entries large."""
    numbers = [x for row in rows for x in row]
    denominators = sum(q.bit_length() for q in {x.denominator for x in numbers} if q > 1)
    return min(denominators, MOST_NUMBER_BITS) + max((x.numerator.bit_length() for x in numbers), default=0)


def numbers_bits(values: list[tuple[Fraction, ...]]) -> int:
    """Bound the bits of the values of one head, as integers and together with the numbers of copies."""
    return 64 + max(x.numerator.bit_length() + x.denominator.bit_length() for value in values for x in value)


def added(parts: list[tuple[Any, Any]], multiply: Any, add: Any) -> Any:
    """Return the numerator of a sum of fractions, added in pairs: numbers of like size multiply fastest."""
    while len(parts) > 1:
        odd = parts[-1:] if len(parts) % 2 else []
        pairs = zip(parts[::2], parts[1::2])
        parts = [(add(multiply(a, d), multiply(c, b)), multiply(b, d)) for (a, b), (c, d) in pairs] + odd
    return parts[0][0]


def image(place: Place, counts: list[int], shares: list[Share]) -> int:
    """Return the image of Σ_h Σ_i m_i w_i y_i / Σ_i m_i w_i; ValueError where a denominator is no unit."""
    modulus, total = place.modulus, 0
    for exponents, values in shares:
        top = bottom = 0
        for count, exponent, value in zip(counts, exponents, values):
            weight = count
            for g, e in zip(place.generators, exponent):
                weight = weight * pow(g, e % place.order if place.order else e, modulus) % modulus
            bottom += weight
            for c, s in zip(value, place.scalars):
                top += weight * s * c.numerator * pow(c.denominator, -1, modulus) % modulus
        total += top * pow(bottom, -1, modulus)
    return total % modulus


def weight_is_small(bits: int) -> None:
    """Refuse a monomial, or all of one profile together, beyond the limit."""
    if bits > MOST_WEIGHT_BITS:
        raise Unreadable(f"a weight has more than {MOST_WEIGHT_BITS} bits")


class RationalField:
    """K = Q; exponents over pairwise coprime integers > 1 (proofs/zero-test-rational)."""

    degree = 1
    unit = 1
    assumptions: tuple[str, ...] = ()

    def __init__(self, description: Any) -> None:
        _, base = fields(description, ("name", "base"), "field")
        if not isinstance(base, list):
            raise Unreadable("field.base: must be a list")
        self.base = [integer(b, "field.base") for b in base]
        self.rank = len(self.base)
        if self.rank > MOST_ORDER:
            raise Unreadable(f"field.base: has more than {MOST_ORDER} numbers")
        if sum(b.bit_length() for b in self.base) > MOST_LOG_BITS:  # as for an instance; gcd takes quadratic time
            raise Unreadable(f"field.base: has more than {MOST_LOG_BITS} bits together")
        for i, b in enumerate(self.base):
            if b < 2 or any(gcd(b, c) != 1 for c in self.base[:i]):
                reject("field", "the base must consist of pairwise coprime integers above 1")

    def value(self, data: Any, where: str) -> Fraction:
        return rational(data, where)

    def weights(self, exponents: list[tuple[int, ...]]) -> list[tuple[int, int]]:
        result = []
        weight_is_small(sum(b.bit_length() * abs(e) for exponent in exponents for b, e in zip(self.base, exponent)))
        for exponent in exponents:
            top, bottom = 1, 1
            for b, e in zip(self.base, exponent):
                top, bottom = (top * b**e, bottom) if e >= 0 else (top, bottom * b**-e)
            result.append((top, bottom))
        return result

    def agrees(self, answer: Any, base: Any, k: int, weights: list[Any], residues: list[Any]) -> bool:
        parts = [(base.numerator, base.denominator)]
        for (top, bottom), (c,) in zip(weights, residues):
            parts.append((c.numerator * k * top, c.denominator * (bottom + k * top)))
        while len(parts) > 1:  # add in pairs: numbers of like size multiply fastest
            odd = parts[-1:] if len(parts) % 2 else []
            parts = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(parts[::2], parts[1::2])] + odd
        ((top, bottom),) = parts
        equal: bool = top * answer.denominator == answer.numerator * bottom
        return equal

    def text(self) -> str:
        return f"rational field, W in logarithms of {', '.join(map(shown, self.base)) or 'nothing'}"

    def embed(self, scalar: tuple[Fraction, ...]) -> Fraction:
        return scalar[0]

    def logarithms(self, coordinates: tuple[Fraction, ...]) -> list[tuple[Fraction, Fraction]]:
        return [(c, Fraction(b)) for c, b in zip(coordinates, self.base)]

    def spread(self, exponents: Exponents) -> int:
        """Return the bits of the weights of one head once the least power of every base number is divided out."""
        return sum(b.bit_length() * (max(column) - min(column)) for b, column in zip(self.base, zip(*exponents)))

    def vanishes(self, counts: list[int], shares: list[Share], meter: Meter) -> bool:
        """Decide Σ_h Σ_i m_i w_i y_i / Σ_i m_i w_i = 0 in integers."""
        return not self.sum(self.parts(counts, shares, meter))

    def equals(self, answer: Fraction, counts: list[int], shares: list[Share], meter: Meter) -> bool:
        """Decide whether that sum is `answer`."""
        return not self.sum([*self.parts(counts, shares, meter), (-answer.numerator, answer.denominator)])

    @staticmethod
    def sum(parts: list[tuple[int, int]]) -> int:
        """Return the numerator of a sum of fractions."""
        return int(added(parts, lambda x, y: x * y, lambda x, y: x + y))

    def parts(self, counts: list[int], shares: list[Share], meter: Meter) -> list[tuple[int, int]]:
        """Return Σ_i m_i w_i y_i / Σ_i m_i w_i of every head as numerator and denominator."""
        meter.spend(len(counts) + 8, sum(self.spread(e) + numbers_bits(values) for e, values in shares))
        parts = []
        for exponents, values in shares:
            lowest = [min(column) for column in zip(*exponents)]
            weights = list(counts)
            for i, exponent in enumerate(exponents):
                for b, e, low in zip(self.base, exponent, lowest):
                    weights[i] *= b ** (e - low)
            rows, scale = integral(values)
            parts.append((sum(w * y for w, (y,) in zip(weights, rows)), scale * sum(weights)))
        return parts

    def places(self) -> Iterator[Place]:
        for p in PRIMES:
            if all(b % p for b in self.base):
                yield Place(p, [b % p for b in self.base], [1], p - 1)


class RadicalField:
    """K = Q(γ), γ = β^(1/N), where β > 0 is no n-th power for any n > 1 dividing N (proofs/zero-test-radical)."""

    rank = 1
    assumptions: tuple[str, ...] = ()

    def __init__(self, description: Any) -> None:
        _, beta, order = fields(description, ("name", "beta", "order"), "field")
        self.beta = rational(beta, "field.beta")
        self.degree = self.unit = whole(order, 1, MOST_ORDER, "field.order")
        self.p, self.q = self.beta.numerator, self.beta.denominator
        bounded(self.beta)
        if self.beta <= 0 or self.beta == 1:
            reject("field", "beta must be a positive rational other than 1")
        for n in range(2, self.degree + 1):
            if self.degree % n == 0 and rational_root(self.beta, n) is not None:
                reject("field", "beta must not be a perfect power of an order that divides N")

    def value(self, data: Any, where: str) -> tuple[Fraction, ...]:
        return tuple(rational(x, where) for x in listed(data, self.degree, where))

    def weights(self, exponents: list[tuple[int, ...]]) -> list[int]:
        # 1/(1 − y) needs y^M, M = N/gcd(N, n), which is the rational β^(n/gcd(N, n))
        bits = max(self.p.bit_length(), self.q.bit_length())
        weight_is_small(sum(bits * (abs(n) // gcd(n, self.degree) + 1) for (n,) in exponents))
        return [n for (n,) in exponents]

    def _reciprocal(self, k: int, n: int) -> tuple[list[int], int]:
        """Return integers (N_i), D with 1/(1 + k γ^n) = Σ_i N_i γ^i / D, from 1/(1 − y) = Σ_{j<M} y^j / (1 − y^M)."""
        degree = self.degree
        order = degree // gcd(degree, n)
        powers = [n * j // degree for j in range(order + 1)]
        low, high = min(0, *powers), max(0, *powers)
        scaled = [(-k) ** j * self.p ** (e - low) * self.q ** (high - e) for j, e in enumerate(powers)]
        result = [0] * degree
        for j in range(order):
            result[n * j % degree] += scaled[j]
        return result, self.p**-low * self.q**high - scaled[order]

    def _times(self, scalar: tuple[Fraction, ...], vector: list[int]) -> tuple[list[int], int]:
        """Return integers and a denominator for Σ scalar_i γ^i · Σ vector_j γ^j."""
        common = 1
        for x in scalar:
            common = common * x.denominator // gcd(common, x.denominator)
        result = [0] * self.degree
        for i, x in enumerate(scalar):
            c = x.numerator * (common // x.denominator)
            if c:
                for j, y in enumerate(vector):
                    wrap, place = divmod(i + j, self.degree)
                    result[place] += c * y * (self.p if wrap else self.q)
        return result, common * self.q

    def agrees(self, answer: Any, base: Any, k: int, weights: list[Any], residues: list[Any]) -> bool:
        constant = [a - b - sum(c[i] for c in residues) for i, (a, b) in enumerate(zip(answer, base))]
        parts = []
        for n, c in zip(weights, residues):
            reciprocal, bottom = self._reciprocal(k, n)
            vector, scale = self._times(c, reciprocal)
            parts.append((vector, bottom * scale))
        if not parts:
            return not any(constant)
        while len(parts) > 1:
            odd = parts[-1:] if len(parts) % 2 else []
            pairs = zip(parts[::2], parts[1::2])
            parts = [([x * d + y * b for x, y in zip(v, w)], b * d) for (v, b), (w, d) in pairs] + odd
        ((vector, bottom),) = parts
        return all(x.numerator * bottom == -y * x.denominator for x, y in zip(constant, vector))

    def text(self) -> str:
        return f"radical field, W in multiples of log(β)/{self.degree}, β = {shown(self.p)}/{shown(self.q)}"

    def embed(self, scalar: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        return scalar

    def logarithms(self, coordinates: tuple[Fraction, ...]) -> list[tuple[Fraction, Fraction]]:
        return [(coordinates[0], self.beta)]

    def multiply(self, left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
        result = [Fraction(0)] * self.degree
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                if x and y:
                    wrap, place = divmod(i + j, self.degree)
                    result[place] += x * y * (self.beta if wrap else 1)
        return result

    def invert(self, element: list[Fraction]) -> list[Fraction]:
        """Solve element·x = 1 by elimination on the multiplication matrix."""
        size = self.degree
        unit = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
        columns = [self.multiply(element, e) for e in unit]
        rows = [[columns[j][i] for j in range(size)] + [Fraction(int(i == 0))] for i in range(size)]
        for c in range(size):
            pivot = next((r for r in range(c, size) if rows[r][c]), None)
            if pivot is None:
                raise Unreadable("division by zero")
            rows[c], rows[pivot] = rows[pivot], rows[c]
            rows[c] = [x / rows[c][c] for x in rows[c]]
            for r in range(size):
                if r != c and rows[r][c]:
                    factor = rows[r][c]
                    rows[r] = [x - factor * y for x, y in zip(rows[r], rows[c])]
        return [row[size] for row in rows]

    def spread(self, exponents: Exponents) -> int:
        """Return the bits of one coordinate of the weights of one head once the least of them is divided out."""
        bits = max(self.p.bit_length(), self.q.bit_length())
        return bits * ((max(exponents)[0] - min(exponents)[0]) // self.degree + 1)

    def vanishes(self, counts: list[int], shares: list[Share], meter: Meter) -> bool:
        """Decide Σ_h Σ_i m_i w_i y_i / Σ_i m_i w_i = 0 in integer coordinates."""
        return not any(self.sum(self.parts(counts, shares, meter)))

    def equals(self, answer: tuple[Fraction, ...], counts: list[int], shares: list[Share], meter: Meter) -> bool:
        """Decide whether that sum is `answer`."""
        scale = 1
        for x in answer:
            scale = scale * x.denominator // gcd(scale, x.denominator)
        top = [-x.numerator * (scale // x.denominator) for x in answer]
        bottom = [scale, *[0] * (self.degree - 1)]
        return not any(self.sum([*self.parts(counts, shares, meter), (top, bottom)]))

    def sum(self, parts: list[tuple[list[int], list[int]]]) -> list[int]:
        """Return the numerator of a sum of fractions, times a power of q."""
        result: list[int] = added(parts, self._product, lambda x, y: [a + b for a, b in zip(x, y)])
        return result

    def parts(self, counts: list[int], shares: list[Share], meter: Meter) -> list[tuple[list[int], list[int]]]:
        """Return Σ_i m_i w_i y_i / Σ_i m_i w_i of every head as numerator and denominator."""
        bits = sum(self.spread(e) + numbers_bits(values) for e, values in shares)
        meter.spend(self.degree * (len(counts) + 8 * self.degree), bits)
        parts = []
        for exponents, values in shares:
            rows, scale = integral(values)
            steps = [divmod(n - min(exponents)[0], self.degree) for (n,) in exponents]
            most = max(wrap for wrap, _ in steps)
            top, bottom = [0] * self.degree, [0] * self.degree
            for m, (wrap, place), row in zip(counts, steps, rows):
                weight = m * self.p**wrap * self.q ** (most - wrap)  # times γ^place
                bottom[place] += weight * scale * self.q
                for j, y in enumerate(row):
                    wraps, k = divmod(place + j, self.degree)
                    top[k] += weight * y * (self.p if wraps else self.q)
            parts.append((top, bottom))
        return parts

    def _product(self, x: list[int], y: list[int]) -> list[int]:
        """Return q·x·y, which has integer coordinates."""
        result = [0] * self.degree
        for i, a in enumerate(x):
            for j, b in enumerate(y):
                wrap, place = divmod(i + j, self.degree)
                result[place] += a * b * (self.p if wrap else self.q)
        return result

    def places(self) -> Iterator[Place]:
        """Yield moduli m ≡ −1 modulo 4 and the odd primes of N, where the root of β is a power of it if it exists."""
        step = 4
        for r in range(3, self.degree + 1, 2):
            if self.degree % r == 0 and gcd(step, r) == 1:
                step *= r
        found = 0
        for k in range(PRIMES[0] // step, PRIMES[0] // step - PLACES_TRIED, -1):
            m = k * step - 1
            if found == MOST_PLACES:
                return
            if pow(2, m - 1, m) == 1 and gcd(self.p * self.q, m) == 1:
                beta = self.p * pow(self.q, -1, m) % m
                cycle = (m - 1) // gcd(self.degree, 2)
                gamma = pow(beta, pow(self.degree, -1, cycle), m)
                if pow(gamma, self.degree, m) == beta:  # γ ↦ this root is a homomorphism, whatever m may be
                    found += 1
                    yield Place(m, [gamma], [pow(gamma, i, m) for i in range(self.degree)], 0)


class ExponentialField:
    """K = Q(t), t = e^(√n/N); a value is c_0 + Σ c/(a + b t^n), a, b, n > 0 (proofs/zero-test-exponential)."""

    rank = 1
    degree = 1
    assumptions = ("Lindemann's theorem: e^x is transcendental for algebraic x ≠ 0",)

    def __init__(self, description: Any) -> None:
        _, radicand, unit = fields(description, ("name", "radicand", "denominator"), "field")
        self.radicand, self.unit = integer(radicand, "field.radicand"), integer(unit, "field.denominator")
        if self.radicand < 1 or self.unit < 1:
            reject("field", "radicand and denominator must be positive")

    def value(self, data: Any, where: str) -> dict[tuple[int, int, int], Fraction]:
        """Read [constant, [c, a, n, b], …], terms in increasing order of (n, a, b), gcd(a, b) = 1, c ≠ 0."""
        if not isinstance(data, list) or not data:
            raise Unreadable(f"{where}: must be a list: a constant, then terms")
        constant = rational(data[0], where)
        result = {(0, 1, 0): constant} if constant else {}
        previous = (0, 0, 0)
        for term in data[1:]:
            c, a, n, b = listed(term, 4, where)
            key = (integer(n, where), integer(a, where), integer(b, where))
            coefficient = rational(c, where)
            if min(key) < 1 or gcd(key[1], key[2]) != 1 or key <= previous or not coefficient:
                raise Unreadable(f"{where}: terms must be reduced, non-zero and in increasing order")
            result[key] = coefficient
            previous = key
        return result

    def weights(self, exponents: list[tuple[int, ...]]) -> list[int]:
        return [n for (n,) in exponents]

    def agrees(self, answer: Any, base: Any, k: int, weights: list[Any], residues: list[Any]) -> bool:
        """Compare collected coefficients: 1 and the 1/(a + b t^n) are linearly independent over Q."""
        total = dict(base)
        for n, (c,) in zip(weights, residues):
            if n > 0:  # c·k t^n/(1 + k t^n) = c − c/(1 + k t^n)
                terms = [((0, 1, 0), c), ((n, 1, k), -c)]
            elif n < 0:  # c·k t^n/(1 + k t^n) = c·k/(k + t^{−n})
                terms = [((-n, k, 1), c * k)]
            else:
                terms = [((0, 1, 0), c * k / (1 + k))]
            for key, coefficient in terms:
                total[key] = total.get(key, 0) + coefficient
        equal: bool = {key: c for key, c in total.items() if c} == answer
        return equal

    def text(self) -> str:
        return f"exponential field, t = e^(√n/N) with n = {shown(self.radicand)}, N = {shown(self.unit)}"

    def embed(self, scalar: tuple[Fraction, ...]) -> dict[tuple[int, int, int], Fraction]:
        return {(0, 1, 0): scalar[0]} if scalar[0] else {}

    def spread(self, _: Exponents) -> int:
        """Return 0: monomials stay symbolic."""
        return 0

    def vanishes(self, counts: list[int], shares: list[Share], meter: Meter) -> bool:
        """Decide Σ_h Σ_i m_i w_i y_i / Σ_i m_i w_i = 0: collected terms, then images, then expansion."""
        constant, fractions = self._collected(counts, shares)
        if not fractions:
            return not constant
        if all(len(bottom) == 2 for bottom in fractions):  # c/(a + b t^n): independent, and some c is not 0
            return False
        meter.spend(sum(len(bottom) for bottom in fractions) * 64, 64)
        for place in self.places():
            try:
                if image(place, counts, shares):
                    return False
            except ValueError:  # a denominator that is no unit
                continue
        return self._expands_to_zero(constant, fractions, meter)

    def equals(self, answer: Any, counts: list[int], shares: list[Share], _meter: Meter) -> bool:
        """Decide whether that sum is `answer`, where all denominators have at most two terms; else say no."""
        constant, fractions = self._collected(counts, shares)
        found = {(0, 1, 0): constant} if constant else {}
        for bottom, top in fractions.items():
            if len(bottom) != 2:
                return False
            ((_, a), (n, b)) = bottom
            found[n, a, b] = top[0]
        equal: bool = found == answer
        return equal

    @staticmethod
    def _collected(counts: list[int], shares: list[Share]) -> tuple[Fraction, dict[Sparse, dict[int, Fraction]]]:
        """Return a constant and {D: N}, the sum being constant + Σ N/D, with primitive D and N ≠ 0, deg N < deg D."""
        constant = Fraction(0)
        fractions: dict[Sparse, dict[int, Fraction]] = {}
        for exponents, values in shares:
            low, bottom, top = min(exponents)[0], dict[int, int](), dict[int, Fraction]()
            for m, (n,), (y,) in zip(counts, exponents, values):
                bottom[n - low] = bottom.get(n - low, 0) + m
                top[n - low] = top.get(n - low, Fraction(0)) + m * y
            content = gcd(*bottom.values())
            D = tuple(sorted((n, m // content) for n, m in bottom.items()))
            degree, lead = D[-1]
            quotient = top[degree] / (lead * content)
            constant += quotient
            rest = fractions.setdefault(D, dict.fromkeys(bottom, Fraction(0)))
            for n, m in D:
                rest[n] += top[n] / content - quotient * m
        nonzero = {D: {n: c for n, c in rest.items() if c} for D, rest in fractions.items()}
        return constant, {D: rest for D, rest in nonzero.items() if rest}

    @staticmethod
    def _expands_to_zero(constant: Fraction, fractions: dict[Sparse, dict[int, Fraction]], meter: Meter) -> bool:
        parts = [({0: constant.numerator}, {0: constant.denominator})]
        for D, rest in fractions.items():
            (row,), scale = integral([tuple(rest.values())])
            parts.append((dict(zip(rest, row)), {n: m * scale for n, m in D}))
        bits = sum(max(map(int.bit_length, (*p, *p.values()))) for part in parts for p in part if p)
        products = 0

        def multiply(x: dict[int, int], y: dict[int, int]) -> dict[int, int]:
            nonlocal products
            products += len(x) * len(y)
            if products > MOST_PRODUCTS:
                raise Unreadable(f"a comparison needs more than {MOST_PRODUCTS} products of terms")
            meter.spend(len(x) * len(y), bits)
            result: dict[int, int] = {}
            for n, a in x.items():
                for k, b in y.items():
                    result[n + k] = result.get(n + k, 0) + a * b
            return result

        def add(x: dict[int, int], y: dict[int, int]) -> dict[int, int]:
            return {n: x.get(n, 0) + y.get(n, 0) for n in (*x, *y)}

        return not any(added(parts, multiply, add).values())

    def places(self) -> Iterator[Place]:
        for p in PRIMES:
            yield Place(p, [3], [1], p - 1)


FIELDS = {"rational": RationalField, "radical": RadicalField, "exponential": ExponentialField}


def is_field_name(name: Any) -> bool:
    return isinstance(name, str) and name in FIELDS


def field_name(description: Any) -> str:
    name = description.get("name") if isinstance(description, dict) else None
    if not is_field_name(name):
        raise Unreadable(f"field: the name must be one of {', '.join(FIELDS)}")
    return str(name)


def root(n: int, order: int) -> int:
    """Return the integer part of n^(1/order), n ≥ 0."""
    if order == 2:
        return isqrt(n)
    if n < 2 or order >= n.bit_length():
        return min(n, 1)
    x = 1 << -(-n.bit_length() // order)
    while True:
        y = ((order - 1) * x + n // x ** (order - 1)) // order
        if y >= x:
            return x
        x = y


# --- the certificate, step by step ---------------------------------------------------------------


Name = tuple[tuple[int, ...], tuple[int, ...]]
"""A profile by its tokens: ((1, j), (i,)) is (b_1 + b_j, u_i)."""


class Profile:
    """A checked profile: the step it stands in, exponents and residues of its heads."""

    def __init__(self, step: int, exponents: list[Any], residues: list[Any]) -> None:
        self.step, self.exponents, self.residues = step, exponents, residues


class Checker:
    """Checks the steps in their only possible order; every method is one step kind of SPECIFICATION.md."""

    def __init__(self, document: Any, data: bytes, name: str) -> None:
        keys = ("format", "claim", "field", "dim", "instance", "transcript", "steps")
        _, claim, field, dim, self.instance, self.transcript, steps = fields(document, keys, name)
        if canonical_json(document) != data:
            raise Unreadable(f"{name}: is not written canonically")
        self.claim = dict(zip(("heads", "told", "bound", "queries", "length"), self._claim(claim)))
        self.heads, self.told = self.claim["heads"], self.claim["told"]
        self.dim = whole(dim, 1, MOST_DIM, "dim")
        self.field_name = field_name(field)
        for digest in (self.instance, self.transcript):
            if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest, re.ASCII):
                raise Unreadable("instance and transcript: must be SHA-256 digests")
        self.description = field
        self.field: Any = None
        self.steps = listed(steps, 6 + 3 * (self.dim**2 - 1), "steps")
        self.at = 0
        self.counts = dict.fromkeys(CONDITIONS, 0)
        self.digest = hashlib.sha256()
        self.queries = self.length = 0
        self.profiles: dict[Name, Profile] = {}

    @staticmethod
    def _claim(claim: Any) -> tuple[Any, ...]:
        heads, told, bound, queries, length = fields(claim, ("heads", "told", "bound", "queries", "length"), "claim")
        if type(bound) is not bool:
            raise Unreadable("claim.bound: must be true or false")
        told = whole(told, 0, MOST_HEADS, "claim.told")
        heads = whole(heads, 0, MOST_HEADS, "claim.heads")
        return heads, told, bound, whole(queries, 0, 10**9, "claim.queries"), whole(length, 0, 10**9, "claim.length")

    def check(self) -> None:
        """Check every step; raises `Rejected` with the step that fails."""
        try:
            self._check()
        except Rejected as error:
            error.step = f"step {self.at - 1}" if self.at else "the header"
            raise

    def _check(self) -> None:
        self.field = FIELDS[self.field_name](self.description)
        if self.heads > self.told or (self.heads != self.told and not self.claim["bound"]):
            reject("claim", "heads must be at most told, and equal to it unless bound is true")
        later = range(2, self.dim + 1)
        self._tokens()
        self._base()
        self._profile((1,), (1,))
        for i in later:
            self._profile((1,), (i,))
            self._profile((1,), (1, i))
            self._match(((1,), (1,)), ((1,), (i,)), ((1,), (1, i)), add=True)
        self._readout()
        for j in later:
            for i in range(1, self.dim + 1):
                self._profile((j,), (i,))
                self._profile((1, j), (i,))
                self._match(((1,), (i,)), ((j,), (i,)), ((1, j), (i,)), add=False)
        self._heads()
        self._conclusion()

    def _next(self, kind: str, *names: str) -> list[Any]:
        step = self.steps[self.at]
        self.at += 1
        found = step.get("kind") if isinstance(step, dict) else None
        if found != kind:
            reject("order", f"this step must be of kind {kind}")
        return fields(step, ("kind", *names), f"step {self.at - 1}")[1:]

    def _where(self) -> str:
        return f"step {self.at - 1}"

    def _token(self, kind: str, positions: tuple[int, ...]) -> list[int]:
        tokens = self.b if kind == "b" else self.u
        return [sum(tokens[p - 1][x] for p in positions) for x in range(self.dim)]

    def _scalar(self, data: Any) -> tuple[Fraction, ...]:
        return tuple(rational(x, self._where()) for x in listed(data, self.field.degree, self._where()))

    def _tokens(self) -> None:
        """tokens: B and U are bases (C1), proved by a determinant that is non-zero modulo a prime."""
        b, u = self._next("tokens", "b", "u")
        where = self._where()
        self.b, self.u = (
            [[integer(x, where) for x in listed(row, self.dim, where)] for row in listed(rows, self.dim, where)]
            for rows in (b, u)
        )
        for name, rows in (("b", self.b), ("u", self.u)):
            if not nonsingular(rows):
                reject(
                    "dependent-tokens", f"det({name}_1, …, {name}_{self.dim}) is 0, or a multiple of three large primes"
                )
            self.counts["C1"] += 1

    def _base(self) -> None:
        """base: the answer f(b_1), one query of length 1."""
        (answer,) = self._next("base", "answer")
        self.base_answer = self.field.value(answer, self._where())
        self.digest.update(canonical_json([self.steps[0]["b"][0], answer]))
        self.queries, self.length = 1, 1

    def _profile(self, b: tuple[int, ...], u: tuple[int, ...]) -> None:
        """profile: exactly `heads` distinct poles and non-zero residues reproduce all 2·told answers (C2, C3)."""
        b_given, u_given, answers, exponents, residues = self._next(
            "profile", "b", "u", "answers", "exponents", "residues"
        )
        where = self._where()
        if not (same_integers(b_given, b) and same_integers(u_given, u)):
            reject("order", f"this must be the profile of b {list(b)} and u {list(u)}")
        poles = [
            tuple(integer(x, where) for x in listed(e, self.field.rank, where))
            for e in listed(exponents, self.heads, where)
        ]
        scalars = [self._scalar(c) for c in listed(residues, self.heads, where)]
        if len(set(poles)) != len(poles):
            reject("equal-poles", "two heads have the same pole (C2)")
        if not all(any(c) for c in scalars):
            reject("zero-residue", "a residue is zero (C3)")
        base = self.base_answer if b == (1,) else self.field.embed(self._dot(self.s, self._token("b", b)))
        weights = self.field.weights(poles)
        for k, answer in enumerate(listed(answers, 2 * self.told, where), 1):
            if not self.field.agrees(self.field.value(answer, where), base, k, weights, scalars):
                reject("interpolant", f"the interpolant differs from the answer to {k} copies")
        token_b, token_u = self._token("b", b), self._token("u", u)
        names = [[f"{x:x}" for x in token] for token in (token_b, token_u)]
        self.digest.update(canonical_json([*names, answers]))
        self.queries += 2 * self.told
        self.length = max(self.length, 2 * self.told + 1)
        self.counts["C2"] += self.heads * (self.heads - 1) // 2
        self.counts["C3"] += self.heads if b == (1,) else 0
        self.profiles[b, u] = Profile(self.at - 1, poles, scalars)

    @staticmethod
    def _dot(scalars: list[tuple[Fraction, ...]], token: list[int]) -> tuple[Fraction, ...]:
        return tuple(sum((x * c for x, c in zip(token, column)), Fraction(0)) for column in zip(*scalars))

    def _match(self, first: Name, other: Name, total: Name, *, add: bool) -> None:
        """match: the products of poles that lie in the sum profile are those of head h with head h, no others (C4)."""
        a, b, s = self.profiles[first], self.profiles[other], self.profiles[total]
        if not same_integers(self._next("match", "first", "other", "sum"), (a.step, b.step, s.step)):
            reject("order", f"this must match the profiles of steps {a.step} and {b.step} through step {s.step}")
        for h in range(self.heads):
            if tuple(x + y for x, y in zip(a.exponents[h], b.exponents[h])) != s.exponents[h]:
                reject("matching", f"the poles of head {h} do not multiply")
            expected = tuple(x + y for x, y in zip(a.residues[h], b.residues[h])) if add else a.residues[h]
            if s.residues[h] != expected or not (add or b.residues[h] == expected):
                reject("matching", f"the residues of head {h} do not fit")
        found = set(s.exponents)
        for h in range(self.heads):
            for g in range(self.heads):
                if h != g and tuple(x + y for x, y in zip(a.exponents[h], b.exponents[g])) in found:
                    reject("ambiguous", f"the product of the poles of heads {h} and {g} lies in the sum profile (C4)")
        self.counts["C4"] += self.heads**2 * (self.heads - 1)

    def _readout(self) -> None:
        """readout: u_i·v_h = c_h in the first row, s = Σ v_h, and s·b_1 = f(b_1)."""
        v, s = self._next("readout", "v", "s")
        where = self._where()
        self.v = [[self._scalar(x) for x in listed(row, self.dim, where)] for row in listed(v, self.heads, where)]
        self.s = [self._scalar(x) for x in listed(s, self.dim, where)]
        for i in range(1, self.dim + 1):
            residues = self.profiles[(1,), (i,)].residues
            for h in range(self.heads):
                if self._dot(self.v[h], self.u[i - 1]) != residues[h]:
                    reject("readout", f"u_{i}·v differs from the residue of head {h}")
        for x in range(self.dim):
            if tuple(sum((v[x][c] for v in self.v), Fraction(0)) for c in range(self.field.degree)) != self.s[x]:
                reject("readout", "s is not the sum of the v")
        if self.field.embed(self._dot(self.s, self.b[0])) != self.base_answer:
            reject("base", "s·b_1 differs from the answer f(b_1)")

    def _heads(self) -> None:
        """heads: N·b_j^T W_h u_i is the exponent of head h in the profile (b_j, u_i), for all i, j."""
        (heads,) = self._next("heads", "W")
        where = self._where()
        self.W = [
            [
                [[rational(x, where) for x in listed(row, self.dim, where)] for row in listed(m, self.dim, where)]
                for m in listed(matrices, self.field.rank, where)
            ]
            for matrices in listed(heads, self.heads, where)
        ]
        columns = [list(column) for column in zip(*self.u)]
        products = [[product(product(self.b, m), columns) for m in matrices] for matrices in self.W]
        for j in range(1, self.dim + 1):
            for i in range(1, self.dim + 1):
                exponents = self.profiles[(j,), (i,)].exponents
                for h in range(self.heads):
                    if tuple(self.field.unit * m[j - 1][i - 1] for m in products[h]) != exponents[h]:
                        reject("heads", f"b_{j}^T W u_{i} differs from the exponent of head {h}")

    def _conclusion(self) -> None:
        """conclusion: the counts of conditions, queries and lengths are those of the theorem."""
        (conditions,) = self._next("conclusion", "conditions")
        H, d, told = self.heads, self.dim, self.told
        formula = (2, (2 * d * d - 1) * H * (H - 1) // 2, (2 * d - 1) * H, (d * d - 1) * H * H * (H - 1))
        given = fields(conditions, CONDITIONS, self._where())
        stated = tuple(integer(n, self._where()) for n in given)
        if tuple(self.counts.values()) != formula or stated != formula:
            reject("conditions", f"the conditions must number {', '.join(map(str, formula))}")
        expected = 4 * told * d * d - 2 * told + 1
        if self.queries != expected or self.claim["queries"] != expected:
            reject("claim", f"the number of queries must be 4·{told}·{d}² − 2·{told} + 1 = {expected}")
        if self.length != self.claim["length"] or self.length > 2 * told + 1:
            reject("claim", f"the largest length is {self.length}")
        if self.digest.hexdigest() != self.transcript:
            reject("transcript", "the SHA-256 of the transcript is another")

    def check_claim(self, claim: dict[str, Any]) -> None:
        """Hold the certificate against a claim given separately."""
        proved = {**self.claim, "dim": self.dim, "field": self.field_name, "instance": self.instance}
        compare_claim(claim, proved)

    def check_instance(self, data: bytes, name: str) -> None:
        """Prove that the recovered heads are the canonical heads of an instance file."""
        try:
            if hashlib.sha256(data).hexdigest() != self.instance:
                reject(
                    "instance",
                    "these are not the bytes that were certified (even white space counts): their SHA-256 differs",
                )
            compare_instance(self, parse_json(data, name), name)
        except Rejected as error:
            error.step = "the instance"
            raise

    def statement(self, *, with_instance: bool) -> str:
        """Say exactly what was proved, and what it rests on."""
        heads = f"{self.heads} canonical head{'s' if self.heads != 1 else ''}"
        lines = [
            f"PROVED: of all models with at most {heads}, exactly one gives these {self.queries} answers "
            f"({self.field.text()}, d = {self.dim}, lengths up to {self.length}): the recovered one.",
            f"TRANSCRIPT: the queries and answers with SHA-256 {self.transcript}.",
            f"PROVED: these are 4·{self.told}·{self.dim}² − 2·{self.told} + 1 = {self.queries} queries.",
        ]
        if with_instance:
            lines.append(
                "PROVED: these are the answers of this instance, whose canonical heads are the recovered ones."
            )
        else:
            lines.append(f"NOT PROVED: where the answers came from (the file names the instance {self.instance}).")
        if self.claim["bound"] and self.heads < self.told:
            rivals = f"{self.heads + 1} to {self.told}" if self.heads + 1 < self.told else f"{self.told}"
            lines.append(f"NOT PROVED: that no rival with {rivals} heads gives them (probability one over the draw).")
        lines.append(
            "RESTS ON: proofs/uniqueness-from-transcript (a written proof), this checker and Python's integers."
        )
        lines += [f"RESTS ON: {assumption}." for assumption in self.field.assumptions]
        return "\n".join(lines)


def compare_claim(claim: dict[str, Any], proved: dict[str, Any]) -> None:
    """Reject a claim of which some value, or its type, is not the one proved."""
    for key, wanted in claim.items():
        if key not in proved:
            raise Unreadable(f"the claim has no key {key[:40]!r}; it may have {', '.join(proved)}")
        if canonical_json(wanted) != canonical_json(proved[key]):
            error = Rejected("claim", f"the certificate proves {key} = {json.dumps(proved[key])}, not what is claimed")
            error.step = "the claim"
            raise error


def product(left: list[Any], right: list[Any]) -> list[list[Any]]:
    columns = list(zip(*right))
    return [[sum((x * y for x, y in zip(row, column)), Fraction(0)) for column in columns] for row in left]


def nonsingular(rows: list[list[int]]) -> bool:
    """Prove det ≠ 0 modulo one of a few primes; False when every one of them divides it."""
    return any(nonsingular_modulo(rows, p) for p in PRIMES)


def nonsingular_modulo(rows: list[list[int]], modulus: int) -> bool:
    """Prove that the determinant is a unit modulo a number; ValueError where a pivot is neither a unit nor zero."""
    matrix = [[x % modulus for x in row] for row in rows]
    size = len(matrix)
    for c in range(size):
        pivot = next((r for r in range(c, size) if matrix[r][c]), None)
        if pivot is None:
            return False
        matrix[c], matrix[pivot] = matrix[pivot], matrix[c]
        inverse = pow(matrix[c][c], -1, modulus)
        for r in range(c + 1, size):
            factor = matrix[r][c] * inverse % modulus
            if factor:
                matrix[r] = [(x - factor * y) % modulus for x, y in zip(matrix[r], matrix[c])]
    return True


# --- counterexamples: what some queries cannot tell apart ----------------------------------------


class Model:
    """The heads of a model as they stand in the file: W by its coordinates, v by its scalars."""

    def __init__(self, heads: Any, field: Any, dim: int, where: str, meter: Meter) -> None:
        self.field, self.dim = field, dim
        if not isinstance(heads, list) or len(heads) > MOST_HEADS:
            raise Unreadable(f"{where}: must be a list of at most {MOST_HEADS} heads")
        self.W, self.v = [], []
        for h, head in enumerate(heads):
            W, v = fields(head, ("W", "v"), f"{where}[{h}]")
            matrices = listed(W, field.rank, f"{where}[{h}].W")
            self.W.append(tuple(self._rows(m, dim, f"{where}[{h}].W") for m in matrices))
            self.v.append(self._rows(v, field.degree, f"{where}[{h}].v"))
        for rows in (*self.v, *(matrix for matrices in self.W for matrix in matrices)):
            meter.spend(len(rows) * len(rows[0]), common_bits(rows))
        self.logits = [[integral(matrix) for matrix in matrices] for matrices in self.W]
        self.readouts = [integral(v) for v in self.v]
        integers = [*self.readouts, *(matrix for matrices in self.logits for matrix in matrices)]
        largest = [max((abs(x) for row in rows for x in row), default=0) for rows, _ in integers]
        self.bits = max((x.bit_length() for x in (*largest, *(scale for _, scale in integers))), default=0)

    def _rows(self, data: Any, width: int, where: str) -> tuple[tuple[Fraction, ...], ...]:
        rows = [listed(row, width, where) for row in listed(data, self.dim, where)]
        return tuple(tuple(bounded(rational(x, where)) for x in row) for row in rows)

    def canonical(self) -> dict[Any, tuple[tuple[Fraction, ...], ...]]:
        """Merge heads with equal W by adding their v, and drop those whose sum is zero: {W: v}."""
        merged: dict[Any, tuple[tuple[Fraction, ...], ...]] = {}
        for W, v in zip(self.W, self.v):
            old = merged.get(W)
            merged[W] = v if old is None else tuple(tuple(x + y for x, y in zip(a, b)) for a, b in zip(old, v))
        return {W: v for W, v in merged.items() if any(any(scalar) for scalar in v)}

    def shares(self, tokens: list[tuple[int, ...]], scale: int) -> list[RationalShare]:
        """Return every head's part of the answer to tokens/scale: exponents unit·x_n^T W (x_i − x_n), and v·x_i."""
        last = tokens[-1]
        differences = [[x - y for x, y in zip(token, last)] for token in tokens]
        result: list[RationalShare] = []
        for matrices, (readout, bottom) in zip(self.logits, self.readouts):
            columns = []
            for matrix, denominator in matrices:
                row = [sum(x * w for x, w in zip(last, column)) for column in zip(*matrix)]
                size = denominator * scale * scale
                columns.append(
                    [Fraction(self.field.unit * sum(w * x for w, x in zip(row, z)), size) for z in differences]
                )
            exponents = [tuple(column[i] for column in columns) for i in range(len(tokens))]
            values = [
                tuple(Fraction(sum(x * v for x, v in zip(token, part)), bottom * scale) for part in zip(*readout))
                for token in tokens
            ]
            result.append((exponents, values))
        return result

    def work(self, runs: int) -> int:
        """Return the number of multiplications in `shares`."""
        rank, degree = int(self.field.rank), int(self.field.degree)
        return len(self.W) * self.dim * (rank * (self.dim + runs) + degree * runs)


class CounterexampleChecker:
    """Checks a counterexample: canonical sets, equal answers, unequal answers, and answers of no profile."""

    def __init__(self, document: Any, data: bytes, name: str) -> None:
        keys = ("format", "name", "field", "dim", "models", "canonical", "agree", "differ", "no_profile")
        _, self.name, field, dim, models, self.canonical, agree, differ, profile = fields(document, keys, name)
        if canonical_json(document) != data:
            raise Unreadable(f"{name}: is not written canonically")
        if not isinstance(self.name, str) or not re.fullmatch("[a-z0-9-]{1,64}", self.name, re.ASCII):
            raise Unreadable("name: must be 1 to 64 lower-case letters, digits and hyphens")
        self.field_name, self.description = field_name(field), field
        self.dim = whole(dim, 1, MOST_DIM, "dim")
        if not isinstance(models, list) or len(models) not in (1, 2):
            raise Unreadable("models: must be a list of one or two models")
        self.listed_models = models
        if not isinstance(self.canonical, str) or self.canonical not in ("equal", "different", "single"):
            raise Unreadable("canonical: must be equal, different or single")
        self.terms, self.profile = self._no_profile(profile)
        if not isinstance(agree, list) or not isinstance(differ, list):
            raise Unreadable("agree and differ: must be lists of queries")
        if len(agree) + len(differ) + len(self.profile) > MOST_QUERIES:
            raise Unreadable(f"{name}: has more than {MOST_QUERIES} queries")
        self.agree, self.differ = agree, differ
        self.digest = hashlib.sha256(data).hexdigest()
        self.field: Any = None
        self.models: list[Model] = []
        self.W: list[Any] = []
        self.v: list[Any] = []
        self.heads: list[int] = []
        self.meter = Meter()
        self.length = 0
        self.at = "the header"

    @staticmethod
    def _no_profile(data: Any) -> tuple[int | None, list[Any]]:
        if data is None:
            return None, []
        terms, queries = fields(data, ("heads", "queries"), "no_profile")
        terms = whole(terms, 0, MOST_HEADS, "no_profile.heads")
        return terms, listed(queries, 2 * terms + 2, "no_profile.queries")

    def check(self) -> None:
        """Check everything; raises `Rejected` with the part that fails."""
        try:
            self._header()
            self._models()
            for key, queries, equal in (("agree", self.agree, True), ("differ", self.differ, False)):
                for i, query in enumerate(queries):
                    self.at = f"{key}[{i}]"
                    self._compare(query, key, equal=equal)
            if self.terms is not None:
                self._check_no_profile(self.terms)
        except Rejected as error:
            error.step = self.at
            raise

    def _header(self) -> None:
        self.field = FIELDS[self.field_name](self.description)
        if isinstance(self.field, ExponentialField):
            bounded(Fraction(self.field.unit))
        single = len(self.listed_models) == 1
        if single != (self.canonical == "single"):
            reject("claim", "canonical must be single for one model, and equal or different for two")
        if single and (self.agree or self.differ):
            reject("claim", "one model has nothing to agree or to differ with")
        if single and self.terms is None:
            reject("claim", "nothing is claimed")

    def _models(self) -> None:
        """models: the canonical sets are equal or different, as stated."""
        self.at = "the models"
        self.models = [
            Model(m, self.field, self.dim, f"models[{i}]", self.meter) for i, m in enumerate(self.listed_models)
        ]
        sets = [model.canonical() for model in self.models]
        self.heads = [len(heads) for heads in sets]
        self.W, self.v = list(sets[0]), [list(v) for v in sets[0].values()]
        if self.canonical == "equal" and sets[0] != sets[1]:
            reject("canonical", "the canonical sets of the two models are different")
        if self.canonical == "different" and sets[0] == sets[1]:
            reject("canonical", "the canonical sets of the two models are equal")

    def _query(self, data: Any) -> tuple[list[tuple[Fraction, ...]], list[int]]:
        """Read a list of runs [token, count]; the last token is x_n."""
        if not isinstance(data, list) or not 1 <= len(data) <= MOST_RUNS:
            raise Unreadable(f"{self.at}: must be a list of 1 to {MOST_RUNS} runs")
        runs = [listed(run, 2, self.at) for run in data]
        counts = [whole(count, 1, MOST_LENGTH, self.at) for _, count in runs]
        if sum(counts) > MOST_LENGTH:
            raise Unreadable(f"{self.at}: is longer than {MOST_LENGTH}")
        rows = [listed(token, self.dim, self.at) for token, _ in runs]
        self.length = max(self.length, sum(counts))
        return [tuple(bounded(rational(x, self.at)) for x in row) for row in rows], counts

    def _asked(self, data: Any, models: list[Model]) -> tuple[list[int], list[list[RationalShare]]]:
        """Return the counts of a query, and every model's shares of its answer."""
        tokens, counts = self._query(data)
        rows, scale = integral(tokens)
        bits = max(scale, *(abs(x) for row in rows for x in row)).bit_length()
        for model in models:
            self.meter.spend(model.work(len(rows)), 2 * (model.bits + bits))
        answers = [model.shares(rows, scale) for model in models]
        exponents = [e for shares in answers for es, _ in shares for e in es]
        if self.field_name != "exponential" and any(x.denominator != 1 for e in exponents for x in e):
            reject("field", "an exponent is no integer, so its weight leaves the field")
        return counts, answers

    def _compare(self, data: Any, key: str, *, equal: bool) -> None:
        """agree, differ: Σ_h over the first model − Σ_h over the second one is zero, or is not."""
        counts, (first, second) = self._asked(data, self.models)
        difference = [*first, *((e, [tuple(-x for x in y) for y in values]) for e, values in second)]
        (shares,) = self._on_integers([difference])
        weight_is_small(sum(self.field.spread(exponents) for exponents, _ in shares))
        merged: dict[tuple[tuple[int, ...], ...], list[tuple[Fraction, ...]]] = {}
        for exponents, values in shares:  # heads with the same weights count as one, with v added
            old = merged.get(tuple(exponents))
            merged[tuple(exponents)] = (
                values if old is None else [tuple(x + y for x, y in zip(a, b)) for a, b in zip(old, values)]
            )
        kept = [(list(exponents), values) for exponents, values in merged.items() if any(map(any, values))]
        if (not kept or self.field.vanishes(counts, kept, self.meter)) != equal:
            reject(key, f"the answers of the two models are {'different' if equal else 'equal'}")

    @staticmethod
    def _on_integers(answers: list[list[RationalShare]]) -> list[list[Share]]:
        """Scale all exponents by their common denominator: t becomes a root of itself."""
        rows, _ = integral([e for shares in answers for exponents, _ in shares for e in exponents])
        remaining = iter(rows)
        return [[([next(remaining) for _ in es], values) for es, values in shares] for shares in answers]

    def _check_no_profile(self, terms: int) -> None:
        """no_profile: the Loewner matrix of f_0, f_1, … (even nodes against odd ones) is non-singular modulo m."""
        asked = []
        for i, query in enumerate(self.profile):
            self.at = f"no_profile[{i}]"
            asked.append(self._asked(query, self.models[:1]))
        self.at = "no_profile"
        queries = list(zip(self._on_integers([answers[0] for _, answers in asked]), (counts for counts, _ in asked)))
        for shares, counts in queries:
            weight_is_small(sum(self.field.spread(exponents) for exponents, _ in shares))
            self.meter.spend(16 * len(shares) * len(counts) * (self.field.rank + self.field.degree), 64)
        for place in self.field.places():
            self.meter.spend((terms + 1) ** 3, 64)
            m = place.modulus
            try:
                f = [image(place, counts, shares) for shares, counts in queries]
                nodes = range(0, len(f), 2)
                rows = [[(f[x] - f[y + 1]) * pow(x - y - 1, -1, m) % m for y in nodes] for x in nodes]
                if nonsingular_modulo(rows, m):
                    return
            except ValueError:  # something that must be a unit is none
                continue
        reject("no-profile", "the Loewner matrix is singular, or so it is modulo a few large numbers")

    def check_claim(self, claim: dict[str, Any]) -> None:
        """Hold the certificate against a claim given separately."""
        proved = {
            "name": self.name,
            "heads": self.heads,
            "dim": self.dim,
            "field": self.field_name,
            "canonical": self.canonical,
            "agree": len(self.agree),
            "differ": len(self.differ),
            "no_profile": self.terms,
        }
        compare_claim(claim, proved)

    def check_instance(self, data: bytes, name: str) -> None:
        """Prove that the canonical heads of the first model are those of an instance file."""
        try:
            compare_instance(self, parse_json(data, name), name)
        except Rejected as error:
            error.step = "the instance"
            raise

    def statement(self, *, with_instance: bool) -> str:
        """Say exactly what was proved, and what it rests on."""
        where = f"{self.field.text()}, d = {self.dim}"
        lines, rests = [], []
        if self.canonical != "single":
            verdict = "so they are one function" if self.canonical == "equal" else "so some query tells them apart"
            sizes = f"with {self.heads[0]} and {self.heads[1]} heads"
            lines.append(
                f"PROVED: the canonical sets of the two models ({sizes}; {where}) are {self.canonical}, {verdict}."
            )
            rests.append("proofs/canonical-uniqueness")
        if self.agree:
            lines.append(f"PROVED: the two models give exactly the same answer to each of {counted(self.agree)}.")
        elif self.canonical == "different":
            lines.append("NOT PROVED: that any answers are equal or close; this file lists no such queries.")
        if self.differ:
            lines.append(f"PROVED: the two models give different answers to each of {counted(self.differ)}.")
        if self.terms is not None:
            most = 2 * self.terms + 1
            terms = f"{self.terms} term{'s' if self.terms != 1 else ''}"
            lines.append(
                f"PROVED: the answers of the {'first ' if self.canonical != 'single' else ''}model "
                f"({where}) to {most + 1} queries are the values at k = 0..{most} of no function "
                f"σ + Σ c·k r/(1 + k r) with at most {terms}, c and σ real, r > 0."
            )
            rests.append("proofs/loewner-rank")
        lines.append(
            f"COUNTEREXAMPLE: {self.name}; models and queries (lengths up to {self.length}) are those of the file "
            f"with SHA-256 {self.digest}."
        )
        if with_instance:
            lines.append("PROVED: the canonical heads of the first model are those of this instance.")
        lines.append("NOT PROVED: that these are the queries of any learner, or that the name fits.")
        lines.append(f"RESTS ON: {', '.join(rests)} (proofs in writing), this checker and Python's integers.")
        lines += [f"RESTS ON: {assumption}." for assumption in self.field.assumptions]
        return "\n".join(lines)


def counted(queries: list[Any]) -> str:
    return f"{len(queries)} {'queries' if len(queries) != 1 else 'query'}"


# --- instances: the grammar of exact expressions, read once more ---------------------------------
# A number is {("root", q, L): c, ("log", q): c}: Σ c·q^(1/L) + Σ c·log q. Roots whose ratio is rational
# are merged, so that (by Besicovitch's theorem, proved for real roots) the number is 0 only if it has no terms;
# sums of logarithms are decided over a coprime base.

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/^(),]))", re.ASCII)
ONE = ("root", Fraction(1), 1)
Number = dict[tuple[Any, ...], Fraction]


def bounded(q: Fraction) -> Fraction:
    if max(q.numerator.bit_length(), q.denominator.bit_length()) > MOST_NUMBER_BITS:
        raise Unreadable(f"a number has more than {MOST_NUMBER_BITS} bits")
    return q


def power(q: Fraction, n: int) -> Fraction:
    if q == 0 and n < 0:
        raise Unreadable("division by zero")
    bits = max(q.numerator.bit_length(), q.denominator.bit_length())
    if bits > 1 and (bits - 1) * abs(n) > MOST_NUMBER_BITS:
        raise Unreadable(f"a number has more than {MOST_NUMBER_BITS} bits")
    return q**n


def rational_root(q: Fraction, order: int) -> Fraction | None:
    """Return q^(1/order) for q ≥ 0 when it is rational."""
    result = Fraction(root(q.numerator, order), root(q.denominator, order))
    return result if result**order == q else None


def ratio(left: tuple[Any, ...], right: tuple[Any, ...]) -> Fraction | None:
    """Return the quotient of two roots ("root", q, L) when it is rational."""
    order = left[2] * right[2] // gcd(left[2], right[2])
    return rational_root(power(left[1], order // left[2]) / power(right[1], order // right[2]), order)


class Numbers:
    """Arithmetic of numbers Σ c·q^(1/L) + Σ c·log q."""

    def number(self, q: Fraction) -> Number:
        return {ONE: bounded(q)} if q else {}

    def add(self, left: Number, right: Number) -> Number:
        result = dict(left)
        for key, c in right.items():
            same, scale = key, Fraction(1)
            if key[0] == "root" and key not in result:
                for other in result:
                    factor = ratio(key, other) if other[0] == "root" else None
                    if factor is not None:
                        same, scale = other, factor
                        break
            result[same] = bounded(result.get(same, Fraction(0)) + c * scale)
            if not result[same]:
                del result[same]
        if len(result) > MOST_HEADS:
            raise Unreadable("a sum has too many different roots or logarithms")
        return result

    def multiply(self, left: Number, right: Number) -> Number:
        result: Number = {}
        for (kind1, q1, order1), c1 in padded(left):
            for (kind2, q2, order2), c2 in padded(right):
                if "log" in (kind1, kind2):
                    if (kind1, q1) != ("root", 1) and (kind2, q2) != ("root", 1):
                        raise Unreadable("a logarithm may only be multiplied by a rational")
                    key = ("log", q1 if kind1 == "log" else q2)
                    term = {key: bounded(c1 * c2)}
                else:
                    order = order1 * order2 // gcd(order1, order2)
                    inside = power(q1, order // order1) * power(q2, order // order2)
                    term = self.root(bounded(inside), order, c1 * c2)
                result = self.add(result, term)
        return result

    def root(self, q: Fraction, order: int, c: Fraction = Fraction(1)) -> Number:
        if order > MOST_ORDER:
            raise Unreadable(f"a root of order above {MOST_ORDER}")
        outside = rational_root(q, order)
        if outside is not None:
            return self.number(outside * c)
        return {("root", q, order): bounded(c)}

    def divide(self, left: Number, right: Number) -> Number:
        if not right:
            raise Unreadable("division by zero")
        if len(right) > 1 or next(iter(right))[0] == "log":
            raise Unreadable("division by a sum of roots or by a logarithm is not supported")
        (((_, q, order), c),) = right.items()
        return self.multiply(left, self.root(1 / q, order, 1 / c))

    def power(self, base: Number, n: int) -> Number:
        if n == 1 or (not base and n > 0):
            return base
        q = as_rational(base)
        if q is not None:
            return self.number(power(q, n))
        if len(base) > 1 or next(iter(base))[0] == "log":
            raise Unreadable("powers of sums and of logarithms are not supported")
        (((_, q, order), c),) = base.items()
        return self.root(power(q, n), order, power(c, n))

    def call(self, name: str, arguments: list[Number]) -> Number:
        q = as_rational(arguments[0])
        if q is None:
            raise Unreadable(f"the argument of {name} must be rational")
        if name == "log" and len(arguments) == 1 and q > 0:
            return {("log", q): Fraction(1)} if q != 1 else {}
        order = Fraction(2) if name == "sqrt" and len(arguments) == 1 else None
        if name == "root" and len(arguments) == 2:
            order = as_rational(arguments[1])
        if order is None or order.denominator != 1 or not 1 <= order <= MOST_ORDER or q < 0:
            raise Unreadable(f"{name} of these arguments is not supported")
        return self.root(q, int(order)) if q else {}


def padded(number: Number) -> list[tuple[tuple[Any, ...], Fraction]]:
    return [((*key, 1)[:3], c) for key, c in number.items()]


def as_rational(number: Number) -> Fraction | None:
    return Fraction(0) if not number else number.get(ONE) if len(number) == 1 else None


class Elements:
    """Arithmetic in Q(γ), for the entries of v in the radical field."""

    def __init__(self, field: RadicalField) -> None:
        self.field = field

    def number(self, q: Fraction) -> list[Fraction]:
        return [bounded(q)] + [Fraction(0)] * (self.field.degree - 1)

    def add(self, left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
        return [bounded(x + y) for x, y in zip(left, right)]

    def multiply(self, left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
        return [bounded(x) for x in self.field.multiply(left, right)]

    def divide(self, left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
        return self.multiply(left, self.field.invert(right))

    def power(self, base: list[Fraction], n: int) -> list[Fraction]:
        if abs(n) > MOST_ORDER:
            raise Unreadable(f"a power above {MOST_ORDER}")
        result = self.number(Fraction(1))
        for _ in range(abs(n)):
            result = self.multiply(result, base)
        return self.field.invert(result) if n < 0 else result

    def call(self, name: str, arguments: list[Any]) -> list[Fraction]:
        rationals = [{ONE: x[0]} if x[0] else {} for x in arguments if not any(x[1:])]
        if len(rationals) != len(arguments):
            raise Unreadable(f"the arguments of {name} must be rational")
        value = Numbers().call(name, rationals)
        for key, c in value.items():
            for n in range(self.field.degree):
                factor = (
                    ratio(key, ("root", power(self.field.beta, n), self.field.degree)) if key[0] == "root" else None
                )
                if factor is not None:
                    return [factor * c if i == n else Fraction(0) for i in range(self.field.degree)]
            reject("instance", f"{name} of these arguments does not lie in the field")
        return self.number(Fraction(0))


class Parser:
    """Recursive descent over the grammar of exact expressions, evaluating in the given arithmetic."""

    def __init__(self, text: str, arithmetic: Any) -> None:
        if len(text) > MOST_CHARACTERS:
            raise Unreadable("an expression is too long")
        self.do, self.tokens, self.at, self.depth = arithmetic, [], 0, 0
        position = 0
        while position < len(text.rstrip()):
            match = TOKEN.match(text, position)
            if match is None:
                raise Unreadable(f"unexpected character at position {position + 1}")
            self.tokens.append(match.group(match.lastindex or 0))
            position = match.end()

    def parse(self) -> Any:
        value = self.sum()
        if self.at != len(self.tokens):
            raise Unreadable("unexpected text after the expression")
        return value

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise Unreadable(f"expected {expected or 'a number'}, found {token or 'the end'}")
        self.at += 1
        return token

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise Unreadable("an expression is nested too deep")
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            term = self.product()
            value = self.do.add(value, term if sign == "+" else self.negated(term))
        self.depth -= 1
        return value

    def negated(self, value: Any) -> Any:
        return self.do.multiply(self.do.number(Fraction(-1)), value)

    def product(self) -> Any:
        value = self.signed()
        while self.peek() in ("*", "/"):
            operation = self.do.multiply if self.take() == "*" else self.do.divide
            value = operation(value, self.signed())
        return value

    def signed(self) -> Any:
        minus = 0
        while self.peek() in ("+", "-"):
            minus += self.take() == "-"
        value = self.atom()
        if self.peek() == "^":
            self.take()
            negative = self.peek() == "-" and bool(self.take())
            digits = self.take()
            if not digits.isdigit() or len(digits) > 9:
                raise Unreadable("an exponent must be an integer of at most 9 digits")
            value = self.do.power(value, -int(digits) if negative else int(digits))
        return self.negated(value) if minus % 2 else value

    def atom(self) -> Any:
        token = self.take()
        if token[0].isdigit():
            return self.do.number(self.literal(token))
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        self.take("(")
        arguments = [self.sum()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum())
        self.take(")")
        return self.do.call(token, arguments)

    @staticmethod
    def literal(token: str) -> Fraction:
        mantissa, _, scale = token.lower().partition("e")
        whole_part, _, decimals = mantissa.partition(".")
        shift = int(scale) if scale and len(scale) < 8 else (10**8 if scale else 0)
        if len(mantissa) + abs(shift) > MOST_NUMBER_BITS // 4:
            raise Unreadable("a number has too many digits")
        digits = 0
        for start in range(0, len(whole_part + decimals), 4000):  # Python refuses longer pieces
            piece = (whole_part + decimals)[start : start + 4000]
            digits = digits * 10 ** len(piece) + int(piece)
        return Fraction(digits) * Fraction(10) ** (shift - len(decimals))


def coprime_base(numbers: list[int]) -> list[int]:
    """Return pairwise coprime integers > 1 of which all the given positive integers are products of powers."""
    base: list[int] = []
    pending = [n for n in numbers if n > 1]
    while pending:
        n = pending.pop()
        for i, b in enumerate(base):
            g = gcd(n, b)
            if g > 1:
                del base[i]
                pending += [part for part in (g, n // g, b // g) if part > 1]
                break
        else:
            base.append(n)
        if len(base) > MOST_LOG_BASES:
            raise Unreadable("too many different logarithms")
    return base


def exponents_over(q: Fraction, base: list[int]) -> list[int]:
    result = []
    for b in base:
        result.append(valuation(q.numerator, b) - valuation(q.denominator, b))
    return result


def valuation(n: int, b: int) -> int:
    """Return the largest e with b^e dividing n, by squaring."""
    powers = [b]
    while n % powers[-1] == 0:
        powers.append(powers[-1] ** 2)
    e = 0
    for i in range(len(powers) - 2, -1, -1):
        if n % powers[i] == 0:
            n, e = n // powers[i], e + (1 << i)
    return e


def instance_heads(
    checker: Checker | CounterexampleChecker, document: Any, name: str
) -> list[tuple[list[Number], tuple[Any, ...]]]:
    """Return (entries of W, v) for every head of an instance file."""
    names = {"format", "field", "dim", "heads"}
    if not isinstance(document, dict) or not names - {"field"} <= set(document) <= names:
        raise Unreadable(f"{name}: must be an object with the keys format, dim, heads and perhaps field")
    if document["format"] != "exactmha/instance/1" or not is_field_name(document.get("field", "rational")):
        raise Unreadable(f"{name}: is no exactmha/instance/1")
    dim = whole(document["dim"], 1, MOST_DIM, f"{name}: dim")
    if dim != checker.dim:
        reject("instance", f"the instance has dimension {dim}")
    if not isinstance(document["heads"], list) or len(document["heads"]) > MOST_HEADS:
        raise Unreadable(f"{name}: heads must be a list of at most {MOST_HEADS}")
    radical = isinstance(checker.field, RadicalField)
    arithmetic = Elements(checker.field) if radical else Numbers()
    heads = []
    for h, head in enumerate(document["heads"]):
        where = f"{name}: heads[{h}]"
        if not isinstance(head, dict) or set(head) != {"W", "v"}:
            raise Unreadable(f"{where}: must have the keys W and v")
        rows = [listed(row, dim, f"{where}.W") for row in listed(head["W"], dim, f"{where}.W")]
        texts = [x for row in rows for x in row] + listed(head["v"], dim, f"{where}.v")
        if not all(isinstance(x, str) for x in texts):
            raise Unreadable(f"{where}: every entry must be a string")
        W = [Parser(x, Numbers()).parse() for x in texts[: dim * dim]]
        v = [Parser(x, arithmetic).parse() for x in texts[dim * dim :]]
        scalars = [tuple(x) if radical else (as_rational(x),) for x in v]
        if any(x is None for scalar in scalars for x in scalar):
            reject("instance", f"v of head {h} is not rational")
        heads.append((W, tuple(scalars)))
    return heads


def compare_instance(checker: Checker | CounterexampleChecker, document: Any, name: str) -> None:
    """Merge equal W, drop zero sums, and compare with the heads of the certificate."""
    heads = instance_heads(checker, document, name)
    recovered = [
        ([tuple(m[i][j] for m in matrices) for i in range(checker.dim) for j in range(checker.dim)], v)
        for matrices, v in zip(checker.W, checker.v)
    ]
    if isinstance(checker.field, ExponentialField):
        unit = ("root", Fraction(checker.field.radicand), 2)
        keys = [tuple(multiple_of_root(without_logarithms(x), unit) for x in W) for W, _ in heads]
        recovered_keys = [tuple(c for (c,) in W) for W, _ in recovered]
    else:
        if any(key[0] != "log" for W, _ in heads for x in W for key in x):
            reject("instance", "W is not made of logarithms")
        sums = [[[(c, key[1]) for key, c in x.items()] for x in W] for W, _ in heads]
        recovered_sums = [[checker.field.logarithms(x) for x in W] for W, _ in recovered]
        base, vectors = over_coprime_base({q for W in sums + recovered_sums for x in W for _, q in x})

        def key(W: list[list[tuple[Fraction, Fraction]]]) -> tuple[Any, ...]:
            return tuple(tuple(sum(c * vectors[q][i] for c, q in x) for i in range(len(base))) for x in W)

        keys, recovered_keys = [key(W) for W in sums], [key(W) for W in recovered_sums]
    merged: dict[tuple[Any, ...], list[tuple[Fraction, ...]]] = {}
    for W_key, (_, v) in zip(keys, heads):
        old = merged.get(W_key, [(Fraction(0),) * checker.field.degree] * checker.dim)
        merged[W_key] = [tuple(x + y for x, y in zip(a, b)) for a, b in zip(old, v)]
    canonical = {W: v for W, v in merged.items() if any(any(x) for x in v)}
    if canonical != dict(zip(recovered_keys, checker.v)):
        reject("instance", "the heads of the certificate are not the canonical heads of the instance")


def over_coprime_base(arguments: set[Fraction]) -> tuple[list[int], dict[Fraction, list[int]]]:
    """Return a coprime base of positive rationals, and each of them as exponents over it."""
    parts = [part for q in arguments for part in (q.numerator, q.denominator)]
    if sum(part.bit_length() for part in parts) > MOST_LOG_BITS:
        raise Unreadable("the numbers under logarithms are too long together")
    base = coprime_base(parts)
    return base, {q: exponents_over(q, base) for q in arguments}


def without_logarithms(number: Number) -> Number:
    """Return a number whose logarithms cancel, without them."""
    logs = {key[1]: c for key, c in number.items() if key[0] == "log"}
    base, vectors = over_coprime_base(set(logs))
    if any(sum(c * vectors[q][i] for q, c in logs.items()) for i in range(len(base))):
        reject("instance", "W is made of logarithms")
    return {key: c for key, c in number.items() if key[0] == "root"}


def multiple_of_root(number: Number, unit: tuple[Any, ...]) -> Fraction:
    if not number:
        return Fraction(0)
    ((key, c),) = number.items() if len(number) == 1 else ((("", 0), Fraction(0)),)
    factor = ratio(key, unit) if key[0] == "root" else None
    if factor is None:
        reject("instance", "an entry of W is no rational multiple of the field's unit")
    return factor * c


# --- command line --------------------------------------------------------------------------------


KINDS: dict[str, Any] = {FORMAT: Checker, COUNTEREXAMPLE: CounterexampleChecker}


def opened(data: bytes, name: str, kinds: dict[str, Any]) -> Any:
    """Return the checker of a certificate by its format, or raise `Unreadable`."""
    if len(data) > MOST_BYTES:
        raise Unreadable(f"{name}: is larger than {MOST_BYTES} bytes")
    document = parse_json(data, name)
    version = document.get("format") if isinstance(document, dict) else None
    if not isinstance(version, str) or version not in kinds:
        raise Unreadable(f"{name}: must be an object whose format is {' or '.join(kinds)}")
    return kinds[version](document, data, name)


def check(path: str, instance: str | None = None, claim: str | None = None, kinds: dict[str, Any] = KINDS) -> str:
    """Check a certificate; return the statement proved, or raise `Rejected` or `Unreadable`."""
    checker = opened(read_file(path), path, kinds)
    checker.check()
    if claim is not None:
        wanted = parse_json(claim.encode("utf-8", "surrogateescape"), "--claim")
        if not isinstance(wanted, dict):
            raise Unreadable("--claim: must be a JSON object")
        checker.check_claim(wanted)
    if instance is not None:
        checker.check_instance(read_file(instance), instance)
    return str(checker.statement(with_instance=instance is not None))


def main(arguments: list[str], kinds: dict[str, Any] = KINDS) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options: dict[str, str] = {}
    paths = []
    rest = iter(arguments)
    for argument in rest:
        if argument in ("--instance", "--claim"):
            options[argument[2:]] = next(rest, "")
        else:
            paths.append(argument)
    if len(paths) != 1 or paths[0].startswith("-"):
        print("usage: checker.py FILE [--instance INSTANCE] [--claim JSON]", file=sys.stderr)
        return 2
    try:
        print(check(paths[0], options.get("instance"), options.get("claim"), kinds))
    except Rejected as error:
        print(f"REJECTED: {error.step}: {error.reason}: {error}")
        return 1
    except Unreadable as error:
        print(f"error: {str(error).replace(paths[0], paths[0][:200])}", file=sys.stderr)
        return 2
    except (MemoryError, RecursionError):
        print(f"error: {paths[0]}: is too large to check", file=sys.stderr)
        return 2
    return 0


def alone(run: Callable[[list[str]], int]) -> int:
    """Run a command line; Ctrl-C and an output that nobody takes end it without noise."""
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = 130
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python itself would complain at the end
        status = 2
        print(f"error: the result could not be printed: {error.strerror}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(alone(main))
