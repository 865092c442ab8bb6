"""From samples in Z/p^k to the pole polynomial Q(x) = Π_h (1 + x r_h).

See `proofs/loewner-rank` and `proofs/head-rank-from-bound`.

With g_k = (f_k − f_0)/k = Σ_h c_h r_h/(1 + k r_h), the product Q·g is a polynomial of degree < H, so
the functional h ↦ Σ_k w_k k^i h(k), w_k = (−1)^k binom(2n−1, k−1), kills it for i < n: a Hankel system
in the moments Σ_k w_k g_k k^s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

from flint import fmpz, fmpz_mod, fmpz_mod_mat, fmpz_mod_poly, nmod_mat

from exactmha.modular.places import Place


def slopes(samples: Sequence[fmpz], place: Place) -> list[fmpz_mod]:
    """Return g_k = (f_k − f_0)/k for k = 1, 2, …, from f_0, f_1, …."""
    base, *values = fmpz_mod_mat(1, len(samples), list(samples), place.ring).entries()
    return [(f - base) * k for f, k in zip(values, _inverses(len(values), place), strict=True)]


@lru_cache(maxsize=256)
def _inverses(count: int, place: Place) -> list[fmpz_mod]:
    return [1 / place.ring(k) for k in range(1, count + 1)]


@lru_cache(maxsize=256)
def _weighted_powers(half: int, place: Place) -> fmpz_mod_mat:
    """Return the matrix w_k k^s modulo p^k, k = 1..2·half, s = 0..2·half."""
    nodes = range(1, 2 * half + 1)
    rows = [[(-1) ** k * comb(2 * half - 1, k - 1) * k**s for s in range(2 * half + 1)] for k in nodes]
    return fmpz_mod_mat(rows, place.ring)


def moments(g: Sequence[fmpz_mod], half: int, place: Place) -> list[fmpz_mod]:
    """Return Σ_{k ≤ 2·half} w_k g_k k^s for s = 0..2·half."""
    row = fmpz_mod_mat(1, 2 * half, list(g[: 2 * half]), place.ring)
    return list((row * _weighted_powers(half, place)).entries())


def head_rank(mu: Sequence[fmpz_mod], place: Place) -> int:
    """Return the rank modulo p of the Hankel matrix of all moments: a guess of the number of visible heads."""
    half = len(mu) // 2
    residues = [int(x) % place.prime for x in mu]
    hankel = [residues[i + j] for i in range(half) for j in range(half + 1)]
    return int(nmod_mat(half, half + 1, hankel, place.prime).rank()) if half else 0


def pole_polynomial(mu: Sequence[fmpz_mod], place: Place) -> fmpz_mod_poly:
    """Return Q = 1 + q_1 x + … + q_n x^n with Q·g a polynomial of degree < n on the 2n nodes of the moments.

    Raises `ZeroDivisionError` when the system is singular modulo p.
    """
    size = len(mu) // 2
    hankel = fmpz_mod_mat(size, size, [mu[i + j] for i in range(size) for j in range(1, size + 1)], place.ring)
    right = fmpz_mod_mat(size, 1, [-mu[i] for i in range(size)], place.ring)
    coefficients: list[int | fmpz | fmpz_mod] = [1, *hankel.solve(right).entries()]
    return place.polynomials(coefficients)


def numerator(q: fmpz_mod_poly, g: Sequence[fmpz_mod], heads: int, place: Place) -> fmpz_mod_poly:
    """Return N = Q·g, of degree < H, from its values at k = 1..H."""
    nodes, interpolation = _interpolation(heads, place)
    values = [q_k * g_k for q_k, g_k in zip(q.multipoint_evaluate(nodes), g, strict=False)]
    coefficients = interpolation * fmpz_mod_mat(heads, 1, values, place.ring)
    return place.polynomials(list(coefficients.entries()))


@lru_cache(maxsize=256)
def _interpolation(size: int, place: Place) -> tuple[list[fmpz_mod], fmpz_mod_mat]:
    """Return the nodes k = 1..size and the inverse of their Vandermonde matrix k^j, j < size."""
    vandermonde = fmpz_mod_mat([[k**j for j in range(size)] for k in range(1, size + 1)], place.ring)
    return [place.ring(k) for k in range(1, size + 1)], vandermonde.inv()
