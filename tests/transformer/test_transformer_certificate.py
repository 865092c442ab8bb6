"""Certificates of Transformers: the corpus, each attack with its reason, and the checker on its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from make_transformer_corpus import HERE, INSTANCES, corpus
from transformer_attacks import ATTACKS, MALFORMED

from exactmha.certificates import checker, transformer_checker

CHECKER = Path(transformer_checker.__file__)
Output = pytest.CaptureFixture[str]


def judged(capsys: Output, path: Path, *options: str) -> tuple[int, str]:
    capsys.readouterr()
    status = transformer_checker.main([str(path), *options])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_the_corpus_is_what_the_program_writes() -> None:
    files = corpus()
    assert {path.relative_to(HERE).as_posix() for path in HERE.glob("*/*.json")} == set(files)
    for name, data in files.items():
        assert (HERE / name).read_bytes() == data, name


@pytest.mark.parametrize("name", INSTANCES)
def test_accepted_with_the_instance(name: str, capsys: Output) -> None:
    status, text = judged(capsys, HERE / f"accept/{name}.json", "--instance", str(HERE / f"instances/{name}.json"))
    assert status == 0, text
    assert "PROVED: this Transformer is the same function as the one of the instance." in text
    assert "NOT PROVED: that no rival" in text
    assert ("Lindemann" in text) == ('"field": "exponential"' in INSTANCES[name].decode())


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_rejected_for_its_reason(name: str, capsys: Output) -> None:
    status, text = judged(capsys, HERE / f"reject/{name}.json")
    assert status == 1, text
    found = re.match(r"REJECTED: (.+?): ([a-z-]+): ", text.replace("odd: step", "odd step"))
    assert found
    assert found[2] == ATTACKS[name][0], text


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_certificate_is_unreadable(name: str, capsys: Output) -> None:
    status, text = judged(capsys, HERE / f"malformed/{name}.json")
    assert status == 2, text
    assert text.startswith("error: ")
    assert "Traceback" not in text


def test_of_another_instance(capsys: Output) -> None:
    status, text = judged(capsys, HERE / "accept/radical.json", "--instance", str(HERE / "instances/rational.json"))
    assert (status, text[:48]) == (1, "REJECTED: the instance: instance: these are not ")


def test_an_instance_with_the_right_digest_but_another_function(tmp_path: Path, capsys: Output) -> None:
    """Forge the digest: the form itself must be compared."""
    import hashlib

    other = INSTANCES["rational"].replace(b'"-1/2"]', b'"-1/3"]')
    document = json.loads((HERE / "accept/rational.json").read_bytes())
    for part in (document, document["odd"]):
        part["instance"] = hashlib.sha256(other).hexdigest()
    (tmp_path / "c.json").write_bytes(checker.canonical_json(document))
    (tmp_path / "i.json").write_bytes(other)
    assert judged(capsys, tmp_path / "c.json")[0] == 0
    status, text = judged(capsys, tmp_path / "c.json", "--instance", str(tmp_path / "i.json"))
    assert status == 1
    assert "the canonical form of the instance is another" in text


@pytest.mark.parametrize(
    ("old", "new"), [(b'"log(9) - log(3)"', b'"log(9) - log(2)"'), (b'["-1", "-2"]', b'["-1", "-3"]')]
)
def test_heads_that_do_not_cancel_after_all(old: bytes, new: bytes, tmp_path: Path, capsys: Output) -> None:
    """Another W, or another O, of head 3, with a forged digest."""
    import hashlib

    other = INSTANCES["cancelling-heads"].replace(old, new)
    assert other != INSTANCES["cancelling-heads"]
    document = json.loads((HERE / "accept/cancelling-heads.json").read_bytes())
    for part in (document, document["odd"]):
        part["instance"] = hashlib.sha256(other).hexdigest()
    (tmp_path / "c.json").write_bytes(checker.canonical_json(document))
    (tmp_path / "i.json").write_bytes(other)
    status, text = judged(capsys, tmp_path / "c.json", "--instance", str(tmp_path / "i.json"))
    assert status == 1
    assert "the canonical form of the instance is another" in text


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ('{"heads": 2, "lines": 2, "dim": 2}', 0),
        ('{"lines": 1}', 1),
        ('{"lines": true}', 1),
        ('{"bound": false}', 2),
        ("[]", 2),
    ],
)
def test_a_claim_given_separately(claim: str, status: int, capsys: Output) -> None:
    assert judged(capsys, HERE / "accept/exponential.json", "--claim", claim)[0] == status


def test_alone_with_the_standard_library() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(CHECKER), str(HERE / "accept/radical.json")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("PROVED: the Transformer of this file, with 1 head and 2 lines")
    text = CHECKER.read_text("utf-8")
    assert set(re.findall(r"^\s*(?:from|import) (\w+)", text, flags=re.MULTILINE)) <= {
        "__future__", "hashlib", "os", "re", "sys", "collections", "fractions", "math", "typing", "exactmha", "checker",
    }  # fmt: skip
    assert re.findall(r"exactmha\.?\w*", text.split('"""')[2])[0] == "exactmha.certificates"


def test_other_certificates_are_passed_on(capsys: Output) -> None:
    path = HERE.parent / "certificates" / "accept" / "rational-by-hand.json"
    assert judged(capsys, path)[0] == 0


@pytest.mark.parametrize("name", ["exponential", "rational"])
def test_every_number_matters(name: str, capsys: Output, tmp_path: Path) -> None:
    """Add 1 to one hexadecimal number after the other, outside the odd part: nothing is accepted.

    Left out are the cells where all neurons are off: there T = 0, and other queries have the same answers.
    """
    document = json.loads((HERE / f"accept/{name}.json").read_bytes())
    off = {i for i, cell in enumerate(document["cells"]) if {x for b in cell["gradient"] for x in b} == {"0"}}
    assert len(off) == 1
    places = [
        path
        for path in _strings(document)
        if path[0] in {"form", "plane", "rays", "cells"} and not (path[0] == "cells" and path[1] in off)
    ]
    assert len(places) > 60
    accepted = []
    for path in places[:: max(1, len(places) // 60)]:
        changed = json.loads(json.dumps(document))
        at = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = _plus_one(at[path[-1]])
        (tmp_path / "c.json").write_bytes(checker.canonical_json(changed))
        if judged(capsys, tmp_path / "c.json")[0] == 0:
            accepted.append(path)
    assert not accepted


def _plus_one(text: str) -> str:
    top, _, bottom = text.partition("/")
    return f"{int(top, 16) + int(bottom or '1', 16):x}" + (f"/{bottom}" if bottom else "")


def _strings(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, str):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in _strings(item, (*path, key))]
