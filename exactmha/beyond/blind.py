"""Blind directions: exact null vectors of the Jacobian, guessed modulo a prime and proved in K.

A null vector δ of least support is chosen modulo a prime; its support has one dependent column only, so δ is unique up
to a factor. In the rational and radical fields it then solves a linear system over Q; in the exponential field a
*rational* δ is lifted p-adically, and else the minors of a few rows are taken. Whatever the guess, J·δ = 0 is then
proved row by row in K (`proofs/local-identifiability`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd, lcm

from flint import fmpq, fmpq_mat, fmpz, fmpz_mod_mat, nmod_mat

from exactmha.beyond.jacobian import Jacobian
from exactmha.errors import BadPlace, Undecided
from exactmha.fields import ExponentialValue, RadicalField
from exactmha.fields.radical import RadicalValue
from exactmha.fields.rational import RationalValue
from exactmha.fields.values import ExactValue
from exactmha.modular.places import Place
from exactmha.outcome import Outcome

Direction = tuple[ExactValue, ...]
"""One value per parameter, not all 0."""
_POWERS = (1, 2, 3)
"""A rational null vector stays one when t ↦ t^s; several s cut the null space down to those."""
_PRECISIONS = (4, 16, 64)
_MOST_MINORS = 4
_SOLVED_BITS = 512
"""Solving for n unknowns costs about n³ · bits of an entry; so many of these count like one word elsewhere."""


def null_vector(jacobian: Jacobian, columns: Sequence[int]) -> Direction | None:
    """Return an exact δ ≠ 0 with J·δ = 0 that is 0 outside `columns`, or None when none was found and proved.

    Each entry of J·δ is proved to be 0 in K. None proves nothing: the size budget may have been passed.
    """
    if not columns:
        return None
    for support, guess in _guesses(jacobian, columns):
        outcome = _is_null(jacobian, support, guess)
        if outcome is Outcome.UNDECIDED:
            return None
        if outcome is Outcome.HOLDS:
            delta = [jacobian.field.embed((fmpq(0),) * jacobian.field.degree)] * jacobian.parameters
            for column, value in zip(support, guess, strict=True):
                delta[column] = value
            return tuple(delta)
    return None


def pivots(rows: Sequence[Sequence[int]], columns: int, prime: int) -> list[int]:
    """Return the first maximal set of independent columns of a matrix mod p."""
    if not rows or not columns:
        return []
    reduced, rank = nmod_mat(len(rows), columns, [x for row in rows for x in row], prime).rref()
    found: list[int] = []
    for i in range(int(rank)):
        start = found[-1] + 1 if found else 0
        found.append(next(j for j in range(start, columns) if int(reduced[i, j])))
    return found


def independent_rows(rows: Sequence[Sequence[int]], prime: int) -> list[int]:
    """Return the positions of the rows that raise the rank mod p when rows are added one at a time."""
    return pivots([list(column) for column in zip(*rows, strict=True)], len(rows), prime)


def dependency(rows: Sequence[Sequence[int]], prime: int) -> tuple[list[int], list[int]] | None:
    """Return (support, equations) of a null vector mod p, or None when there is none.

    The support is the smallest among those of the reduced basis, its dependent column last; the equations are as many
    rows as it has other columns, independent on these.
    """
    columns = len(rows[0])
    reduced, rank = nmod_mat(len(rows), columns, [x for row in rows for x in row], prime).rref()
    pivot = pivots(rows, columns, prime)
    free = sorted(set(range(columns)) - set(pivot))
    if not free:
        return None
    support = min(([pivot[i] for i in range(int(rank)) if int(reduced[i, j])] + [j] for j in free), key=len)
    return support, independent_rows([[row[j] for j in support[:-1]] for row in rows], prime)


def _guesses(jacobian: Jacobian, columns: Sequence[int]) -> Iterator[tuple[list[int], list[ExactValue]]]:
    """Yield (support, values) of likely null vectors."""
    if not jacobian.queries:
        yield [columns[0]], [jacobian.field.embed((fmpq(1), *[fmpq(0)] * (jacobian.field.degree - 1)))]
        return
    is_exponential = jacobian.field.name == "exponential"
    for index, place, rows in jacobian.at_places():
        if is_exponential:
            yield from _rational_guess(jacobian, columns, index)
        found = dependency([[row[j] for j in columns] for row in rows], place.prime)
        if found is None:
            continue
        mine, equations = [columns[j] for j in found[0]], found[1]
        if jacobian.size(mine) > jacobian.limits.jacobian_size:
            return
        try:
            matrix = [jacobian.exact_row(q, mine) for q in equations]
            yield mine, _minors(matrix, jacobian) if is_exponential else _solved(matrix, jacobian)
        except Undecided:
            return


def _is_null(jacobian: Jacobian, support: Sequence[int], guess: Sequence[ExactValue]) -> Outcome:
    """Decide whether J·δ = 0 and δ ≠ 0; undecided beyond the size budget."""
    terms = max(len(value.terms) if isinstance(value, ExponentialValue) else 1 for value in guess)
    if jacobian.size(support) * terms > jacobian.limits.jacobian_size:
        return Outcome.UNDECIDED
    try:
        if all(value.is_zero() is Outcome.HOLDS for value in guess):
            return Outcome.FAILS
        for q in range(len(jacobian.queries)):
            row = jacobian.exact_row(q, support)
            total = row[0] * guess[0]
            for entry, value in zip(row[1:], guess[1:], strict=True):
                total = total + entry * value
            outcome = total.is_zero()
            if outcome is not Outcome.HOLDS:
                return outcome
    except Undecided:
        return Outcome.UNDECIDED
    return Outcome.HOLDS


# --- rational and radical fields: one linear system over Q --------------------------------------------------


def _coordinates(value: ExactValue, jacobian: Jacobian) -> list[fmpq]:
    if isinstance(value, RationalValue):
        return [value.q]
    if isinstance(value, RadicalValue) and isinstance(jacobian.field, RadicalField):
        return list(jacobian.field.scalar(value))
    raise TypeError(f"no coordinates over Q for {type(value).__name__}")


def _solved(matrix: Sequence[Sequence[ExactValue]], jacobian: Jacobian) -> list[ExactValue]:
    """Return the null vector of k rows and k + 1 columns, the first k independent, over K = Q(γ) (γ = 1 for K = Q).

    Each entry becomes its matrix of multiplication on 1, γ, …: one system of k·degree equations over Q.
    """
    field, degree, size = jacobian.field, jacobian.field.degree, len(matrix)
    powers = [field.embed(tuple(fmpq(int(i == j)) for i in range(degree))) for j in range(degree)]
    one = [fmpq(1), *[fmpq(0)] * (degree - 1)]
    if not matrix:
        return [field.embed(tuple(one))]
    equations: list[list[fmpq]] = []
    right: list[fmpq] = []
    for row in matrix:
        images = [_coordinates(entry * power, jacobian) for entry in row[:-1] for power in powers]
        equations += [[image[i] for image in images] for i in range(degree)]
        right += [-x for x in _coordinates(row[-1], jacobian)]
    bits = max((x.height_bits() for row in equations for x in row), default=0)
    if (size * degree) ** 3 * bits // _SOLVED_BITS > jacobian.limits.jacobian_size:
        raise Undecided("an exact null vector is beyond the size budget")
    flat = [x for row in equations for x in row]
    solution = fmpq_mat(len(equations), size * degree, flat).solve(fmpq_mat(len(right), 1, right)).entries()
    vector = primitive([*solution, *one])
    return [field.embed(tuple(vector[i * degree : (i + 1) * degree])) for i in range(size + 1)]


def primitive(vector: Sequence[fmpq]) -> list[fmpq]:
    """Scale a non-zero rational vector to coprime integers, the first non-zero one positive."""
    scale = lcm(*(int(x.denominator) for x in vector))
    integers = [int((x * scale).numerator) for x in vector]
    content = gcd(*integers)
    if next(x for x in integers if x) < 0:
        content = -content
    return [fmpq(x // content) for x in integers]


# --- exponential field ------------------------------------------------------------------------------------


def _rational_guess(
    jacobian: Jacobian, columns: Sequence[int], index: int
) -> Iterator[tuple[list[int], list[ExactValue]]]:
    """Yield the rational null vector of least support, lifted from Z/p^k, when there is one."""
    place = jacobian.field.place(index, 1)
    try:
        found = dependency(_stacked(jacobian, columns, place), place.prime)
        if found is None:
            return
        mine, equations = [columns[j] for j in found[0]], found[1]
        for precision in _PRECISIONS:
            fine = jacobian.field.place(index, precision)
            lifted = _lifted(_stacked(jacobian, mine, fine), equations, fine)
            if lifted is not None:
                yield mine, [jacobian.field.embed((x,)) for x in primitive(lifted)]
                return
    except BadPlace:
        return


def _stacked(jacobian: Jacobian, columns: Sequence[int], place: Place) -> list[list[int]]:
    return [[row[j] for j in columns] for power in _POWERS for row in jacobian.image_rows(place, power)]


def _lifted(rows: Sequence[Sequence[int]], equations: Sequence[int], place: Place) -> list[fmpq] | None:
    """Solve for the null vector with last entry 1 in Z/p^k, and guess the rationals with these images."""
    size = len(equations)
    if not size:
        return [fmpq(1)]
    left = fmpz_mod_mat(size, size, [rows[i][j] for i in equations for j in range(size)], place.ring)
    right = fmpz_mod_mat(size, 1, [-rows[i][size] for i in equations], place.ring)
    found = [place.scalar_of(fmpz(int(x))) for x in left.solve(right).entries()]
    values = [scalar[0] for scalar in found if scalar is not None]
    return [*values, fmpq(1)] if len(values) == size else None


def _minors(matrix: Sequence[Sequence[ExactValue]], jacobian: Jacobian) -> list[ExactValue]:
    """Return the signed maximal minors of k rows and k + 1 columns: a vector that is orthogonal to every row."""
    if len(matrix) > _MOST_MINORS:
        raise Undecided("an exact null vector is beyond the size budget")
    zero = jacobian.field.embed((fmpq(0),))
    columns = range(len(matrix) + 1)

    def determinant(row: int, chosen: tuple[int, ...]) -> ExactValue:
        if row == len(matrix):
            return jacobian.field.embed((fmpq(1),))
        total = zero
        for position, column in enumerate(chosen):
            rest = chosen[:position] + chosen[position + 1 :]
            term = matrix[row][column] * determinant(row + 1, rest)
            total = total - term if position % 2 else total + term
        return total

    signed = [determinant(0, tuple(c for c in columns if c != j)) for j in columns]
    return [zero - minor if j % 2 else minor for j, minor in enumerate(signed)]
