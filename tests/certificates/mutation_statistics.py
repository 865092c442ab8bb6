"""Change one place of an accepted certificate in many ways, and count verdicts.

`python tests/certificates/mutation_statistics.py` prints, for every kind of change, how many were tried and how the
checkers judged them. After each change the SHA-256 of the transcript is computed again (unless it is what was
changed), so that the logic has to object and not the hash.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import second_checker
from forging import Document, canonical, number, seal, text

from exactmha.certificates import checker

HERE = Path(__file__).parent
Place = tuple[str | int, ...]
"""Where in the document, from the top: keys and positions."""


@dataclass(frozen=True)
class Mutation:
    """A certificate with one place changed."""

    document: Document
    """the certificate, unchanged"""
    kind: str
    place: Place
    new: Any

    @property
    def data(self) -> bytes:
        """The bytes of the changed document, the hash of its transcript repaired where there still is one."""
        changed = replaced(self.document, self.place, self.new)
        if isinstance(changed, dict) and self.place != ("transcript",):
            changed = dict(changed)
            with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
                seal(changed)
        return canonical(changed)

    @property
    def changes_something(self) -> bool:
        """False when the value is replaced by itself."""
        return canonical(value_at(self.document, self.place)) != canonical(self.new)


# --- changes of one value ------------------------------------------------------------------------


def rational_changes(value: str) -> Iterator[tuple[str, Any]]:
    """Change a number, and write it canonically; and write the same number in other ways."""
    q = number(value)
    yield "number + 1", text(q + 1)
    yield "number − 1", text(q - 1)
    yield "number negated", text(-q)
    yield "number made zero", "0"
    yield "number made one", "1"
    yield "number doubled", text(2 * q)
    if q:
        yield "number inverted", text(1 / q)
    if q.denominator > 1:
        yield "numerator + 1", text(Fraction(q.numerator + 1, q.denominator))
        yield "denominator + 1", text(Fraction(q.numerator, q.denominator + 1))
        yield "denominator dropped", text(q.numerator)
    yield "number written otherwise", f"{2 * q.numerator:x}/{2 * q.denominator:x}"
    yield "number written otherwise", "0" + value
    yield "type of a value", q.numerator if 0 <= q.numerator < 10**9 else 1
    yield "type of a value", [value]


def small_integer_changes(value: int) -> Iterator[tuple[str, Any]]:
    yield "small integer + 1", value + 1
    yield "small integer − 1", value - 1
    yield "small integer negated", -value
    yield "small integer made zero", 0
    yield "type of a value", str(value)
    yield "type of a value", bool(value)
    yield "type of a value", float(value)


def digest_changes(value: str) -> Iterator[tuple[str, Any]]:
    for position in (0, 31, 63):
        digit = "0" if value[position] != "0" else "f"
        yield "digit of a digest", value[:position] + digit + value[position + 1 :]
    yield "digest written otherwise", value.upper()
    yield "digest written otherwise", value[:-1]


KINDS = ("tokens", "base", "profile", "match", "readout", "heads", "conclusion", "axiom")


def value_changes(value: Any, place: Place) -> Iterator[tuple[str, Any]]:
    """Yield (kind of change, new value) for a value that is no list and no object."""
    if isinstance(value, bool):
        yield "truth value", not value
        yield "type of a value", int(value)
    elif isinstance(value, int):
        yield from small_integer_changes(value)
    elif place[-1] in ("instance", "transcript"):
        yield from digest_changes(value)
    elif place[-1] == "kind":
        yield from (("kind of a step", kind) for kind in KINDS)
    elif place[-1] in ("format", "name"):
        yield from (("name", name) for name in ("", "rational", "radical", "exponential", value + "1"))
    else:
        yield from rational_changes(value)
    yield "type of a value", None


def list_changes(items: list[Any]) -> Iterator[tuple[str, Any]]:
    for n in range(len(items)):
        yield "list item deleted", items[:n] + items[n + 1 :]
        yield "list item repeated", [*items[: n + 1], *items[n:]]
        for m in range(n + 1, len(items)):
            swapped = list(items)
            swapped[n], swapped[m] = items[m], items[n]
            yield "neighbours swapped" if m == n + 1 else "list items swapped", swapped
            replaced = list(items)
            replaced[m] = items[n]
            yield "list item replaced by another", replaced
    yield "list emptied", []
    yield "list reversed", items[::-1]
    yield "type of a value", {}


def object_changes(value: Document) -> Iterator[tuple[str, Any]]:
    keys = list(value)
    for n, key in enumerate(keys):
        yield "key deleted", {k: v for k, v in value.items() if k != key}
        yield "key renamed", {k + "_" * (k == key): v for k, v in value.items()}
        if n:
            swapped = [*keys[: n - 1], key, keys[n - 1], *keys[n + 1 :]]
            yield "keys swapped", {k: value[k] for k in swapped}
            left, right = value[keys[n - 1]], value[key]
            yield EXCHANGE, {**value, keys[n - 1]: right, key: left}
    yield "key added", {**value, "note": "0"}
    yield "type of a value", list(value.values())


def changes(value: Any, place: Place) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        return object_changes(value)
    return list_changes(value) if isinstance(value, list) else value_changes(value, place)


# --- changes of one place ------------------------------------------------------------------------


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Yield every place of a document, itself first."""
    yield above
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from places(part, (*above, key))


