"""Files that are no certificates, named after what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

from attacks import HEADS, P11, P22, E, Q, R
from forging import Document, canonical, seal
from instances import INSTANCES

Spoil = Callable[[Document], None]


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        if data.count(old) == 0:
            raise ValueError(f"{old!r} does not occur")
        return data.replace(old, new, 1)

    return change


def spoiled(change: Spoil) -> Callable[[bytes], bytes]:
    """Change the document, and write it canonically with its transcript repaired where there still is one."""

    def apply(data: bytes) -> bytes:
        document = json.loads(data)
        change(document)
        with suppress(KeyError, IndexError, TypeError, ValueError):
            seal(document)
        return canonical(document)

    return apply


def at(path: str, value: Any) -> Spoil:
    """Return a change that writes `value` at a path such as "steps/2/b"."""

    def change(document: Any) -> None:
        *parts, last = path.split("/")
        for part in parts:
            document = document[int(part) if part.isdigit() else part]
        document[int(last) if last.isdigit() else last] = value

    return change


def removed(path: str) -> Spoil:
    def change(document: Any) -> None:
        *parts, last = path.split("/")
        for part in parts:
            document = document[int(part) if part.isdigit() else part]
        del document[int(last) if last.isdigit() else last]

    return change


def inserted(path: str) -> Spoil:
    """Return a change that repeats one item of a list."""

    def change(document: Any) -> None:
        *parts, last = path.split("/")
        for part in parts:
            document = document[int(part) if part.isdigit() else part]
        document.insert(int(last), deepcopy(document[int(last)]))

    return change


def terms_exchanged(document: Document) -> None:
    answer = document["steps"][P11]["answers"][0]
    answer[1], answer[2] = answer[2], answer[1]


HAND = "rational-by-hand"
FIRST_ANSWER = b'"d/6"'
"""of the certificate made by hand: f = 13/6"""
CUT_IN_HALF = 400

MALFORMED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "empty-file": (HAND, lambda _: b""),
    "truncated": (HAND, lambda data: data[:CUT_IN_HALF]),
    "no-final-newline": (HAND, lambda data: data[:-1]),
    "two-final-newlines": (HAND, lambda data: data + b"\n"),
    "two-documents": (HAND, lambda data: data + data),
    "carriage-return": (HAND, lambda data: data[:-1] + b"\r\n"),
    "byte-order-mark": (HAND, lambda data: b"\xef\xbb\xbf" + data),
    "utf-16": (HAND, lambda data: data.decode().encode("utf-16")),
    "not-utf-8": (HAND, replaced(b'"kind":"base"', b'"kind":"b\xe4se"')),
    "not-json": (HAND, lambda _: b"certificate\n"),
    "white-space": (HAND, replaced(b",", b", ")),
    "pretty-printed": (HAND, lambda data: json.dumps(json.loads(data), indent=1).encode() + b"\n"),
    "comment": (HAND, replaced(b',"steps"', b'/**/,"steps"')),
    "trailing-comma": (HAND, replaced(b'"19/15"]', b'"19/15",]')),
    "escaped-character": (HAND, replaced(b'"format"', b'"\\u0066ormat"')),
    "key-order": (HAND, replaced(b'"heads":2,"told":2', b'"told":2,"heads":2')),
    "key-order-in-step": (HAND, replaced(b'"b":[1],"u":[1]', b'"u":[1],"b":[1]')),
    "duplicate-key": (HAND, replaced(b'"dim":1,', b'"dim":1,"dim":1,')),
    "duplicate-key-in-claim": (HAND, replaced(b'"heads":2,', b'"heads":1,"heads":2,')),
    "unknown-key": (HAND, spoiled(at("trusted", True))),
    "unknown-key-in-step": (HAND, spoiled(at("steps/1/note", "trust me"))),
    "missing-key": (HAND, spoiled(removed("instance"))),
    "missing-key-in-step": (HAND, spoiled(removed("steps/2/residues"))),
    "array-instead-of-object": (HAND, lambda data: canonical(list(json.loads(data).items()))),
    "null": (HAND, lambda _: b"null\n"),
    "nan": (HAND, replaced(b'"dim":1', b'"dim":NaN')),
    "infinity": (HAND, replaced(b'"queries":5', b'"queries":Infinity')),
    "float": (HAND, replaced(b'"dim":1', b'"dim":1.0')),
    "scientific-notation": (HAND, replaced(b'"queries":5', b'"queries":5e0')),
    "huge-integer": (HAND, replaced(b'"queries":5', b'"queries":1' + b"0" * 5000)),
    "ten-digit-integer": (HAND, replaced(b'"queries":5', b'"queries":1000000000')),
    "negative-small-integer": (HAND, replaced(b'"queries":5', b'"queries":-5')),
    "small-integer-as-string": (HAND, spoiled(at("dim", "1"))),
    "true-as-dimension": (HAND, spoiled(at("dim", True))),
    "one-for-true": (HAND, spoiled(at("claim/bound", 0))),
    "integer-as-number": (HAND, spoiled(at("steps/1/answer", 3))),
    "deep-nesting": (HAND, lambda _: b"[" * 100_000 + b"]" * 100_000 + b"\n"),
    "deep-nesting-in-answer": (HAND, replaced(FIRST_ANSWER, b"[" * 50_000 + b"]" * 50_000)),
    "wrong-version": (HAND, replaced(b"certificate/1", b"certificate/2")),
    "an-instance": (HAND, lambda _: INSTANCES["rational-by-hand"]),
    "upper-case-hexadecimal": (HAND, replaced(FIRST_ANSWER, b'"D/6"')),
    "hexadecimal-prefix": (HAND, replaced(FIRST_ANSWER, b'"0xd/6"')),
    "leading-zero": (HAND, replaced(FIRST_ANSWER, b'"0d/6"')),
    "minus-zero": (HAND, replaced(b'["0","-1"]', b'["-0","-1"]')),
    "integer-in-upper-case": (HAND, spoiled(at("steps/1/answer", "A"))),
    "integer-with-leading-zero": (HAND, spoiled(at("steps/1/answer", "03"))),
    "integer-with-prefix": (HAND, spoiled(at("steps/1/answer", "0x3"))),
    "integer-with-plus-sign": (HAND, spoiled(at("steps/1/answer", "+3"))),
    "integer-with-underscore": (HAND, spoiled(at("steps/1/answer", "1_0"))),
    "plus-sign": (HAND, replaced(FIRST_ANSWER, b'"+d/6"')),
    "underscore": (HAND, replaced(b'"19/15"', b'"1_9/15"')),
    "white-space-in-number": (HAND, replaced(FIRST_ANSWER, b'" d/6"')),
    "newline-in-number": (HAND, replaced(FIRST_ANSWER, b'"d/6\\n"')),
    "digits-of-another-script": (HAND, replaced(b'"19/15"', b'"\\u0661/15"')),
    "empty-number": (HAND, replaced(FIRST_ANSWER, b'""')),
    "no-denominator": (HAND, replaced(FIRST_ANSWER, b'"d/"')),
    "two-slashes": (HAND, replaced(FIRST_ANSWER, b'"d/6/1"')),
    "unreduced-fraction": (HAND, replaced(FIRST_ANSWER, b'"1a/c"')),
    "denominator-one": (HAND, replaced(b'{"kind":"base","answer":"3"}', b'{"kind":"base","answer":"3/1"}')),
    "denominator-zero": (HAND, replaced(FIRST_ANSWER, b'"d/0"')),
    "negative-denominator": (HAND, replaced(FIRST_ANSWER, b'"-d/-6"')),
    "fraction-as-exponent": (HAND, spoiled(at("steps/2/exponents/0/0", "1/2"))),
    "fraction-as-token": (HAND, spoiled(at("steps/0/b/0/0", "1/2"))),
    "digest-upper-case": (HAND, lambda data: spoiled(at("instance", json.loads(data)["instance"].upper()))(data)),
    "digest-too-short": (HAND, lambda data: spoiled(at("instance", json.loads(data)["instance"][:-1]))(data)),
    "unknown-field": (HAND, spoiled(at("field/name", "complex"))),
    "field-name-a-list": (HAND, spoiled(at("field/name", ["rational"]))),
    "field-name-an-object": (HAND, spoiled(at("field/name", {}))),
    "field-of-another-name": (HAND, spoiled(at("field/name", "radical"))),
    "dimension-zero": (HAND, spoiled(at("dim", 0))),
    "one-query-dropped": (HAND, spoiled(removed("steps/2/answers/3"))),
    "one-query-added": (HAND, spoiled(inserted("steps/2/answers/3"))),
    "one-head-dropped-in-profile": (HAND, spoiled(removed("steps/2/exponents/1"))),
    "one-step-dropped": (R, spoiled(removed(f"steps/{P22}"))),
    "one-step-added": (R, spoiled(inserted(f"steps/{P22}"))),
    "ragged-tokens": (R, spoiled(removed("steps/0/u/1/0"))),
    "ragged-weights": (R, spoiled(removed(f"steps/{HEADS}/W/0/1/0/0"))),
    "one-unit-dropped": (R, spoiled(removed(f"steps/{HEADS}/W/0/1"))),
    "one-base-number-dropped": (R, spoiled(removed("field/base/1"))),
    "one-coordinate-dropped": (Q, spoiled(removed(f"steps/{P11}/answers/0/1"))),
    "order-changed-coordinates-left": (Q, spoiled(at("field/order", 3))),
    "order-zero": (Q, spoiled(at("field/order", 0))),
    "order-beyond-limits": (Q, spoiled(at("field/order", 97))),
    "monomial-beyond-limits": (R, spoiled(at(f"steps/{P11}/exponents/0/0", "f" * 8))),
    # 3,000,000 bits for the power of 2 and as many for that of 3
    "monomial-beyond-limits-together": (R, spoiled(at(f"steps/{P11}/exponents/0", ["16e360", "16e360"]))),
    "terms-out-of-order": (E, spoiled(terms_exchanged)),
    "answer-without-constant": (E, spoiled(at(f"steps/{P11}/answers/0", []))),
    "term-of-three-numbers": (E, spoiled(removed(f"steps/{P11}/answers/0/1/3"))),
    "term-repeated": (E, spoiled(inserted(f"steps/{P11}/answers/0/1"))),
    "term-with-zero-coefficient": (E, spoiled(at(f"steps/{P11}/answers/0/1/0", "0"))),
    "term-with-power-zero": (E, spoiled(at(f"steps/{P11}/answers/0/1/2", "0"))),
    "term-with-negative-power": (E, spoiled(at(f"steps/{P11}/answers/0/1/2", "-1"))),
    "term-not-in-lowest-terms": (E, spoiled(at(f"steps/{P11}/answers/0/1", ["1", "2", "1", "2"]))),
}
