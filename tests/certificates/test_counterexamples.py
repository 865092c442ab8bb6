"""Certificates of counterexamples: the corpus, both checkers, mutations, random models, claims, limits."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import second_counterexample
from counterexample_corpus import ATTACKS, FIELDS, HERE, MALFORMED, accepted, corpus, document, head, last_row, query
from flint import fmpq
from forging import Document, canonical
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from malformations import at
from mutation_statistics import Place, changes, places, replaced, value_at

from exactmha.attention import Attention, Model
from exactmha.certificates import checker
from exactmha.certificates.counterexample import counterexample_text
from exactmha.cli.main import run as command_line
from exactmha.counterexamples.build import build
from exactmha.counterexamples.catalogue import CATALOGUE
from exactmha.counterexamples.setting import Setting
from exactmha.errors import InputError
from exactmha.fields import ExponentialField, RadicalField, RationalField
from exactmha.heads import Head
from exactmha.instance import to_text
from exactmha.outcome import Outcome
from exactmha.sequences import TokenSequence

ACCEPTED = accepted()
FOLDERS = {folder: sorted(path.stem for path in (HERE / folder).glob("*.json")) for folder in ("accept", "reject")}
Checked = tuple[int, str, str]
Check = Callable[..., Checked]
Judge = Callable[[Document], tuple[str, str]]


def verdict(path: Path) -> tuple[str, str]:
    """Return accept and the statement; or reject and the place and reason; or malformed and the message."""
    try:
        return "accept", checker.check(str(path))
    except checker.Rejected as error:
        return "reject", f"{error.step}: {error.reason}"
    except checker.Unreadable as error:
        return "malformed", str(error)


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Judge a document through a file."""
    path = tmp_path / "counterexample.json"

    def run(written: Document) -> tuple[str, str]:
        path.write_bytes(canonical(written))
        return verdict(path)

    return run


# --- the corpus -----------------------------------------------------------------------------------


def test_the_corpus_is_what_the_script_writes() -> None:
    on_disk = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in HERE.glob("*/*.json")}
    assert on_disk == corpus()


def test_the_corpus_covers_what_it_should() -> None:
    assert {attack.reason for attack in ATTACKS.values()} == {
        *("field", "claim", "canonical", "agree", "differ", "no-profile")
    }
    assert {d["field"]["name"] for d in ACCEPTED.values()} == set(FIELDS)
    assert {d["dim"] for d in ACCEPTED.values()} == {1, 4}
    assert {len(model) for d in ACCEPTED.values() for model in d["models"]} == {0, 1, 2, 3, 8}
    assert {len(runs) for d in ACCEPTED.values() for runs in (*d["agree"], *d["differ"])} == {1, 2, 3, 4}
    assert min(len(FOLDERS["accept"]), len(FOLDERS["reject"]), len(MALFORMED)) >= 16
    assert sum(path.stat().st_size for path in HERE.glob("*/*.json")) < 300_000


@pytest.mark.parametrize("name", FOLDERS["accept"])
def test_accepted(name: str, check: Check) -> None:
    path = HERE / "accept" / f"{name}.json"
    status, out, err = check(path)
    assert (status, err) == (0, "")
    assert out.startswith("PROVED: ")
    assert second_counterexample.check(path) == "accept"


@pytest.mark.parametrize("name", FOLDERS["reject"])
def test_rejected(name: str, check: Check) -> None:
    path, attack = HERE / "reject" / f"{name}.json", ATTACKS[name]
    status, out, err = check(path)
    assert (status, err) == (1, "")
    assert out.startswith(f"REJECTED: {attack.where}: {attack.reason}: ")
    assert out.count("\n") == 1
    assert second_counterexample.check(path) == "reject"


@pytest.mark.parametrize("name", MALFORMED)
def test_refused(name: str, check: Check) -> None:
    path = HERE / "malformed" / f"{name}.json"
    status, out, err = check(path)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert second_counterexample.check(path) == "malformed"


@pytest.mark.parametrize(
    ("file", "status"),
    [
        *((f"accept/partial-fractions-{field}", 0) for field in FIELDS),
        ("accept/moving-copies-radical", 0),
        ("reject/count-altered-radical", 1),
        ("malformed/count-zero", 2),
    ],
)
def test_one_file_alone_is_enough(file: str, status: int, check: Check, tmp_path: Path) -> None:
    """The checker, copied away from the package, judges a counterexample with nothing but the standard library."""
    alone, path = tmp_path / "checker.py", HERE / f"{file}.json"
    shutil.copy(checker.__file__, alone)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), str(path)],
        env={}, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (status, *check(path)[1:])
    assert check(path)[0] == status