def value_at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def replaced(value: Any, place: Place, new: Any) -> Any:
    """Return a copy of a document with another value at a place; what did not change is shared."""
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], new)  # type: ignore[index]  # a key or a position
    return copy


def candidates(document: Document) -> Iterator[Mutation]:
    """Yield every mutation of a certificate, and a few that change nothing."""
    for place in places(document):
        for kind, new in changes(value_at(document, place), place):
            yield Mutation(document, kind, place, new)


def mutations(document: Document) -> Iterator[Mutation]:
    """Yield every mutation of a certificate."""
    return (mutation for mutation in candidates(document) if mutation.changes_something)


# --- what may be accepted --------------------------------------------------------------------------

BOUND: Place = ("claim", "bound")
BASE: Place = ("field", "base")
EXCHANGE = "values swapped"


SAME, OTHER = "same statement", "other statement"


def may_be_accepted(mutation: Mutation) -> tuple[str, ...]:
    """Say with which statement a mutation may be accepted, the same or another; () when it may not.

    - `instance` names a file. Without `--instance` nothing is proved about it; the verdict names it. (Exchanging the
      values of two neighbouring keys of the top level leaves a certificate only for `instance` and `transcript`, and
      the hash of the transcript is repaired.)
    - `bound`: with told = heads the statement is the same ("no other model with at most H heads gives these answers").
      That a learner was told more or less is no part of it. A claim given separately tells the two apart.
    - `radicand`: the certificate is an identity in t, so it is true of the answers at every t = e^(√n/N).
    - `base`: where the coordinates of every exponent are equal, so that the product of the base numbers is what
      counts, their order does not matter: the same statement, written with another field.
    - without heads all answers are 0, in every field and for every design: other queries, or another field.
    - if all W are 0, their coordinates are 0 in every unit, and all monomials 1.
    """
    document, place = mutation.document, mutation.place
    heads, told = document["claim"]["heads"], document["claim"]["told"]
    exponents = [e for step in document["steps"] if step["kind"] == "profile" for e in step["exponents"]]
    if place == BOUND and heads == told:
        return (SAME,)
    if place == BASE and sorted(mutation.new) == sorted(value_at(document, BASE)) and all_equal(exponents):
        return (SAME, OTHER)
    other = (
        place in (("instance",), ("field", "radicand"))
        or (place == () and mutation.kind == EXCHANGE)
        or (heads == 0 and (place[:1] == ("field",) or place[:2] == ("steps", 0)))
        or (place[:1] == ("field",) and all(e == ["0"] for e in exponents))
    )
    return (OTHER,) if other else ()


