"""Three ways of writing a formula: plain text, LaTeX and MathML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape

from flint import fmpq

from exactmha.explain.equation import Equation
from exactmha.explain.formula import (
    Call,
    Fraction,
    Inverse,
    Matrix,
    Named,
    Number,
    Power,
    Product,
    Sum,
    Summation,
    Symbol,
    Term,
    Transpose,
)
from exactmha.explain.prose import Code, Name, Part, parts

SUM, PRODUCT, ATOM = range(3)
"""How tightly something binds: what binds less than its place demands is put in parentheses."""
Shown = tuple[str, int]
MOST_DIGITS = 40
"""Integers with more digits are shortened where they are shown; they are evaluated in full."""
_KEPT_DIGITS = 12


def shortened(digits: str) -> tuple[str, str]:
    """Return an integer's digits and no remark, or of a long one its first digits and how many there are."""
    if len(digits) <= MOST_DIGITS:
        return digits, ""
    return f"{digits[:_KEPT_DIGITS]}…", f"({len(digits)} digits)"


class Notation(ABC):
    """Writes terms; a subclass says how each kind looks."""

    fraction_level = ATOM
    """how tightly a fraction binds"""

    def term(self, term: Term) -> str:
        """Return a term in this notation."""
        return self._shown(term)[0]

    def equation(self, equation: Equation) -> str:
        """Return an equation in this notation, after verifying it; raises `FalseEquation` when it does not hold."""
        return self.chain(*_verified(equation)) + self._about(equation.decimal())

    def _about(self, decimal: str) -> str:
        if not decimal:
            return ""
        sign = self.sign("−", unary=True) if decimal[0] == "-" else ""
        return self.relation("≈") + sign + self.digits(decimal.removeprefix("-"))

    def general(self, sides: Sequence[Term]) -> str:
        """Return a general formula: an identity of the theory, without numbers."""
        return self.chain(sides, ["="] * (len(sides) - 1))

    def chain(self, terms: Sequence[Term], relations: Sequence[str]) -> str:
        """Return terms joined by relations."""
        text = self.term(terms[0])
        for relation, term in zip(relations, terms[1:], strict=True):
            text += self.relation(relation) + self.term(term)
        return text

    def _shown(self, term: Term) -> Shown:  # noqa: C901, PLR0912  # one case per kind of term
        match term:
            case Number(value):
                return self._number(value)
            case Symbol(name, index):
                return self.symbol(name, index), ATOM
            case Named(name, _):
                return self._shown(name)
            case Sum(terms):
                return self._sum(terms), SUM
            case Product():
                return self._product(term)
            case Fraction(top, bottom):
                return self._quotient(top, bottom), self.fraction_level
            case Power(base, exponent):
                shown = self._at(base, ATOM)
                is_fraction = isinstance(base, Fraction) or (isinstance(base, Number) and base.value.denominator != 1)
                if is_fraction and self.fraction_level == ATOM:
                    shown = self.group(shown)
                return self.power(shown, self.term(Number(fmpq(exponent)))), ATOM
            case Call("exp", (argument,)) if not _has_matrix(argument):  # a matrix does not fit into an exponent
                return self.exponential(argument), ATOM
            case Call(name, arguments):
                shown = self.symbol(*name.split("_")) if "_" in name else name
                return self.call(shown, [self.term(argument) for argument in arguments]), ATOM
            case Summation(index, body, operator):
                return self.summation(operator, index, self._at(body, PRODUCT)), SUM
            case Matrix(rows):
                return self.matrix([[self.term(entry) for entry in row] for row in rows]), ATOM
            case Inverse(of):
                return self.power(self._base(of), self.term(Number(fmpq(-1)))), ATOM
            case Transpose(of):
                return self.power(self._at(of, ATOM), self.symbol("T", "")), ATOM

    def _at(self, term: Term, level: int) -> str:
        text, binds = self._shown(term)
        return text if binds >= level else self.group(text)

    def _product(self, term: Product) -> Shown:
        sign, size = _signed(term)
        if sign < 0:  # −2·x, not (−2)·x
            return self.sign("−", unary=True) + self._at(size, PRODUCT), SUM
        return self.product(self._factors(term.factors)), PRODUCT

    def _base(self, of: Term) -> str:
        """Return what is inverted, in parentheses when it is raised to something already."""
        return self.group(self.term(of)) if isinstance(of, Transpose) else self._at(of, ATOM)

    def _factors(self, factors: Sequence[Term]) -> list[str]:
        """Return factors; a last Σ reaches to the end anyway, and needs no parentheses."""
        last = len(factors) - 1
        return [
            self.term(factor) if i == last and isinstance(factor, Summation) else self._at(factor, PRODUCT + (i > 0))
            for i, factor in enumerate(factors)
        ]

    def _quotient(self, top: Term, bottom: Term) -> str:
        if self.fraction_level == ATOM:  # the bar does what parentheses do on one line
            return self.fraction(self.term(top), self.term(bottom))
        return self.fraction(self._at(top, PRODUCT if isinstance(top, Product) else ATOM), self._at(bottom, ATOM))

    def _number(self, value: fmpq) -> Shown:
        size = abs(value)
        text, level = str(size), ATOM
        if size.denominator != 1:
            parts = (self.digits(str(size.numerator)), self.digits(str(size.denominator)))
            text, level = self.fraction(*parts), self.fraction_level
        else:
            text = self.digits(text)
        return (text, level) if value >= 0 else (self.sign("−", unary=True) + text, SUM)

    def _sum(self, terms: Sequence[tuple[int, Term]]) -> str:
        text = ""
        for sign, term in terms:
            own_sign, size = _signed(term)
            if sign * own_sign < 0 or text:
                text += self.sign("−" if sign * own_sign < 0 else "+", unary=not text)
            text += self.term(size) if isinstance(size, Summation) else self._at(size, PRODUCT)
        return text

    @abstractmethod
    def digits(self, text: str) -> str:
        """Return an unsigned integer."""

    @abstractmethod
    def sign(self, sign: str, *, unary: bool) -> str:
        """Return + or −, between terms or before the first."""

    @abstractmethod
    def relation(self, relation: str) -> str:
        """Return = or ≠."""

    @abstractmethod
    def symbol(self, name: str, index: str) -> str:
        """Return a name with its index."""

    @abstractmethod
    def product(self, factors: Sequence[str]) -> str:
        """Return a product."""

    @abstractmethod
    def fraction(self, top: str, bottom: str) -> str:
        """Return a fraction."""

    @abstractmethod
    def power(self, base: str, exponent: str) -> str:
        """Return a power."""

    @abstractmethod
    def exponential(self, argument: Term) -> str:
        """Return the exponential function of a term."""

    @abstractmethod
    def call(self, name: str, arguments: Sequence[str]) -> str:
        """Return a function call."""

    @abstractmethod
    def summation(self, operator: str, index: str, body: str) -> str:
        """Return Σ or Π over an index."""

    @abstractmethod
    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        """Return a matrix."""

    @abstractmethod
    def group(self, text: str) -> str:
        """Return text in parentheses."""


