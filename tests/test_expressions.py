"""The grammar against Python's own parser (rationals) and against mpmath (roots and logarithms)."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exactmha.errors import InputError, LimitError
from exactmha.expressions import calls, evaluate, parse, parse_number
from exactmha.forms import Form, FormAlgebra
from exactmha.limits import Limits

REALS = mpmath.mp.clone()
REALS.dps = 80
modest = settings(derandomize=True, deadline=None, max_examples=120)


def form(text: str, limits: Limits | None = None) -> Form:
    limits = limits or Limits()
    return evaluate(parse(text, limits), FormAlgebra(limits))


def rational(text: str) -> Fraction:
    value = form(text).rational()
    assert value is not None
    return Fraction(int(value.numerator), int(value.denominator))


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda base, exponent: base ** int(exponent),
}


def by_python(text: str, number: Callable[[str], Any], functions: dict[str, Callable[..., Any]]) -> Any:
    """Evaluate with Python's grammar, in which `**` and unary minus bind as `^` and unary minus do here."""
    source = text.replace("^", "**")

    def walk(node: ast.AST) -> Any:
        match node:
            case ast.Constant():
                return number(ast.get_source_segment(source, node) or "")
            case ast.UnaryOp(op, operand):
                return -walk(operand) if isinstance(op, ast.USub) else walk(operand)
            case ast.BinOp(left, op, right):
                return OPERATORS[type(op)](walk(left), walk(right))
            case ast.Call(ast.Name(name), arguments):
                return functions[name](*map(walk, arguments))
        raise AssertionError(ast.dump(node))

    return walk(ast.parse(source, mode="eval").body)


literals = st.sampled_from(["0", "1", "2", "3", "10", "0.25", "1.5", "12.50", "2e3", "1.5e-3", "5E+1"])
signs = st.sampled_from(["", "-", "+", "--", "- ", "-+-"])


