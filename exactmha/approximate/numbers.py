"""Numbers of other libraries, taken exactly as they are: what would have to be rounded is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from operator import index
from typing import Any, NamedTuple

from flint import arb, arf, fmpq, fmpz
from mpmath import mpf  # type: ignore[import-untyped]

from exactmha.errors import InputError, LimitError
from exactmha.forms import parse_rational
from exactmha.limits import DEFAULT_LIMITS, Limits

_MOST_BITS = 4096
"""Bits of an error bound or of a length."""
_WHOLE = "must be a whole number"
_NO_NUMBER = "must be a finite real number that is read without rounding"
_HINT = "int, float, Fraction, Decimal, numpy scalars, mpf, fmpq and arb are"


class Reading(NamedTuple):
    """An answer: all that is known is that the value lies within `radius` of `centre`."""

    centre: fmpq
    radius: fmpq = fmpq(0)


def reading(number: Any, field: str, limits: Limits = DEFAULT_LIMITS) -> Reading:
    """Return a number exactly; an `arb` keeps its radius.

    Taken are int and all of `numbers.Integral`, Fraction and all of `numbers.Rational`, float and every
    `numbers.Real` that knows its integer ratio (numpy's floats, also longer than double), Decimal, mpmath's mpf, and
    FLINT's fmpz, fmpq, arf and arb. Raises `InputError` for anything else (text, bool, complex, arrays, symbols,
    infinities), `LimitError` for numbers of more bits than `limits.number_bits`.
    """
    try:
        if isinstance(number, arb):
            return Reading(*(_dyadic(*_binary(end), field, limits) for end in (number.mid(), number.rad())))
        value = _exact(number, field, limits)
    except LimitError:
        raise
    except (ArithmeticError, TypeError, ValueError, AttributeError):
        value = None
    if value is None:
        raise InputError(_NO_NUMBER, field=field, value=number if number is not None else "None", hint=_HINT)
    if value.height_bits() > limits.number_bits:
        raise _too_large(field, limits)
    return Reading(value)


def _exact(number: Any, field: str, limits: Limits) -> fmpq | None:
    """Return an exact number that is no ball; None when it is not one that can be taken exactly."""
    if isinstance(number, bool):
        return None
    if isinstance(number, fmpq | fmpz):
        return fmpq(number)
    if isinstance(number, arf):
        return _dyadic(*_binary(number), field, limits)
    if isinstance(number, mpf):
        sign, mantissa, exponent, _ = number._mpf_  # man_exp has no sign, and infinities have mantissa 0
        if not mantissa and exponent:
            return None
        return _dyadic(-int(mantissa) if sign else int(mantissa), int(exponent), field, limits)
    if isinstance(number, Decimal) and number.is_finite() and abs(number.adjusted()) > limits.number_digits:
        raise _too_large(field, limits)
    return _ratio(number)


def _ratio(number: Any) -> fmpq | None:
    """Return a number of the numeric tower, or a Decimal, that knows its exact ratio."""
    if isinstance(number, Integral):
        return fmpq(index(number))
    if isinstance(number, Rational):
        return fmpq(index(number.numerator), index(number.denominator))
    if isinstance(number, Real | Decimal) and hasattr(number, "as_integer_ratio"):
        numerator, denominator = number.as_integer_ratio()
        return fmpq(index(numerator), index(denominator))
    return None


def _binary(number: arf | arb) -> tuple[int, int]:
    mantissa, exponent = number.man_exp()  # ValueError for infinities and nan
    return int(mantissa), int(exponent)


def _dyadic(mantissa: int, exponent: int, field: str, limits: Limits) -> fmpq:
    """Return mantissa·2^exponent, refused before it is built when it is too long."""
    if mantissa and abs(exponent) + mantissa.bit_length() > limits.number_bits:
        raise _too_large(field, limits)
    return fmpq(mantissa) * fmpq(2) ** exponent if mantissa else fmpq(0)


def _too_large(field: str, limits: Limits) -> LimitError:
    digits = limits.number_digits
    return LimitError(f"a number of more than {digits} digits", field=field, hint="number_digits in exactmha/limits.py")


def positive_rational(value: Any, field: str, limits: Limits = DEFAULT_LIMITS) -> fmpq:
    """Read a number above 0 exactly, from text such as 1e-30 or 2^-40 or from any number that `reading` takes.

    Of an `arb` the upper end counts. More than 4096 bits are refused.
    """
    hint = "give a number such as 1e-12 or 2^-40"
    if isinstance(value, str):
        try:
            number = parse_rational(value, limits)
        except LimitError as error:
            raise error.located(field=field) from None
        except InputError:
            raise InputError("must be a positive rational number", field=field, value=value, hint=hint) from None
    else:
        number = sum(reading(value, field, limits), fmpq(0))
    if number is None or number <= 0 or number.height_bits() > _MOST_BITS:
        raise InputError(
            f"must be a positive rational number of at most {_MOST_BITS} bits", field=field, value=value, hint=hint
        )
    return number


def whole(value: Any, field: str, least: int, most: int) -> int:
    """Read a whole number between two bounds; raises `InputError`, also for floats such as 2.0 and for bool."""
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise InputError(_WHOLE, field=field, value=value if value is not None else "None")
    if not least <= number <= most:
        raise InputError(f"must be from {least} to {most}", field=field, value=number)
    return number


def fraction(number: int | fmpq) -> Fraction:
    """Return a rational as Python's `Fraction`."""
    exact = fmpq(number)
    return Fraction(int(exact.numerator), int(exact.denominator))