def _verified(equation: Equation) -> tuple[list[Term], list[str]]:
    """Return the terms and relations of an equation, which holds."""
    equation.verified()
    relations = equation.relations()
    if equation.name is None:
        return list(equation.sides), relations
    return [equation.name, *equation.sides], ["=", *relations]


def _has_matrix(term: Term) -> bool:
    return isinstance(term, Matrix) or (isinstance(term, Product) and any(map(_has_matrix, term.factors)))


def _signed(term: Term) -> tuple[int, Term]:
    """Return a sign and the rest of a term, so that a + (−2)·b is written a − 2·b."""
    match term:
        case Number(value) if value < 0:
            return -1, Number(-value)
        case Sum(((sign, part),)):
            return sign, part
        case Product((Number(value), *others)) if value < 0:
            factors = tuple(others) if value == -1 and others else (Number(-value), *others)
            return -1, factors[0] if len(factors) == 1 else Product(factors)
        case Fraction(top, bottom):
            sign, size = _signed(top)
            return (sign, Fraction(size, bottom)) if sign < 0 else (1, term)
    return 1, term


class Plain(Notation):
    """One line of text."""

    fraction_level = PRODUCT

    def digits(self, text: str) -> str:
        """Return the digits, of a long number the first ones."""
        return "".join(shortened(text))

    def sign(self, sign: str, *, unary: bool) -> str:
        """Return the sign, with blanks between terms."""
        return sign if unary else f" {sign} "

    def relation(self, relation: str) -> str:
        """Return the relation between blanks."""
        return f" {relation} "

    def symbol(self, name: str, index: str) -> str:
        """Return name_index."""
        return f"{name}_{index}" if index else name

    def product(self, factors: Sequence[str]) -> str:
        """Return a·b."""
        return "·".join(factors)

    def fraction(self, top: str, bottom: str) -> str:
        """Return a/b."""
        return f"{top}/{bottom}"

    def power(self, base: str, exponent: str) -> str:
        """Return a^n."""
        return f"{base}^{exponent}" if exponent[0] != "−" else f"{base}^({exponent})"

    def exponential(self, argument: Term) -> str:
        """Return exp(a)."""
        return f"exp({self.term(argument)})"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """Return name(a, b)."""
        return f"{name}({', '.join(arguments)})"

    def summation(self, operator: str, index: str, body: str) -> str:
        """Return Σ_h body."""
        return f"{operator}_{index} {body}"

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        """Return [a, b; c, d]."""
        return f"[{'; '.join(', '.join(row) for row in rows)}]"

    def group(self, text: str) -> str:
        """Return (text)."""
        return f"({text})"