def operations(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    atom = literals | inner.map(lambda text: f"({text})")
    powered = st.builds(lambda base, e: f"{base}^{e}", atom, st.integers(-3, 4))
    signed = st.builds(lambda sign, x: sign + x, signs, atom | powered)
    product = st.builds(lambda a, op, b: f"{a}{op}{b}", signed, st.sampled_from(["*", "/", " * ", " / "]), signed)
    chain = st.lists(st.tuples(st.sampled_from(["+", "-", "*", "/", " - "]), signed | product), min_size=1, max_size=4)
    return st.builds(lambda first, rest: first + "".join(op + x for op, x in rest), signed, chain)


class TestRationals:
    @modest
    @given(st.recursive(literals, operations, max_leaves=12))
    def test_random_expressions_agree_with_python(self, text: str) -> None:
        try:
            expected = by_python(text, Fraction, {})
        except ZeroDivisionError:
            with pytest.raises(InputError, match="division by zero"):
                form(text)
            return
        assume(max(abs(expected.numerator), expected.denominator) < 10**2000)
        assert rational(text) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("1/2", "1/2"),
            ("-2/3", "-2/3"),
            ("1 + 2*3", "7"),
            ("(1 + 2)*3", "9"),
            ("2 - 3 - 4", "-5"),
            ("24/4/3", "2"),
            ("24/(4/3)", "18"),
            ("-2^2", "-4"),
            ("(-2)^2", "4"),
            ("2^-2", "1/4"),
            ("2*-3", "-6"),
            ("2 - -3", "5"),
            ("--3", "3"),
            ("+3", "3"),
            ("3*2^3/4", "6"),
            ("0^0", "1"),
            ("0^5", "0"),
            ("1^999999999", "1"),
            ("(-1)^999999999", "-1"),
            ("007", "7"),
            (" 1\t+\n1 ", "2"),
            ("sqrt(9/4)", "3/2"),
            ("root(8/27, 3)", "2/3"),
            ("root(5, 1)", "5"),
            ("sqrt(0)", "0"),
            ("log(1)", "0"),
            ("sqrt(2)^2", "2"),
            ("sqrt(2)^-4", "1/4"),
            ("sqrt(12)/sqrt(3)", "2"),
            ("sqrt(8) - 2*sqrt(2) + 1", "1"),
            ("root(2,3)*root(4,3)", "2"),
            ("(log(3) - log(3))^2", "0"),
            ("sqrt(1 + 3)", "2"),
            ("sqrt(sqrt(16))", "2"),
        ],
    )
    def test_hand_computed(self, text: str, expected: str) -> None:
        assert rational(text) == Fraction(expected)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("0.1", Fraction(1, 10)),
            ("0.25", Fraction(1, 4)),
            ("1.5e-3", Fraction(3, 2000)),
            ("2E3", Fraction(2000)),
            ("1e+2", Fraction(100)),
            ("0.30000000000000004", Fraction(30000000000000004, 10**17)),
            ("123456789012345678901234567890.5", Fraction(246913578024691357802469135781, 2)),
        ],
    )
    def test_decimals_are_exact(self, text: str, expected: Fraction) -> None:
        value = parse_number(text)
        assert Fraction(int(value.numerator), int(value.denominator)) == expected

    def test_numbers_beyond_pythons_digit_limit(self) -> None:
        value = parse_number("1" * 15000)
        assert value == fmpq((10**15000 - 1) // 9)

    def test_square_root_of_a_huge_square(self) -> None:
        assert form(f"sqrt(1{'0' * 4000})").rational() == fmpq(10**2000)


def numerical(value: Form) -> mpmath.mpf:
    total = REALS.mpf(0)
    for radical, c in value.radicals.items():
        term = REALS.mpf(int(c.numerator)) / int(c.denominator)
        for p, e in radical:
            term *= REALS.mpf(p) ** (REALS.mpf(e.numerator) / e.denominator)
        total += term
    for q, c in value.logs.items():
        total += REALS.log(REALS.mpf(int(q.numerator)) / int(q.denominator)) * int(c.numerator) / int(c.denominator)
    return total


REAL_FUNCTIONS = {"sqrt": REALS.sqrt, "log": REALS.log, "root": lambda x, n: x ** (1 / n)}
roots = st.sampled_from(
    [
        "sqrt(2)",
        "sqrt(12)",
        "sqrt(3/2)",
        "root(2,3)",
        "root(12,4)",
        "root(9/8,6)",
        "1/sqrt(6)",
        "sqrt(18)^3",
        "3",
        "1/2",
    ]
)


def sums_of_products(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    product = st.lists(atoms, min_size=1, max_size=3).map(" * ".join)
    total = st.lists(st.tuples(st.sampled_from([" + ", " - "]), product), min_size=1, max_size=4)
    return total.map(lambda terms: "0" + "".join(sign + x for sign, x in terms))


class TestRootsAndLogs:
    @modest
    @given(sums_of_products(sums_of_products(roots).map(lambda text: f"({text})") | roots))
    def test_random_roots_agree_with_mpmath(self, text: str) -> None:
        value = form(text)
        expected = by_python(text, REALS.mpf, REAL_FUNCTIONS)
        assert abs(numerical(value) - expected) < REALS.mpf(10) ** -60 * (1 + abs(expected))
        assert all(c != 0 for c in value.radicals.values())
        if abs(expected) < REALS.mpf(10) ** -60:
            assert value.is_zero

    @modest
    @given(
        st.lists(
            st.tuples(st.sampled_from(["1", "-2/3", "0", "5^-1"]), st.sampled_from(["2", "3/2", "1", "12", "0.25"])),
            min_size=1,
            max_size=5,
        )
    )
    def test_random_logs_agree_with_mpmath(self, terms: list[tuple[str, str]]) -> None:
        text = " + ".join(f"{c}*log({q})" for c, q in terms)
        expected = by_python(text, REALS.mpf, REAL_FUNCTIONS)
        assert abs(numerical(form(text)) - expected) < REALS.mpf(10) ** -60

    @pytest.mark.parametrize(
        "text", ["sqrt(12)", "root(24,3)", "1/sqrt(6)", "sqrt(2)*sqrt(6)", "root(4,6)", "sqrt(2)^5/3", "root(1/2,4)^3"]
    )
    def test_roots_agree_with_sympy(self, text: str) -> None:
        functions = {"sqrt": sympy.sqrt, "root": sympy.root}
        expected = by_python(text, sympy.Rational, functions)
        ((radical, c),) = form(text).radicals.items()
        assert all(0 < e < 1 for _, e in radical)
        found = sympy.Rational(int(c.numerator), int(c.denominator)) * sympy.Mul(
            *(sympy.Integer(p) ** sympy.Rational(e.numerator, e.denominator) for p, e in radical)
        )
        order = 12
        assert found > 0
        assert sympy.simplify(found**order - expected**order) == 0

    @pytest.mark.parametrize(
        "text", ["sqrt(12) - 2*sqrt(3)", "sqrt(2)*sqrt(3) - sqrt(6)", "root(4,4) - sqrt(2)", "1/sqrt(2) - sqrt(2)/2"]
    )
    def test_equal_roots_cancel(self, text: str) -> None:
        assert form(text).is_zero

    def test_calls_are_found_at_any_depth(self) -> None:
        found = [call.name for call in calls(parse("1 + 2*(sqrt(root(4,2)) - log(3))^2"))]
        assert found == ["sqrt", "root", "log"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "position"), [("1 $ 2", 3), ("1+#", 3), (".5", 1), ("5.", 2), ("١", 1), ("2*π", 3), ("1;2", 2)]
    )
    def test_a_foreign_character_is_located(self, text: str, position: int) -> None:
        with pytest.raises(InputError, match=f"unexpected character at position {position}") as caught:
            parse(text)
        assert caught.value.hint

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "empty"),
            ("   ", "empty"),
            ("1 +", "found the end"),
            ("*2", r"found \*"),
            ("(1", r"expected '\)'"),
            ("1)", "unexpected text"),
            ("1 2", "unexpected text"),
            ("2(3)", "unexpected text"),
            ("2x", "unexpected text"),
            ("1e", "unexpected text"),
            ("2**3", r"found \*"),
            ("2^3^2", "unexpected text"),
            ("2^1.5", "exponent must be an integer"),
            ("2^(1/2)", "exponent must be an integer"),
            ("2^", "found the end"),
            ("x", "unknown name"),
            ("__import__(1)", "unknown name"),
            ("log", r"expected '\('"),
            ("log()", r"found \)"),
            ("log(1,2)", "takes 1"),
            ("root(2)", "takes 2"),
            ("1,2", "unexpected text"),
        ],
    )
    def test_malformed_text(self, text: str, problem: str) -> None:
        with pytest.raises(InputError, match=problem) as caught:
            parse(text)
        assert type(caught.value) is InputError

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("1/0", "division by zero"),
            ("0^-1", "division by zero"),
            ("1/(sqrt(2) - sqrt(2))", "division by zero"),
            ("log(0)", "must be positive"),
            ("log(-1)", "must be positive"),
            ("log(sqrt(2))", "must be rational"),
            ("sqrt(-1)", "must not be negative"),
            ("root(-8,3)", "must not be negative"),
            ("root(2,0)", "positive integer"),
            ("root(2,-3)", "positive integer"),
            ("root(2,1/2)", "positive integer"),
            ("root(2,sqrt(2))", "positive integer"),
            ("exp(1)", "exp is not allowed"),
            ("log(2)*log(3)", "only be multiplied by a rational"),
            ("log(2)*sqrt(2)", "only be multiplied by a rational"),
            ("1/log(2)", "not supported"),
            ("1/(1 + sqrt(2))", "not supported"),
            ("log(2)^2", "not supported"),
            ("(1 + sqrt(2))^2", "not supported"),
        ],
    )
    def test_undefined_or_unsupported_values(self, text: str, problem: str) -> None:
        with pytest.raises(InputError, match=problem) as caught:
            form(text)
        assert type(caught.value) is InputError

    def test_messages_name_value_and_remedy(self) -> None:
        with pytest.raises(InputError) as caught:
            parse("2^0.5")
        assert str(caught.value) == "an exponent must be an integer (given: 0.5); write root(n,N) for n^(1/N)"

    def test_messages_are_one_short_printable_line(self) -> None:
        with pytest.raises(InputError) as caught:
            parse("1 + \x1b[31m\n" + "y" * 1000)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 250


