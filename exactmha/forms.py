"""Closed forms of the entries of W: rational combinations of radicals, and of logarithms of positive rationals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import TypeVar

from flint import fmpq, fmpz

from exactmha.errors import InputError, LimitError
from exactmha.expressions import Node, checked, checked_power, evaluate, parse
from exactmha.limits import DEFAULT_LIMITS, Limits

Radical = tuple[tuple[int, Fraction], ...]
"""A product of primes to exponents in (0, 1), sorted; () is 1."""


@dataclass(frozen=True, slots=True)
class Form:
    """Σ radicals[ρ]·ρ + Σ logs[q]·log(q): exact, with no zero coefficients."""

    radicals: dict[Radical, fmpq] = field(default_factory=dict)
    logs: dict[fmpq, fmpq] = field(default_factory=dict)

    @property
    def is_zero(self) -> bool:
        """True when no term is left; log(4) − 2·log(2) is only seen to vanish over a coprime base."""
        return not self.radicals and not self.logs

    def rational(self) -> fmpq | None:
        """Return the value when it is visibly rational, else None."""
        if self.logs or any(radical != () for radical in self.radicals):
            return None
        return self.radicals.get((), fmpq(0))


K = TypeVar("K")


def _collected(terms: Iterable[tuple[K, fmpq]], limits: Limits, start: Mapping[K, fmpq] | None = None) -> dict[K, fmpq]:
    """Add terms to a copy of `start`, leaving out what cancels."""
    total = dict(start or {})
    for key, coefficient in terms:
        value = checked(total.get(key, fmpq(0)) + coefficient, limits)
        if value != 0:
            total[key] = value
        else:
            total.pop(key, None)
        if len(total) > limits.terms:
            raise LimitError(f"a sum has more than {limits.terms} different terms", hint="see --limit terms")
    return total


def radical_root(q: fmpq, order: int, limits: Limits = DEFAULT_LIMITS) -> tuple[fmpq, Radical]:
    """Return (c, ρ) with q^{1/order} = c·ρ, c > 0 rational and ρ a radical, for q > 0.

    Raises `LimitError` when q is neither a perfect power nor small enough to factor.
    """
    if order > limits.root_order:
        raise LimitError(f"a root of order above {limits.root_order}", value=order, hint="see --limit root_order")
    num, den = q.numerator, q.denominator
    roots = num.root(order), den.root(order)
    if roots[0] ** order == num and roots[1] ** order == den:
        return fmpq(*roots), ()
    outside, radical = fmpq(1), {}
    for part, sign in ((num, 1), (den, -1)):
        if part.bit_length() > limits.sqrt_bits:
            raise LimitError(
                f"the number under a root has more than {limits.sqrt_bits} bits",
                value=part,
                hint="see --limit sqrt_bits",
            )
        for prime, multiplicity in part.factor() if part > 1 else ():
            whole, rest = divmod(Fraction(sign * multiplicity, order), 1)
            outside *= fmpq(prime) ** int(whole)
            if rest:
                radical[int(prime)] = rest
    return outside, tuple(sorted(radical.items()))


@dataclass(frozen=True, slots=True)
class FormAlgebra:
    """The algebra in which entries of W are evaluated (see `exactmha.expressions.evaluate`)."""

    limits: Limits = DEFAULT_LIMITS
    _spent: list[int] = field(default_factory=lambda: [0], repr=False)

    def _spend(self, products: int) -> None:
        """Count the products of terms made by this algebra, and refuse more than `limits.products`."""
        self._spent[0] += products
        if self._spent[0] > self.limits.products:
            raise LimitError(
                f"multiplying out takes more than {self.limits.products} products of terms", hint="see --limit products"
            )

    def number(self, value: fmpq) -> Form:
        """Embed a rational."""
        return Form({(): checked(value, self.limits)} if value != 0 else {})

    def add(self, left: Form, right: Form) -> Form:
        """Return left + right."""
        if len(right.radicals) + len(right.logs) > len(left.radicals) + len(left.logs):
            left, right = right, left
        return Form(
            _collected(right.radicals.items(), self.limits, left.radicals),
            _collected(right.logs.items(), self.limits, left.logs),
        )

    def multiply(self, left: Form, right: Form) -> Form:
        """Return left · right; a logarithm may only be multiplied by a rational."""
        if left.logs:
            left, right = right, left
        if right.logs:
            scale = left.rational()
            if scale is None:
                raise InputError("a logarithm may only be multiplied by a rational", hint="write q*log(r)")
            return Form(
                _collected([(r, c * scale) for r, c in right.radicals.items()], self.limits),
                _collected([(q, c * scale) for q, c in right.logs.items()], self.limits),
            )
        self._spend(len(left.radicals) * len(right.radicals))
        products = []
        for r1, c1 in left.radicals.items():
            for r2, c2 in right.radicals.items():
                outside, radical = _times(r1, r2)
                products.append((radical, checked(c1 * c2 * outside, self.limits)))
        return Form(_collected(products, self.limits))

    def divide(self, left: Form, right: Form) -> Form:
        """Return left / right for a right side with one term."""
        if right.is_zero:
            raise InputError("division by zero")
        if right.logs or len(right.radicals) != 1:
            raise InputError("division by a sum of roots or by a logarithm is not supported", hint="rationalise it")
        ((radical, coefficient),) = right.radicals.items()
        inverse, scale = tuple((p, 1 - e) for p, e in radical), prod(p for p, _ in radical)
        return self.multiply(left, Form({inverse: 1 / (coefficient * scale)}))

    def power(self, base: Form, exponent: int) -> Form:
        """Return base^exponent for a base with at most one term and no logarithm."""
        if exponent == 1:
            return base
        if base.is_zero and exponent > 0:
            return base
        value = base.rational()
        if value is not None:
            return self.number(checked_power(value, exponent, self.limits))
        if base.logs or len(base.radicals) != 1:
            raise InputError("powers of sums and of logarithms are not supported", hint="multiply it out")
        ((radical, coefficient),) = base.radicals.items()
        outside, inside = checked_power(coefficient, exponent, self.limits), {}
        for p, e in radical:
            whole, rest = divmod(e * exponent, 1)
            outside *= checked_power(fmpq(p), int(whole), self.limits)
            if rest:
                inside[p] = rest
        return Form({tuple(sorted(inside.items())): checked(outside, self.limits)})

    def call(self, name: str, arguments: Sequence[Node]) -> Form:
        """Evaluate log(q), sqrt(q) or root(q, N)."""
        value = evaluate(arguments[0], self).rational()
        if name == "exp":
            raise InputError("exp is not allowed here", hint="W and v take rationals, log, sqrt and root")
        if value is None:
            raise InputError(f"the argument of {name} must be rational")
        if name == "log":
            if value <= 0:
                raise InputError("the argument of log must be positive", value=str(value))
            return Form({}, {value: fmpq(1)} if value != 1 else {})
        order = 2 if name == "sqrt" else _root_order(evaluate(arguments[1], self).rational(), self.limits)
        if value < 0:
            raise InputError(f"the argument of {name} must not be negative", value=str(value))
        if value == 0:
            return Form()
        coefficient, radical = radical_root(value, order, self.limits)
        return Form({radical: coefficient})


def parse_rational(text: str, limits: Limits = DEFAULT_LIMITS) -> fmpq | None:
    """Return the value of an exact expression when it is rational, else None; raises `InputError` when it is none."""
    return evaluate(parse(text, limits), FormAlgebra(limits)).rational()


def _root_order(order: fmpq | None, limits: Limits) -> int:
    """Return the order N of root(q, N) as an integer ≥ 1 within `limits.root_order`."""
    if order is None or order.denominator != 1 or order < 1:
        raise InputError("the order N of root(q, N) must be a positive integer", value=order and str(order))
    if order > limits.root_order:
        raise LimitError(f"a root of order above {limits.root_order}", value=str(order), hint="see --limit root_order")
    return int(order.numerator)


def _times(left: Radical, right: Radical) -> tuple[fmpz, Radical]:
    exponents = dict(left)
    for p, e in right:
        exponents[p] = exponents.get(p, Fraction(0)) + e
    outside, inside = fmpz(1), []
    for p, e in sorted(exponents.items()):
        whole, rest = divmod(e, 1)
        outside *= p**whole
        if rest:
            inside.append((p, rest))
    return outside, tuple(inside)