_LATEX_OPERATORS = {"Σ": r"\sum", "Π": r"\prod"}
_LATEX_FUNCTIONS = {"log": r"\log", "exp": r"\exp"}


_TEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "−": "$-$",
    "²": r"\textsuperscript{2}",
    "Σ": r"$\Sigma$",
    "Π": r"$\Pi$",
    "·": r"$\cdot$",
    "≠": r"$\neq$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "’": "'",
    "…": r"\ldots{}",
}


def tex_text(text: str) -> str:
    """Return plain text for TeX, with what is special to it escaped."""
    return "".join(_TEX.get(c, c) for c in text)


def tex_words(text: str) -> str:
    """Return prose for TeX, with names such as b_1 as formulas and commands as code."""
    return "".join(map(_tex_part, parts(text)))


def _tex_part(part: Part) -> str:
    match part:
        case Name(letter, index, raised):
            shown = {"Σ": r"\Sigma", "Π": r"\Pi"}.get(letter, letter or "{}")
            shown += f"_{{{index}}}" if index else ""
            return f"${shown}^{{{raised}}}$" if raised else f"${shown}$"
        case Code(text):
            return rf"\texttt{{{tex_text(text)}}}"
    return tex_text(part)


MOST_DIGITS = 40
"""Digits of a number that LaTeX shows in full."""


class Latex(Notation):
    """LaTeX with amsmath."""

    def aligned(self, equation: Equation) -> str:
        """Return the lines of an align environment, one a side, after verifying the equation."""
        terms, relations = _verified(equation)
        lines = [f"&{self.relation(r)}{self.term(term)}" for r, term in zip(relations, terms[1:], strict=True)]
        return self.term(terms[0]) + r" \\ ".join(lines)

    def digits(self, text: str) -> str:
        """Return the digits; of very many, the first and the last ones, and their number in brackets."""
        if len(text) <= MOST_DIGITS:
            return text
        return rf"{text[:8]}{{\ldots}}{text[-8:]}_{{[{len(text)}]}}"

    def sign(self, sign: str, *, unary: bool) -> str:
        """Return the sign, with blanks between terms."""
        shown = "-" if sign == "−" else sign
        return shown if unary else f" {shown} "

    def relation(self, relation: str) -> str:
        """Return the relation."""
        return r" \neq " if relation == "≠" else " = "

    def symbol(self, name: str, index: str) -> str:
        r"""Return name_{index}, or \text{name} for words."""
        shown = rf"\text{{{tex_words(name)}}}" if len(name.rstrip("'")) > 1 else name
        return f"{shown}_{{{index}}}" if index else shown

    def product(self, factors: Sequence[str]) -> str:
        r"""Return a \cdot b."""
        return r" \cdot ".join(factors)

    def fraction(self, top: str, bottom: str) -> str:
        r"""Return \frac{a}{b}."""
        return rf"\frac{{{top}}}{{{bottom}}}"

    def power(self, base: str, exponent: str) -> str:
        """Return {a}^{n}."""
        return f"{{{base}}}^{{{exponent}}}"

    def exponential(self, argument: Term) -> str:
        """Return e^{a}."""
        return f"e^{{{self.term(argument)}}}"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        r"""Return \log(a), \sqrt{a}, \sqrt[n]{a} or f(a)."""
        if name in ("sqrt", "root"):
            order = f"[{arguments[1]}]" if len(arguments) == 2 else ""
            return rf"\sqrt{order}{{{arguments[0]}}}"
        if name == "det":  # of a matrix, which has brackets
            return rf"\det {arguments[0]}"
        return f"{_LATEX_FUNCTIONS.get(name, name)}{self.group(', '.join(arguments))}"

    def summation(self, operator: str, index: str, body: str) -> str:
        r"""Return \sum_h body."""
        return rf"{_LATEX_OPERATORS[operator]}_{{{index}}} {body}"

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        """Return a pmatrix."""
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"

    def group(self, text: str) -> str:
        r"""Return \left( text \right)."""
        return rf"\left({text}\right)"


