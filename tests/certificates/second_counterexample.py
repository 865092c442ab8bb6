"""A second checker of counterexamples, written from SPECIFICATION.md over SymPy; slow, and used only in tests.

It shares no code with `exactmha/certificates/checker.py`, and takes another way: every answer is one fraction of
elements of the field (genuine polynomials in t in the exponential field), nothing is collected, no theorem on linear
independence is used, and `no_profile` is decided by the exact determinant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import lcm, prod
from pathlib import Path
from typing import Any

from second_checker import (
    ACCEPT,
    FIELDS,
    MALFORMED,
    MOST_DIM,
    MOST_HEADS,
    REJECT,
    Failed,
    Field,
    Malformed,
    keyed,
    must,
    rational,
    scan,
    small,
    vector,
)
from sympy.polys.domains import QQ

KEYS = ("format", "name", "field", "dim", "models", "canonical", "agree", "differ", "no_profile")
MOST_RUNS, MOST_LENGTH, MOST_QUERIES = 256, 10**9, 10**6

Heads = list[tuple[list[Any], list[Any]]]
Query = list[tuple[list[Any], int]]
Quotient = tuple[Any, Any]


def read_heads(data: Any, field: Field, dim: int) -> Heads:
    must(isinstance(data, list) and len(data) <= MOST_HEADS, Malformed)
    heads = []
    for head in data:
        W, v = keyed(head, "W", "v")
        matrices = vector(W, field.rank, lambda m: vector(m, dim, lambda row: vector(row, dim, rational)))
        heads.append((matrices, vector(v, dim, lambda scalar: vector(scalar, field.degree, rational))))
    return heads


def read_query(data: Any, dim: int) -> Query:
    must(isinstance(data, list) and 1 <= len(data) <= MOST_RUNS, Malformed)
    runs = [vector(run, 2, lambda x: x) for run in data]
    query = [(vector(token, dim, rational), small(count, 1, MOST_LENGTH)) for token, count in runs]
    must(sum(count for _, count in query) <= MOST_LENGTH, Malformed)
    return query


def canonical(heads: Heads) -> list[tuple[list[Any], list[Any]]]:
    kept: Heads = []
    for W, _ in heads:
        same = [v for other, v in heads if other == W]
        total = [[sum(parts) for parts in zip(*entries, strict=True)] for entries in zip(*same, strict=True)]
        if any(map(any, total)) and W not in [other for other, _ in kept]:
            kept.append((W, total))
    return kept


def same_sets(left: Heads, right: Heads) -> bool:
    return len(left) == len(right) and all(head in right for head in left)


def logits(W: list[Any], query: Query, unit: int) -> list[list[Any]]:
    """Return, for every run, one exponent for each generator."""
    last = query[-1][0]
    places = range(len(last))
    return [
        [unit * sum((last[i] * m[i][j] * (token[j] - last[j]) for i in places for j in places), QQ(0)) for m in W]
        for token, _ in query
    ]


def answer(field: Field, name: str, heads: Heads, query: Query, scale: int) -> Quotient:
    """Return f(X) as (numerator, denominator); exponents are multiplied by `scale`."""
    top, bottom = field.element([QQ(0)] * field.degree), field.element([QQ(1)] + [QQ(0)] * (field.degree - 1))
    for W, v in heads:
        exponents = [[x * scale for x in e] for e in logits(W, query, field.unit)]
        must(name == "exponential" or all(x.denominator == 1 for e in exponents for x in e), Failed)
        pairs = [field.monomial([int(x) for x in e]) for e in exponents]
        weights = [u * prod(w for j, (_, w) in enumerate(pairs) if j != i) for i, (u, _) in enumerate(pairs)]
        values = [
            field.element([sum(x * v[i][c] for i, x in enumerate(token)) for c in range(field.degree)])
            for token, _ in query
        ]
        total = sum(w * m for w, (_, m) in zip(weights, query, strict=True))
        part = sum(w * m * y for w, (_, m), y in zip(weights, query, values, strict=True))
        top, bottom = field.reduce(top * total + part * bottom), field.reduce(bottom * total)
    return top, bottom


def common_scale(name: str, heads: Heads, queries: Sequence[Query], unit: int) -> int:
    if name != "exponential":
        return 1
    found = [x for query in queries for W, _ in heads for e in logits(W, query, unit) for x in e]
    return lcm(1, *(int(x.denominator) for x in found))


def determinant(rows: list[list[Any]]) -> Any:
    """Expand along the first row."""
    if not rows:
        return 1
    minors = [[row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows))]
    return sum((-1) ** j * x * determinant(minor) for j, (x, minor) in enumerate(zip(rows[0], minors, strict=True)))


def is_no_profile(field: Field, values: list[Quotient]) -> bool:
    over = [top * prod(b for j, (_, b) in enumerate(values) if j != i) for i, (top, _) in enumerate(values)]
    over = [field.reduce(x) for x in over]
    nodes = range(0, len(over), 2)
    rows = [[(over[x] - over[y + 1]) * QQ(1, x - y - 1) for y in nodes] for x in nodes]
    return bool(field.reduce(determinant(rows)))


def judge(document: Any) -> None:
    version, name, description, dim_number, listed, stated, agree, differ, profile = keyed(document, *KEYS)
    must(version == "exactmha/counterexample/1", Malformed)
    must(isinstance(name, str) and re.fullmatch("[a-z0-9-]{1,64}", name), Malformed)
    must(isinstance(description, dict) and isinstance(description.get("name"), str), Malformed)
    must(description["name"] in FIELDS, Malformed)
    dim = small(dim_number, 1, MOST_DIM)
    must(isinstance(listed, list) and len(listed) in (1, 2), Malformed)
    must(stated in ("equal", "different", "single"), Malformed)
    must(isinstance(agree, list) and isinstance(differ, list), Malformed)
    asked: list[Any] = []
    if profile is not None:
        terms, asked = keyed(profile, "heads", "queries")
        vector(asked, 2 * small(terms, 0, MOST_HEADS) + 2, lambda x: x)
    must(len(agree) + len(differ) + len(asked) <= MOST_QUERIES, Malformed)
    kind = description["name"]
    field = FIELDS[kind](description)
    must((stated == "single") == (len(listed) == 1), Failed)
    must(len(listed) == 2 or not (agree or differ), Failed)
    must(len(listed) == 2 or profile is not None, Failed)
    models = [read_heads(model, field, dim) for model in listed]
    if len(models) == 2:
        must(same_sets(*map(canonical, models)) == (stated == "equal"), Failed)
    for queries, equal in ((agree, True), (differ, False)):
        for data in queries:
            query = read_query(data, dim)
            scale = common_scale(kind, [*models[0], *models[1]], [query], field.unit)
            first, second = (answer(field, kind, model, query, scale) for model in models)
            must(field.same(first, second) == equal, Failed)
    if profile is not None:
        read = [read_query(data, dim) for data in asked]
        scale = common_scale(kind, models[0], read, field.unit)
        must(is_no_profile(field, [answer(field, kind, models[0], query, scale) for query in read]), Failed)


def check(path: Path) -> str:
    """Return the verdict on a file."""
    try:
        judge(scan(path.read_bytes()))
    except Failed:
        return REJECT
    except Malformed:
        return MALFORMED
    return ACCEPT
