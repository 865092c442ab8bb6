"""One formula in three notations; the expected strings are written by hand."""

import xml.etree.ElementTree as ET

import pytest
from flint import fmpq

from exactmha.explain.formula import (
    Call,
    Fraction,
    Inverse,
    Power,
    Product,
    Summation,
    Symbol,
    Term,
    Transpose,
    matrix,
    minus,
    number,
    parsed,
    plus,
    times,
)
from exactmha.explain.notation import Latex, MathML, Plain, shortened, tex_text

HALF = number(fmpq(1, 2))
A, X = Symbol("a"), Symbol("x", "1")
CASES: list[tuple[Term, str, str]] = [
    (HALF, "1/2", r"\frac{1}{2}"),
    (number(-3), "−3", "-3"),
    (plus(A, number(-2)), "a − 2", "a - 2"),
    (plus(A, times(number(-2), X)), "a − 2·x_1", r"a - 2 \cdot x_{1}"),
    (plus(A, times(number(-1), X)), "a − x_1", r"a - x_{1}"),
    (minus(A, plus(A, X)), "a − (a + x_1)", r"a - \left(a + x_{1}\right)"),
    (times(plus(A, X), A), "(a + x_1)·a", r"\left(a + x_{1}\right) \cdot a"),
    (times(A, HALF), "a·(1/2)", r"a \cdot \frac{1}{2}"),
    (times(A, number(-1)), "a·(−1)", r"a \cdot \left(-1\right)"),
    (Fraction(times(A, X), plus(A, X)), "a·x_1/(a + x_1)", r"\frac{a \cdot x_{1}}{a + x_{1}}"),
    (Fraction(A, times(A, X)), "a/(a·x_1)", r"\frac{a}{a \cdot x_{1}}"),
    (Fraction(HALF, A), "(1/2)/a", r"\frac{\frac{1}{2}}{a}"),
    (
        plus(A, Fraction(times(number(-1), HALF), A)),
        "a − (1/2)/a",
        r"a - \frac{\frac{1}{2}}{a}",
    ),
    (times(number(-2), A), "−2·a", r"-2 \cdot a"),
    (times(A, times(number(-2), A)), "a·(−2·a)", r"a \cdot \left(-2 \cdot a\right)"),
    (Power(HALF, 2), "(1/2)^2", r"{\left(\frac{1}{2}\right)}^{2}"),
    (Power(A, -2), "a^(−2)", r"{a}^{-2}"),
    (Call("exp", (minus(A, X),)), "exp(a − x_1)", r"e^{a - x_{1}}"),
    (Call("root", (number(2), number(3))), "root(2, 3)", r"\sqrt[3]{2}"),
    (Call("log", (HALF,)), "log(1/2)", r"\log\left(\frac{1}{2}\right)"),
    (Call("r_h", (A,)), "r_h(a)", r"r_{h}\left(a\right)"),
    (plus(A, Summation("h", X)), "a + Σ_h x_1", r"a + \sum_{h} x_{1}"),
    (times(Summation("h", X), A), "(Σ_h x_1)·a", r"\left(\sum_{h} x_{1}\right) \cdot a"),
    (matrix([[1, 2], [3, 4]]), "[1, 2; 3, 4]", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"),
    (Inverse(Transpose(Symbol("U"))), "(U^T)^(−1)", r"{\left({U}^{T}\right)}^{-1}"),
    (Transpose(plus(A, X)), "(a + x_1)^T", r"{\left(a + x_{1}\right)}^{T}"),
    (
        parsed("-2*log(2) - 1/3*log(3)"),
        "−2·log(2) − 1/3·log(3)",
        r"-2 \cdot \log\left(2\right) - \frac{1}{3} \cdot \log\left(3\right)",
    ),
]


@pytest.mark.parametrize(("term", "plain", "latex"), CASES, ids=[plain for _, plain, _ in CASES])
def test_text_and_latex(term: Term, plain: str, latex: str) -> None:
    assert Plain().term(term) == plain
    assert Latex().term(term) == latex


@pytest.mark.parametrize("term", [term for term, _, _ in CASES], ids=[plain for _, plain, _ in CASES])
def test_mathml_is_well_formed_and_holds_the_same_numbers(term: Term) -> None:
    root = ET.fromstring(MathML().display(MathML().term(term)).replace("&#x2061;", ""))
    digits = "".join(e.text or "" for e in root.iter() if e.tag == "mn")
    assert digits.translate(str.maketrans("", "", "1")) == "".join(
        c for c in Plain().term(term) if c.isdigit() and c != "1"
    )


def test_mathml_of_a_fraction_and_of_an_index() -> None:
    assert MathML().term(HALF) == "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"
    assert MathML().term(Symbol("p", "h,2")) == "<msub><mi>p</mi><mrow><mi>h</mi><mo>,</mo><mn>2</mn></mrow></msub>"
    assert MathML().term(Symbol("a<b")) == "<mi>a&lt;b</mi>"


def test_a_product_of_one_negative_number_keeps_its_value() -> None:
    assert Plain().term(plus(A, Product((number(-1),)))) == "a − 1"


def test_words_for_tex() -> None:
    assert tex_text("50% of b_1 − ²") == r"50\% of b\_1 $-$ \textsuperscript{2}"


def test_long_numbers_are_shortened_where_they_are_shown() -> None:
    assert shortened("1" * 40) == ("1" * 40, "")
    assert Plain().term(number(10**40 - 1)) == "9" * 40
    assert Plain().term(number(-(10**49))) == "−100000000000…(50 digits)"
    assert Plain().term(number(fmpq(1, 10**49))) == "1/100000000000…(50 digits)"
    assert MathML().term(number(10**49)) == "<mn>100000000000…</mn><mtext>(50 digits)</mtext>"
