"""The corpus: what is to be accepted, rejected and refused, by both checkers.

Both judge every file; the shipped one must also name the right step and the right reason. The files are those that
make_corpus.py writes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import second_checker
from attacks import ATTACKS, E
from forging import EXPONENTIAL, RATIONAL, Document, ForgedHead, canonical, number
from instances import INSTANCES
from make_corpus import HERE, RUNS, corpus
from malformations import MALFORMED

from exactmha.attention import Attention
from exactmha.certificates import checker
from exactmha.certificates.write import value_text
from exactmha.cli.main import run as command_line
from exactmha.instance import equivalent, from_dict
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.recover.sample import ask_base, ask_profile

ACCEPTED = sorted(path.stem for path in (HERE / "accept").glob("*.json"))
REJECTED = sorted(path.stem for path in (HERE / "reject").glob("*.json"))
REFUSED = sorted(path.stem for path in (HERE / "malformed").glob("*.json"))

Checked = tuple[int, str, str]
"""exit status, standard output, standard error"""
Check = Callable[..., Checked]


def alone(path: Path, *options: str) -> Checked:
    """Run the checker as a file of its own: no site, no environment, nothing but the standard library."""
    command = [sys.executable, "-I", "-S", checker.__file__, str(path), *options]
    done = subprocess.run(command, env={}, capture_output=True, text=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr


def claim_options(name: str) -> tuple[str, ...]:
    claim = ATTACKS[name].claim
    return () if claim is None else ("--claim", json.dumps(claim))


def assert_accepted(checked: Checked) -> None:
    status, out, err = checked
    assert (status, err) == (0, "")
    assert out.startswith("PROVED: ")


def assert_rejected(checked: Checked, where: str, reason: str) -> None:
    status, out, err = checked
    assert (status, err) == (1, "")
    assert out.startswith(f"REJECTED: {where}: {reason}: ")
    assert out.count("\n") == 1


def assert_refused(checked: Checked) -> None:
    status, out, err = checked
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


# --- the files -----------------------------------------------------------------------------------


def test_the_corpus_is_what_the_script_writes() -> None:
    """The same program writes the same bytes."""
    on_disk = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in HERE.glob("*/*.json")}
    regenerated = corpus()
    assert sorted(regenerated) == sorted(on_disk)
    assert [name for name, data in regenerated.items() if on_disk[name] != data] == []


def test_the_corpus_covers_what_it_should() -> None:
    documents = [read("accept", name) for name in ACCEPTED]
    assert len(ACCEPTED) >= 12
    assert len(REJECTED) >= 40
    assert len(REFUSED) >= 15
    assert {d["field"]["name"] for d in documents} == {"rational", "radical", "exponential"}
    assert {d["claim"]["heads"] for d in documents} == {0, 1, 2, 3}
    assert {d["dim"] for d in documents} == {1, 2, 3}
    for field in ("rational", "radical", "exponential"):
        bounds = {d["claim"]["told"] - d["claim"]["heads"] for d in documents if d["claim"]["bound"]}
        assert max(bounds) > 0, field
    reasons = {attack.reason for attack in ATTACKS.values()}
    assert reasons == {
        *("field", "dependent-tokens", "order", "equal-poles", "zero-residue", "interpolant", "matching"),
        *("ambiguous", "readout", "base", "heads", "conditions", "claim", "transcript"),
    }
    assert sum(path.stat().st_size for path in HERE.glob("*/*.json")) < 1_500_000


def read(folder: str, name: str) -> Document:
    document: Document = json.loads((HERE / folder / f"{name}.json").read_bytes())
    return document


@pytest.mark.parametrize("name", ["rational-by-hand", E])
def test_forging_writes_what_the_learner_writes(name: str) -> None:
    """The attacks made from nothing come from a writer that agrees with the program's, byte for byte."""
    document = read("accept", name)
    tokens, readout, heads = (s for s in document["steps"] if s["kind"] in ("tokens", "readout", "heads"))
    forger = type(RATIONAL)(document["field"], int(document["field"].get("denominator", "1"), 16))
    b, u = ([[int(x, 16) for x in token] for token in tokens[side]] for side in "bu")
    known: list[ForgedHead] = [
        ([[[number(x) for x in row] for row in m] for m in W], [number(x) for (x,) in v])
        for W, v in zip(heads["W"], readout["v"], strict=True)
    ]
    assert canonical(forger.certificate(b, u, known, digest=document["instance"])) == canonical(document)


# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, check: Check) -> None:
    path = HERE / "accept" / f"{name}.json"
    assert_accepted(check(path))
    assert second_checker.check(path) == second_checker.ACCEPT


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str, check: Check) -> None:
    path, attack = HERE / "reject" / f"{name}.json", ATTACKS[name]
    assert_rejected(check(path, *claim_options(name)), attack.where, attack.reason)
    assert second_checker.check(path, attack.claim) == second_checker.REJECT
    if attack.claim:  # the certificate is right, of a weaker statement
        assert_accepted(check(path))
        assert second_checker.check(path) == second_checker.ACCEPT


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, check: Check) -> None:
    path = HERE / "malformed" / f"{name}.json"
    assert name in MALFORMED
    assert_refused(check(path))
    assert second_checker.check(path) == second_checker.MALFORMED


@pytest.mark.parametrize("name", ["rational-by-hand", "radical-three-halves", "exponential-three-heads"])
def test_accepted_alone(name: str, check: Check) -> None:
    path, instance = HERE / "accept" / f"{name}.json", HERE / "instances" / f"{RUNS[name].instance}.json"
    for options in ((), ("--instance", str(instance)), ("--claim", '{"bound":false}')):
        checked = alone(path, *options)
        assert_accepted(checked)
        assert checked == check(path, *options)


@pytest.mark.parametrize("name", ["swapped-heads-radical", "transcript-of-another-run", "weaker-claim-bound"])
def test_rejected_alone(name: str) -> None:
    checked = alone(HERE / "reject" / f"{name}.json", *claim_options(name))
    assert_rejected(checked, ATTACKS[name].where, ATTACKS[name].reason)


@pytest.mark.parametrize("name", ["truncated", "deep-nesting", "unreduced-fraction"])
def test_refused_alone(name: str) -> None:
    assert_refused(alone(HERE / "malformed" / f"{name}.json"))


def test_a_missing_file_is_refused_alone() -> None:
    assert_refused(alone(HERE / "accept" / "no-such-file.json"))
    assert_refused(alone(HERE / "accept"))