BIG_NON_SQUARE = 10**40 + 1


class TestLimits:
    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("1" * 10**6, id="10^6 digits"),
            pytest.param("1" * 20_001, id="20,001 digits"),
            "1e20000",
            "1e-20000",
            "1e999999999999",
            "1e-999999999999",
            "2^99999",
            "2^-99999",
            "2^999999999",
            "(1/3)^-999999999",
            "10^10000000000",
            "10^99999999999999999999",
            "((((10^99)^99)^99)^99)^99",
            "sqrt(2)^999999999",
            "2^60000*2^60000",
            "1/2^60000/2^60000",
            "root(2,97)",
            "root(2,10^9)",
            "root(4,10^9)",
            f"sqrt({BIG_NON_SQUARE})",
            f"sqrt(1/{BIG_NON_SQUARE})",
            f"sqrt(1{'0' * 9001})",
            pytest.param("(" * 41 + "1" + ")" * 41, id="41 parentheses"),
            pytest.param("sqrt(" * 50 + "1" + ")" * 50, id="50 nested calls"),
            pytest.param("(" * 99_999, id="99,999 open parentheses"),
            pytest.param("1" + "+1" * 50_000, id="100,001 characters"),
        ],
    )
    def test_too_large_is_refused(self, text: str) -> None:
        with pytest.raises(LimitError):
            form(text)

    @pytest.mark.parametrize("text", ["10^10^10", "10^(10^10)", "2^2^2"])
    def test_towers_are_no_expressions(self, text: str) -> None:
        with pytest.raises(InputError):
            form(text)

    def test_just_within_the_limits(self) -> None:
        assert form("1" * 20_000).rational() == fmpq((10**20_000 - 1) // 9)
        assert rational("(" * 39 + "1" + ")" * 39) == 1
        assert rational("1" + "+1" * 49_999) == 50_000
        assert rational("-" * 50_000 + "1") == 1
        assert rational("2^66000") == 2**66000
        assert len(form("root(2,96)").radicals) == 1

    @pytest.mark.parametrize("name", ["log", "sqrt"])
    def test_different_terms_are_counted(self, name: str) -> None:
        primes = (2, 3, 5, 7, 11, 13, 17)
        text = " + ".join(f"{name}({p})" for p in primes)
        assert form(text, Limits(terms=7)) == form(text)
        with pytest.raises(LimitError, match="more than 6 different terms"):
            form(text, Limits(terms=6))

    def test_limits_can_be_changed(self) -> None:
        with pytest.raises(LimitError, match="expression_chars"):
            form("1+1", Limits(expression_chars=2))
        with pytest.raises(LimitError, match="expression_depth"):
            form("((1))", Limits(expression_depth=2))
        with pytest.raises(LimitError, match="number_digits"):
            form("12*12", Limits(number_digits=2))
        with pytest.raises(LimitError, match="sqrt_bits"):
            form("sqrt(17)", Limits(sqrt_bits=4))
        with pytest.raises(LimitError, match="root_order"):
            form("root(2,3)", Limits(root_order=2))
