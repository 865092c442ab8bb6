"""Equations are evaluated; false ones cannot be shown."""

import pytest
from flint import fmpq

from exactmha.explain.equation import Equation, FalseEquation, Forms, Ratios, Residues, Values, World
from exactmha.explain.formula import (
    Call,
    Inverse,
    Matrix,
    Named,
    Product,
    Symbol,
    Term,
    Transpose,
    matrix,
    number,
    parsed,
    plus,
)
from exactmha.explain.notation import Latex, MathML, Notation, Plain
from exactmha.fields import ExponentialField, RadicalField, RationalField
from exactmha.fields.text import parse_value
from exactmha.outcome import Outcome

RATIONAL = Values(RationalField((2, 3)))
RADICAL = Values(RadicalField(fmpq(2), 3))
EXPONENTIAL = Values(ExponentialField(1, 6))
FORMS = Forms()
B = matrix([[1, 1], [1, -1]])

TRUE: list[tuple[World, str, str]] = [
    (RATIONAL, "3 - 1/3 - 2/4", "13/6"),
    (RADICAL, "root(2,3)^3", "2"),
    (RADICAL, "1/(1 + root(2,3))", "(1 - root(2,3) + root(2,3)^2)/3"),
    (EXPONENTIAL, "exp(1/2)*exp(1/3)", "exp(5/6)"),
    (EXPONENTIAL, "1/(1 + exp(-1/6))", "1 - 1/(1 + exp(1/6))"),
    (FORMS, "log(12)", "2*log(2) + log(3)"),
    (FORMS, "log(8/9)", "3*log(2) - 2*log(3)"),
    (FORMS, "log(exp(5/6))", "5/6"),
    (FORMS, "log(exp(sqrt(8)))", "2*sqrt(2)"),
    (FORMS, "log(1/2*root(2,3)^2)", "-1/3*log(2)"),
    (FORMS, "log(1/6) - log(1/2)", "-log(3)"),
]
FALSE: list[tuple[World, str, str]] = [
    (RATIONAL, "3 - 1/3 - 2/4", "13/7"),
    (RADICAL, "root(2,3)^2", "2"),
    (EXPONENTIAL, "exp(1/2)*exp(1/3)", "exp(2/3)"),
    (FORMS, "log(12)", "2*log(2) + 2*log(3)"),
    (FORMS, "log(2)", "sqrt(2)"),
    (FORMS, "log(exp(5/6))", "1/6"),
]


@pytest.mark.parametrize(("world", "left", "right"), TRUE)
def test_true_equations_are_verified_and_their_negations_refused(world: World, left: str, right: str) -> None:
    sides = (parsed(left), parsed(right))
    assert Equation(world, sides).verified().sides == sides
    with pytest.raises(FalseEquation):
        Equation(world, sides, relation="≠").verified()


@pytest.mark.parametrize("notation", [Plain(), Latex(), MathML()])
@pytest.mark.parametrize(("world", "left", "right"), FALSE)
def test_false_equations_cannot_be_shown(notation: Notation, world: World, left: str, right: str) -> None:
    sides = (parsed(left), parsed(right))
    with pytest.raises(FalseEquation):
        notation.equation(Equation(world, sides, Symbol("x")))
    with pytest.raises(FalseEquation):
        notation.equation(Equation(world, (sides[0], sides[0], sides[1]), Symbol("x")))  # wherever it stands
    assert notation.equation(Equation(world, sides, relation="≠"))


MATRICES: list[tuple[Term, Term]] = [
    (Inverse(B), matrix([[fmpq(1, 2), fmpq(1, 2)], [fmpq(1, 2), fmpq(-1, 2)]])),
    (Product((B, matrix([[3], [4]]))), matrix([[7], [-1]])),
    (Product((Transpose(matrix([[3], [4]])), matrix([[1], [2]]))), number(11)),
    (Inverse(Transpose(matrix([[1, 2], [0, 1]]))), matrix([[1, 0], [-2, 1]])),
    (Call("det", (B,)), number(-2)),
]


@pytest.mark.parametrize(("left", "right"), MATRICES)
@pytest.mark.parametrize("world", [RATIONAL, FORMS, EXPONENTIAL])
def test_matrices(world: World, left: Term, right: Term) -> None:
    Equation(world, (left, right)).verified()
    wrong = plus(right, number(1)) if not hasattr(right, "rows") else matrix([[1] * 2] * 2)
    with pytest.raises(FalseEquation):
        Equation(world, (left, wrong)).verified()


def test_a_matrix_is_not_equal_to_one_of_another_shape() -> None:
    assert FORMS.equal(matrix([[1, 2]]), matrix([[1], [2]])) is Outcome.FAILS


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="cannot be multiplied"):
        FORMS.equal(Product((B, matrix([[1, 2]]))), B)


