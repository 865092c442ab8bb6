"""The model: exact multi-head softmax attention, f(X) = Σ_h v_h · Σ_i p_{h,i} x_i, p_h = softmax_i(x_n^T W_h x_i)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

from flint import fmpq, fmpq_mat, fmpz_mat

from exactmha.errors import InputError, LimitError
from exactmha.fields import ExactField
from exactmha.fields.interface import Scalar
from exactmha.fields.values import ExactValue
from exactmha.heads import Canonical, Head, canonical
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.sequences import Token, runs_of

_CACHED = 4096


@dataclass(frozen=True)
class Model:
    """A multi-head attention layer with exact heads over one field."""

    field: ExactField
    dim: int
    heads: tuple[Head, ...]

    def canonical(self) -> Canonical:
        """Return the canonical heads."""
        return canonical(self.heads)


class Attention:
    """Evaluates a model exactly on token sequences of any length ≥ 1 (`proofs/profile-identity`).

    In the rational and radical fields the relative logits (x_n^T W (x_i − x_n)) must be integral in
    the field's unit, as they are for integer tokens; otherwise the weight leaves the field and
    `InputError` is raised. `LimitError` is raised when one weight would pass `limits.value_bits`.
    """

    def __init__(self, model: Model, limits: Limits = DEFAULT_LIMITS) -> None:
        self.model, self._limits = model, limits
        field = model.field
        columns = [
            [matrix[i][j] * field.denominator for i in range(model.dim)]
            for head in model.heads
            for matrix in head.W
            for j in range(model.dim)
        ]
        # one row per (head, generator, column j of W): rows · x_n = x_n^T W, head by head
        self._logit_rows = _integral(fmpq_mat(len(columns), model.dim, [x for row in columns for x in row]))
        scalars = [[v[c] for v in head.v] for head in model.heads for c in range(field.degree)]
        self._readout = fmpq_mat(len(scalars), model.dim, [x for row in scalars for x in row])
        self._scores_of = lru_cache(_CACHED)(self._scores)
        self._exponents_of = lru_cache(_CACHED)(self._exponents)
        self._values_of = lru_cache(_CACHED)(self._values)

    def __call__(self, sequence: Sequence[Token]) -> ExactValue:
        """Return f(X)."""
        runs = runs_of(sequence)
        if not runs:
            raise InputError("a sequence needs at least one token")
        for token, _ in runs:
            if len(token) != self.model.dim:
                raise InputError(f"a token needs {self.model.dim} coordinates", value=len(token))
        last = runs[-1][0]
        exponents = [self._exponents_of(last, token) for token, _ in runs]
        values = [self._values_of(token) for token, _ in runs]
        heads = zip(zip(*exponents, strict=True), zip(*values, strict=True), strict=True)
        return self.model.field.attention([count for _, count in runs], heads)

    def _scores(self, last: Token) -> tuple[fmpz_mat, int]:
        """Return x_n^T W for every head and generator, as (integer matrix, common denominator)."""
        column, denominator = _column(last)
        rows = len(self.model.heads) * self.model.field.rank
        return fmpz_mat(rows, self.model.dim, (self._logit_rows * column).entries()), denominator

    def _exponents(self, last: Token, token: Token) -> list[tuple[Any, ...]]:
        """Return the exponent x_n^T W_h (x_i − x_n) of every head."""
        scores, d1 = self._scores_of(last)
        difference, d2 = _column(tuple(x - y for x, y in zip(token, last, strict=True)))
        logits = (scores * difference).entries()
        rank = self.model.field.rank
        exponents = [self._exponent(int(n), d1 * d2) for n in logits]
        grouped = [tuple(exponents[i * rank : (i + 1) * rank]) for i in range(len(self.model.heads))]
        self._check_size(grouped)
        return grouped

    def _exponent(self, numerator: int, denominator: int) -> int | Fraction:
        if denominator == 1:
            return numerator
        exponent = Fraction(numerator, denominator)
        if exponent.denominator == 1:
            return exponent.numerator
        if self.model.field.name != "exponential":
            raise InputError(
                f"a relative logit is not integral, so its weight leaves the {self.model.field.name} field",
                value=f"{fmpq(numerator, denominator)} units",
                hint="use integer tokens",
            )
        return exponent

    def _check_size(self, exponents: list[tuple[Any, ...]]) -> None:
        if sum(self.model.field.weight_bits(exponent) for exponent in exponents) > self._limits.value_bits:
            raise LimitError(
                f"the weights exp(x_n^T W x_i) need more than {self._limits.value_bits} bits in the "
                f"{self.model.field.name} field",
                hint="use smaller tokens or weights, the exponential field, or --limit value_bits",
            )

    def _values(self, token: Token) -> list[Scalar]:
        """Return v_h·x for every head."""
        column = fmpq_mat(self.model.dim, 1, [fmpq(x) for x in token])
        entries, degree = (self._readout * column).entries(), self.model.field.degree
        return [tuple(entries[i * degree : (i + 1) * degree]) for i in range(len(self.model.heads))]


def _integral(matrix: fmpq_mat) -> fmpz_mat:
    numerators, denominator = matrix.numer_denom()
    if denominator != 1:
        raise AssertionError("the field's denominator must clear W")
    return numerators


def _column(token: Token) -> tuple[fmpz_mat, int]:
    """Return a token as (integer column, common denominator)."""
    integers = [x for x in token if isinstance(x, int)]
    if len(integers) == len(token):
        return fmpz_mat(len(token), 1, integers), 1
    rationals = [fmpq(x) for x in token]
    denominator = lcm(*(int(x.denominator) for x in rationals))
    return fmpz_mat(len(token), 1, [(x * denominator).numerator for x in rationals]), denominator
