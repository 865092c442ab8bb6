"""Faults that a deliberate attack found, one test for each kind."""

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from exactmha.certificates.checker import main as check
from exactmha.cli.main import run
from exactmha.errors import InputError
from exactmha.fields import ExponentialField, RadicalField, RationalField


def written(path: Path, *heads: tuple[str, str], field: str | None = None) -> str:
    content: dict[str, Any] = {"format": "exactmha/instance/1", "dim": 1}
    content |= {"field": field} if field else {}
    content["heads"] = [{"W": [[W]], "v": [v]} for W, v in heads]
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def certificate_with_exponents(tmp_path: Path, field: dict[str, Any], exponent: list[str]) -> str:
    path = tmp_path / "c.json"
    assert run(["verify", "--heads", "1", "--dim", "1", "--field", field["name"], "--certificate", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    document["field"] = field
    degree = field.get("order", 1)
    for step in document["steps"]:
        if step["kind"] == "profile":
            step["exponents"] = [exponent]
            step["residues"] = [["1"] + ["0"] * (degree - 1)]
        if step["kind"] == "base":
            step["answer"] = "0" if field["name"] == "rational" else ["0"] * degree
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("field", "exponent"),
    [
        ({"name": "rational", "base": ["2", "3", "5", "7"]}, [f"{1_300_000:x}"] * 4),
        ({"name": "radical", "beta": "2", "order": 96}, [f"{96 * 1_999_998 + 1:x}"]),
    ],
)
def test_small_certificate_with_huge_weights_is_refused_quickly(
    field: dict[str, Any], exponent: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = certificate_with_exponents(tmp_path, field, exponent)
    capsys.readouterr()
    start = time.process_time()
    assert check([path]) == 2
    assert time.process_time() - start < 2
    assert "bits" in capsys.readouterr().err


@pytest.mark.parametrize("W", ["log(2^60000)-log(2^59999)", "+".join(f"log(7^20000+{2 * i})" for i in range(60))])
def test_checker_reads_hostile_logarithms_quickly(W: str, tmp_path: Path) -> None:
    honest = written(tmp_path / "i.json", ("log(2)", "1"))
    assert run(["verify", honest, "--certificate", str(tmp_path / "c.json")]) == 0
    hostile = written(tmp_path / "h.json", (W, "1"))
    import hashlib

    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    document["instance"] = hashlib.sha256(Path(hostile).read_bytes()).hexdigest()
    (tmp_path / "c.json").write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    start = time.process_time()
    assert check([str(tmp_path / "c.json"), "--instance", hostile]) == (0 if "-" in W else 2)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("W", ["log(10^5000+1)", "1/10^5000"])
@pytest.mark.parametrize("command", ["canonical", "verify"])
def test_numbers_beyond_the_digits_of_python_are_written(W: str, command: str, tmp_path: Path) -> None:
    path = written(tmp_path / "i.json", (W, "1"))
    assert run([command, path]) in {0, 3}


def test_checker_accepts_logarithms_that_cancel_in_an_exponential_instance(tmp_path: Path) -> None:
    path = written(tmp_path / "i.json", ("log(4)-2*log(2)+1", "1"))
    assert run(["verify", path, "--certificate", str(tmp_path / "c.json")]) == 0
    assert check([str(tmp_path / "c.json"), "--instance", path]) == 0


@pytest.mark.parametrize(
    ("heads", "token"),
    [
        ([("1/96*log(2)", "1")], "182400002"),
        ([("1/24*log(2)", "1")], "45600002"),
        ([(f"log({p})", "1") for p in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31)], "500000"),
    ],
)
def test_short_tokens_with_huge_weights_are_refused_quickly(
    heads: list[tuple[str, str]], token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "i.json", *heads)
    start = time.process_time()
    assert run(["query", path, "--tokens", json.dumps([[token], ["1"]])]) == 2
    assert time.process_time() - start < 3
    assert "value_bits" in capsys.readouterr().err


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExponentialField(0, 1),
        lambda: ExponentialField(4, 1),
        lambda: ExponentialField(1, 0),
        lambda: RationalField((2, 4)),
        lambda: RationalField((1,)),
        lambda: RadicalField(fmpq(1), 2),
        lambda: RadicalField(fmpq(0), 2),
        lambda: RadicalField(fmpq(4), 2),
    ],
)
def test_fields_that_would_prove_falsehoods_cannot_be_made(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_one_long_fraction_is_refused_quickly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    assert run(["verify", "--heads", "1", "--dim", "1", "--field", "rational", "--certificate", str(path)]) == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    document["steps"][1]["answer"] = f"{3**1_000_000:x}/{2**1_584_963 + 1:x}"
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    capsys.readouterr()
    start = time.process_time()
    assert check([str(path)]) == 2
    assert time.process_time() - start < 2
    assert "hexadecimal digits" in capsys.readouterr().err


def test_closed_standard_error_is_no_failure() -> None:
    command = f'exec "{sys.executable}" -m exactmha verify --heads 1 --dim 1 2>&-'
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0
    assert b"holds" in done.stdout


@pytest.mark.parametrize("table", ["runs (a)", "runs (key PRIMARY KEY)"])
def test_foreign_tables_under_our_name_are_one_sentence(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id=7170145")
        connection.execute(f"CREATE TABLE {table}")
    connection.close()
    assert run(["sweep", "--db", str(path), "--heads", "1", "--dim", "1", "--trials", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_nesting_allowed_by_a_raised_limit_is_still_no_traceback(tmp_path: Path) -> None:
    path = written(tmp_path / "i.json", ("(" * 3000 + "1" + ")" * 3000, "1"))
    assert run(["canonical", path, "--limit", "expression_depth=100000"]) == 2


def test_products_of_sums_are_bounded_over_the_whole_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    primes = (2, 3, 5, 7, 11, 13)
    rational = "*".join(f"(1+sqrt({p}))" for p in primes) + "*" + "*".join(f"(1-sqrt({p}))" for p in primes)
    limit = ["--limit", "products=5000"]
    one = written(tmp_path / "one.json", ("0", rational), field="exponential")
    assert run(["canonical", one, *limit]) == 0
    many = written(tmp_path / "many.json", *((str(n), f"{n}*{rational}") for n in range(1, 31)), field="exponential")
    capsys.readouterr()
    assert run(["canonical", many, *limit]) == 2
    assert "see --limit products" in capsys.readouterr().err