def all_equal(exponents: list[list[str]]) -> bool:
    return all(len(set(exponent)) <= 1 for exponent in exponents)


# --- judging -------------------------------------------------------------------------------------

VERDICTS = {0: "accept", 1: "reject", 2: "malformed"}


def first_verdict(path: Path) -> tuple[str, str]:
    """Return the verdict of the shipped checker, and the statement or the reason."""
    try:
        return second_checker.ACCEPT, checker.check(str(path))
    except checker.Rejected as error:
        return second_checker.REJECT, error.reason
    except checker.Unreadable as error:
        return second_checker.MALFORMED, str(error)


@dataclass
class Tally:
    """Verdicts on the mutations of one certificate, by kind of change, and the wrong ones."""

    judged: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def judge(self, mutations: Iterable[Mutation], statement: str, path: Path) -> None:
        """Judge mutations of a certificate with this statement by both checkers, through a file at `path`."""
        for mutation in mutations:
            path.write_bytes(mutation.data)
            row = self.judged.setdefault(mutation.kind, Counter())
            problem = verdict_problem(path, statement, mutation, row)
            if problem:
                place = "/".join(map(str, mutation.place))
                self.wrong.append(f"{mutation.kind} at {place}: {problem}")


def verdict_problem(path: Path, statement: str, mutation: Mutation, row: Counter[str]) -> str:
    """Judge one mutation by both checkers, count it, and return what is wrong with the verdict, or nothing."""
    try:
        verdict, said = first_verdict(path)
    except Exception as error:  # noqa: BLE001  # a crash is what this program looks for
        row["crash"] += 1
        return f"crash: {error!r}"
    if verdict == second_checker.ACCEPT:
        stated = SAME if said == statement else OTHER
        row[f"accept, {stated}"] += 1
        if stated not in may_be_accepted(mutation):
            return f"accepted with the {stated}"
    else:
        row[verdict] += 1
    second = second_checker.check(path)
    return "" if second == verdict else f"the first checker says {verdict}, the second {second}"


def read(name: str) -> Document:
    document: Document = json.loads((HERE / "accept" / f"{name}.json").read_bytes())
    return document


def tally(name: str) -> Tally:
    """Judge every mutation of one certificate."""
    result = Tally()
    _, statement = first_verdict(HERE / "accept" / f"{name}.json")
    with tempfile.TemporaryDirectory() as folder:
        result.judge(mutations(read(name)), statement, Path(folder) / "mutated.json")
    return result


COLUMNS = ("reject", "malformed", f"accept, {OTHER}", f"accept, {SAME}", "crash")


def print_table(judged: dict[str, Counter[str]]) -> None:
    print(f"{'change':30} {'tried':>7}", *(f"{column:>{max(9, len(column))}}" for column in COLUMNS))
    for kind, row in [*sorted(judged.items()), ("all", sum(judged.values(), Counter()))]:
        counts = (f"{row[column]:>{max(9, len(column))}}" for column in COLUMNS)
        print(f"{kind:30} {sum(row.values()):>7}", *counts)


def main(names: list[str]) -> int:
    """Try every mutation of every accepted certificate, or of those named."""
    names = names or sorted(path.stem for path in (HERE / "accept").glob("*.json"))
    judged: dict[str, Counter[str]] = {}
    wrong = 0
    with ProcessPoolExecutor() as pool:
        for name, result in zip(names, pool.map(tally, names), strict=True):
            for line in result.wrong:
                print(f"{name}: {line}")
            wrong += len(result.wrong)
            for kind, row in result.judged.items():
                judged[kind] = judged.get(kind, Counter()) + row
    print_table(judged)
    print(f"{len(names)} certificates, {sum(sum(row.values()) for row in judged.values())} mutations, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
