"""Certificates made by hand: for any tokens and any heads, true or not; and what attacks do to a certificate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Document = dict[str, Any]


def canonical(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def text(x: int | Fraction) -> str:
    q = Fraction(x)
    return f"{q.numerator:x}" if q.denominator == 1 else f"{q.numerator:x}/{q.denominator:x}"


def number(written: str) -> Fraction:
    top, _, bottom = written.partition("/")
    return Fraction(int(top, 16), int(bottom or "1", 16))


Matrix = Sequence[Sequence[int | Fraction]]
ForgedHead = tuple[Sequence[Matrix], Sequence[int | Fraction]]
"""(coordinates of W on the units, v)"""


@dataclass(frozen=True)
class Forger:
    """Writes certificates for any tokens and heads, true or not; rational and exponential field."""

    field: Document
    unit: int = 1

    def constant(self, c: Fraction) -> Any:
        return text(c) if self.field["name"] == "rational" else [text(c)]

    def answer(self, base: Fraction, k: int, exponents: Sequence[Sequence[int]], residues: Iterable[Fraction]) -> Any:
        """Return base + Σ c·k r/(1 + k r)."""
        if self.field["name"] == "rational":
            total = base
            for exponent, c in zip(exponents, residues, strict=True):
                r = Fraction(1)
                for g, e in zip(self.field["base"], exponent, strict=True):
                    r *= Fraction(int(g, 16)) ** e
                total += c * k * r / (1 + k * r)
            return text(total)
        terms: dict[tuple[int, int, int], Fraction] = {}
        for (n,), c in zip(exponents, residues, strict=True):
            if n == 0:
                base += c * k / (1 + k)
                continue
            if n > 0:
                base += c
            key, coefficient = ((n, 1, k), -c) if n > 0 else ((-n, k, 1), c * k)
            terms[key] = terms.get(key, Fraction(0)) + coefficient
        listed = [[text(c), text(a), text(n), text(b)] for (n, a, b), c in sorted(terms.items()) if c]
        return [text(base), *listed]

    def certificate(
        self,
        b: Sequence[Sequence[int]],
        u: Sequence[Sequence[int]],
        heads: Sequence[ForgedHead],
        *,
        told: int | None = None,
        digest: str = "0" * 64,
    ) -> Document:
        """Write a certificate; `told` makes it one of a run that knew a bound only."""
        d, H = len(b), len(heads)
        T = H if told is None else told
        s = [sum((Fraction(v[x]) for _, v in heads), Fraction(0)) for x in range(d)]
        steps: list[Document] = [
            {"kind": "tokens", "b": [[text(x) for x in t] for t in b], "u": [[text(x) for x in t] for t in u]},
            {"kind": "base", "answer": self.constant(dot(s, b[0]))},
        ]

        def profile(b_names: list[int], u_names: list[int]) -> int:
            token_b, token_u = total(b, b_names), total(u, u_names)
            exponents = [[self.logit(m, token_b, token_u) for m in W] for W, _ in heads]
            residues = [dot(v, token_u) for _, v in heads]
            answers = [self.answer(dot(s, token_b), k, exponents, residues) for k in range(1, 2 * T + 1)]
            steps.append(
                {
                    "kind": "profile",
                    "b": b_names,
                    "u": u_names,
                    "answers": answers,
                    "exponents": [[text(e) for e in exponent] for exponent in exponents],
                    "residues": [[text(c)] for c in residues],
                }
            )
            return len(steps) - 1

        def matched(first: int, b_name: int, u_name: int, *, later: bool) -> int:
            other = profile([b_name], [u_name])
            both = profile([1, b_name], [u_name]) if later else profile([1], [1, u_name])
            steps.append({"kind": "match", "first": first, "other": other, "sum": both})
            return other

        row = [profile([1], [1])]
        row += [matched(row[0], 1, i, later=False) for i in range(2, d + 1)]
        v = [[[text(x)] for x in v] for _, v in heads]
        steps.append({"kind": "readout", "v": v, "s": [[text(x)] for x in s]})
        for j in range(2, d + 1):
            for i in range(1, d + 1):
                matched(row[i - 1], j, i, later=True)
        W = [[[[text(x) for x in line] for line in matrix] for matrix in W] for W, _ in heads]
        steps.append({"kind": "heads", "W": W})
        counts = (2, (2 * d * d - 1) * H * (H - 1) // 2, (2 * d - 1) * H, (d * d - 1) * H * H * (H - 1))
        conditions = {f"C{i}": text(n) for i, n in enumerate(counts, 1)}
        steps.append({"kind": "conclusion", "conditions": conditions})
        queries = 4 * T * d * d - 2 * T + 1
        document = {
            "format": "exactmha/certificate/1",
            "claim": {"heads": H, "told": T, "bound": told is not None, "queries": queries, "length": 2 * T + 1},
            "field": self.field,
            "dim": d,
            "instance": digest,
            "transcript": "",
            "steps": steps,
        }
        seal(document)
        return document

    def logit(self, matrix: Matrix, b: Sequence[int], u: Sequence[int]) -> int:
        value = self.unit * sum(
            (x * Fraction(row[j]) * y for x, row in zip(b, matrix, strict=True) for j, y in enumerate(u)), Fraction(0)
        )
        return int(value)


def dot(left: Sequence[int | Fraction], right: Sequence[int | Fraction]) -> Fraction:
    return sum((Fraction(x) * y for x, y in zip(left, right, strict=True)), Fraction(0))


def total(tokens: Sequence[Sequence[int]], names: Iterable[int]) -> list[int]:
    return [sum(column) for column in zip(*(tokens[n - 1] for n in names), strict=True)]


def transcript(document: Document) -> str:
    """Return the SHA-256 of the queries and answers that a document names."""
    tokens, base, *steps = document["steps"]
    read = {side: [[int(x, 16) for x in token] for token in tokens[side]] for side in "bu"}
    lines = [canonical([tokens["b"][0], base["answer"]])]
    for step in steps:
        if step["kind"] == "profile":
            named = [[text(x) for x in total(read[side], step[side])] for side in "bu"]
            lines.append(canonical([*named, step["answers"]]))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def seal(document: Document) -> None:
    document["transcript"] = transcript(document)


EXPONENTIAL = Forger({"name": "exponential", "radicand": "1", "denominator": "1"})
RATIONAL = Forger({"name": "rational", "base": ["2", "3"]})
UNIT = [[1, 0], [0, 1]]


def over_a_larger_field(document: Document) -> None:
    """Write a radical certificate over Q(β^{1/2N}): every power of γ is an even power of the new γ."""
    document["field"]["order"] *= 2

    def spread(scalar: list[str]) -> list[str]:
        return [x for pair in zip(scalar, ["0"] * len(scalar), strict=True) for x in pair]

    map_scalars(document, spread)
    for step in profiles(document):
        step["exponents"] = [[text(2 * number(e)) for e in exponent] for exponent in step["exponents"]]


def map_scalars(document: Document, change: Callable[[list[str]], list[str]]) -> None:
    steps = document["steps"]
    steps[1]["answer"] = change(steps[1]["answer"])
    for step in profiles(document):
        step["answers"] = [change(x) for x in step["answers"]]
        step["residues"] = [change(x) for x in step["residues"]]
    readout = next(step for step in steps if step["kind"] == "readout")
    readout["v"] = [[change(x) for x in v] for v in readout["v"]]
    readout["s"] = [change(x) for x in readout["s"]]


def profiles(document: Document) -> list[Document]:
    return [step for step in document["steps"] if step["kind"] == "profile"]


def change_base(document: Document, base: list[int], rows: list[list[int]]) -> None:
    """Write a rational certificate over another base; row g of `rows` is generator g over the new base."""
    document["field"]["base"] = [text(g) for g in base]

    def mapped(coordinates: Sequence[Fraction]) -> list[Fraction]:
        return [dot(coordinates, [row[n] for row in rows]) for n in range(len(base))]

    for step in profiles(document):
        step["exponents"] = [[text(e) for e in mapped([number(x) for x in old])] for old in step["exponents"]]
    heads = document["steps"][-2]
    size = range(document["dim"])
    for h, W in enumerate(heads["W"]):
        new = [[mapped([number(matrix[i][j]) for matrix in W]) for j in size] for i in size]
        heads["W"][h] = [[[text(new[i][j][n]) for j in size] for i in size] for n in range(len(base))]
