"""Write the corpus of counterexamples: `python tests/certificates/counterexample_corpus.py`.

Below `counterexamples/`: `accept/`; `reject/`, one file for every attack, named after it; `malformed/`. All are made
by hand, the true ones from one identity, which holds for every t > 0 and so in every field: with

    1/(2(1 + t)) + c/(2(1 + t²)) = ((1 + c) + c·t + t²) / (2(1 + t)(1 + t²)),   (1 + t)(1 + t²) = 1 + t + t² + t³,

one head with weights t, t², t³, 1 on the tokens e_1, …, e_4 and values c/2, 1/2, 0, (1 + c)/2 answers what two heads
with weights 1, t, t, 1 and 1, t², t², 1 do, whose only non-zero values are 1 and c, on e_4.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from forging import Document, canonical, text
from malformations import at, inserted, removed, replaced, spoiled

HERE = Path(__file__).parent / "counterexamples"

Number = int | Fraction
FIELDS: dict[str, Document] = {
    "rational": {"name": "rational", "base": ["2", "3"]},
    "radical": {"name": "radical", "beta": "2/3", "order": 4},
    "exponential": {"name": "exponential", "radicand": "2", "denominator": "3"},
}
UNITS = {"rational": 1, "radical": 4, "exponential": 3}
DEGREES = {"rational": 1, "radical": 4, "exponential": 1}
RANKS = {"rational": 2, "radical": 1, "exponential": 1}

# --- writing --------------------------------------------------------------------------------------


def rows(matrix: list[list[Number]]) -> list[list[str]]:
    return [[text(x) for x in row] for row in matrix]


def head(field: str, exponents: list[list[Number]], v: list[Number]) -> Document:
    """Return a head with these exponents (of the first generator) and v rational."""
    unit = [[Fraction(x) / UNITS[field] for x in row] for row in exponents]
    zero: list[list[Number]] = [[0] * len(v) for _ in v]
    W = [rows(unit if g == 0 else zero) for g in range(RANKS[field])]
    return {"W": W, "v": [[text(x), *["0"] * (DEGREES[field] - 1)] for x in v]}


def last_row(*entries: Number) -> list[list[Number]]:
    return [[0] * len(entries)] * (len(entries) - 1) + [list(entries)]


def query(*runs: tuple[list[Number], int]) -> list[Any]:
    return [[[text(x) for x in token], count] for token, count in runs]


def basis(scale: Number, *counts: int) -> list[Any]:
    """Return counts[i] copies of scale·e_i."""
    dim = len(counts)
    return query(*(([scale if i == j else 0 for j in range(dim)], counts[i]) for i in range(dim)))


def document(
    name: str,
    field: str,
    models: list[list[Document]],
    stated: str,
    agree: list[Any] | None = None,
    differ: list[Any] | None = None,
    no_profile: tuple[int, list[Any]] | None = None,
    dim: int = 1,
) -> Document:
    return {
        "format": "exactmha/counterexample/1",
        "name": name,
        "field": deepcopy(FIELDS[field]),
        "dim": dim,
        "models": models,
        "canonical": stated,
        "agree": agree or [],
        "differ": differ or [],
        "no_profile": None if no_profile is None else {"heads": no_profile[0], "queries": no_profile[1]},
    }


def partial_fractions(field: str) -> Document:
    """Write the identity of this file as a counterexample."""
    c = Fraction(3, 5)
    one = [head(field, last_row(1, 2, 3, 0), [c / 2, Fraction(1, 2), 0, (1 + c) / 2])]
    two = [head(field, last_row(0, 1, 1, 0), [0, 0, 0, 1]), head(field, last_row(0, 2, 2, 0), [0, 0, 0, c])]
    agree = [basis(1, 1, 1, 1, 1), basis(1, 5, 5, 5, 5), basis(-1, 1, 1, 1, 1)]
    if field == "exponential":
        agree += [basis(Fraction(1, 2), 1, 1, 1, 1), basis(Fraction(-3, 7), 2, 2, 2, 2)]
    differ = [basis(1, 1, 1, 1, 2), basis(1, 1, 1, 2, 1), query(([0, 0, 0, 1], 1))]
    name = f"partial-fractions-{field}"
    return document(name, field, [one, two], "different", agree, differ, dim=4)


def moving_copies(field: str, terms: int) -> Document:
    """k copies move with their position, so that the answers are those of no profile."""
    model = [head(field, [[1]], [1]), head(field, [[-2]], [Fraction(2, 3)])][:terms]
    asked = [query(*(([1 + i], 1) for i in range(k)), ([1], 1)) for k in range(2 * terms + 2)]
    return document(f"moving-copies-{field}", field, [model], "single", no_profile=(terms, asked))


def accepted() -> dict[str, Document]:
    """Return the counterexamples to be accepted, by name."""
    found = [partial_fractions(field) for field in FIELDS]
    found += [moving_copies(field, 2) for field in FIELDS]
    many = [head("exponential", [[i]], [i]) for i in range(1, 9)]
    also = [head("exponential", [[-i]], [i]) for i in range(1, 9)]
    far = Fraction(10**30)
    found += [
        # one token alone sees Σ v; 2 copies and another token see the 16 independent terms
        document(
            "many-heads",
            "exponential",
            [many, also],
            "different",
            [query(([Fraction(2, 3)], 7)), query(([1], 2), ([1], 3))],
            [query(([2], 2), ([1], 1)), query(([2], 1), ([3], 1), ([Fraction(1, 2)], 2))],
        ),
        document(
            "huge-exponents",
            "exponential",
            [[head("exponential", [[far]], [1])], [head("exponential", [[far + 1]], [1])]],
            "different",
            [query(([0], 1), ([0], 2)), query(([5], 999_999_999))],
            [query(([2], 1), ([1], 1)), query(([2], 3), ([-7], 1), ([1], 1))],
        ),
        document("no-heads", "rational", [[], []], "equal", [query(([Fraction(1, 3)], 2), ([5], 1))]),
        document(
            "cancelling-heads",
            "rational",
            [[], [head("rational", [[1]], [1]), head("rational", [[1]], [-1]), head("rational", [[3]], [0])]],
            "equal",
            [query(([1], 2), ([2], 1), ([3], 1))],
        ),
        document(
            "merged-heads",
            "radical",
            [
                [head("radical", [[1]], [1]), head("radical", [[2]], [3]), head("radical", [[1]], [1])],
                [head("radical", [[2]], [3]), head("radical", [[1]], [2])],
            ],
            "equal",
            [query(([1], 2), ([2], 1), ([3], 1))],
        ),
        document("equal-and-nothing-asked", "exponential", [[], []], "equal"),
        document(
            "everything-at-once",
            "radical",
            [moving_copies("radical", 1)["models"][0], [head("radical", [[2]], [1])]],
            "different",
            [query(([3], 4))],
            [query(([2], 1), ([1], 1))],
            (1, moving_copies("radical", 1)["no_profile"]["queries"]),
        ),
        document("never-constant", "rational", [[head("rational", [[1]], [1])]], "single", no_profile=(0, TWO)),
    ]
    irrational = document(
        "irrational-readout",
        "radical",
        [[head("radical", [[1]], [1])], [head("radical", [[1]], [1])]],
        "different",
        [query(([0], 1), ([0], 1))],
        [query(([2], 1), ([1], 1)), query(([1], 1))],
    )
    irrational["models"][0][0]["v"] = [["1", "0", "1/2", "-3"]]
    weightless = document("rank-zero", "rational", [[], [head("rational", [[0]], [1])]], "different", [query(([0], 3))])
    weightless["field"]["base"], weightless["models"][1][0]["W"] = [], []
    weightless["differ"] = [query(([1], 1), ([2], 1), ([4], 1))]
    return {each["name"]: each for each in (*found, irrational, weightless)}


TWO = [query(([1], 1)), query(([2], 1), ([1], 1))]

# --- attacks --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """A change of an accepted counterexample, and which part of it must object, and why."""

    target: str
    change: Callable[[Document], None]
    where: str
    reason: str


F = "partial-fractions-"
C = "moving-copies-"


def several(*changes: Callable[[Document], None]) -> Callable[[Document], None]:
    def change(found: Document) -> None:
        for each in changes:
            each(found)

    return change


def moved(source: str, position: int, target: str) -> Callable[[Document], None]:
    return lambda found: found[target].append(found[source].pop(position))


def final_run_first(found: Document) -> None:
    """Turn the last run of the third query into the first one, so that another token is the final one."""
    runs = found["agree"][2]
    runs[2][0][3] = "1"
    runs.insert(0, runs.pop())


def models_swapped(found: Document) -> None:
    found["models"].reverse()


def true_profile(terms: int) -> Callable[[Document], None]:
    def change(found: Document) -> None:
        asked = [query(*([([2], k)] if k else []), ([1], 1)) for k in range(2 * terms + 2)]
        found["no_profile"] = {"heads": terms, "queries": asked}

    return change


def same_query(found: Document) -> None:
    found["no_profile"]["queries"] = [found["no_profile"]["queries"][-1]] * 6


def in_every_field(name: str, change: Callable[[Document], None], where: str, reason: str) -> dict[str, Attack]:
    return {f"{name}-{field}": Attack(F + field, change, where, reason) for field in FIELDS}


ATTACKS: dict[str, Attack] = {
    "base-not-coprime": Attack("no-heads", at("field/base", ["2", "6"]), "the header", "field"),
    "beta-a-square": Attack("merged-heads", at("field/beta", "4/9"), "the header", "field"),
    "radicand-zero": Attack("many-heads", at("field/radicand", "0"), "the header", "field"),
    "weight-leaves-the-field-rational": Attack(F + "rational", at("agree/0/0/0/0", "1/2"), "agree[0]", "field"),
    "weight-leaves-the-field-radical": Attack(F + "radical", at("differ/1/3/0/3", "1/2"), "differ[1]", "field"),
    "weight-leaves-the-field-in-no-profile": Attack(
        C + "radical", at("no_profile/queries/2/0/0/0", "1/3"), "no_profile[2]", "field"
    ),
    "weight-leaves-the-field-in-cancelling-heads": Attack(
        "cancelling-heads", at("agree/0/0/0/0", "1/2"), "agree[0]", "field"
    ),
    "nothing-claimed": Attack(C + "rational", at("no_profile", None), "the header", "claim"),
    "one-model-called-different": Attack(C + "rational", at("canonical", "different"), "the header", "claim"),
    "two-models-called-single": Attack("no-heads", at("canonical", "single"), "the header", "claim"),
    "one-model-agrees": Attack(C + "rational", at("agree", [query(([1], 1))]), "the header", "claim"),
    "one-model-differs": Attack(C + "rational", at("differ", [query(([1], 1))]), "the header", "claim"),
    "second-model-dropped": Attack(F + "rational", removed("models/1"), "the header", "claim"),
    "equal-models-called-different": Attack("merged-heads", at("canonical", "different"), "the models", "canonical"),
    "no-heads-called-different": Attack("no-heads", at("canonical", "different"), "the models", "canonical"),
    "cancelling-heads-called-different": Attack(
        "cancelling-heads", at("canonical", "different"), "the models", "canonical"
    ),
    "equal-called-with-a-difference": Attack("many-heads", at("canonical", "equal"), "the models", "canonical"),
    "heads-do-not-cancel": Attack("cancelling-heads", at("models/1/1/v/0/0", "-2"), "the models", "canonical"),
    "merged-readout-altered": Attack("merged-heads", at("models/0/2/v/0/3", "1/2"), "the models", "canonical"),
    "merged-weight-altered": Attack("merged-heads", at("models/0/2/W/0/0/0", "1/2"), "the models", "canonical"),
    **in_every_field("different-models-called-equal", at("canonical", "equal"), "the models", "canonical"),
    **in_every_field("second-model-a-copy", lambda d: d.update(models=[d["models"][0]] * 2), "the models", "canonical"),
    **in_every_field("weight-altered", at("models/0/0/W/0/3/1", "0"), "agree[0]", "agree"),
    **in_every_field("weight-altered-in-second-model", at("models/1/1/W/0/3/2", "0"), "agree[0]", "agree"),
    **in_every_field("readout-altered", at("models/0/0/v/2/0", "1"), "agree[0]", "agree"),
    **in_every_field("readout-altered-in-second-model", at("models/1/1/v/3/0", "1"), "agree[0]", "agree"),
    **in_every_field("head-dropped", removed("models/1/1"), "agree[0]", "agree"),
    **in_every_field("token-altered", at("agree/1/2/0/2", "2"), "agree[1]", "agree"),
    **in_every_field("count-altered", at("agree/0/3/1", 2), "agree[0]", "agree"),
    **in_every_field("run-dropped", removed("agree/0/0"), "agree[0]", "agree"),
    **in_every_field("run-repeated", inserted("agree/0/0"), "agree[0]", "agree"),
    **in_every_field("final-token-altered", at("agree/0/3/0/3", "2"), "agree[0]", "agree"),
    **in_every_field("final-run-moved-to-the-front", final_run_first, "agree[2]", "agree"),
    **in_every_field("difference-called-agreement", moved("differ", 0, "agree"), "agree[3]", "agree"),
    **in_every_field("agreement-called-difference", moved("agree", 0, "differ"), "differ[3]", "differ"),
    "difference-of-equal-models": Attack("merged-heads", moved("agree", 0, "differ"), "differ[0]", "differ"),
    "difference-of-no-heads": Attack("no-heads", moved("agree", 0, "differ"), "differ[0]", "differ"),
    "huge-exponents-agree": Attack("huge-exponents", moved("differ", 1, "agree"), "agree[2]", "agree"),
    "independent-terms-agree": Attack("many-heads", moved("differ", 0, "agree"), "agree[2]", "agree"),
    "irrational-readout-agrees": Attack("irrational-readout", moved("differ", 1, "agree"), "agree[1]", "agree"),
    "rank-zero-agrees": Attack("rank-zero", moved("differ", 0, "agree"), "agree[1]", "agree"),
    **{
        f"profile-called-none-{field}": Attack(C + field, true_profile(2), "no_profile", "no-profile")
        for field in FIELDS
    },
    "constant-called-none": Attack(C + "rational", same_query, "no_profile", "no-profile"),
    "profile-of-fewer-terms": Attack(C + "exponential", true_profile(3), "no_profile", "no-profile"),
    "models-swapped-in-no-profile": Attack(
        "everything-at-once",
        several(models_swapped, true_profile(1)),
        "no_profile",
        "no-profile",
    ),
}
# this one has five queries in `agree`, the others three
ATTACKS["difference-called-agreement-exponential"] = Attack(
    F + "exponential", moved("differ", 0, "agree"), "agree[5]", "agree"
)

# --- no certificates at all -----------------------------------------------------------------------

M = F + "radical"
MALFORMED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "empty-file": (M, lambda _: b""),
    "truncated": (M, lambda data: data[:300]),
    "no-final-newline": (M, lambda data: data[:-1]),
    "two-documents": (M, lambda data: data + data),
    "white-space": (M, replaced(b",", b", ")),
    "escaped-character": (M, replaced(b'"name"', b'"\\u006eame"')),
    "wrong-version": (M, replaced(b"counterexample/1", b"counterexample/2")),
    "a-recovery": (M, replaced(b"counterexample/1", b"certificate/1")),
    "key-order": (M, replaced(b'"agree":', b'"aggree":')),
    "keys-swapped": (M, spoiled(lambda d: d.update(agree=d.pop("agree")))),
    "keys-of-a-head-swapped": (M, spoiled(lambda d: d["models"][0][0].update(W=d["models"][0][0].pop("W")))),
    "duplicate-key": (M, replaced(b'"dim":4,', b'"dim":4,"dim":4,')),
    "unknown-key": (M, spoiled(at("trusted", True))),
    "missing-key": (M, spoiled(removed("no_profile"))),
    "missing-readout": (M, spoiled(removed("models/0/0/v"))),
    "name-empty": (M, spoiled(at("name", ""))),
    "name-too-long": (M, spoiled(at("name", "a" * 65))),
    "name-in-upper-case": (M, spoiled(at("name", "Partial"))),
    "name-with-a-space": (M, spoiled(at("name", "no heads"))),
    "name-with-a-newline": (M, replaced(b'"name":"partial', b'"name":"\\npartial')),
    "name-not-ascii": (M, replaced(b'"name":"partial', b'"name":"\\u0661partial')),
    "name-a-number": (M, spoiled(at("name", 1))),
    "unknown-field": (M, spoiled(at("field/name", "complex"))),
    "field-a-list": (M, spoiled(at("field", ["radical"]))),
    "dimension-zero": (M, spoiled(at("dim", 0))),
    "dimension-true": ("no-heads", spoiled(at("dim", True))),
    "dimension-too-small": (M, spoiled(at("dim", 3))),
    "dimension-beyond-limits": (M, spoiled(at("dim", 129))),
    "no-models": (M, spoiled(at("models", []))),
    "three-models": (M, spoiled(inserted("models/0"))),
    "models-an-object": (M, spoiled(at("models", {}))),
    "model-null": (M, spoiled(at("models/1", None))),
    "too-many-heads": ("cancelling-heads", spoiled(lambda d: d["models"][1].extend(d["models"][1][:1] * 510))),
    "weights-ragged": (M, spoiled(removed("models/0/0/W/0/1/0"))),
    "weights-of-two-units": (M, spoiled(inserted("models/0/0/W/0"))),
    "readout-of-one-coordinate": (M, spoiled(at("models/0/0/v/0", ["1"]))),
    "readout-too-long": (M, spoiled(inserted("models/0/0/v/0"))),
    "readout-a-string": (M, spoiled(at("models/0/0/v/0", "1"))),
    "canonical-of-another-name": (M, spoiled(at("canonical", "unknown"))),
    "canonical-true": (M, spoiled(at("canonical", True))),
    "canonical-a-list": (M, spoiled(at("canonical", ["different"]))),
    "agree-null": (M, spoiled(at("agree", None))),
    "differ-an-object": (M, spoiled(at("differ", {}))),
    "query-empty": (M, spoiled(at("agree/0", []))),
    "query-an-object": (M, spoiled(at("agree/0", {}))),
    "query-of-too-many-runs": (M, spoiled(lambda d: d["agree"][0].extend(d["agree"][0][:1] * 253))),
    "run-of-three": (M, spoiled(at("agree/0/0", [["0"] * 4, 1, 1]))),
    "run-without-count": (M, spoiled(at("agree/0/0", [["0"] * 4]))),
    "token-too-short": (M, spoiled(removed("agree/0/0/0/0"))),
    "token-of-numbers": (M, spoiled(at("agree/0/0/0/0", 1))),
    "count-zero": (M, spoiled(at("agree/0/0/1", 0))),
    "count-negative": (M, spoiled(at("agree/0/0/1", -1))),
    "count-true": (M, spoiled(at("agree/0/0/1", True))),
    "count-a-string": (M, spoiled(at("agree/0/0/1", "1"))),
    "count-of-ten-digits": (M, spoiled(at("agree/0/0/1", 1_000_000_000))),
    "count-a-float": (M, replaced(b"],1]", b"],1.0]")),
    "length-beyond-limits": (M, spoiled(several(at("agree/0/0/1", 999_999_999), at("agree/0/1/1", 2)))),
    "unreduced-fraction": (M, spoiled(at("models/0/0/v/0/0", "2/4"))),
    "denominator-one": (M, spoiled(at("agree/0/0/0/0", "1/1"))),
    "leading-zero": (M, spoiled(at("agree/0/0/0/0", "01"))),
    "upper-case-hexadecimal": (M, spoiled(at("agree/0/0/0/0", "A"))),
    "monomial-beyond-limits": (M, spoiled(at("models/0/0/W/0/3/0", "f" * 7))),
    "monomial-beyond-limits-rational": (F + "rational", spoiled(at("models/0/0/W/0/3/0", "f" * 7))),
    "no-profile-a-list": (M, spoiled(at("no_profile", []))),
    "no-profile-keys-swapped": (
        C + "rational",
        spoiled(lambda d: d["no_profile"].update(heads=d["no_profile"].pop("heads"))),
    ),
    "no-profile-of-one-query-less": (C + "rational", spoiled(removed("no_profile/queries/0"))),
    "no-profile-with-other-heads": (C + "rational", spoiled(at("no_profile/heads", 1))),
    "no-profile-heads-a-string": (C + "rational", spoiled(at("no_profile/heads", "2"))),
    "no-profile-heads-negative": (C + "rational", spoiled(at("no_profile/heads", -1))),
}


def corpus() -> dict[str, bytes]:
    """Return the whole corpus: path below `counterexamples` → bytes."""
    documents = accepted()
    files = {f"accept/{name}.json": canonical(each) for name, each in documents.items()}
    for name, attack in ATTACKS.items():
        changed = deepcopy(documents[attack.target])
        attack.change(changed)
        files[f"reject/{name}.json"] = canonical(changed)
    for name, (target, change) in MALFORMED.items():
        files[f"malformed/{name}.json"] = change(canonical(documents[target]))
    return files


def main() -> None:
    files = corpus()
    for path in HERE.glob("*/*.json"):
        path.unlink()
    for name, data in files.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(data)
    for folder in ("accept", "reject", "malformed"):
        sizes = [len(data) for name, data in files.items() if name.startswith(folder)]
        print(f"{folder:10} {len(sizes):4} files {sum(sizes):8} bytes")


if __name__ == "__main__":
    main()