def test_a_single_side_and_a_symbol_prove_nothing() -> None:
    with pytest.raises(FalseEquation):
        Equation(FORMS, (number(1),), Symbol("x")).verified()
    with pytest.raises(TypeError, match="no value of its own"):
        Equation(FORMS, (Symbol("x"), Symbol("x"))).verified()


@pytest.mark.parametrize(
    ("world", "text"),
    [(RATIONAL, "-7/3"), (RADICAL, "1/2 - 3*root(2,3)^2"), (EXPONENTIAL, "2 - 1/3*exp(1/2)/(1 + 2*exp(5/6))")],
)
def test_what_is_parsed_for_display_keeps_its_value(world: Values, text: str) -> None:
    field = world.algebra.field
    (row,) = world.rows(parsed(text))
    assert row[0].equals(parse_value(text, field)) is Outcome.HOLDS
    assert row[0].equals(parse_value("5", field)) is Outcome.FAILS


def test_a_name_is_shown_and_its_meaning_evaluated() -> None:
    half = Named(Symbol("r", "1"), parsed("1/2"))
    equation = Equation(RATIONAL, (plus(half, half), number(1)))
    assert Plain().equation(equation) == "r_1 + r_1 = 1"
    with pytest.raises(FalseEquation):
        Plain().equation(Equation(RATIONAL, (plus(half, half), number(2))))
    column = Named(Symbol("v"), matrix([[3], [4]]))
    Equation(RATIONAL, (Product((B, column)), matrix([[7], [-1]]))).verified()


def test_different_values_with_a_name_on_either_side() -> None:
    first, second = Named(Symbol("r", "1"), parsed("1/2")), Named(Symbol("r", "2"), parsed("1/3"))
    sides = (first, parsed("1/2"), parsed("1/3"), second)
    assert Plain().equation(Equation(RATIONAL, sides, relation="≠", at=1)) == "r_1 = 1/2 ≠ 1/3 = r_2"
    for wrong in (
        (second, *sides[1:]),
        (*sides[:3], first),
        (first, parsed("1/2"), parsed("2/4"), first),
    ):
        with pytest.raises(FalseEquation):
            Equation(RATIONAL, wrong, relation="≠", at=1).verified()


@pytest.mark.parametrize("world", [RATIONAL, RADICAL, EXPONENTIAL])
def test_determinants_of_values_are_expanded(world: World) -> None:
    half = parsed("1/2 + 0*3")  # no literal, so that FLINT is not asked
    rows = Matrix(((half, number(2), number(0)), (number(3), half, number(1)), (number(5), number(7), half)))
    # 1/2·(1/4 − 7) − 2·(3/2 − 5) = −27/8 + 7
    Equation(world, (Call("det", (rows,)), parsed("29/8"))).verified()
    Equation(world, (Call("det", (rows,)), parsed("29/8"), number(0)), relation="≠").verified()
    with pytest.raises(FalseEquation):
        Equation(world, (Call("det", (rows,)), parsed("28/8"))).verified()
    singular = Matrix(((half, half), (half, half)))
    with pytest.raises(FalseEquation):
        Equation(world, (Call("det", (singular,)), number(0)), relation="≠").verified()


def test_ratios_are_compared_by_their_logarithms() -> None:
    exponent = Product((matrix([[1, 2]]), Matrix(((parsed("log(2)"),), (parsed("-log(3)"),)))))
    Equation(Ratios(), (Call("exp", (exponent,)), parsed("2/9"))).verified()
    with pytest.raises(FalseEquation):
        Equation(Ratios(), (Call("exp", (exponent,)), parsed("2/3"))).verified()


def test_residues_are_compared_modulo_the_prime() -> None:
    field = ExponentialField(1, 6)
    place = field.place(0, 3)
    world, p = Residues(field, place), place.prime
    Equation(world, (parsed("1/2"), number((p + 1) // 2), number((p + 1) // 2 - p))).verified()
    Equation(world, (parsed("exp(1/6)"), number(int(place.generators[0])))).verified()
    with pytest.raises(FalseEquation):
        Equation(world, (parsed("1/2"), number((p + 3) // 2))).verified()


def test_decimals_are_shown_where_asked() -> None:
    equation = Equation(EXPONENTIAL, (parsed("-exp(1/2)"), parsed("-exp(1/2)")), Symbol("x"), about=True)
    assert Plain().equation(equation).endswith(" ≈ −1.649")
    assert MathML().equation(equation).endswith('<mo>≈</mo><mo form="prefix">−</mo><mn>1.649</mn>')
