"""The smallest examples in the rational field, kept as golden files, and checked by hand here.

The hand check evaluates softmax attention with Python fractions: W is read off the printed text, where every entry is
an integer combination of logarithms, so that a weight is a product of powers. Three are done wholly by hand:

- one-sample-short: W = 0, v = (0, 4) against W = log(2) e_1 e_2ᵀ, v = (0, 3), tokens b = (1, 0), u = (0, 1).
  With k copies 4·k/(k + 1) and 3·2k/(2k + 1): 0, 0 at k = 0; 2, 2 at k = 1; 8/3, 12/5 at k = 2.
- wrong-head-count: 18·k/(k + 1) − 45·2k/(2k + 1) against −28·3k/(3k + 1): 0; 9 − 30 = −21; 12 − 36 = −24 = −28·6/7;
  at k = 3: 27/2 − 270/7 = −351/14, but −28·9/10 = −126/5.
- short-sequences: weights 3 and 1/3 (or 6 and 1/6): 3/4 + 1/4 = 6/7 + 1/7 = 1.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest

from exactmha.cli.main import run
from exactmha.counterexamples.catalogue import CATALOGUE

GOLDEN = Path(__file__).parent / "golden"
NAMES = [each.name for each in CATALOGUE]


def weight(logs: dict[int, int]) -> Fraction:
    return prod((Fraction(p) ** n for p, n in logs.items()), start=Fraction(1))


def entry(text: str) -> dict[int, int]:
    """`-2*log(2) + log(3)` as {2: -2, 3: 1}."""
    found: dict[int, int] = {}
    compact = text.replace(" ", "")
    for sign, factor, q in re.findall(r"([+-]?)(?:(\d+)\*)?log\((\d+)\)", compact):
        found[int(q)] = found.get(int(q), 0) + (-1 if sign == "-" else 1) * int(factor or 1)
    assert compact == "0" or found, text
    return found


def answer(model: dict[str, Any], query: list[Any]) -> Fraction:
    tokens = [([Fraction(x) for x in token], count) for token, count in query]
    last, total = tokens[-1][0], Fraction(0)
    for head in model["heads"]:
        logits = [[entry(text) for text in row] for row in head["W"]]
        shares = []
        for token, count in tokens:
            w = Fraction(count)
            for i, row in enumerate(logits):
                for j, logs in enumerate(row):
                    power = last[i] * (token[j] - last[j])
                    assert power.denominator == 1
                    w *= weight(logs) ** int(power)
            shares.append((w, sum(Fraction(a) * x for a, x in zip(head["v"], token, strict=True))))
        total += sum(w * y for w, y in shares) / sum(w for w, _ in shares)
    return total


def outputs_of(name: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert run(["counterexample", name, "--smallest", "--field", "rational", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outputs_of(name, capsys) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_by_hand(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(outputs_of(name, capsys, "--json"))
    models = found["models"]
    for query in found["agree"]:
        assert answer(models[0], query) == answer(models[1], query)
    for query in found["differ"]:
        assert answer(models[0], query) != answer(models[1], query)
    if name in {"unmerged", "zero-sum"}:
        token = [["2", "5", "-1"][: found["dim"]], 3], [["-1", "2", "1"][: found["dim"]], 1]
        assert answer(models[0], list(token)) == answer(models[1], list(token))
    if found["no_profile"]:  # f_0..f_3 of form (P) with one head would have a singular Loewner matrix
        f = [answer(models[0], query) for query in found["no_profile"]["queries"]]
        assert found["no_profile"]["heads"] == 1
        L = [[(f[x] - f[y]) / (x - y) for y in (1, 3)] for x in (0, 2)]
        assert L[0][0] * L[1][1] != L[0][1] * L[1][0]
    assert found["agree"] or found["differ"] or found["no_profile"] or name in {"unmerged", "zero-sum"}


def test_the_three_hand_computations() -> None:
    k = [Fraction(n) for n in range(4)]
    assert [4 * n / (n + 1) for n in k[:3]] == [0, 2, Fraction(8, 3)]
    assert [3 * 2 * n / (2 * n + 1) for n in k[:3]] == [0, 2, Fraction(12, 5)]
    two = [18 * n / (n + 1) - 45 * 2 * n / (2 * n + 1) for n in k]
    one = [-28 * 3 * n / (3 * n + 1) for n in k]
    assert two == [0, -21, -24, Fraction(-351, 14)]
    assert one == [0, -21, -24, Fraction(-126, 5)]
    text = (GOLDEN / "wrong-head-count.txt").read_text(encoding="utf-8")
    assert all(v in text for v in ("v_1 = (0, 18)", "v_2 = (0, -45)", "v_1 = (0, -28)"))
    text = (GOLDEN / "one-sample-short.txt").read_text(encoding="utf-8")
    assert all(v in text for v in ("v_1 = (0, 4)", "v_1 = (0, 3)"))
