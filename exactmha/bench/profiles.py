"""One profile, four ways: ours, FLINT's exact solver, Euclid on polynomials, SymPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

from flint import fmpq, fmpq_mat, fmpq_poly

from exactmha.bench.timing import median_seconds
from exactmha.fields import RationalField
from exactmha.fields.rational import RationalValue
from exactmha.randomness import Stream
from exactmha.recover.separate import Separator

EXPONENT = 1000
"""|exponents| of the poles 2^n of the benchmark."""


@dataclass(frozen=True, slots=True)
class ProfileTiming:
    """Median seconds to separate one profile with H heads over Q, by each method; None where it was not run."""

    heads: int
    ours: float
    flint_solve: float | None
    euclid: float | None
    sympy: float | None


def samples(heads: int, seed: int = 0) -> list[fmpq]:
    """Return f_0..f_2H of a random profile over Q with poles 2^n, |n| ≤ 1000, and residues 1..9."""
    stream = Stream(seed, "bench", heads)
    exponents: list[int] = []
    while len(exponents) < heads:
        n = stream.between(-EXPONENT, EXPONENT)
        if n not in exponents:
            exponents.append(n)
    residues = [stream.between(1, 9) for _ in exponents]
    poles = [fmpq(2) ** n for n in exponents]
    return [
        fmpq(7) + sum((c * k * r / (1 + k * r) for c, r in zip(residues, poles, strict=True)), fmpq(0))
        for k in range(2 * heads + 1)
    ]


def ours(f: list[fmpq]) -> object:
    """Guess modulo p^k and prove in Q: poles, residues, and that they reproduce every sample."""
    base, *answers = (RationalValue(q.numerator, q.denominator) for q in f)
    return Separator(RationalField((2,))).separate("benchmark", base, answers)


def flint_solve(f: list[fmpq]) -> object:
    """Solve the H × H system of finite differences for the pole polynomial over Q with `fmpq_mat.solve`."""
    half = (len(f) - 1) // 2
    g = [(f[k] - f[0]) / k for k in range(1, 2 * half + 1)]
    columns = []
    for j in range(half + 1):
        column = [fmpq(k) ** j * x for k, x in enumerate(g, 1)]
        for _ in range(half):
            column = [b - a for a, b in pairwise(column)]
        columns.append(column)
    matrix = fmpq_mat([[columns[j][i] for j in range(1, half + 1)] for i in range(half)])
    return matrix.solve(fmpq_mat([[-columns[0][i]] for i in range(half)]))


def euclid(f: list[fmpq]) -> object:
    """Interpolate, then run Euclid on polynomials over Q until the numerator is small: Cauchy interpolation."""
    half = (len(f) - 1) // 2
    g = [(f[k] - f[0]) / k for k in range(1, 2 * half + 1)]
    modulus, interpolant = fmpq_poly([1]), fmpq_poly([0])
    for k, value in enumerate(g, 1):
        interpolant += modulus * ((value - interpolant(fmpq(k))) / modulus(fmpq(k)))
        modulus *= fmpq_poly([-k, 1])
    rows = (modulus, fmpq_poly([0])), (interpolant, fmpq_poly([1]))
    while rows[1][0].degree() >= half:
        quotient = rows[0][0] // rows[1][0]
        rows = rows[1], (rows[0][0] - quotient * rows[1][0], rows[0][1] - quotient * rows[1][1])
    return rows[1]


def sympy_interpolate(f: list[fmpq]) -> object:
    """Run SymPy's `rational_interpolate` on the same samples."""
    import sympy
    from sympy.polys.polyfuncs import rational_interpolate

    half = (len(f) - 1) // 2
    points = [(k, sympy.Rational(int(q.numerator), int(q.denominator))) for k, q in enumerate(f)]
    return rational_interpolate(points, half)


def time_profile(heads: int, repetitions: int, budget: float) -> ProfileTiming:
    """Time all methods side by side; runs longer than `budget` seconds are not repeated."""
    f = samples(heads)

    def seconds(method: Callable[[list[fmpq]], object]) -> float:
        return median_seconds(lambda: method(f), repetitions)

    def timed(method: Callable[[list[fmpq]], object], most: int) -> float | None:
        if heads > most:
            return None
        start = perf_counter()
        method(f)
        once = perf_counter() - start
        return once if once > budget else seconds(method)

    return ProfileTiming(heads, seconds(ours), timed(flint_solve, 16), timed(euclid, 8), timed(sympy_interpolate, 8))
