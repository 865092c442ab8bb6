"""Exact heads as SymPy matrices, for further symbolic work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.heads import Head

if TYPE_CHECKING:
    import sympy
    from flint import fmpq


def to_sympy(head: Head, field: ExactField) -> tuple[sympy.Matrix, sympy.Matrix]:
    """Return (W, v) as exact SymPy matrices of shapes d × d and d × 1.

    >>> from exactmha.random_instance import example
    >>> model = example("two-heads-1d").model
    >>> to_sympy(model.heads[0], model.field)
    (Matrix([[log(2)]]), Matrix([[1]]))
    """
    import sympy

    def rational(q: fmpq) -> sympy.Rational:
        return sympy.Rational(int(q.numerator), int(q.denominator))

    gamma = sympy.Integer(1)
    if isinstance(field, ExponentialField):
        units = [sympy.sqrt(field.radicand)]
    elif isinstance(field, RadicalField):
        units, gamma = [sympy.log(rational(field.beta))], sympy.root(rational(field.beta), field.denominator)
    elif isinstance(field, RationalField):
        units = [sympy.log(b) for b in field.base]
    else:
        raise TypeError(f"no symbolic form for {type(field).__name__}")
    rows = range(head.dim)
    W = sympy.Matrix(
        head.dim,
        head.dim,
        lambda i, j: sum((rational(m[i][j]) * unit for m, unit in zip(head.W, units, strict=True)), sympy.Integer(0)),
    )
    v = sympy.Matrix([sum((rational(x) * gamma**p for p, x in enumerate(head.v[i])), sympy.Integer(0)) for i in rows])
    return W, v
