"""Every identity written down in the folder `symbolic` of the proofs is 0, and no longer so once it is altered.

An alteration changes the module's source in one place, so what is shown to matter is the formula as it stands there.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sympy import (
    Add,
    Dummy,
    Expr,
    IndexedBase,
    Matrix,
    Poly,
    Subs,
    Sum,
    combsimp,
    exp,
    expand,
    fraction,
    signsimp,
    symbols,
    sympify,
    together,
)
from sympy.core.function import AppliedUndef
from sympy.functions.combinatorial.factorials import CombinatorialFunction
from sympy.tensor.indexed import Indexed

FOLDER = Path(__file__).parents[2] / "proofs" / "symbolic"
Check = Callable[[ModuleType], Any]

CHECKS: dict[str, tuple[str, Check]] = {
    **{
        f"profile identity, H={H} d={d} k={k}": ("profile_identity", lambda m, a=(H, d, k): m.difference(*a))
        for H, d, k in [
            (0, 2, 3),
            (1, 1, 0),
            (1, 1, 2),
            (1, 2, 3),
            (2, 2, 1),
            (2, 2, 3),
            (3, 2, 2),
            (4, 1, 4),
            (4, 2, 2),
        ]
    },
    "profile identity, every H, d and k": ("profile_identity", lambda m: m.head_difference()),
    **{f"Loewner, H={H}": ("loewner", lambda m, H=H: m.difference(H)) for H in range(1, 4)},
    "Loewner, every H": ("loewner", lambda m: m.head_difference()),
    "profiles, every d": ("query_count", lambda m: m.profile_difference()),
    "queries, every n and d": ("query_count", lambda m: m.difference()),
    **{f"partial fractions, n={n}": ("partial_fractions", lambda m, n=n: m.difference(n)) for n in range(1, 5)},
    "partial fractions, from n to n+1": ("partial_fractions", lambda m: m.step_difference()),
    **{f"finite differences, H={H}": ("finite_differences", lambda m, H=H: m.difference(H)) for H in range(1, 5)},
    **{
        f"moments, H={H} i={i}": ("finite_differences", lambda m, a=(H, i): m.moment(*a))
        for H in range(1, 5)
        for i in range(H)
    },
    "Pascal, every H": ("finite_differences", lambda m: m.pascal_difference()),
    "Newton, every degree": ("finite_differences", lambda m: m.newton_difference()),
    "determinant, H=1": ("confluent_cauchy", lambda m: m.difference(1, symbolic_nodes=True)),
    "determinant, H=2": ("confluent_cauchy", lambda m: m.difference(2, symbolic_nodes=True)),
    "determinant, H=3, nodes 1..6": ("confluent_cauchy", lambda m: m.difference(3, symbolic_nodes=False)),
    "determinant, elimination": ("confluent_cauchy", lambda m: m.elimination_difference()),
    "determinant, confluence": ("confluent_cauchy", lambda m: m.confluence_difference()),
    "determinant, from H-1 to H": ("confluent_cauchy", lambda m: m.step_difference()),
    "determinant, columns": ("confluent_cauchy", lambda m: m.columns_difference()),
    "inverse Jacobian, H=1": ("inverse_jacobian", lambda m: m.difference(1)),
    "inverse Jacobian, H=2": ("inverse_jacobian", lambda m: m.difference(2)),
    "inverse Jacobian, every H": ("inverse_jacobian", lambda m: m.expansion_difference()),
}

# check, the formula as it stands in the module, and altered
ALTERATIONS = [
    # a sign, an exponent or factor, a missing term
    ("profile identity, H=1 d=1 k=2", "/ (1 + k * r)", "/ (1 - k * r)"),
    ("profile identity, H=2 d=2 k=3", "c * k * r / (1", "c * k * r**2 / (1"),
    ("profile identity, H=2 d=2 k=3", "v.dot(b) + c", "c"),
    ("profile identity, H=2 d=2 k=3", "exp((b.T * W * u)[0])", "exp((u.T * W * b)[0])"),
    ("profile identity, H=1 d=2 k=3", "last = tokens[-1]", "last = tokens[0]"),
    ("profile identity, every H, d and k", "(k * r + 1)", "(k * r - 1)"),
    ("profile identity, every H, d and k", "(k * r + 1)", "(r + 1)"),
    ("profile identity, every H, d and k", "(readout(last) + c", "(c"),
    ("Loewner, H=1", "F(x[i]) - F(y[j])", "F(x[i]) + F(y[j])"),
    ("Loewner, H=2", "diag(*[c[h] * r[h] for", "diag(*[c[h] * r[h] ** 2 for"),
    ("Loewner, H=2", "diag(*[c[h] * r[h] for", "diag(*[c[h] for"),
    ("Loewner, H=3", "range(H)]) * C_prime.T", "range(H)]) * C_prime"),
    ("Loewner, every H", "- c * r /", "+ c * r /"),
    ("Loewner, every H", "- c * r /", "- c * r**2 /"),
    ("Loewner, every H", " * (y * r + 1))", ")"),
    ("profiles, every d", "2 * d**2 - 1)", "2 * d**2 + 1)"),
    ("profiles, every d", "2 * d**2 - 1)", "2 * d**3 - 1)"),
    ("profiles, every d", '(b_1, u_1 + u_i)": (d - 1)', '(b_1, u_1 + u_i)": 0'),
    ("queries, every n and d", "- 2 * n + 1)", "+ 2 * n + 1)"),
    ("queries, every n and d", "4 * n * d**2", "4 * n * d"),
    ("queries, every n and d", "return 1 + sum(", "return sum("),
    ("queries, every n and d", "(d - 1) * d,", "(d - 1),"),
    ("partial fractions, n=2", "return -gamma * zeros", "return gamma * zeros"),
    ("partial fractions, n=3", "-1 / r[i] - k", "-1 / r[i] + k"),
    ("partial fractions, n=4", "-1 / r[i] - k for k in range(len(r))", "-1 / r[i] - k for k in range(len(r) - 1)"),
    ("partial fractions, n=4", "gamma * prod(x - k for", "gamma * prod(x - k**2 for"),
    ("partial fractions, from n to n+1", "alpha = (-1 / r - n)", "alpha = (-1 / r + n)"),
    ("partial fractions, from n to n+1", "beta = -(-1 / rho - n)", "beta = -(-1 / rho - n) ** 2"),
    ("partial fractions, from n to n+1", " - beta * summand(x, rho)", ""),
    ("finite differences, H=1", "(-1) ** (H - n)", "1 ** (H - n)"),
    ("finite differences, H=2", "(f(k) - f(0)) / k", "(f(k) - f(0)) / k**2"),
    ("finite differences, H=3", "(f(k) - f(0)) / k", "f(k) / k"),
    ("finite differences, H=2", "prod(1 + k * r[h]", "prod(1 - k * r[h]"),
    ("moments, H=2 i=1", "(-1) ** k *", ""),
    ("moments, H=2 i=1", "binomial(2 * H - 1, k - 1)", "binomial(2 * H, k - 1)"),
    ("moments, H=3 i=2", "* k**i *", "* k ** (i + 1) *"),
    ("Pascal, every H", "binomial(H, n - 1) + ", "binomial(H, n - 1) - "),
    ("Pascal, every H", "binomial(H, n - 1) + ", ""),
    ("Pascal, every H", "binomial(H + 1, n)", "binomial(H + 2, n)"),
    ("Newton, every degree", " - binomial(k, j - 1)", ""),
    ("Newton, every degree", " - binomial(k, j - 1)", " + binomial(k, j - 1)"),
    ("Newton, every degree", "binomial(k + 1, j)", "binomial(k + 2, j)"),
    ("determinant, H=1", "(-1) ** H *", ""),
    ("determinant, H=1", "r[h] ** 3", "r[h] ** 2"),
    ("determinant, H=2", "(p - q) ** 4", "(p - q) ** 2"),
    ("determinant, H=2", " * prod(nodes)", ""),
    ("determinant, H=3, nodes 1..6", "(p - q) ** 4", "(p + q) ** 4"),
    ("determinant, elimination", "(x - p) / (x + q) * (y - q) / (p + y) / (x + y)", "(x - p) / (x + q)"),
    ("determinant, elimination", "(y - q) / (p + y) / (x + y)", "(y + q) / (p + y) / (x + y)"),
    ("determinant, elimination", "(y - q) / (p + y) / (x + y)", "(y - q) / (p + y) / (x + y) ** 2"),
    ("determinant, confluence", "/ ((p + q) * (x + q))", "/ (x + q)"),
    ("determinant, confluence", "/ ((p + q) * (x + q))", "/ ((p + q) * (x + q) ** 2)"),
    ("determinant, confluence", "(x - p) / (x + q) / (", "(x + p) / (x + q) / ("),
    ("determinant, from H-1 to H", "(y - q) ** 4", "(y - q) ** 2"),
    ("determinant, from H-1 to H", "(p2 - p) *", "(p2 + p) *"),
    ("determinant, from H-1 to H", "(x - p) * (x - p2)", "(x - p)"),
    ("determinant, columns", "-c * x * y * diff", "c * x * y * diff"),
    ("determinant, columns", "-c * x * y * diff", "-c * x * y**2 * diff"),
    ("determinant, columns", "-c * x * y * diff", "-x * y * diff"),
    ("inverse Jacobian, H=1", "-(Q**2) * at_pole", "Q**2 * at_pole"),
    ("inverse Jacobian, H=2", "-(Q**2) * at_pole", "-Q * at_pole"),
    ("inverse Jacobian, H=2", "2 * t / r[h] * at_pole", "t / r[h] * at_pole"),
    ("inverse Jacobian, H=2", " - slope / r[h]", ""),
    ("inverse Jacobian, every H", "2 * t / r * value", "t / r * value"),
    ("inverse Jacobian, every H", "recovered_lambda = -value", "recovered_lambda = value"),
    ("inverse Jacobian, every H", " - slope / r)", ")"),
    ("inverse Jacobian, every H", "y**2 * rest", "y * rest"),
]


def load(source: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"symbolic_{source.stem}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_zero(expression: Any) -> bool:
    """Decide whether a rational function of symbols, exponentials, sums, entries and unknown functions is 0.

    Exponentials of different monomials are algebraically independent over the rational functions, so each becomes a
    symbol, after exp(a + b) = exp(a)·exp(b). Every other atom is independent of the rest by itself.
    """
    if isinstance(expression, Matrix):
        return all(is_zero(entry) for entry in expression)
    expression = sympify(expression).replace(exp, lambda exponent: exp(expand(exponent)))
    for kind in (Subs, Sum, AppliedUndef, Indexed):
        expression = expression.xreplace({atom: Dummy() for atom in expression.atoms(kind)})
    expression = expression.replace(exp, lambda exponent: expand(exp(exponent), power_exp=True))
    expression = expression.xreplace({atom: Dummy() for atom in expression.atoms(exp)})
    # r - s and s - r in two denominators are made one factor first: the common denominator stays small
    terms = [signsimp(together(term)) for term in Add.make_args(expression)]
    numerator, denominator = fraction(together(Add(*terms)))
    assert not is_zero_polynomial(denominator), "a denominator vanishes identically"
    return is_zero_polynomial(numerator)


def is_zero_polynomial(expression: Expr) -> bool:
    names = sorted(expression.free_symbols, key=str)
    return bool(Poly(expression, *names).is_zero) if names else bool(expression == 0)


def holds(expression: Any) -> bool:
    if isinstance(expression, Expr) and expression.has(CombinatorialFunction):
        # simplification proves that it is 0; that it is not 0 is seen exactly at a point
        names = sorted(expression.free_symbols, key=str)
        values = [expression.subs(dict(zip(names, point, strict=True))) for point in ((7, 3), (3, 7))]
        zero = bool(combsimp(expression) == 0)
        assert zero == all(value == 0 for value in values)
        return zero
    return is_zero(expression)


@pytest.mark.parametrize("name", CHECKS)
def test_the_identity_holds(name: str) -> None:
    module, check = CHECKS[name]
    assert holds(check(load(FOLDER / f"{module}.py")))


@pytest.mark.parametrize(("name", "formula", "altered"), ALTERATIONS)
def test_an_altered_identity_does_not_hold(name: str, formula: str, altered: str, tmp_path: Path) -> None:
    module, check = CHECKS[name]
    source = (FOLDER / f"{module}.py").read_text(encoding="utf-8")
    assert source.count(formula) == 1, "the alteration must change exactly one place"
    file = tmp_path / f"{module}.py"
    file.write_text(source.replace(formula, altered), encoding="utf-8")
    assert not holds(check(load(file)))


def test_the_moments_end_where_the_page_says() -> None:
    module = load(FOLDER / "finite_differences.py")
    for H in range(1, 4):
        assert not holds(module.moment(H, H))


def test_every_identity_is_checked_and_altered() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")}
    assert {module for module, _ in CHECKS.values()} == modules
    families = {name.split("=")[0] for name in CHECKS}
    assert {name.split("=")[0] for name, _, _ in ALTERATIONS} == families


def test_the_zero_test_decides() -> None:
    x, y = symbols("x y")
    a = IndexedBase("a")
    assert is_zero(exp(x * (x + y)) - exp(x**2) * exp(x * y))
    assert is_zero((x**2 - y**2) / (x - y) - x - y)
    assert not is_zero(exp(x * y) - 1 - x * y)
    assert not is_zero(a[x] - a[y])
    assert not is_zero(Matrix([0, x / (1 + exp(y)) - x / (1 + exp(-y))]))
    with pytest.raises(AssertionError, match="vanishes"):
        is_zero(1 / ((x + y) ** 2 - x**2 - 2 * x * y - y**2))
