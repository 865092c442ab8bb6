"""Token designs for approximate runs: orthogonal directions of modest size, against random grids (`proofs/stability`).

The exact learner's huge grids make |b^T W u| huge, so that every relative weight is 0 or ∞ up to any realistic error.
Here |b^T W u| is about 1. Orthogonal directions keep cond(B) = cond(U) = 1, and keep poles and residues apart
better than random tokens do: 2 to 3 decimal digits at H = 2..4 (`exactmha stability --compare`).
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq, fmpq_mat

from exactmha.approximate.design import TokenDesign
from exactmha.errors import InputError
from exactmha.randomness import Stream
from exactmha.sequences import Token

KINDS = ("orthogonal", "grid", "small", "integer")
DEFAULT_KIND = "orthogonal"
DEFAULT_SCALE = fmpq(1, 2)
"""Length of the b_j where nothing is known of W; the u_i have length 1."""
_DYADIC = 1 << 12
"""Coordinates are multiples of 1/4096 (times the scale), so that b, u and b + u are exact doubles."""
_CAYLEY = 8
_MOST_ATTEMPTS = 400
_WIDEN = 16


def draw(kind: str, dim: int, seed: int, attempt: int, scale: fmpq = DEFAULT_SCALE) -> TokenDesign:
    """Draw a design from (seed, kind, attempt) and nothing else; raises `InputError` where it is no basis.

    orthogonal: b = scale·Q_1, u = Q_2, random orthogonal matrices (Cayley transforms, rounded to 1/4096);
    grid: coordinates in {−1, −0.99, …, 1}, b times the scale; small: the same with {−1, −1/2, …, 1};
    integer: coordinates in {−1, 0, 1}, wider after 16 attempts; for the fields that need integer tokens.
    """
    if kind not in KINDS:
        raise InputError("unknown design", field="--design", value=kind, hint=f"choose from {', '.join(KINDS)}")
    stream = Stream(seed, "approximate", kind, dim, attempt)
    if kind == "orthogonal":
        b, u = _orthogonal(dim, stream), _orthogonal(dim, stream)
    else:
        half, unit = {"grid": (100, 100), "small": (2, 2), "integer": (1 + attempt // _WIDEN, 1)}[kind]
        b, u = _uniform(dim, stream, half, unit), _uniform(dim, stream, half, unit)
    factor = fmpq(1) if kind == "integer" else scale
    return TokenDesign(_tokens(b, factor), _tokens(u, fmpq(1)), f"{kind}, seed {seed}, draw {attempt}")


def _tokens(rows: list[list[fmpq]], factor: fmpq) -> tuple[Token, ...]:
    return tuple(tuple(_plain(x * factor) for x in row) for row in rows)


def _plain(x: fmpq) -> int | fmpq:
    return int(x.numerator) if x.denominator == 1 else x


def _uniform(dim: int, stream: Stream, half: int, unit: int) -> list[list[fmpq]]:
    return [[fmpq(stream.between(-half, half), unit) for _ in range(dim)] for _ in range(dim)]


def _orthogonal(dim: int, stream: Stream) -> list[list[fmpq]]:
    """Return (1 − A)(1 + A)^{−1} for a random skew A, with random signs, rounded to multiples of 1/4096."""
    skew = [[fmpq(0)] * dim for _ in range(dim)]
    for i in range(dim):
        for j in range(i):
            skew[i][j] = fmpq(stream.between(-_CAYLEY, _CAYLEY), _CAYLEY // 2)
            skew[j][i] = -skew[i][j]
    one = fmpq_mat(dim, dim, [int(i == j) for i in range(dim) for j in range(dim)])
    rows = ((one - fmpq_mat(skew)) * (one + fmpq_mat(skew)).inv()).tolist()
    signs = [1 - 2 * stream.below(2) for _ in range(dim)]
    return [
        [s * fmpq((x * _DYADIC + fmpq(1, 2)).floor(), _DYADIC) for x in row] for s, row in zip(signs, rows, strict=True)
    ]


def designs(kind: str, dim: int, seed: int, scale: fmpq = DEFAULT_SCALE) -> Iterator[TokenDesign]:
    """Yield designs of one kind, those without bases left out."""
    for attempt in range(_MOST_ATTEMPTS):
        try:
            yield draw(kind, dim, seed, attempt, scale)
        except InputError as error:
            if error.field == "--design":
                raise


def kind_for(field_name: str) -> str:
    """Return the default kind: orthogonal directions, or integer tokens where the field needs them."""
    return DEFAULT_KIND if field_name == "exponential" else "integer"


def scale_for(heads: int, bound: fmpq) -> fmpq:
    """Return H/w, the length of the b_j for a public bound w > 0 on |W_ij|, rounded down to 6 or 7 binary digits.

    Poles of H heads need room: the measured best spread of the λ's grows with H.
    """
    ideal = fmpq(heads) / bound
    shift = 6 - int(ideal.numerator).bit_length() + int(ideal.denominator).bit_length()
    unit = fmpq(2) ** shift
    return fmpq((ideal * unit).floor()) / unit
