"""Transformers evaluated from their definition by mpmath: the second opinion of these tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath


def number(text: str) -> mpmath.mpf:
    """Evaluate an entry of an instance file, numbers written by these tests only."""
    names = {"log": mpmath.log, "sqrt": mpmath.sqrt, "root": mpmath.root, "mpf": mpmath.mpf}
    digits = "".join(f" mpf({part}) " if part.isdigit() else part for part in _parts(text))
    return mpmath.mpf(eval(digits, {"__builtins__": {}}, names))  # noqa: S307  # text written by these tests


def _parts(text: str) -> list[str]:
    parts: list[str] = []
    for c in text:
        if c.isdigit() and parts and parts[-1].isdigit():
            parts[-1] += c
        else:
            parts.append(c)
    return parts


def transformer(content: dict[str, Any], tokens: Sequence[Sequence[Any]]) -> mpmath.mpf:
    """Return T(X) = Σ_j a_j ReLU(w_j · Σ_h O_h A_h(X)), step by step."""
    x = [[mpmath.mpf(int(c.numerator)) / int(c.denominator) for c in token] for token in tokens]
    width = len(content["heads"][0]["O"]) if content["heads"] else 0
    z = [mpmath.mpf(0)] * width
    for head in content["heads"]:
        W = [[number(c) for c in row] for row in head["W"]]
        last = x[-1]
        scores = [sum(last[i] * W[i][j] * token[j] for i in range(len(last)) for j in range(len(last))) for token in x]
        top = max(scores)
        weights = [mpmath.exp(s - top) for s in scores]
        A = [sum(w * token[i] for w, token in zip(weights, x, strict=True)) / sum(weights) for i in range(len(last))]
        for row, entries in enumerate(head["O"]):
            z[row] += sum(number(c) * y for c, y in zip(entries, A, strict=True))
    network = content["ffn"]
    inputs = [sum(number(c) * y for c, y in zip(row, z, strict=True)) for row in network["w"]]
    return sum((number(a) * max(g, 0) for a, g in zip(network["a"], inputs, strict=True)), mpmath.mpf(0))