@pytest.mark.parametrize(
    ("folder", "name", "status"),
    [("accept", "rational-by-hand", 0), ("reject", "swapped-heads-rational", 1), ("malformed", "nan", 2)],
)
def test_the_command_runs_the_same_checker(
    folder: str, name: str, status: int, check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    path = HERE / folder / f"{name}.json"
    assert command_line(["check", str(path)]) == status
    assert (status, *capsys.readouterr()) == check(path)


def test_a_verdict_prints_in_every_encoding() -> None:
    """A terminal without `−` or `·` gets some other characters, not a traceback and a wrong exit status."""
    command = [sys.executable, "-S", checker.__file__, str(HERE / "accept" / "rational-by-hand.json")]
    done = subprocess.run(command, env={"PYTHONIOENCODING": "ascii"}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"PROVED: ")


# --- what the verdict says -----------------------------------------------------------------------


def test_the_verdict_states_what_is_proved_and_what_is_not(check: Check) -> None:
    _, out, _ = check(HERE / "accept" / "exponential-bound-3.json")
    assert "at most 2 canonical heads" in out
    assert "exponential field" in out
    assert "43 answers" in out  # 4·3·2² − 2·3 + 1
    assert "NOT PROVED: where the answers came from" in out
    assert "NOT PROVED: that no rival with 3 heads gives them" in out
    assert "Lindemann" in out
    _, out, _ = check(HERE / "accept" / "rational-by-hand.json")
    assert "rival" not in out
    assert "Lindemann" not in out


def test_different_transcripts_have_different_verdicts(check: Check, tmp_path: Path) -> None:
    """Two certificates of one shape, for one instance, prove different statements: the answers are others."""
    verdicts = [check(HERE / "accept" / f"{name}.json")[1] for name in ("rational-two-heads", "rational-no-heads")]
    other = read("accept", "rational-two-heads-other-run")
    path = tmp_path / "other.json"
    path.write_bytes(canonical(other))
    verdicts.append(check(path)[1])
    assert len(set(verdicts)) == 3


def test_hidden_heads_give_the_answers_of_the_certificate() -> None:
    """A two-headed model gives every answer of an accepted certificate that finds one head: Theorem B.3."""
    document = read("accept", "exponential-hidden-heads")
    model = from_dict(json.loads(INSTANCES["exponential-hidden-heads"]))
    assert len(model.canonical().heads) == 2
    assert (document["claim"]["heads"], document["claim"]["told"]) == (1, 2)
    oracle = Oracle(Attention(model), model.field, model.dim)
    tokens, base, *steps = document["steps"]
    b, u = ([tuple(int(x, 16) for x in token) for token in tokens[side]] for side in "bu")
    assert value_text(ask_base(oracle, b[0])) == base["answer"]
    for step in steps:
        if step["kind"] == "profile":
            token_b, token_u = (
                tuple(map(sum, zip(*(side[n - 1] for n in names), strict=True)))
                for side, names in ((b, step["b"]), (u, step["u"]))
            )
            answers = ask_profile(oracle, token_b, token_u, len(step["answers"]))
            assert [value_text(x) for x in answers] == step["answers"]


# --- with the instance ---------------------------------------------------------------------------

HIDDEN = "exponential-hidden-heads"
INSTANCE_OF = {
    **{name: run.instance for name, run in RUNS.items()},
    "radical-over-a-larger-field": "radical-two-heads",
    "rational-over-a-coarser-base": "rational-not-canonical",
}


def with_digest(document: Document, data: bytes) -> bytes:
    """Return the certificate as if it had been made for an instance file with these bytes."""
    return canonical({**document, "instance": hashlib.sha256(data).hexdigest()})


@pytest.fixture
def check_against(check: Check, tmp_path: Path) -> Callable[[str, bytes], Checked]:
    """Check an accepted certificate, its digest replaced, against other bytes of an instance."""

    def run(name: str, data: bytes) -> Checked:
        certificate, instance = tmp_path / "certificate.json", tmp_path / "instance.json"
        certificate.write_bytes(with_digest(read("accept", name), data))
        instance.write_bytes(data)
        return check(certificate, "--instance", str(instance))

    return run


Against = Callable[[str, bytes], Checked]


def test_every_accepted_certificate_has_an_instance() -> None:
    assert sorted([*INSTANCE_OF, HIDDEN]) == ACCEPTED


@pytest.mark.parametrize("name", sorted(INSTANCE_OF))
def test_right_instance(name: str, check: Check) -> None:
    path, instance = HERE / "accept" / f"{name}.json", HERE / "instances" / f"{INSTANCE_OF[name]}.json"
    checked = check(path, "--instance", str(instance))
    assert_accepted(checked)
    assert "PROVED: these are the answers of this instance" in checked[1]
    assert "NOT PROVED: where the answers came from" not in checked[1]


def test_hidden_heads_are_found_out_by_the_instance(check: Check) -> None:
    """The digest and all answers are those of the instance; the heads are not, and that is what is compared."""
    path, instance = HERE / "accept" / f"{HIDDEN}.json", HERE / "instances" / f"{HIDDEN}.json"
    assert_rejected(check(path, "--instance", str(instance)), "the instance", "instance")


@pytest.mark.parametrize("name", ["rational-two-heads", "radical-three-halves", "exponential-two-heads"])
def test_instance_with_other_bytes(name: str, check: Check, tmp_path: Path) -> None:
    """The same instance written differently is another file."""
    instance = tmp_path / "instance.json"
    instance.write_bytes(INSTANCES[INSTANCE_OF[name]] + b"\n")
    checked = check(HERE / "accept" / f"{name}.json", "--instance", str(instance))
    assert_rejected(checked, "the instance", "instance")
    assert "SHA-256" in checked[1]


@pytest.mark.parametrize("name", ACCEPTED)
def test_digest_replaced_by_that_of_another_instance(name: str, check_against: Against) -> None:
    """The digest proves nothing: the heads are compared."""
    for other, data in INSTANCES.items():
        if other == INSTANCE_OF.get(name):
            continue
        status, out, err = check_against(name, data)
        if other == "radical-fourth-root" and not name.startswith("radical") and read("accept", name)["dim"] == 1:
            # v = root(2,4)/(1+sqrt(2)) can only be read over the field of roots
            assert (status, out) == (2, ""), other
            assert "division by a sum of roots" in err
            continue
        assert_rejected((status, out, err), "the instance", "instance")
        assert "SHA-256" not in out


def rewritten(name: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> bytes:
    content = json.loads(INSTANCES[INSTANCE_OF[name]])
    return json.dumps({**content, "heads": change(content["heads"])}).encode()


def reversed_heads(heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return heads[::-1]


def scaled(head: dict[str, Any], factor: str) -> dict[str, Any]:
    return {"W": head["W"], "v": [f"{factor}*({x})" for x in head["v"]]}


def split_heads(heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for factor in ("1/3", "-1", "5/3") for part in (scaled(head, factor) for head in heads)]


def padded_heads(heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    zero = [{"W": head["W"], "v": ["0"] * len(head["v"])} for head in heads]
    negated = [{"W": [[f"-({x})" for x in row] for row in head["W"]], "v": head["v"]} for head in heads]
    return [*zero, *negated, *heads, *(scaled(head, "-1") for head in negated)]


@pytest.mark.parametrize("change", [reversed_heads, split_heads, padded_heads])
@pytest.mark.parametrize("name", sorted(INSTANCE_OF))
def test_instance_that_is_not_canonical(
    name: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], check_against: Against
) -> None:
    assert_accepted(check_against(name, rewritten(name, change)))


SPELLINGS = {
    # W = log 2 of the first head, v = 1 of the first head
    "rational-by-hand": {
        "W": [
            *("log(4)/2", "2^-1*log(4)", "log(12)-log(6)", "log(12)-log(3)-log(2)", "-log(1/2)", "-1*-1*log(2)"),
            *("log(0.5)*-1", "--log(2)", "log(2^3)/3", "log(2e0)", "log(20e-1)", "0.25*log(16)", "log(sqrt(4))"),
            *("log(root(8,3))", "log(1)+log(2)", "0*log(7)+log(2)", "((log((2))))", "  log ( 2 )  ", "log(1024)*1e-1"),
            *("log(2)^1", "log(6)/1+log(1/3)", "log(2/3)+log(3)", "log(1e3)-log(500)", "3*log(2)-log(4)"),
        ],
        "v": [
            *("1e-3*1000", "0.25*4", "2^-1*sqrt(4)", "root(32,5)/2", "3/4+1/4", "-(-1)", "--1", "1E0", "7^0", "0^0"),
            *(
                "sqrt(2)*sqrt(2)/2",
                "(1+sqrt(2))*(sqrt(2)-1)",
                "1+log(1)",
                "1/3*3",
                "5-2*2",
                "2/-2*-1",
                "sqrt(2)/sqrt(2)",
            ),
            *("root(4,2)/2", "sqrt(2)^2/2", "sqrt(8)-2*sqrt(2)+1", "1.0", "10/5/2"),
        ],
    },
    # W_11 = √2
    "exponential-square-root": {
        "W": [
            *("2^-1*sqrt(8)", "2*sqrt(1/2)", "root(4,4)", "sqrt(18)/3", "2/sqrt(2)", "root(2,4)^2", "sqrt(2)^-1*2"),
            *("sqrt(3)*sqrt(6)/3", "root(2,6)^3", "sqrt(2)^3/2", "sqrt(0.02)*10", "sqrt(50)-4*sqrt(2)", "root(8,6)"),
            *(
                "(1+sqrt(2))*(1+sqrt(2))-3-sqrt(2)",
                "sqrt(2e0)",
                "1e-1*sqrt(200)",
                "sqrt(2)+sqrt(3)-sqrt(3)",
                "+sqrt(2)",
            ),
            *("root(2,6)*root(2,3)", "sqrt(10)/sqrt(5)", "sqrt(10)*5^-1*sqrt(5)", "0*sqrt(7)+sqrt(2)", "sqrt(2)*1.0"),
        ],
        "v": ["1e0", "sqrt(9)/3"],
    },
    # W = 1/4 log 2, v = root(2,4)/(1+√2)
    "radical-fourth-root": {
        "W": [
            "log(2)/4",
            "0.25*log(2)",
            "1/8*log(4)",
            "log(8)/12",
            "log(6)/4-1/4*log(3)",
            "-1/4*log(1/2)",
            "25e-2*log(2)",
        ],
        "v": [
            *("root(2,4)*(sqrt(2)-1)", "root(8,4)-root(2,4)", "root(2,4)^3-root(2,4)", "(sqrt(2)-1)/root(2,4)^-1"),
            *(
                "sqrt(2)*root(2,4)-root(2,4)",
                "2/root(2,4)-root(2,4)",
                "root(1/2,4)*(2-sqrt(2))",
                "(sqrt(2)-1)*root(32,4)/2",
            ),
            *(
                "1/(root(1/2,4)+root(2,4))",
                "root(2,4)/(1+sqrt(8)-root(4,4))",
            ),
        ],
    },
    # W_11 = ½ log 3/2, v_1 = √(3/2)
    "radical-three-halves": {
        "W": [
            "log(3/2)/2",
            "1/2*log(3)-1/2*log(2)",
            "-0.5*log(2/3)",
            "1/2*log(1.5)",
            "log(9/4)/4",
            "1/2*log(6)-log(2)",
        ],
        "v": ["sqrt(6)/2", "3/sqrt(6)", "sqrt(1.5)", "root(9/4,4)", "2^-1*sqrt(6)", "sqrt(24)/4", "3/2/sqrt(3/2)"],
    },
    # W_11 = 1/2, v_1 = 1
    "exponential-two-heads": {
        "W": ["0.5", "5e-1", "2^-1", "-1/-2", "sqrt(1/4)", "1-1/2", "root(8,3)/4", "sqrt(2)*sqrt(1/8)", "1/(3-1)"],
        "v": ["4^0", "1e2/100", "sqrt(2)^2-1"],
    },
}


def respelled(name: str, key: str, spelling: str) -> bytes:
    """Return the instance with the first entry of W or v of the first head spelled differently."""

    def change(heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if key == "v":
            heads[0]["v"][0] = spelling
        else:
            heads[0]["W"][0][0] = spelling
        return heads

    return rewritten(name, change)


@pytest.mark.parametrize(
    ("name", "key", "spelling"),
    [(name, key, s) for name, keys in SPELLINGS.items() for key, spellings in keys.items() for s in spellings],
)
def test_instance_spelled_differently(name: str, key: str, spelling: str, check_against: Against) -> None:
    """Read by the checker as the same number, and by the package, which shares no code with it."""
    data = respelled(name, key, spelling)
    original = from_dict(json.loads(INSTANCES[INSTANCE_OF[name]]))
    assert equivalent(from_dict(json.loads(data)), original) is Outcome.HOLDS
    assert_accepted(check_against(name, data))


WRONG = {
    "rational-by-hand": {
        "W": ["log(3)", "log(4)", "0", "1", "-log(2)", "log(2)/2", "log(2)+log(1.0000001)", "sqrt(2)", "log(2)+1"],
        "v": ["2", "-1", "0", "1.0000000000000000000001", "sqrt(2)", "log(2)"],
    },
    "exponential-square-root": {
        "W": ["sqrt(3)", "1", "0", "-sqrt(2)", "sqrt(2)+1", "log(2)", "root(2,3)", "2*sqrt(2)", "1.41421356237"],
        "v": ["sqrt(2)", "1/2"],
    },
    "radical-fourth-root": {
        "W": ["log(2)", "1/4*log(3)", "1/4", "1/5*log(2)"],
        "v": ["root(2,4)/(1-sqrt(2))", "root(3,4)", "root(2,3)", "root(2,4)", "1"],
    },
}


@pytest.mark.parametrize(
    ("name", "key", "spelling"),
    [(name, key, s) for name, keys in WRONG.items() for key, spellings in keys.items() for s in spellings],
)
def test_instance_with_another_number(name: str, key: str, spelling: str, check_against: Against) -> None:
    checked = check_against(name, respelled(name, key, spelling))
    assert_rejected(checked, "the instance", "instance")
    assert "SHA-256" not in checked[1]


UNREADABLE = [
    *("", " ", "x", "log", "log(0)", "log(-1)", "log()", "log(2", "log(2))", "1/0", "0^-1", "sqrt(-1)", "root(2,0)"),
    *(
        "root(2,1/2)",
        "root(2,97)",
        "exp(1)",
        "2^^2",
        "2^(-1)",
        "2^1/0",
        "10^10^10",
        "10^999999999",
        "1e999999999",
        ".5",
    ),
    *("1.", "1__0", "0x10", "log(log(2))", "log(2)*log(3)", "1,2", "\u0661", "−1", "(" * 100 + "1" + ")" * 100, "nan"),
    *("inf", "sqrt(2,3)", "log(2,3)", "root(4)"),
]


@pytest.mark.parametrize("spelling", UNREADABLE)
@pytest.mark.parametrize("key", ["W", "v"])
def test_instance_that_cannot_be_read(key: str, spelling: str, check_against: Against) -> None:
    assert_refused(check_against("rational-by-hand", respelled("rational-by-hand", key, spelling)))


BY_HAND = json.loads(INSTANCES["rational-by-hand"])
NO_INSTANCES = {
    "not JSON": b"heads",
    "a list": b"[]",
    "other format": json.dumps({**BY_HAND, "format": "exactmha/instance/2"}).encode(),
    "unknown field": json.dumps({**BY_HAND, "field": "complex"}).encode(),
    "field a list": json.dumps({**BY_HAND, "field": []}).encode(),
    "format an object": json.dumps({**BY_HAND, "format": {}}).encode(),
    "unknown key": json.dumps({**BY_HAND, "note": ""}).encode(),
    "no heads": json.dumps({key: BY_HAND[key] for key in ("format", "dim")}).encode(),
    "heads an object": json.dumps({**BY_HAND, "heads": {}}).encode(),
    "a head a list": json.dumps({**BY_HAND, "heads": [[]]}).encode(),
    "a head without v": json.dumps({**BY_HAND, "heads": [{"W": [["0"]]}]}).encode(),
    "a head with more": json.dumps({**BY_HAND, "heads": [{"W": [["0"]], "v": ["1"], "b": "0"}]}).encode(),
    "a number for a string": json.dumps({**BY_HAND, "heads": [{"W": [["0"]], "v": [1]}]}).encode(),
    "ragged": json.dumps({**BY_HAND, "heads": [{"W": [["0", "0"]], "v": ["1"]}]}).encode(),
    "a string for a row": json.dumps({**BY_HAND, "heads": [{"W": ["0"], "v": ["1"]}]}).encode(),
    "dim a string": json.dumps({**BY_HAND, "dim": "1"}).encode(),
    "dim true": json.dumps({**BY_HAND, "dim": True}).encode(),
    "dim a float": json.dumps({**BY_HAND, "dim": 1.0}).encode(),
    "duplicate key": json.dumps(BY_HAND).replace('"dim": 1', '"dim": 1, "dim": 1').encode(),
    "byte-order mark": b"\xef\xbb\xbf" + INSTANCES["rational-by-hand"],
    "a certificate": (HERE / "accept" / "rational-by-hand.json").read_bytes(),
}


@pytest.mark.parametrize("case", NO_INSTANCES)
def test_no_instance(case: str, check_against: Against) -> None:
    assert_refused(check_against("rational-by-hand", NO_INSTANCES[case]))


def test_missing_instance(check: Check) -> None:
    for path in ("no-such-file", str(HERE), ""):
        assert_refused(check(HERE / "accept" / "rational-by-hand.json", "--instance", path))


# --- a claim given separately --------------------------------------------------------------------

DIGEST = hashlib.sha256(INSTANCES["exponential-two-heads"]).hexdigest()
CLAIMED = "exponential-bound-3"
RIGHT: dict[str, Any] = {
    **{"heads": 2, "told": 3, "bound": True, "queries": 43, "length": 7},
    **{"dim": 2, "field": "exponential", "instance": DIGEST},
}
WRONG_VALUES: dict[str, list[Any]] = {
    "heads": [1, 3, 0, -2, True, "2", None, [2]],
    "told": [2, 4, "3"],
    "bound": [False, 1, 0, "true", None],
    "queries": [42, 44, "43"],
    "length": [6, 8, "7"],
    "dim": [1, 3, True, "2"],
    "field": ["rational", "", None, ["exponential"], {"name": "exponential"}],
    "instance": [DIGEST.upper(), DIGEST[:-1], "", None],
}


@pytest.fixture
def check_claim(check: Check) -> Callable[[str], Checked]:
    return lambda claim: check(HERE / "accept" / f"{CLAIMED}.json", "--claim", claim)


@pytest.mark.parametrize("key", RIGHT)
def test_right_claim(key: str, check_claim: Callable[[str], Checked]) -> None:
    assert_accepted(check_claim(json.dumps({key: RIGHT[key]})))
    assert second_checker.check(HERE / "accept" / f"{CLAIMED}.json", {key: RIGHT[key]}) == second_checker.ACCEPT


@pytest.mark.parametrize("claim", [RIGHT, {}, {"bound": True, "heads": 2}])
def test_right_claims(claim: dict[str, Any], check_claim: Callable[[str], Checked]) -> None:
    assert_accepted(check_claim(json.dumps(claim)))


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG_VALUES.items() for value in values])
def test_wrong_claim(key: str, value: Any, check_claim: Callable[[str], Checked]) -> None:
    claim = {**RIGHT, key: value}
    assert_rejected(check_claim(json.dumps(claim)), "the claim", "claim")
    assert_rejected(check_claim(json.dumps({key: value})), "the claim", "claim")
    assert second_checker.check(HERE / "accept" / f"{CLAIMED}.json", claim) == second_checker.REJECT


@pytest.mark.parametrize(
    "claim",
    [
        *("", "{", "heads=2", "[]", "[1]", "2", "null", "true", '"heads"', '{"heads":2,"heads":2}', '{"heads":2}}'),
        *('{"heads":2.0}', '{"heads":NaN}', '{"heads":2e0}', '{"heads":10000000000}', "{'heads':2}", "[" * 10_000),
        *(
            '{"Heads":2}',
            '{"transcript":""}',
            '{"heads":2,"proof":true}',
            '{"":2}',
            '{"\\ud800":2}',
            "\udcff",
            "\ufeff{}",
        ),
    ],
)
def test_no_claim(claim: str, check_claim: Callable[[str], Checked]) -> None:
    assert_refused(check_claim(claim))


def test_unknown_claim_key_for_the_second_checker() -> None:
    path = HERE / "accept" / f"{CLAIMED}.json"
    assert second_checker.check(path, {"transcript": ""}) == second_checker.MALFORMED


def test_claim_is_held_against_a_right_certificate_only(check: Check) -> None:
    """A wrong step is reported before the claim, and the claim before the instance."""
    path = HERE / "reject" / "swapped-heads-exponential.json"
    assert_rejected(check(path, "--claim", '{"heads":7}'), "step 13", "heads")
    path = HERE / "accept" / "exponential-two-heads.json"
    assert_rejected(check(path, "--claim", '{"heads":7}', "--instance", str(HERE)), "the claim", "claim")


def test_another_model_under_the_digest_of_an_instance(check: Check, tmp_path: Path) -> None:
    """A right certificate of its own answers, and not of that instance, from which it differs in one entry of W."""
    data = INSTANCES["exponential-one-head"]
    heads: list[ForgedHead] = [([[[2, -1], [1, 4]]], [1, Fraction(-1, 2)])]
    digest = hashlib.sha256(data).hexdigest()
    document = EXPONENTIAL.certificate([[1, 2], [0, 1]], [[1, 1], [2, -1]], heads, digest=digest)
    path, instance = tmp_path / "certificate.json", tmp_path / "instance.json"
    path.write_bytes(canonical(document))
    instance.write_bytes(data)
    assert_accepted(check(path))
    assert_rejected(check(path, "--instance", str(instance)), "the instance", "instance")