_LARGE_OPERATORS = {"Σ": "∑", "Π": "∏"}


class MathML(Notation):
    """MathML Core, as browsers and screen readers know it."""

    def digits(self, text: str) -> str:
        """Return <mn>, for a long number with its first digits and a remark."""
        digits, remark = shortened(text)
        return f"<mn>{digits}</mn>" + (f"<mtext>{remark}</mtext>" if remark else "")

    def sign(self, sign: str, *, unary: bool) -> str:
        """Return <mo>, spaced as a sign or as an operation."""
        return f'<mo form="{"prefix" if unary else "infix"}">{sign}</mo>'

    def relation(self, relation: str) -> str:
        """Return <mo>."""
        return f"<mo>{relation}</mo>"

    def symbol(self, name: str, index: str) -> str:
        """Return <mi>, with <msub> for an index."""
        if name.endswith("'"):
            shown = f"<msup><mi>{escape(name[:-1])}</mi><mo>′</mo></msup>"
        else:
            shown = f"<mtext>{escape(name)}</mtext>" if " " in name else f"<mi>{escape(name)}</mi>"
        return f"<msub>{shown}<mrow>{_index(index)}</mrow></msub>" if index else shown

    def product(self, factors: Sequence[str]) -> str:
        """Return a·b."""
        return "<mo>·</mo>".join(factors)

    def fraction(self, top: str, bottom: str) -> str:
        """Return <mfrac>."""
        return f"<mfrac><mrow>{top}</mrow><mrow>{bottom}</mrow></mfrac>"

    def power(self, base: str, exponent: str) -> str:
        """Return <msup>."""
        return f"<msup><mrow>{base}</mrow><mrow>{exponent}</mrow></msup>"

    def exponential(self, argument: Term) -> str:
        """Return e to a power."""
        return self.power("<mi>e</mi>", self.term(argument))

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """Return <msqrt>, <mroot>, or a name before parentheses."""
        if name == "sqrt":
            return f"<msqrt>{arguments[0]}</msqrt>"
        if name == "root":
            return f"<mroot><mrow>{arguments[0]}</mrow><mrow>{arguments[1]}</mrow></mroot>"
        if name == "det":  # of a matrix, which has brackets
            return f"<mi>det</mi><mo>&#x2061;</mo>{arguments[0]}"
        shown = name if name.startswith("<") else f"<mi>{escape(name)}</mi>"
        return f"{shown}<mo>&#x2061;</mo>{self.group('<mo>,</mo>'.join(arguments))}"

    def summation(self, operator: str, index: str, body: str) -> str:
        """Return Σ with its index below."""
        return f"<munder><mo>{_LARGE_OPERATORS[operator]}</mo><mi>{escape(index)}</mi></munder>{body}"

    def matrix(self, rows: Sequence[Sequence[str]]) -> str:
        """Return <mtable> between parentheses."""
        body = "".join(f"<mtr>{''.join(f'<mtd>{entry}</mtd>' for entry in row)}</mtr>" for row in rows)
        return self.group(f"<mtable>{body}</mtable>")

    def group(self, text: str) -> str:
        """Return text between parentheses that grow with it."""
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def display(self, body: str) -> str:
        """Return a formula on a line of its own."""
        return f'<math display="block">{body}</math>'


def _index(index: str) -> str:
    parts = [part.strip() for part in index.split(",")]
    return "<mo>,</mo>".join(f"<mn>{part}</mn>" if part.isdigit() else f"<mi>{escape(part)}</mi>" for part in parts)