def test_the_command_runs_the_same_checker(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    path = HERE / "accept" / "everything-at-once.json"
    assert command_line(["check", str(path), "--claim", '{"canonical":"different"}']) == 0
    assert capsys.readouterr().out == check(path)[1]
    assert command_line(["check", str(path), "--claim", '{"canonical":"equal"}']) == 1


# --- what the verdict says -----------------------------------------------------------------------


def test_the_verdict_names_what_is_proved_and_what_it_rests_on(check: Check) -> None:
    path = HERE / "accept" / "everything-at-once.json"
    _, out, _ = check(path)
    lines = out.splitlines()
    assert "canonical sets of the two models (with 1 and 1 heads; radical field" in lines[0]
    assert lines[0].endswith("are different, so some query tells them apart.")
    assert lines[1].endswith("exactly the same answer to each of 1 query.")
    assert lines[2].endswith("different answers to each of 1 query.")
    assert "first model" in lines[3]
    assert "4 queries are the values at k = 0..3 of no function σ + Σ c·k r/(1 + k r) with at most 1 term," in lines[3]
    assert hashlib.sha256(path.read_bytes()).hexdigest() in lines[4]
    assert "RESTS ON: proofs/canonical-uniqueness, proofs/loewner-rank" in out
    assert "Lindemann" not in out
    _, out, _ = check(HERE / "accept" / "equal-and-nothing-asked.json")
    assert "are equal, so they are one function" in out
    assert "answer" not in out
    assert "Lindemann" in out
    _, out, _ = check(HERE / "accept" / "moving-copies-exponential.json")
    assert "canonical" not in out
    assert "the answers of the model (exponential field" in out


# --- a claim given separately, and the instance ----------------------------------------------------

CLAIM = {
    "name": "everything-at-once",
    "heads": [1, 1],
    "dim": 1,
    "field": "radical",
    "canonical": "different",
    "agree": 1,
    "differ": 1,
    "no_profile": 1,
}
WRONG = {
    "name": ["everything", None],
    "heads": [[1], [1, 2], [True, 1], 1, ["1", "1"]],
    "dim": [2, True, "1"],
    "field": ["rational", ["radical"]],
    "canonical": ["equal", True],
    "agree": [0, True, [1]],
    "differ": [2, None],
    "no_profile": [None, 2, True],
}


@pytest.mark.parametrize("key", CLAIM)
def test_claims(key: str, check: Check) -> None:
    path = HERE / "accept" / "everything-at-once.json"
    assert check(path, "--claim", json.dumps({key: CLAIM[key]}))[0] == 0
    assert check(path, "--claim", json.dumps(CLAIM))[0] == 0
    for value in WRONG[key]:
        status, out, _ = check(path, "--claim", json.dumps({**CLAIM, key: value}))
        assert status == 1
        assert out.startswith("REJECTED: the claim: claim: ")


@pytest.mark.parametrize("claim", ["{", "[]", '{"told":1}', '{"queries":1}', '{"dim":1.0}', '{"dim":1,"dim":1}'])
def test_no_claim(claim: str, check: Check) -> None:
    assert check(HERE / "accept" / "everything-at-once.json", "--claim", claim)[0] == 2


def model_of(written: Document, number: int) -> Model:
    """Read one model of a document with the package's own types."""
    description, dim = written["field"], written["dim"]

    def rational(text: str) -> fmpq:
        top, _, bottom = text.partition("/")
        return fmpq(int(top, 16), int(bottom or "1", 16))

    field: Any
    if description["name"] == "rational":
        field = RationalField(tuple(int(b, 16) for b in description["base"]))
    elif description["name"] == "radical":
        field = RadicalField(rational(description["beta"]), description["order"])
    else:
        field = ExponentialField(int(description["radicand"], 16), int(description["denominator"], 16))
    heads = [
        Head(
            tuple(tuple(tuple(rational(x) for x in row) for row in m) for m in each["W"]),
            tuple(tuple(rational(x) for x in scalar) for scalar in each["v"]),
        )
        for each in written["models"][number]
    ]
    return Model(field, dim, tuple(heads))


@pytest.mark.parametrize(
    "name", ["merged-heads", "cancelling-heads", "irrational-readout", *(f"partial-fractions-{f}" for f in FIELDS)]
)
def test_the_instance_is_the_first_model(name: str, check: Check, tmp_path: Path) -> None:
    instance = tmp_path / "instance.json"
    instance.write_text(to_text(model_of(ACCEPTED[name], 0)), encoding="utf-8")
    status, out, _ = check(HERE / "accept" / f"{name}.json", "--instance", str(instance))
    assert status == 0
    assert "PROVED: the canonical heads of the first model are those of this instance." in out
    instance.write_text(to_text(model_of(ACCEPTED[name], 1)), encoding="utf-8")
    status, out, _ = check(HERE / "accept" / f"{name}.json", "--instance", str(instance))
    if ACCEPTED[name]["canonical"] == "equal":
        assert status == 0
    else:
        assert out.startswith("REJECTED: the instance: instance: ")


def test_no_instance(check: Check, tmp_path: Path) -> None:
    path = HERE / "accept" / "no-heads.json"
    assert check(path, "--instance", str(tmp_path))[0] == 2
    assert check(path, "--instance", str(path))[0] == 2


# --- the writer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_writer_writes_what_stands_in_the_corpus(name: str) -> None:
    written = ACCEPTED[name]
    models = [model_of(written, i) for i in range(len(written["models"]))]
    agree, differ = ([sequence(q) for q in written[key]] for key in ("agree", "differ"))
    profile = written["no_profile"]
    told = None if profile is None else (profile["heads"], [sequence(q) for q in profile["queries"]])
    text = counterexample_text(name, models, written["canonical"], agree, differ, told)
    assert text.encode() == canonical(written)


def sequence(runs: list[Any]) -> TokenSequence:
    numbers = [(tuple(Fraction(*(int(p, 16) for p in x.split("/"))) for x in token), count) for token, count in runs]
    return TokenSequence([(tuple(fmpq(x.numerator, x.denominator) for x in token), n) for token, n in numbers])


def test_the_writer_refuses() -> None:
    one, other = Model(RationalField((2,)), 1, ()), Model(RationalField((3,)), 1, ())
    with pytest.raises(InputError, match="one field"):
        counterexample_text("a", [one, other], "equal", [], [])
    with pytest.raises(InputError, match="one dimension"):
        counterexample_text("a", [one, Model(RationalField((2,)), 2, ())], "equal", [], [])
    with pytest.raises(InputError, match="lower-case"):
        counterexample_text("No heads", [one, one], "equal", [], [])
    with pytest.raises(InputError, match="one or two"):
        counterexample_text("a", [], "equal", [], [])


@pytest.mark.parametrize(("name", "field"), [(a.name, field) for a in CATALOGUE for field in a.fields])
def test_every_counterexample_of_the_catalogue_is_certified(
    name: str, field: str, judge: Judge, tmp_path: Path
) -> None:
    (assumption,) = (a for a in CATALOGUE if a.name == name)
    built = build(assumption, Setting(*assumption.least, field, 1)).construction
    stated = "single" if len(built.models) == 1 else "equal" if built.same else "different"
    text = counterexample_text(name, built.models, stated, built.agree, built.differ, built.no_profile)
    path = tmp_path / "catalogue.json"
    path.write_text(text, encoding="utf-8")
    assert verdict(path)[0] == "accept"
    assert second_counterexample.check(path) == "accept"
    other = {"single": "equal", "equal": "different", "different": "equal"}[stated]
    assert judge({**json.loads(text), "canonical": other})[0] == "reject"


# --- changing one place ----------------------------------------------------------------------------


def changes_at(value: Any, place: Place) -> Iterator[tuple[str, Any]]:
    if place == ("canonical",):
        return iter([("name", x) for x in ("equal", "different", "single", "", None, 0)])
    if value is None:
        return iter([("type of a value", x) for x in (False, 0, [], {})])
    return changes(value, place)


def mutated(written: Document) -> Iterator[tuple[str, Document]]:
    for place in places(written):
        for kind, new in changes_at(value_at(written, place), place):
            changed = replaced(written, place, new)
            if canonical(changed) != canonical(written):
                yield f"{kind} at {'/'.join(map(str, place))}", changed


@pytest.mark.parametrize(
    ("name", "every"),
    [
        *(("everything-at-once", 1), ("merged-heads", 1), ("rank-zero", 1), ("cancelling-heads", 1)),
        *((f"partial-fractions-{field}", 17) for field in FIELDS),
        *((f"moving-copies-{field}", 7) for field in FIELDS),
    ],
)
def test_mutations_are_judged_as_the_second_checker_does(name: str, every: int, judge: Judge, tmp_path: Path) -> None:
    """Whatever one change makes of a counterexample: the verdict is right, and no two files state the same."""
    path = tmp_path / "counterexample.json"
    _, statement = verdict(HERE / "accept" / f"{name}.json")
    tally: Counter[str] = Counter()
    for what, changed in list(mutated(ACCEPTED[name]))[::every]:
        found, said = judge(changed)
        assert found == second_counterexample.check(path), what
        assert said != statement, what
        tally[found] += 1
    assert tally["malformed"] > 20
    assert tally["reject"] > 2 or name.startswith("moving-copies")  # a change leaves them no profile


def test_changes_of_a_number_that_must_be_found_out(judge: Judge) -> None:
    """Every entry of W and v that the identity needs, every count and every coordinate of a token of its queries."""
    for field in FIELDS:
        written = ACCEPTED[f"partial-fractions-{field}"]
        needed = [f"models/0/0/W/0/3/{j}" for j in range(4)] + [f"models/0/0/v/{i}/0" for i in range(4)]
        needed += [f"models/1/{h}/W/0/3/{j}" for h in (0, 1) for j in range(4)]
        needed += [f"models/1/{h}/v/{i}/0" for h in (0, 1) for i in range(4)]
        needed += [f"agree/0/{run}/0/{run}" for run in range(4)]
        for place in needed:
            for new in ("7", "-b"):
                changed = deepcopy(written)
                at(place, new)(changed)
                assert judge(changed) == ("reject", "agree[0]: agree"), (field, place)
        for run in range(4):
            changed = deepcopy(written)
            at(f"agree/0/{run}/1", 2)(changed)
            assert judge(changed) == ("reject", "agree[0]: agree"), (field, run)


# --- random models and queries ----------------------------------------------------------------------

SMALL = st.integers(-2, 2)


@st.composite
def questions(draw: st.DrawFn) -> Document:
    """Draw two small models over one field, and one query; often they agree, in many ways."""
    field = draw(st.sampled_from(sorted(FIELDS)))
    dim = draw(st.integers(1, 3))
    vectors = st.lists(SMALL, min_size=dim, max_size=dim)
    matrices = st.lists(vectors, min_size=dim, max_size=dim)
    heads = st.builds(lambda W, v: head(field, W, v), matrices, vectors)
    first = draw(st.lists(heads, max_size=3))
    kind = draw(st.sampled_from(["random", "random", "permuted", "unseen", "split"]))
    second = list(draw(st.permutations(first)))
    if kind == "random":
        second = draw(st.lists(heads, max_size=3))
    if kind == "split":
        second += [head(field, draw(matrices), [0] * dim)]
    if kind == "unseen":  # tokens whose last coordinate is 0 do not see the last row, column and entry
        second = deepcopy(second)
        for each in second:
            each["W"][0][-1] = [str(abs(x)) for x in draw(vectors)]
            each["v"][-1][0] = str(abs(draw(SMALL)))
    scale = draw(st.sampled_from([1, 1, 2, 3])) if field == "exponential" else 1
    length = draw(st.sampled_from([1, 2, 3, 3, 4, 4]))
    tokens = draw(st.lists(vectors, min_size=length, max_size=length))
    if kind == "unseen":
        tokens = [[*token[:-1], 0] for token in tokens]
    runs = [([Fraction(x, scale) for x in token], draw(st.integers(1, 3))) for token in tokens]
    found = document("random", field, [first, second], "equal", [query(*runs)], dim=dim)
    same = model_of(found, 0).canonical().heads == model_of(found, 1).canonical().heads
    return {**found, "canonical": "equal" if same else "different"}


def assert_as_attention_says(found: Document, judge: Judge) -> bool:
    (runs,) = found["agree"]
    values = [Attention(model_of(found, i))(sequence(runs)) for i in (0, 1)]
    outcome = values[0].equals(values[1])
    assert outcome is not Outcome.UNDECIDED
    equal = outcome is Outcome.HOLDS
    assert judge(found)[0] == ("accept" if equal else "reject")
    differ = {**found, "agree": [], "differ": found["agree"]}
    assert judge(differ)[0] == ("reject" if equal else "accept")
    other = {"equal": "different", "different": "equal"}[found["canonical"]]
    assert judge({**found, "canonical": other}) == ("reject", "the models: canonical")
    return equal


@settings(
    max_examples=600, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(found=questions())
def test_the_checker_agrees_with_attention(found: Document, judge: Judge) -> None:
    equal = assert_as_attention_says(found, judge)
    event(f"{found['field']['name']}, {len(found['agree'][0])} runs, {'equal' if equal else 'different'}")


def test_the_checker_agrees_with_attention_on_general_queries(judge: Judge) -> None:
    """At least three distinct tokens, and heads told apart by the identity of the corpus or not at all."""
    stream = random.Random(1)
    tally: Counter[tuple[str, bool]] = Counter()
    for field in FIELDS:
        written = ACCEPTED[f"partial-fractions-{field}"]
        for _ in range(60):
            scale = Fraction(stream.choice([1, -1, 2]), stream.choice([1, 2, 3]) if field == "exponential" else 1)
            factor = stream.choice([1, 2])
            counts = [factor] * 4 if stream.random() < 0.5 else [stream.randint(1, 3) for _ in range(4)]
            runs = [([scale if i == j else 0 for j in range(4)], counts[i]) for i in range(4)]
            head_runs = runs[:3]
            stream.shuffle(head_runs)
            found = {**written, "agree": [query(*head_runs, runs[3])], "differ": []}
            tally[field, assert_as_attention_says(found, judge)] += 1
    assert min(tally.values()) > 10
    assert len(tally) == 6


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_profiles_are_never_called_none(field: str, judge: Judge) -> None:
    """True profiles of up to n heads are refused as `no_profile` of n, and accepted as one of fewer terms."""
    stream = random.Random(2)
    for heads in range(4):
        model = [head(field, [[i + 1]], [stream.choice([1, 2, -3])]) for i in range(heads)]
        for terms in range(4):
            asked = [query(*([([2], k)] if k else []), ([1], 1)) for k in range(2 * terms + 2)]
            found = document("profile", field, [model], "single", no_profile=(terms, asked))
            expected = ("reject", "no_profile: no-profile") if terms >= heads else ("accept", judge(found)[1])
            assert judge(found) == expected


def test_no_profile_with_fractional_exponents(judge: Judge) -> None:
    """Exponents over several denominators: the images use one root of t for all queries."""
    model = [head("exponential", [[1]], [1])]
    asked = [query(*([([Fraction(1, k + 1)], k)] if k else []), ([1], 1)) for k in range(4)]
    assert judge(document("fractions", "exponential", [model], "single", no_profile=(1, asked)))[0] == "accept"


@pytest.mark.parametrize(("beta", "order"), [("2", 1), ("3", 2), ("2/3", 8), ("5", 9), ("6", 45), ("a", 96)])
def test_no_profile_in_radical_fields_of_every_degree(beta: str, order: int, judge: Judge) -> None:
    found = deepcopy(ACCEPTED["moving-copies-radical"])
    found["field"] = {"name": "radical", "beta": beta, "order": order}
    for each, logit in zip(found["models"][0], ("1", "-1/" + f"{order:x}" if order > 1 else "-1"), strict=True):
        each["W"], each["v"] = [[[logit]]], [["1", *["0"] * (order - 1)]]
    assert judge(found)[0] == "accept"


# --- limits and hostile files ------------------------------------------------------------------------


def far_apart(count: int) -> Document:
    """Write the sum of `count` copies of the identity of the corpus, at exponents so far apart that none collect."""
    one, two = [], []
    for scale in (100**i for i in range(count)):
        row = lambda *entries: last_row(*(scale * x for x in entries))  # noqa: B023  # used at once
        one.append(head("exponential", row(1, 2, 3, 0), [Fraction(3, 10), Fraction(1, 2), 0, Fraction(4, 5)]))
        two.append(head("exponential", row(0, 1, 1, 0), [0, 0, 0, 1]))
        two.append(head("exponential", row(0, 2, 2, 0), [0, 0, 0, Fraction(3, 5)]))
    return {**ACCEPTED["partial-fractions-exponential"], "models": [one, two]}


def test_an_expansion_beyond_the_limit_is_refused(judge: Judge) -> None:
    """What is true but too long to multiply out is not decided; that answers differ is cheap to see."""
    assert judge(far_apart(2))[0] == "accept"
    long = far_apart(6)
    assert judge(long) == ("malformed", "a comparison needs more than 2000000 products of terms")
    assert judge({**long, "agree": []})[0] == "accept"
    assert judge({**long, "agree": long["differ"][:1]}) == ("reject", "agree[0]: agree")


HUGE = 16**16_600


def hostile(name: str) -> Document:
    """Write a file that would need long computations."""
    line = document("hostile", "rational", [[head("rational", [[1]], [1])], []], "different")
    far, farther = ([query(([n], 1), ([1], 1))] for n in (2_000_001, 2_000_002))
    many = document(
        "hostile", "exponential", [[head("exponential", [[i]], [i]) for i in range(1, 200)], []], "different"
    )
    if name == "long monomials":
        return {**line, "differ": far * 30}
    if name == "long monomials of high degree":
        asked = [query(([1_999_990], 1), ([1], 1))]
        radical = document("hostile", "radical", [[{"W": [[["1"]]], "v": [["1"] * 96]}], []], "different", differ=asked)
        return {**radical, "field": {"name": "radical", "beta": "2", "order": 96}}
    if name == "long tokens":
        return {**many, "differ": [query(([HUGE], 1), ([2], 1), ([1], 1))] * 100}
    if name == "a number beyond limits":
        return {**line, "differ": [query(([HUGE**2], 1))]}
    if name == "a base beyond limits":
        return {**line, "field": {"name": "rational", "base": ["f" * 300_000, "1" + "0" * 299_999]}}
    if name == "a denominator beyond limits":
        return {**many, "field": {**many["field"], "denominator": "f" * 100_000}}
    return {**line, "differ": farther}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("long monomials", "steps of work"),
        ("long monomials of high degree", "steps of work"),
        ("long tokens", "steps of work"),
        ("a number beyond limits", "a number has more than"),
        ("a base beyond limits", "field.base: has more than"),
        ("a denominator beyond limits", "a number has more than"),
        ("a monomial beyond limits", "a weight has more than"),
    ],
)
def test_hostile_files_are_refused(name: str, message: str, judge: Judge) -> None:
    status, said = judge(hostile(name))
    assert status == "malformed"
    assert message in said


