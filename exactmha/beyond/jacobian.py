"""The exact Jacobian of a list of answers in the canonical parameters (`proofs/local-identifiability`).

    ∂f/∂v_{h,a} = Σ_i p_i x_{i,a},   ∂f/∂(W_h)_{ab} = x_{n,a}·Cov_p(v_h·x_i, x_{i,b}),   p = softmax_i(x_n^T W_h x_i).

The H(d² + d) parameters are the real numbers (W_h)_{ab} and v_{h,a}, head by head, W row by row and then v. (In the
rational field W has coordinates on several logarithms; the parameter is the real number that they make up.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm
from operator import mul
from typing import Any

from flint import fmpq, fmpz, nmod_mat

from exactmha.attention import Model
from exactmha.errors import BadPlace, InputError, LimitError
from exactmha.fields.interface import Scalar, rational
from exactmha.fields.values import ExactValue
from exactmha.heads import Head
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.modular.places import Place, inverse
from exactmha.sequences import Token, runs_of

Point = tuple[fmpq, ...]
"""A token, or the difference of two."""
PLACES = 3
"""Places at which a rank is taken before it is believed to be no larger."""
_PLACES_TRIED = 12
_HALF_WORD = 32


@dataclass(frozen=True, slots=True)
class Query:
    """What attention sees of a token sequence: x_n, the different x_i − x_n (0 first), and how often each occurs.

    The counts have no common factor. Sequences with the same normal form have the same answer in every model.
    """

    last: Point
    shifts: tuple[Point, ...]
    counts: tuple[int, ...]

    @property
    def is_single(self) -> bool:
        """True when all tokens are equal: the answer is s·x_n."""
        return len(self.shifts) == 1

    @property
    def is_balanced(self) -> bool:
        """True when there are at most two different tokens, equally often: as good as length ≤ 2."""
        return len(self.shifts) <= 2 and max(self.counts) == 1

    @property
    def opposite(self) -> Query:
        """Every token negated: the weights are the same and the answer changes its sign."""
        first, *others = zip(self.shifts, self.counts, strict=True)
        moved = sorted((_negated(shift), count) for shift, count in others)
        shifts, counts = zip(first, *moved, strict=True)
        return Query(_negated(self.last), shifts, counts)


def normal_form(sequence: Sequence[Token], dim: int) -> Query:
    """Return the normal form of a token sequence; raises `InputError` for an empty one or a wrong dimension."""
    runs = runs_of(sequence)
    if not runs:
        raise InputError("a query needs at least one token")
    last = tuple(fmpq(x) for x in runs[-1][0])
    occurrences: dict[Point, int] = {tuple(x - x for x in last): 0}
    for token, count in runs:
        if len(token) != dim:
            raise InputError(f"a token needs {dim} coordinates", value=len(token))
        shift = tuple(fmpq(x) - y for x, y in zip(token, last, strict=True))
        occurrences[shift] = occurrences.get(shift, 0) + count
    common = gcd(*occurrences.values())
    first, *others = occurrences
    shifts = (first, *sorted(others))
    return Query(last, shifts, tuple(occurrences[shift] // common for shift in shifts))


def _negated(point: Point) -> Point:
    return tuple(-x for x in point)


@dataclass(frozen=True, slots=True)
class _Sight:
    """How one head sees one query: for every shift, the exponent of its weight (least one 0) and v_h·shift."""

    exponents: tuple[tuple[int, ...], ...]
    values: tuple[Scalar, ...]


class Jacobian:
    """The derivatives of the answers to a list of sequences, exactly and at the places of the field.

    `model` must be canonical. Raises `InputError` (naming the sequence) where a weight would leave the field, as in
    `exactmha.attention.Attention`, and `LimitError` above `limits.jacobian_cells` entries.
    """

    def __init__(self, model: Model, sequences: Sequence[Sequence[Token]], limits: Limits = DEFAULT_LIMITS) -> None:
        self.model, self.field, self.dim, self.limits = model, model.field, model.dim, limits
        self.block = self.dim**2 + self.dim
        self.parameters = len(model.heads) * self.block
        if self.parameters * len(sequences) > limits.jacobian_cells:
            raise LimitError(
                f"the Jacobian has more than {limits.jacobian_cells} entries",
                value=f"{len(sequences)} x {self.parameters}",
                hint="see --limit jacobian_cells",
            )
        if sum(len(runs_of(sequence)) for sequence in sequences) > limits.query_tokens:
            raise LimitError(f"more than {limits.query_tokens} tokens", hint="see --limit query_tokens")
        self.queries: list[Query] = []
        exponents = []
        for index, sequence in enumerate(sequences):
            try:
                self.queries.append(normal_form(sequence, self.dim))
                exponents.append([self._exponents(head, self.queries[-1]) for head in model.heads])
            except InputError as error:
                raise error.located(field=f"[{index}]") from None
        # t ↦ t^scale keeps t transcendental: all exponents become integers
        self._scale = self._common_denominator([e for row in exponents for head in row for es in head for e in es])
        self._sights = [
            [self._sight(h, query, es) for h, es in enumerate(row)]
            for query, row in zip(self.queries, exponents, strict=True)
        ]

    def _common_denominator(self, exponents: Sequence[fmpq]) -> int:
        """Return the least common denominator; raises `LimitError` where it would make all exponents too large."""
        common = 1
        for denominator in {int(e.denominator) for e in exponents}:
            common = lcm(common, denominator)
            if common.bit_length() // 64 * len(exponents) > self.limits.jacobian_size:
                raise LimitError(
                    f"the exponents need more than {self.limits.jacobian_size} machine words over one denominator",
                    hint="use tokens with smaller denominators, or --limit jacobian_size",
                )
        return common

    def _exponents(self, head: Head, query: Query) -> list[tuple[fmpq, ...]]:
        """Return N·x_n^T W (x_i − x_n) on every logarithmic unit, for every shift."""
        left = [[_dot(query.last, column) for column in zip(*matrix, strict=True)] for matrix in head.W]
        result = [tuple(_dot(row, shift) * self.field.denominator for row in left) for shift in query.shifts]
        bad = next((e for es in result for e in es if e.denominator != 1), None)
        if bad is not None and self.field.name != "exponential":
            raise InputError(
                f"a relative logit is not integral, so its weight leaves the {self.field.name} field",
                value=f"{bad} units",
                hint="use integer tokens",
            )
        return result

    def _sight(self, h: int, query: Query, exponents: Sequence[Sequence[fmpq]]) -> _Sight:
        lowest = [min(column) for column in zip(*exponents, strict=True)]
        shifted = tuple(
            tuple(int(((e - low) * self._scale).numerator) for e, low in zip(es, lowest, strict=True))
            for es in exponents
        )
        coordinates = list(zip(*self.model.heads[h].v, strict=True))
        return _Sight(shifted, tuple(tuple(_dot(c, shift) for c in coordinates) for shift in query.shifts))

    # --- positions of the parameters ---------------------------------------------------------------

    def w_columns(self, h: int) -> range:
        """Return the columns of (W_h)_{ab}, row by row."""
        return range(h * self.block, h * self.block + self.dim**2)

    def v_columns(self, h: int) -> range:
        """Return the columns of v_{h,a}."""
        return range(h * self.block + self.dim**2, (h + 1) * self.block)

    def is_visible(self, q: int, h: int) -> bool:
        """Return whether v_h·(x_i − x_n) ≠ 0 for some token: otherwise query q says nothing about W_h."""
        return any(x != 0 for scalar in self._sights[q][h].values for x in scalar)

    # --- images ------------------------------------------------------------------------------------

    def image_rows(self, place: Place, power: int = 1) -> list[list[int]]:
        """Return the image of the Jacobian at a place, with t^power for t; raises `BadPlace`.

        Only the exponential field, where t is transcendental, allows a power other than 1.
        """
        return [self._image_row(q, place, power) for q in range(len(self.queries))]

    def _image_row(self, q: int, place: Place, power: int) -> list[int]:
        query = self.queries[q]
        last = [_residue(x, place) for x in query.last]
        shifts = [[_residue(x, place) for x in shift] for shift in query.shifts]
        row: list[int] = []
        for sight in self._sights[q]:
            row += _image_of_head(query.counts, last, shifts, sight, place, power)
        return row

    def at_places(self) -> Iterator[tuple[int, Place, list[list[int]]]]:
        """Yield (index, place, image of the Jacobian) at up to `PLACES` places where it is defined, precision 1."""
        found = 0
        for index in range(_PLACES_TRIED):
            place = self.field.place(index, 1)
            try:
                rows = self.image_rows(place)
            except BadPlace:
                continue
            yield index, place, rows
            found += 1
            if found == PLACES:
                return

    @cached_property
    def rank(self) -> int:
        """The largest rank modulo a few primes: a rigorous lower bound of the rank over K, and so over R."""
        most, best = min(self.parameters, len(self.queries)), 0
        if most:
            for _, place, rows in self.at_places():
                best = max(
                    best,
                    int(nmod_mat(len(rows), self.parameters, [x for row in rows for x in row], place.prime).rank()),
                )
                if best == most:
                    break
        return best

    # --- exact entries -----------------------------------------------------------------------------

    def exact_row(self, q: int, columns: Sequence[int]) -> list[ExactValue]:
        """Return entries of row q, multiplied by Π_h D_h² > 0 over the heads of `columns`, D_h = Σ_i w_{h,i}.

        The factor clears all denominators and changes neither rank nor null vectors of the chosen columns. See `size`
        for what it costs; raises `Undecided` where a product of values does.
        """
        heads = sorted({column // self.block for column in columns})
        query = self.queries[q]
        numerators: dict[int, ExactValue] = {}
        squares: dict[int, ExactValue] = {}
        for h in heads:
            wanted = [column % self.block for column in columns if column // self.block == h]
            entries, squares[h] = self._cleared(query, self._sights[q][h], wanted)
            numerators |= {h * self.block + position: entry for position, entry in entries.items()}
        others = {h: self._product([squares[g] for g in heads if g != h]) for h in heads}
        return [numerators[column] * others[column // self.block] for column in columns]

    def size(self, columns: Sequence[int]) -> int:
        """Bound the work of all rows of `exact_row`: terms in the exponential field, machine words in the others."""
        heads = {column // self.block for column in columns}
        return len(columns) * sum(self._row_size(q, heads) for q in range(len(self.queries)))

    def _row_size(self, q: int, heads: Collection[int]) -> int:
        if self.field.name == "exponential":
            return int(len(self.queries[q].shifts) ** (2 * len(heads)))
        weights = [e for h in heads for e in self._sights[q][h].exponents]
        return 1 + sum(self.field.weight_bits(e) for e in weights) * self.field.degree // _HALF_WORD

    def _cleared(self, query: Query, sight: _Sight, wanted: Sequence[int]) -> tuple[dict[int, ExactValue], ExactValue]:
        """Return ({position: D²·derivative}, D²) for one head."""
        weights = [
            self._number(count) * self._monomial(exponent)
            for count, exponent in zip(query.counts, sight.exponents, strict=True)
        ]
        total = self._sum(weights)
        square = total * total
        weighted = [w * self.field.embed(y) for w, y in zip(weights, sight.values, strict=True)]
        readout = self._sum(weighted)

        def mean(terms: Sequence[ExactValue], axis: int) -> ExactValue:
            return self._sum([w * self._number(u[axis]) for w, u in zip(terms, query.shifts, strict=True) if u[axis]])

        result: dict[int, ExactValue] = {}
        for position in wanted:
            a, b = divmod(position, self.dim)
            if a < self.dim:
                covariance = total * mean(weighted, b) - readout * mean(weights, b)
                result[position] = self._number(query.last[a]) * covariance
            else:
                result[position] = self._number(query.last[b]) * square + total * mean(weights, b)
        return result, square

    def _monomial(self, exponent: tuple[int, ...]) -> ExactValue:
        if self._scale == 1:
            return self.field.monomial(exponent)
        power: Any = self.field  # only the exponential field has fractional exponents
        value: ExactValue = power.power(fmpq(exponent[0], self._scale))
        return value

    def _number(self, x: int | fmpq) -> ExactValue:
        value: ExactValue = rational(self.field, x)  # type: ignore[assignment]  # an ExactField embeds as ExactValue
        return value

    def _sum(self, values: Sequence[ExactValue]) -> ExactValue:
        total = self._number(0)
        for value in values:
            total = total + value
        return total

    def _product(self, values: Sequence[ExactValue]) -> ExactValue:
        result = self._number(1)
        for value in values:
            result = result * value
        return result


def _dot(left: Sequence[fmpq], right: Sequence[fmpq]) -> fmpq:
    return sum(map(mul, left, right), fmpq(0))


def _residue(x: fmpq, place: Place) -> fmpz:
    if x.denominator == 1:
        return x.numerator % place.modulus
    return x.numerator * inverse(x.denominator, place) % place.modulus


def _scalar_residue(scalar: Scalar, place: Place) -> fmpz:
    total = sum((_residue(x, place) * s for x, s in zip(scalar, place.scalars, strict=True) if x), fmpz(0))
    return total % place.modulus


def _image_of_head(
    counts: Sequence[int],
    last: Sequence[fmpz],
    shifts: Sequence[Sequence[fmpz]],
    sight: _Sight,
    place: Place,
    power: int,
) -> list[int]:
    """Return the images of ∂f/∂W (row by row) and ∂f/∂v for one head."""
    modulus, axes = place.modulus, range(len(last))
    weights = [
        count * place.monomial(tuple(power * e for e in exponent)) % modulus
        for count, exponent in zip(counts, sight.exponents, strict=True)
    ]
    unit = inverse(sum(weights, fmpz(0)) % modulus, place)
    p = [w * unit % modulus for w in weights]
    y = [_scalar_residue(scalar, place) for scalar in sight.values]
    weighted = [a * b % modulus for a, b in zip(p, y, strict=True)]
    readout = sum(weighted, fmpz(0))
    means = [sum((a * u[b] for a, u in zip(p, shifts, strict=True)), fmpz(0)) for b in axes]
    mixed = [sum((a * u[b] for a, u in zip(weighted, shifts, strict=True)), fmpz(0)) for b in axes]
    covariance = [(m - readout * n) % modulus for m, n in zip(mixed, means, strict=True)]
    return [int(a * c % modulus) for a in last for c in covariance] + [
        int((a + m) % modulus) for a, m in zip(last, means, strict=True)
    ]
