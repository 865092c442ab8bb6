"""Reading exact values from text: the inverse of `str(value)` in every field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from exactmha.errors import InputError, LimitError
from exactmha.expressions import Node, evaluate, parse
from exactmha.fields import ExactField, ExponentialField, RadicalField
from exactmha.fields.values import ExactValue
from exactmha.forms import Form, FormAlgebra
from exactmha.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class ValueAlgebra:
    """The algebra of values of one field: rationals, root(β, N) in the radical, exp(q·√n) in the exponential one."""

    field: ExactField
    limits: Limits = DEFAULT_LIMITS

    def number(self, value: fmpq) -> ExactValue:
        """Embed a rational."""
        return self.field.embed((value, *[fmpq(0)] * (self.field.degree - 1)))

    def add(self, left: ExactValue, right: ExactValue) -> ExactValue:
        """Return left + right."""
        return self._checked(left + right)

    def multiply(self, left: ExactValue, right: ExactValue) -> ExactValue:
        """Return left · right."""
        return self._checked(left * right)

    def divide(self, left: ExactValue, right: ExactValue) -> ExactValue:
        """Return left / right."""
        try:
            return self._checked(left / right)
        except ZeroDivisionError:
            raise InputError("division by zero") from None

    def power(self, base: ExactValue, exponent: int) -> ExactValue:
        """Return base^exponent by repeated squaring, for |exponent| up to `limits.root_order`."""
        if abs(exponent) > self.limits.root_order:
            raise LimitError(f"a power above {self.limits.root_order}", value=exponent, hint="see --limit root_order")
        result, square, n = self.number(fmpq(1)), base, abs(exponent)
        while n:
            if n % 2:
                result = self.multiply(result, square)
            square, n = self.multiply(square, square), n // 2
        return result if exponent >= 0 else self.divide(self.number(fmpq(1)), result)

    def call(self, name: str, arguments: Sequence[Node]) -> ExactValue:
        """Evaluate root, sqrt (radical field, or where the result is rational) or exp (exponential field)."""
        forms = FormAlgebra(self.limits)
        if name == "exp" and isinstance(self.field, ExponentialField):
            return self._exponential(evaluate(arguments[0], forms))
        form = forms.call(name, arguments)
        value = form.rational()
        if value is not None:
            return self.number(value)
        if form.logs or not isinstance(self.field, RadicalField):
            raise InputError(f"{name} of this argument is no element of the {self.field.name} field")
        ((radical, coefficient),) = form.radicals.items()
        found = self.field.monomial_of_radical(radical)
        if found is None:
            raise InputError(
                f"this root is no rational multiple of a power of root({self.field.beta},{self.field.denominator})"
            )
        return self.multiply(self.number(coefficient * found[0]), self.field.monomial((found[1],)))

    def _checked(self, value: ExactValue) -> ExactValue:
        if value.bits() > self.limits.number_bits:
            raise LimitError(
                f"a number has more than {self.limits.number_digits} digits", hint="see --limit number_digits"
            )
        return value

    def _exponential(self, form: Form) -> ExactValue:
        field = self.field
        if not isinstance(field, ExponentialField):
            raise InputError(f"exp is no element of the {field.name} field")
        unit = field.unit_radical()
        if form.logs or any(radical != unit for radical in form.radicals):
            raise InputError("the argument of exp must be a rational multiple of the field's unit")
        return field.power(form.radicals.get(unit, fmpq(0)) * field.denominator)


def parse_value(text: str, field: ExactField, limits: Limits = DEFAULT_LIMITS) -> ExactValue:
    """Return the value written as `text`; `parse_value(str(x), field) == x`."""
    return evaluate(parse(text, limits), ValueAlgebra(field, limits))
