"""Certificates as Rocq files: coqc accepts the right ones and rejects the others.

The judge is coqc with the project's own proofs, compiled once by their script `check`; a folder where that was done
already can be named in EXACTMHA_ROCQ.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS
from make_corpus import HERE
from outside import require_program

from exactmha.certificates.rocq import rocq_text
from exactmha.certificates.write import canonical_json
from exactmha.cli.main import run
from exactmha.errors import InputError

PROOFS = HERE.parent.parent / "proofs" / "rocq"
OPTIONS = ("-w", "-notation-overridden,-ambiguous-paths")
CLOSED = "Closed under the global context\n"

Document = dict[str, Any]
Compile = Callable[[str], subprocess.CompletedProcess[str]]


def is_rational(path: Path) -> bool:
    return b'"field":{"name":"rational"' in path.read_bytes()


ACCEPTED = [path for path in sorted((HERE / "accept").glob("*.json")) if is_rational(path)]
REJECTED = [
    path for path in sorted((HERE / "reject").glob("*.json")) if is_rational(path) and ATTACKS[path.stem].claim is None
]
STATEMENT_ONLY = {
    "bound-relabelled-as-known-no-heads": "heads_told",
    "condition-count-C1-off-by-one": "counts_stated",
    "condition-count-C2-off-by-one": "counts_stated",
    "condition-count-C3-off-by-one": "counts_stated",
    "condition-count-C4-off-by-one": "counts_stated",
    "condition-count-negative": "counts_stated",
    "conditions-of-three-heads": "counts_stated",
    "heads-raised-in-claim": "claim",
    "known-number-lowered-in-claim": "claim",
    "length-cheated": "claim",
    "length-overstated": "claim",
    "query-count-of-no-heads": "claim",
    "query-count-one-more": "claim",
    "query-count-without-the-first": "claim",
    "transcript-hash-wrong-rational": "transcript_stated",
    "transcript-of-another-run": "transcript_stated",
    "transcript-with-names-for-tokens": "transcript_stated",
    "transcript-without-base": "transcript_stated",
}
"""Attacks on what is said about right data: which statement of the file must fail."""
LEFT_TO_ROCQ = {"one-head-dropped-in-profile", "one-query-added", "one-query-dropped"}
"""Malformed by the lengths of lists that Rocq compares itself."""
KEY_ORDER = {"key-order", "key-order-in-step"}
"""Malformed, but the data are right and the order of keys plays no part in the Rocq file."""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled proofs."""
    require_program("coqc")
    if "EXACTMHA_ROCQ" in os.environ:
        return Path(os.environ["EXACTMHA_ROCQ"])
    folder = tmp_path_factory.mktemp("rocq")
    done = subprocess.run([PROOFS / "check", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" theorems are closed under the global context\n")
    return folder


@pytest.fixture
def coqc(library: Path, tmp_path: Path) -> Compile:
    """Compile a Rocq text."""

    def compiled(text: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "Exported.v").write_text(text, encoding="ascii")
        command = ["coqc", "-R", str(library), "ExactMHA", *OPTIONS, "Exported.v"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)

    return compiled


def exported(path: Path) -> str:
    return rocq_text(path.read_bytes(), file=path.name)


def document(name: str = "rational-two-heads") -> Document:
    parsed: Document = json.loads((HERE / "accept" / f"{name}.json").read_bytes())
    return parsed


def step(parsed: Document, kind: str, number: int = 0) -> Document:
    found: Document = [step for step in parsed["steps"] if step["kind"] == kind][number]
    return found


def rocq(parsed: Document) -> str:
    return rocq_text(canonical_json(parsed), file="c.json")


def assert_proved(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, 2 * CLOSED, "")


def assert_fails_in(done: subprocess.CompletedProcess[str], text: str, name: str) -> None:
    """coqc stops with an error between the statement `name` and the next one."""
    assert done.returncode == 1
    found = re.search(r'File "./Exported.v", line (\d+), characters', done.stderr)
    assert found, done.stderr
    before = text.splitlines()[: int(found[1])]
    assert re.findall(r"^(?:Lemma|Theorem) (\w+)", "\n".join(before), flags=re.MULTILINE)[-1] == name


# --- the proofs themselves -------------------------------------------------------------------------------------------


def checked(library: Path, folder: Path, addition: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a copy of what is compiled, with an addition to the last file."""
    copy = folder / "copy"
    shutil.copytree(library, copy)
    shutil.copy2(PROOFS / "check", copy)
    with (copy / "Assumptions.v").open("a") as stream:
        stream.write(addition)
    return subprocess.run([copy / "check", copy], capture_output=True, text=True, check=False, timeout=600)


def test_readme_maps_every_theorem() -> None:
    readme = (PROOFS / "README.md").read_text("utf-8")
    theorems = re.findall(r"^Print Assumptions (\w+)\.$", (PROOFS / "Assumptions.v").read_text("utf-8"), re.MULTILINE)
    assert len(theorems) > 30
    assert [name for name in theorems if f"`{name}`" not in readme] == []
    files = re.findall(r"`(exactmha/[^`]*)`", readme) + [
        f"proofs/{page}" for page in re.findall(r"\(\.\./(.*?)\)", readme)
    ]
    assert [file for file in files if not (PROOFS.parent.parent / file).is_file()] == []


@pytest.mark.parametrize(
    ("addition", "complaint"),
    [
        ("Lemma hole : False. Admitted.\n", "unfinished or assumes"),
        ("Lemma hole : False. Proof. admit. Abort.\n", "unfinished or assumes"),
        ("Axiom hole : False.\n", "unfinished or assumes"),
        ("Variable hole : False.\nPrint Assumptions hole.\n", "theorems are closed"),
    ],
)
def test_check_fails_on_any_axiom(addition: str, complaint: str, library: Path, tmp_path: Path) -> None:
    done = checked(library, tmp_path, addition)
    assert done.returncode == 1
    assert complaint in done.stderr


# --- what coqc accepts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["rational-by-hand", "rational-no-heads", "rational-one-head-3d-bound-2", "rational-two-heads"],
)
def test_coqc_proves_right_certificates(name: str, coqc: Compile) -> None:
    assert_proved(coqc(exported(HERE / "accept" / f"{name}.json")))


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_coqc_proves_fresh_certificates(heads: int, dim: int, coqc: Compile, tmp_path: Path) -> None:
    certificate, output = tmp_path / "c.json", tmp_path / "c.v"
    options = ["--field", "rational", "--heads", str(heads), "--dim", str(dim), "--seed", "7"]
    assert run(["verify", *options, "--certificate", str(certificate)]) == 0
    assert run(["export-rocq", str(certificate), "-o", str(output)]) == 0
    text = output.read_text("ascii")
    assert f"size M = {heads}%N" in text
    assert f"= {4 * heads * dim**2 - 2 * heads + 1}%N" in text
    assert_proved(coqc(text))


# --- what coqc rejects -----------------------------------------------------------------------------------------------


def answer_altered(parsed: Document) -> None:
    step(parsed, "profile", 3)["answers"][2] = "1/2"


def pole_altered(parsed: Document) -> None:
    step(parsed, "profile", 2)["exponents"][0][0] = "4"


def residue_altered(parsed: Document) -> None:
    step(parsed, "profile", 1)["residues"][1] = ["-5/3"]


def weight_altered(parsed: Document) -> None:
    step(parsed, "heads")["W"][1][0][1][1] = "3"


def vector_altered(parsed: Document) -> None:
    step(parsed, "readout")["v"][0][0] = ["2"]


def token_altered(parsed: Document) -> None:
    step(parsed, "tokens")["u"][1][0] = "-3"


def tokens_dependent(parsed: Document) -> None:
    step(parsed, "tokens")["b"][1] = step(parsed, "tokens")["b"][0]


def base_not_coprime(parsed: Document) -> None:
    parsed["field"]["base"][1] = "4"


@pytest.mark.parametrize(
    ("tamper", "fails"),
    [
        (answer_altered, "profiles_accepted"),
        (pole_altered, "profiles_accepted"),
        (residue_altered, "profiles_accepted"),
        (weight_altered, "profiles_accepted"),
        (vector_altered, "sum_accepted"),
        (token_altered, "profiles_accepted"),
        (tokens_dependent, "tokens_accepted"),
        (base_not_coprime, "base_accepted"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_coqc_rejects_tampered_certificates(tamper: Callable[[Document], None], fails: str, coqc: Compile) -> None:
    parsed = document()
    tamper(parsed)
    text = rocq(parsed)
    assert_fails_in(coqc(text), text, fails)


@pytest.mark.parametrize(
    "name",
    [
        "bound-relabelled-as-known-no-heads",
        "condition-count-C2-off-by-one",
        "heads-raised-in-claim",
        "length-overstated",
        "query-count-one-more",
        "transcript-hash-wrong-rational",
    ],
)
def test_coqc_rejects_wrong_statements(name: str, coqc: Compile) -> None:
    text = exported(HERE / "reject" / f"{name}.json")
    assert_fails_in(coqc(text), text, STATEMENT_ONLY[name])


def test_verdicts_on_the_whole_corpus(coqc: Compile) -> None:
    """[check] is true on what is to be accepted, and false on every attack that reaches Rocq and alters the data."""
    header, parts = "", []
    malformed = [HERE / "malformed" / f"{name}.json" for name in sorted(LEFT_TO_ROCQ | KEY_ORDER)]
    for number, path in enumerate(ACCEPTED + REJECTED + malformed):
        try:
            text = exported(path)
        except InputError:
            assert path not in ACCEPTED
            continue
        right = path in ACCEPTED or path.stem in STATEMENT_ONLY.keys() | KEY_ORDER
        header, _, data = text.partition("Local Open Scope positive_scope.\n")
        data = data.partition("Local Close Scope positive_scope.\n")[0]
        verdict = f"Goal check cert = {str(right).lower()}. Proof. vm_compute. reflexivity. Qed."
        parts.append(f"Module File{number}.\n(* {path.stem} *)\n{data}\n{verdict}\nEnd File{number}.\n")
    assert len(parts) > len(ACCEPTED) + len(STATEMENT_ONLY) + 30
    done = coqc(header + "Local Open Scope positive_scope.\n" + "\n".join(parts))
    assert (done.returncode, done.stderr) == (0, "")


# --- what the exporter refuses ---------------------------------------------------------------------------------------


def test_only_the_rational_field(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(HERE / "accept" / "radical-two-heads.json")
    assert run(["export-rocq", path]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{path}: field.name: only certificates over the rational field" in err


@pytest.mark.parametrize(
    "name", ["profiles-exchanged", "references-swapped", "sum-profile-not-a-sum", "conclusion-first", "kind-unknown"]
)
def test_steps_in_another_order_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"steps\["):
        exported(HERE / "reject" / f"{name}.json")


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((HERE / "malformed").glob("*.json")) if path.stem not in LEFT_TO_ROCQ | KEY_ORDER],
    ids=lambda path: path.stem,
)
def test_malformed_files_give_one_complaint(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(["export-rocq", str(path)])
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)


def extra_token(parsed: Document) -> None:
    step(parsed, "tokens")["b"].append(["1", "1"])


def extra_coordinate(parsed: Document) -> None:
    step(parsed, "readout")["s"].append(["0"])


def extra_row(parsed: Document) -> None:
    step(parsed, "heads")["W"][0][1].append(["0", "0"])


def weight_not_integral(parsed: Document) -> None:
    step(parsed, "heads")["W"][0][0][0][0] = "1/2"


def negative_base(parsed: Document) -> None:
    parsed["field"]["base"][0] = "-2"


@pytest.mark.parametrize(
    ("tamper", "where"),
    [
        (extra_token, "tokens.b: must be a list of 2"),
        (extra_coordinate, "readout.s: must be a list of 2"),
        (extra_row, "heads.W[0][1]: must be a list of 2"),
        (weight_not_integral, "heads.W: W must have integers on the base"),
        (negative_base, "field.base[0]: "),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_what_rocq_would_not_see_is_refused(tamper: Callable[[Document], None], where: str) -> None:
    parsed = document()
    tamper(parsed)
    with pytest.raises(InputError, match=re.escape(f"c.json: {where}")):
        rocq(parsed)


def long_exponent(parsed: Document) -> None:
    step(parsed, "profile", 4)["exponents"][1][0] = "1000000000"


def long_number(parsed: Document) -> None:
    step(parsed, "base")["answer"] = "1" * 30_000


def many_queries(parsed: Document) -> None:
    parsed["claim"]["queries"] = 10**9


def many_heads(parsed: Document) -> None:
    parsed["claim"]["heads"] = 10**9


@pytest.mark.parametrize("tamper", [long_exponent, long_number, many_queries, many_heads], ids=lambda f: f.__name__)
def test_sizes_are_bounded(tamper: Callable[[Document], None]) -> None:
    parsed = document()
    tamper(parsed)
    with pytest.raises(InputError, match=r"--limit rocq_(bits|queries)"):
        rocq(parsed)
