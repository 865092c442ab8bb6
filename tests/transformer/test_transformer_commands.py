"""verify, query, random, canonical, counterexample and check with Transformers, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exactmha.cli.main import run

Output = pytest.CaptureFixture[str]
BY_HAND = {
    "format": "exactmha/instance/1",
    "field": "rational",
    "dim": 1,
    "heads": [{"W": [["log(2)"]], "O": [["1"]]}],
    "ffn": {"w": [["1"], ["-2"]], "a": ["3", "-1"]},
}
"""T = 3 ReLU(A) − ReLU(−2A) = 3A/2 + 3|A|/2 + A − |A| = 5A/2 + |A|/2."""


def printed(capsys: Output, *arguments: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert run(list(arguments)) == status
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
    return captured.out, captured.err


@pytest.fixture
def by_hand(tmp_path: Path) -> str:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(BY_HAND))
    return str(path)


def test_query(by_hand: str, capsys: Output) -> None:
    assert printed(capsys, "query", by_hand, "--tokens", '[["1"],["0"]]')[0].startswith("exact    3/2\n")
    assert printed(capsys, "query", by_hand, "--tokens", '[["-1"],["0"]]')[0].startswith("exact    -1\n")


def test_verify(by_hand: str, capsys: Output) -> None:
    out, err = printed(capsys, "verify", by_hand)
    assert err == ""
    assert "Λ_1 = (5/2)" in out
    assert "κ_1 = 1/2, ν_1 = (1)" in out
    assert "FAILS" not in out
    assert "\n".join(line.rstrip() for line in out.splitlines()) + "\n" == out


def test_verify_as_json(by_hand: str, capsys: Output) -> None:
    document = json.loads(printed(capsys, "verify", by_hand, "--json")[0])
    assert document["recovered"] == {
        "W": [[["log(2)"]]],
        "linear": [["5/2"]],
        "lines": [{"kappa": "1/2", "nu": [["1"]]}],
    }
    assert document["queries"] == 2 * 3 + 2 + 2 == document["queries_total"]
    assert {claim["outcome"] for claim in document["claims"]} == {"holds"}
    assert document["realisation"]["ffn"]["a"] == ["3", "-2"]  # 3 ReLU(A) − 2 ReLU(−A)


def test_same_seed_same_bytes(capsys: Output) -> None:
    arguments = ("verify", "--heads", "2", "--dim", "2", "--neurons", "3", "--seed", "4")
    assert printed(capsys, *arguments) == printed(capsys, *arguments)


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
def test_random_verify_check(field: str, tmp_path: Path, capsys: Output) -> None:
    instance, certificate = str(tmp_path / "i.json"), str(tmp_path / "c.json")
    shape = ("--heads", "2", "--dim", "2", "--neurons", "2", "--width", "2", "--field", field)
    printed(capsys, "random", *shape, "-o", instance)
    from_file, _ = printed(capsys, "verify", instance, "--certificate", certificate)
    assert from_file == printed(capsys, "verify", *shape)[0]
    out, _ = printed(capsys, "check", certificate, "--instance", instance)
    assert "PROVED: this Transformer is the same function as the one of the instance." in out


def test_no_certificate_where_f1_fails(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({**BY_HAND, "ffn": {"w": [["1"], ["-1"]], "a": ["1", "1"]}}))
    out, err = printed(capsys, "verify", str(path), "--certificate", str(tmp_path / "c.json"))
    assert "Λ = 0 for head 1, found inside the cells instead" in out
    assert "Not claimed  uniqueness: F1 fails, Λ = 0 for head 1, and uniqueness is proved only where F1 holds\n" in out
    assert err == "no certificate was written: F1 fails: Λ = 0 for head 1\n"
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize(
    ("parallel", "options", "words"),
    [
        (False, ("--lines-bound", "2"), "F2 and F3 are not known to hold: 1 lines were found where L ≤ 2"),
        (False, ("--heads-bound", "2"), "F1 is not known to hold for all heads: 1 heads were found where H ≤ 2"),
        (True, (), "F2 or F3 fails in the single tokens 1 and −1"),
    ],
)
def test_no_certificate_names_the_condition(
    parallel: bool, options: tuple[str, ...], words: str, tmp_path: Path, capsys: Output
) -> None:
    content: dict[str, object] = dict(BY_HAND)
    if parallel:  # two heads with parallel lines in dimension 1
        content["heads"] = [{"W": [["log(2)"]], "O": [["1"], ["1"]]}, {"W": [["log(3)"]], "O": [["0"], ["1"]]}]
        content["ffn"] = {"w": [["1", "0"], ["0", "1"]], "a": ["1", "1"]}
    path, certificate = tmp_path / "t.json", tmp_path / "c.json"
    path.write_text(json.dumps(content))
    _, err = printed(
        capsys, "verify", str(path), "--certificate", str(certificate), *options, status=3 if options else 1
    )
    assert err.startswith(f"no certificate was written: {words}")
    assert not certificate.exists()


def test_bounds_give_exit_status_3(by_hand: str, capsys: Output) -> None:
    out, _ = printed(capsys, "verify", by_hand, "--heads-bound", "2", status=3)
    assert "conditional" in out


def test_canonical(by_hand: str, tmp_path: Path, capsys: Output) -> None:
    out, err = printed(capsys, "canonical", by_hand)
    assert err == (
        "Canonical form: 1 of 1 heads and 1 line from 2 neurons; written with 2 neurons, the fewest possible.\n"
    )
    other = tmp_path / "other.json"
    other.write_text(out)
    verdict, _ = printed(capsys, "canonical", by_hand, "--compare", str(other))
    assert verdict == "holds      they agree on all sequences: their canonical forms are equal\n"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps({**BY_HAND, "ffn": {"w": [["1"], ["-2"]], "a": ["3", "1"]}}))
    assert printed(capsys, "canonical", by_hand, "--compare", str(changed), status=1)[0].startswith("fails ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "FILE", "--neurons", "2"), "describe a random instance"),
        (("verify", "FILE", "--no-redraw"), "--no-redraw: is not for Transformers"),
        (("verify", "FILE", "--lines-bound", "0"), "--lines-bound: a bound below the true number, 1"),
        (("verify", "--lines-bound", "3"), "--lines-bound: is for Transformers only"),
        (("verify", "--width", "3"), "--width: is for Transformers only"),
        (("verify", "--neurons", "-1"), "--neurons: must be at least 0"),
        (("verify", "--neurons", "1000"), "--neurons: must be at most 512"),
        (("verify", "--heads", "2", "--dim", "1", "--neurons", "2"), "no such Transformer satisfies F1 and F2"),
        (("verify", "--neurons", "0"), "no such Transformer satisfies F1 and F2"),
        (("random", "--neurons", "2", "--width", "0"), "--width: must be at least 1"),
        (("identify", "FILE", "--suggest", "1"), "FILE: ffn: is a Transformer, which is not taken here"),
        (("query", "FILE", "--tokens", '[["1","2"]]'), "--tokens[0]: a token must be a list of 1 numbers"),
        (("canonical", "FILE", "--compare", "PLAIN"), 'one instance is a Transformer (it has "ffn")'),
        (("counterexample", "biased-network", "--heads", "0"), "0"),
        (("counterexample", "cancelling-lines", "--heads", "2"), "--heads: cancelling-lines needs at least 3"),
        (("counterexample", "cancelling-lines", "--certificate", "x.json"), "--certificate: is not available"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], words: str, by_hand: str, tmp_path: Path, capsys: Output
) -> None:
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps({"format": "exactmha/instance/1", "dim": 1, "heads": [{"W": [["1"]], "v": ["1"]}]}))
    paths = {"FILE": by_hand, "PLAIN": str(plain)}
    out, err = printed(capsys, *(paths.get(a, a) for a in arguments), status=2)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words.replace("FILE", by_hand) in err


def test_counterexamples(capsys: Output) -> None:
    listed, _ = printed(capsys, "counterexample")
    assert [line.split()[0] for line in listed.splitlines() if "Transformers: " in line] == [
        "biased-network", "cancelling-lines", "invisible-neuron", "parallel-neurons", "hidden-head",
    ]  # fmt: skip
    out, _ = printed(capsys, "counterexample", "cancelling-lines")
    assert "FAILS" not in out
    document = json.loads(printed(capsys, "counterexample", "invisible-neuron", "--json", "--field", "rational")[0])
    assert len(document["models"]) == 2
    assert {claim["outcome"] for claim in document["claims"]} == {"holds"}
