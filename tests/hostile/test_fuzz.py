"""Mutated files never cause anything but a verdict or one clear sentence (bounded number of examples)."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exactmha.certificates.checker import main as check
from exactmha.cli.main import run

INSTANCES = [
    '{"format":"exactmha/instance/1","dim":2,"heads":[{"W":[["1/2","-3"],["0","2"]],"v":["1","-2/3"]}]}',
    '{"format":"exactmha/instance/1","dim":1,"heads":[{"W":[["2*log(3/2)"]],"v":["1"]},{"W":[["log(2)"]],"v":["2"]}]}',
    '{"format":"exactmha/instance/1","dim":1,"heads":[{"W":[["1/3*log(5)"]],"v":["1/(1+root(5,3))^2"]}]}',
    '{"format":"exactmha/instance/1","dim":1,"heads":[{"W":[["sqrt(8)"]],"v":["0.25e1"]}]}',
]
WORDS = ["log(", "sqrt(", "root(", "null", "true", "NaN", "e99999", "/0", "\\u0000", "\x00", "9" * 400]
FRAGMENTS = [*WORDS, *'01-^(),"[]{}é*+. ']
MUTATION = st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(FRAGMENTS))


def mutated(text: str, mutations: list[tuple[float, int, str]]) -> bytes:
    for where, cut, fragment in mutations:
        at = int(where * len(text))
        text = text[:at] + fragment + text[at + cut :]
    return text.encode()


@settings(
    max_examples=250, deadline=2000, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(base=st.sampled_from(INSTANCES), mutations=st.lists(MUTATION, min_size=1, max_size=3))
def test_mutated_instances(
    base: str, mutations: list[tuple[float, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "instance.json"
    path.write_bytes(mutated(base, mutations))
    status = run(["canonical", str(path)])
    captured = capsys.readouterr()
    assert status in (0, 2)
    if status == 2:
        assert captured.out == ""
        assert captured.err.startswith("error: ")
        assert captured.err.count("\n") == 1


@settings(
    max_examples=150, deadline=2000, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(mutations=st.lists(MUTATION, min_size=1, max_size=3))
def test_mutated_tokens(
    mutations: list[tuple[float, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "instance.json"
    path.write_text(INSTANCES[0], encoding="utf-8")
    tokens = mutated('[["1","2"],["-3/7","0.5"]]', mutations).decode()
    status = run(["query", str(path), "--tokens", tokens, "--digits", "5"])
    captured = capsys.readouterr()
    assert status in (0, 2)
    assert captured.err.count("\n") == (status == 2)


@pytest.fixture(scope="module", params=["rational", "radical", "exponential"])
def certificate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("certificate") / "certificate.json"
    assert run(["verify", "--heads", "2", "--dim", "1", "--field", request.param, "--certificate", str(path)]) == 0
    return path.read_text(encoding="utf-8")


@settings(
    max_examples=150, deadline=2000, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(mutations=st.lists(MUTATION, min_size=1, max_size=3))
def test_mutated_certificates_are_never_accepted(
    certificate: str, mutations: list[tuple[float, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = mutated(certificate, mutations)
    instance = json.loads(certificate)["instance"]
    path = tmp_path / "mutated.json"
    path.write_bytes(data)
    status = check([str(path)])
    captured = capsys.readouterr()
    if data == certificate.encode():
        return
    if status == 0:  # only the digest of the instance, which the statement then names, may differ
        assert json.loads(data)["instance"] != instance
    assert status in (0, 1, 2)
    assert (captured.err.count("\n"), captured.out.count("\n") > 0) == ((1, False) if status == 2 else (0, True))
