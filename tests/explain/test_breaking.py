"""Where long formulas are broken; widths are those of `Ruler`, the lines are written by hand."""

import re
from collections.abc import Iterable

import pytest
from flint import fmpq

from exactmha.explain.breaking import CONTINUED, Line
from exactmha.explain.formula import Fraction, Power, Product, Sum, Symbol, Term, matrix, number, plus, times
from exactmha.explain.html import BrokenMathML
from exactmha.explain.latex import BrokenLatex

LATEX = BrokenLatex()
A, B, C = (Symbol(letter, "i" * 10) for letter in "abc")
"""Three names, each 56 tenths of an em wide; a relation takes 14, a sign 13."""


def shown(lines: Iterable[Line]) -> list[tuple[str, str]]:
    """Return lines with the long indices left out."""
    return [(_plain(line.left.text), _plain(line.right.text)) for line in lines]


def _plain(text: str) -> str:
    return text.strip().replace("_{iiiiiiiiii}", "")


def lines(*sides: Term, room: int) -> list[tuple[str, str]]:
    (found,) = LATEX.generals([sides], room)
    return shown(found)


def test_what_fits_stays_on_one_line() -> None:
    assert lines(A, B, C, room=196) == [("a", "= b = c")]  # 56 + 14 + 56 + 14 + 56
    assert lines(A, B, C, room=195) == [("a", "= b"), ("", "= c")]


def test_a_long_chain_is_broken_at_its_relations() -> None:
    assert lines(A, plus(A, B), plus(B, C), room=210) == [("a", "= a + b"), ("", "= b + c")]


def test_a_long_sum_is_broken_before_its_signs() -> None:
    total = Sum(((1, A), (-1, B), (1, times(number(-2), C)), (1, A)))
    assert lines(C, total, room=210) == [("c", "= a - b"), ("", r"- 2 \cdot c"), ("", "+ a")]
    (found,) = LATEX.generals([(C, total)], 210)
    assert [line.continued for line in found] == [False, True, True]


def test_a_wide_first_side_leaves_the_relation_to_the_last_line() -> None:
    assert lines(plus(A, B, C, A, B), number(0), room=300) == [("", "a + b + c + a"), ("", "+ b = 0")]


def test_equations_of_one_block_share_the_place_of_their_relations() -> None:
    wide = plus(A, B, C)  # 194, more than two fifths of 400
    assert [shown(found) for found in LATEX.generals([(wide, A), (C, A)], 400)] == [
        [("", "a + b + c = a")],
        [("", "c = a")],
    ]
    (_, alone), (_, beside) = (LATEX.generals([(left, A), (C, A, B, C)], 320) for left in (C, plus(A, B)))
    assert len(alone) == 1  # 56 + 3·70 ≤ 320 < 125 + 3·70
    assert len(beside) == 3


def test_a_wide_quotient_is_written_with_a_slash() -> None:
    found = lines(A, Fraction(plus(A, B, C, A), plus(B, C)), room=280)
    text = "".join(right for _, right in found).replace(" ", "")
    assert text == r"=\Bigl(a+b+c+a\Bigr)\Big/\left(b+c\right)"


def test_a_quotient_below_a_slash_is_in_parentheses() -> None:
    below = Fraction(plus(A, B, C, A), plus(B, C))
    found = lines(A, Fraction(B, below), room=280)
    text = "".join(right for _, right in found).replace(" ", "")
    assert text == r"=b\Big/\Bigl(\Bigl(a+b+c+a\Bigr)\Big/\left(b+c\right)\Bigr)"


@pytest.mark.parametrize("room", range(220, 500, 20))
def test_parts_of_a_quotient_keep_their_parentheses(room: int) -> None:
    # a/(b/(a + b + c)) and (a + b)·c·(b + c), whatever the room: as many opening as closing parentheses
    for term in (Fraction(A, Fraction(B, plus(A, B, C))), times(plus(A, B), C, plus(B, C), Power(A, 3))):
        text = "".join(right for _, right in lines(Symbol("x"), term, room=room))
        assert text.count(r"\Bigl(") == text.count(r"\Bigr)")
        assert text.count(r"\left(") == text.count(r"\right)")


def test_what_cannot_be_broken_is_made_smaller() -> None:
    (found,) = LATEX.generals([(A, matrix([[10**30, 10**30]]))], 300)  # 17 + 2·31·5 + 10 = 337 wide
    (line,) = found
    assert line.right.text.count(r"\scalebox{0.") == 1
    assert line.left.width + line.right.width <= 300


@pytest.mark.parametrize("room", [300, 400, 500])
def test_no_line_is_longer_than_the_room(room: int) -> None:
    terms: list[Term] = [times(number(fmpq(1, 3)), plus(A, number(k)), Power(B, k)) for k in range(1, 20)]
    (found,) = LATEX.generals([(C, Product((plus(*terms), plus(A, B))))], room)
    assert len(found) > 5
    assert all(56 + line.right.width + CONTINUED * line.continued <= room for line in found)


def test_mathml_is_broken_alike() -> None:
    (found,) = BrokenMathML().generals([(A, plus(A, B), plus(B, C))], 210)
    assert len(found) == 2
    assert re.sub("<[^>]*>", "", found[1].right.text).replace("iiiiiiiiii", "") == "=b+c"