def test_large_models_use_up_the_budget(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every multiplication counts: with the true budget of 10^9 this takes a minute."""
    wide = [head("exponential", [[1] * 128] * 128, [1] * 128)] * 5
    found = document("hostile", "exponential", [wide, wide], "equal", [query(([1] * 128, 1))] * 50, dim=128)
    assert judge(found)[0] == "accept"
    monkeypatch.setattr(checker, "MOST_WORK", 5_000_000)
    assert judge(found) == ("malformed", "the queries together need more than 5000000 steps of work")


def test_one_large_denominator_does_not_make_a_large_matrix(judge: Judge) -> None:
    """Every entry of W over one denominator of 66,000 bits: gigabytes, unless it is refused before it is done."""
    big = head("exponential", [[1] * 128 for _ in range(128)], [1] * 128)
    big["W"][0][0][0] = f"1/{(1 << 66_000) + 1:x}"
    found = document("hostile", "exponential", [[big] * 16, []], "different", [], dim=128)
    assert judge(found) == ("malformed", "the queries together need more than 1000000000 steps of work")


def test_all_queries_together_are_bounded(judge: Judge) -> None:
    found = document("many", "rational", [[], []], "equal", [query(([1], 1))])
    found["differ"] = found["agree"] * 1_000_000
    assert "has more than 1000000 queries" in judge(found)[1]


FRAGMENTS = ["null", "true", "NaN", "[[", "]]", "{}", "/0", "\\u0000", "9" * 400, *'01-/,"[]{}é. f']
MUTATION = st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(FRAGMENTS))


@settings(
    max_examples=300, deadline=2000, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(sorted(ACCEPTED)), spoils=st.lists(MUTATION, min_size=1, max_size=3))
def test_spoiled_text_gives_a_verdict(
    name: str, spoils: list[tuple[float, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = canonical(ACCEPTED[name]).decode()
    for where, cut, fragment in spoils:
        start = int(where * len(text))
        text = text[:start] + fragment + text[start + cut :]
    path = tmp_path / "spoiled.json"
    path.write_bytes(text.encode())
    status = checker.main([str(path)])
    captured = capsys.readouterr()
    expected = {0: "accept", 1: "reject", 2: "malformed"}[status]
    assert (captured.err.count("\n"), captured.out == "") == (int(status == 2), status == 2)
    with suppress(UnicodeDecodeError):
        assert second_counterexample.check(path) == expected
