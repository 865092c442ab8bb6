"""Ways to cheat in a certificate of a Transformer, each with the reason for which it must be rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from typing import Any

Document = dict[str, Any]
Change = Callable[[Document], None]


def line(document: Document) -> Document:
    found: Document = document["form"]["lines"][0]
    return found


def more(text: str) -> str:
    """Return a rational in hexadecimal plus one."""
    top, _, bottom = text.partition("/")
    return f"{int(top, 16) + int(bottom or '1', 16):x}" + (f"/{bottom}" if bottom else "")


def _first(change: Callable[[str], str], *path: Any) -> Change:
    def apply(document: Document) -> None:
        at: Any = document
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = change(at[path[-1]])

    return apply


def _swap_lines(document: Document) -> None:
    document["rays"][0]["line"], document["rays"][1]["line"] = (ray["line"] for ray in document["rays"][::-1])


def _same_line_twice(document: Document) -> None:
    document["form"]["lines"][1] = deepcopy(document["form"]["lines"][0])


def _opposite_nu(document: Document) -> None:
    line(document)["nu"] = [
        [x[1:] if x[0] == "-" else x if x == "0" else f"-{x}" for x in b] for b in line(document)["nu"]
    ]


def _double_nu(document: Document) -> None:
    line(document)["nu"] = [[f"{2 * int(x, 16):x}" for x in b] for b in line(document)["nu"]]


def _drop_a_line(document: Document) -> None:
    """Claim one line less, without its ray, cone and cell."""
    document["claim"]["lines"] -= 1
    for part in (document["form"]["lines"], document["bends"], document["rays"], document["cells"]):
        del part[-1]
    document["rays"][0]["line"] = 0


def _overlap(document: Document) -> None:
    document["bends"][1] = deepcopy(document["bends"][0])


def _flat_cone(document: Document) -> None:
    """The last cone moved to three sampled directions beyond its bend, where T is linear."""
    last = document["bends"][-1]
    beyond = [sample[:2] for sample in document["plane"]["samples"] if _turn(last["right"], sample[:2]) > 0]
    beyond.sort(key=lambda d: Fraction(-int(d[0], 16), max(1, int(d[1], 16))))
    inside = [d for d in beyond if int(d[1], 16) > 0]
    document["bends"][-1] = dict(zip(("left", "middle", "right"), (last["right"], *inside[:2]), strict=True))


def _turn(left: list[str], right: list[str]) -> int:
    (a, b), (c, d) = ([int(x, 16) for x in direction] for direction in (left, right))
    return a * d - b * c


def _unsampled(document: Document) -> None:
    middle = document["bends"][0]["middle"]
    middle[0] = more(middle[0])


def _far_displacement(document: Document) -> None:
    """Displace by so much that a line may be crossed."""
    side = document["cells"][0]["sides"][0]
    side["u"] = [x if x == "0" else f"{int(x, 16) * 10**12:x}" for x in side["u"]]


def _dependent_displacements(document: Document) -> None:
    document["cells"][0]["sides"][1] = deepcopy(document["cells"][0]["sides"][0])


def _other_cell(document: Document) -> None:
    document["cells"][0]["base"] = document["cells"][1]["base"]


def _off_the_plane(document: Document) -> None:
    p, q = ([int(x, 16) for x in document["plane"][name]] for name in "pq")
    document["plane"]["q"] = [f"{2 * x:x}" for x in p]
    del q


def _other_odd_part(document: Document) -> None:
    document["odd"]["instance"] = "0" * 64


def _bad_odd_step(document: Document) -> None:
    step = next(step for step in document["odd"]["steps"] if step["kind"] == "profile")
    step["exponents"][0][0] = more(step["exponents"][0][0])


def _forget_a_sample(document: Document) -> None:
    del document["plane"]["samples"][-1]


def _change_answer(document: Document) -> None:
    answers = document["cells"][1]["sides"][0]["answers"]
    at: Any = answers
    key: Any = -1
    while not isinstance(at[key], str):
        at, key = at[key], 0
    at[key] = more(at[key])


ATTACKS: dict[str, tuple[str, Change]] = {
    "kappa-changed": ("sample", _first(more, "form", "lines", 0, "kappa")),
    "linear-changed": ("odd", _first(more, "form", "linear", 0, 0)),
    "sample-changed": ("sample", _first(more, "plane", "samples", 3, 2)),
    "gradient-changed": ("gradient", _first(more, "cells", 0, "gradient", 0, 0)),
    "answer-changed": ("gradient", _change_answer),
    "lines-swapped-on-rays": ("ray", _swap_lines),
    "line-twice": ("lines", _same_line_twice),
    "nu-opposite": ("lines", _opposite_nu),
    "nu-not-primitive": ("lines", _double_nu),
    "line-dropped": ("sample", _drop_a_line),
    "cones-overlap": ("bend", _overlap),
    "cone-without-bend": ("bend", _flat_cone),
    "middle-not-sampled": ("bend", _unsampled),
    "ray-moved": ("ray", _first(more, "rays", 0, "ray", 0)),
    "query-may-leave-its-cell": ("crossing", _far_displacement),
    "displacements-dependent": ("cell", _dependent_displacements),
    "base-in-another-cell": ("cell", _other_cell),
    "plane-degenerate": ("plane", _off_the_plane),
    "odd-part-of-another-instance": ("odd", _other_odd_part),
    "odd-part-without-a-bound": ("odd", lambda d: d["odd"]["claim"].__setitem__("bound", False)),
    "odd-part-forged": ("interpolant", _bad_odd_step),
    "sample-forgotten": ("bend", _forget_a_sample),
    "fewer-queries-claimed": ("claim", lambda d: d["claim"].__setitem__("queries", d["claim"]["queries"] - 1)),
    "shorter-queries-claimed": ("claim", lambda d: d["claim"].__setitem__("length", d["claim"]["length"] - 1)),
}


MALFORMED: dict[str, Callable[[bytes], bytes]] = {
    "not-canonical": lambda data: data.replace(b":", b": ", 1),
    "key-missing": lambda data: (
        json.dumps({k: v for k, v in json.loads(data).items() if k != "rays"}, separators=(",", ":")).encode() + b"\n"
    ),
    "order-of-keys": lambda data: (
        json.dumps(dict(reversed(json.loads(data).items())), separators=(",", ":")).encode() + b"\n"
    ),
    "true-for-a-number": lambda data: data.replace(b'"lines":2', b'"lines":true', 1),
    "cell-missing": lambda data: _edited(data, lambda d: d["cells"].pop()),
    "direction-not-primitive": lambda data: _edited(
        data, lambda d: d["plane"]["samples"].__setitem__(0, ["2", "0", "1"])
    ),
    "side-missing": lambda data: _edited(data, lambda d: d["cells"][0]["sides"].pop()),
    "float": lambda data: data.replace(b'"dim":2', b'"dim":2.0', 1),
    "odd-of-another-kind": lambda data: _edited(
        data, lambda d: d["odd"].__setitem__("format", "exactmha/transformer/1")
    ),
    "upper-case": lambda data: _edited(data, lambda d: d["form"]["lines"][0].__setitem__("kappa", "A/B")),
    "truncated": lambda data: data[: len(data) // 2],
}


def _edited(data: bytes, change: Callable[[Document], object]) -> bytes:
    document = json.loads(data)
    change(document)
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"
