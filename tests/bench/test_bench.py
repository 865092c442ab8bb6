"""The methods that are timed side by side solve the same problem, and the figures are what they say."""

import json
import re
from pathlib import Path

import pytest
from flint import fmpq, fmpq_mat

from exactmha.attention import Attention
from exactmha.bench.profiles import euclid, flint_solve, ours, samples, sympy_interpolate, time_profile
from exactmha.bench.suite import fitted
from exactmha.bench.timing import growth_exponent
from exactmha.bench.verifications import VerificationTiming, bare_evaluation, count_operations, time_verification
from exactmha.cli.main import run
from exactmha.random_instance import random_model
from exactmha.recover.profile import Profile
from exactmha.reproduce import reproduce


def pole_polynomial_of(profile: Profile) -> list[fmpq]:
    """Return the coefficients of Π (1 + x 2^n), constant term first."""
    coefficients = [fmpq(1)]
    for (n,) in profile.exponents:
        r = fmpq(2) ** n
        coefficients = [a + r * b for a, b in zip([*coefficients, fmpq(0)], [fmpq(0), *coefficients], strict=True)]
    return coefficients


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_all_methods_find_the_same_poles(heads: int) -> None:
    f = samples(heads)
    profile = ours(f)
    assert isinstance(profile, Profile)
    q = pole_polynomial_of(profile)
    solved = flint_solve(f)
    assert isinstance(solved, fmpq_mat)
    assert [fmpq(1), *solved.entries()] == q
    _, denominator = euclid(f)  # type: ignore[misc]  # a pair of polynomials
    assert [c / denominator[0] for c in denominator.coeffs()] == q
    import sympy

    interpolant = sympy_interpolate(f)
    x = sympy.symbols("x")
    bottom = sympy.Poly(sympy.fraction(sympy.together(interpolant))[1], x)
    roots = [
        -1 / sympy.Rational(int(r.numerator), int(r.denominator)) for r in (fmpq(2) ** n for (n,) in profile.exponents)
    ]
    assert all(bottom.eval(root) == 0 for root in roots)


def test_profiles_too_slow_for_a_method_are_left_out() -> None:
    timing = time_profile(20, 1, 0.001)
    assert timing.flint_solve is timing.euclid is timing.sympy is None
    assert timing.ours > 0


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
def test_bare_evaluation_is_form_p(field: str) -> None:
    model = random_model(2, 1, field, 1)
    attention = Attention(model)
    exponents = [head.W for head in model.heads]
    logits = [tuple(int((m[0][0] * model.field.denominator).numerator) for m in W) for W in exponents]
    residues = [head.v[0] for head in model.heads]
    for k, value in enumerate(bare_evaluation(model.field, logits, residues, 3), 1):
        answer = attention([(2,)] * k + [(1,)]) - attention([(1,)])
        if field == "rational":
            assert answer.q == value  # type: ignore[attr-defined]
        elif field == "radical":
            assert answer.poly == value  # type: ignore[attr-defined]
        else:  # numerators and denominators of the H terms: compare at t = 2
            total = sum((top(fmpq(2)) / bottom(fmpq(2)) for top, bottom in value), fmpq(0))
            assert total == at_two(answer)


def at_two(value: object) -> fmpq:
    total = fmpq(0)
    for (m, (powers, integers)), c in value.terms.items():  # type: ignore[attr-defined]
        bottom = sum((fmpq(2) ** n * c_n for n, c_n in zip((0, *powers), integers, strict=True)), fmpq(0))
        total += c * fmpq(2) ** m / bottom
    return total


def test_parts_of_a_verification_add_up() -> None:
    timing = time_verification("exponential", 2, 2, 1)
    assert timing.queries == 4 * 2 * 4 - 2 * 2 + 1
    assert 0 < timing.images + timing.guess + timing.proof < timing.learner
    assert timing.ratio == timing.learner / timing.oracle


@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2), (3, 2)])
def test_operation_counts_are_those_of_the_algorithm(heads: int, dim: int) -> None:
    counts = count_operations("exponential", heads, dim)
    profiles, samples_each = 2 * dim**2 - 1, 2 * heads
    terms = profiles * samples_each * heads
    guessed = profiles - dim * (dim - 1)  # of the sum profiles of later rows, the residues say all
    assert counts["image"] == guessed * (samples_each + 1)
    assert counts["equals"] == profiles * samples_each + 1  # every answer, and f(b_1) = s·b_1
    assert counts["monomial"] == counts["subtract"] == terms
    assert counts["divide"] == terms
    assert counts["multiply"] == 2 * terms


def test_growth_exponent_of_exact_powers() -> None:
    assert growth_exponent([2, 4, 8], [12.0, 48.0, 192.0]) == pytest.approx(2)
    assert growth_exponent([3], [1.0]) is None


def test_growth_is_fitted_from_three_sizes_on() -> None:
    def timing(heads: int, dim: int, seconds: float) -> VerificationTiming:
        return VerificationTiming("exponential", heads, dim, 1, seconds / 2, 1, 0, 0, 0, seconds / 2, 1)

    found = fitted([timing(8, 2, 4), timing(8, 4, 16), timing(8, 8, 64), timing(2, 8, 1)])
    assert [(g.variable, g.fixed) for g in found] == [("d", 8)]
    assert found[0].exponent == pytest.approx(2)


def test_bench_command_prints_tables_and_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exactmha.bench.suite._QUICK", (("exponential", 1, 1), ("rational", 1, 2)))
    assert run(["bench", "--quick", "--repetitions", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["heads"] for row in document["profiles"]] == [2, 4, 8]
    assert document["verifications"][1]["field"] == "rational"
    assert document["machine"]
    assert run(["bench", "--quick", "--repetitions", "1"]) == 0
    assert re.search(r"^H = 8 +[\d.]+", capsys.readouterr().out, flags=re.MULTILINE)


def test_reproduce_rewrites_only_marked_blocks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- reproduce:by-hand -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    assert reproduce(page) == ["by-hand"]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- reproduce:by-hand -->\n```text\nQuery X")
    assert text.endswith("```\n<!-- end -->\nafter\n")
    assert reproduce(page) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<!-- reproduce:by-hand -->\nold\n<!-- reproduce:verify -->\nx\n<!-- end -->\n", "before the next begins"),
        (b"<!-- reproduce:verify -->\nold\n", "before the next begins"),
        (b"<!-- reproduce:by-hand -->\r\nold\r\n<!-- end -->\r\n", "line ends"),
        (b"\xff<!-- reproduce:by-hand -->\nold\n<!-- end -->\n", "UTF-8"),
        (b"<!-- reproduce:by-hand -->\nold\n<!-- end -->\n", "not on this page"),
    ],
)
def test_reproduce_leaves_a_page_it_does_not_understand(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(content)
    assert run(["reproduce", str(page), "--only", "verify"]) == 2
    assert said in capsys.readouterr().err
    assert page.read_bytes() == content


def test_interrupting_reproduce_is_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("exactmha.verification.verify", interrupted)
    page = tmp_path / "page.md"
    page.write_text("<!-- reproduce:verify -->\nold\n<!-- end -->\n", encoding="utf-8")
    assert run(["reproduce", str(page)]) == 130


def test_reproduce_refuses_a_page_without_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing here", encoding="utf-8")
    assert run(["reproduce", str(page)]) == 2
    assert "page.md" in capsys.readouterr().err
