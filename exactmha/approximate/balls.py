"""Real balls: small helpers around `arb` and `arb_mat`, all at FLINT's working precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from flint import arb, arb_mat, ctx, fmpq

START_BITS = 64
MOST_BITS = 1 << 14


def midpoint(ball: arb) -> arb:
    """Return the centre as an exact ball."""
    return ball.mid()


def total(balls: Sequence[arb]) -> arb:
    """Return the sum."""
    return sum(balls, arb(0))


def identity(size: int) -> arb_mat:
    """Return the identity matrix."""
    return arb_mat([[arb(int(i == j)) for j in range(size)] for i in range(size)])


def row_norms(matrix: arb_mat) -> list[arb]:
    """Return Σ_j |m_ij| for every row."""
    return [total([abs(x) for x in row]) for row in matrix.tolist()]


def largest(balls: Sequence[arb]) -> arb:
    """Enclose the maximum of numbers ≥ 0; 0 for none."""
    result = arb(0)
    for ball in balls:
        result = result.max(ball)
    return result


def least(balls: Sequence[arb]) -> arb | None:
    """Enclose the minimum; None for none."""
    result: arb | None = None
    for ball in balls:
        result = ball if result is None else result.min(ball)
    return result


def infinity_norm(matrix: arb_mat) -> arb:
    """Return max_i Σ_j |m_ij|."""
    return largest(row_norms(matrix))


def precisions(most: int = MOST_BITS, start: int = START_BITS) -> Iterator[int]:
    """Yield working precisions: low first, then doubled, up to the budget."""
    bits = start
    while bits <= most:
        yield bits
        bits *= 2


def decimal_exponent(ball: arb) -> float:
    """Return log10 of the upper bound of |x|, for display; −inf for 0."""
    with ctx.workprec(64):
        upper = ball.abs_upper()
        if not upper > 0:
            return float("-inf")
        return float(upper.log() / arb(10).log())


def scientific(ball: arb, digits: int = 3) -> str:
    """Return the upper bound of |x| in decimal notation, rounded up: "4.12e+07"."""
    if not ball.is_finite():
        return "inf"
    return rational_text(ball.abs_upper().fmpq(), digits)


def display_float(ball: arb) -> float | None:
    """Return the nearest float, for display; None when there is no finite one."""
    number = float(ball.mid()) if ball.is_finite() else float("inf")
    return number if isfinite(number) else None


def bound_text(number: fmpq) -> str:
    """Return a bound on errors exactly where it is a power of two (2^-32), else rounded down to 3 digits.

    >>> bound_text(fmpq(1, 2**32)), bound_text(fmpq(1, 10**30)), bound_text(fmpq(2, 3))
    ('2^-32', '1e-30', '6.66e-01')
    """
    p, q = int(number.numerator), int(number.denominator)
    if p > 0 and p & (p - 1) == 0 and q & (q - 1) == 0 and p != q:
        return f"2^{p.bit_length() - q.bit_length()}"
    return rational_text(number, down=True)


def rational_text(number: fmpq, digits: int = 3, *, down: bool = False) -> str:
    """Return a rational ≥ 0 in decimal notation with `digits` significant digits, rounded up; exact zeros left out.

    >>> rational_text(fmpq(1, 10**30)), rational_text(fmpq(2, 3)), rational_text(fmpq(2, 3), down=True)
    ('1e-30', '6.67e-01', '6.66e-01')
    """
    if number == 0:
        return "0"
    exponent = len(str(number.numerator)) - len(str(number.denominator))
    if number < fmpq(10) ** exponent:
        exponent -= 1
    scaled = number * fmpq(10) ** (digits - 1 - exponent)
    units = int(scaled.floor() if down else scaled.ceil())
    if units == 10**digits:
        units, exponent = units // 10, exponent + 1
    text = str(units)
    fraction = text[1:].rstrip("0") if text[1:].strip("0") == "" else text[1:]
    return f"{text[0]}{'.' if fraction else ''}{fraction}e{exponent:+03d}"
