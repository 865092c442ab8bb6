"""From samples in Z/p^k to the pole polynomial Q(x) = Π_h (1 + x r_h).

See `proofs/loewner-rank` and `proofs/head-rank-from-bound`.

With g_k = (f_k − f_0)/k = Σ_h c_h r_h/(1 + k r_h), the product Q·g is a polynomial of degree < H, so
the functional h ↦ Σ_k w_k k^i h(k), w_k = (−1)^k binom(2n−1, k−1), kills it for i < n: a Hankel system
in the moments Σ_k w_k g_k k^s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb

from flint import fmpz, fmpz_mod_ctx, fmpz_mod_mat, nmod_mat

from exactmha.modular.places import Place


def slopes(samples: Sequence[int], place: Place) -> list[fmpz]:
    """Return g_k = (f_k − f_0)/k for k = 1, 2, …, from f_0, f_1, …."""
    base = samples[0]
    return [(f - base) * _inverse_integer(k, place) % place.modulus for k, f in enumerate(samples[1:], 1)]


def _inverse_integer(k: int, place: Place) -> fmpz:
    return pow(fmpz(k), -1, place.modulus)


@cache
def _weighted_powers(half: int) -> list[list[int]]:
    """Return the matrix w_k k^s, k = 1..2·half, s = 0..2·half."""
    nodes = range(1, 2 * half + 1)
    return [[(-1) ** k * comb(2 * half - 1, k - 1) * k**s for s in range(2 * half + 1)] for k in nodes]


def moments(g: Sequence[fmpz], half: int, place: Place) -> list[fmpz]:
    """Return Σ_{k ≤ 2·half} w_k g_k k^s for s = 0..2·half."""
    context = fmpz_mod_ctx(place.modulus)
    row = fmpz_mod_mat(1, 2 * half, list(g[: 2 * half]), context)
    table = fmpz_mod_mat(_weighted_powers(half), context)
    return [fmpz(int(x)) for x in (row * table).entries()]


def head_rank(g: Sequence[fmpz], place: Place) -> int:
    """Return the rank modulo p of the Hankel matrix of all moments: a guess of the number of visible heads."""
    half = len(g) // 2
    if half == 0:
        return 0
    mu = [int(x % place.prime) for x in moments(g, half, place)]
    return int(nmod_mat(half, half + 1, [mu[i + j] for i in range(half) for j in range(half + 1)], place.prime).rank())


def pole_polynomial(g: Sequence[fmpz], heads: int, place: Place) -> list[fmpz]:
    """Return q_0 = 1, q_1, …, q_heads in Z/p^k with Q·g a polynomial of degree < heads on the first 2·heads nodes.

    Raises `ZeroDivisionError` when the system is singular modulo p.
    """
    mu = moments(g, heads, place)
    context = fmpz_mod_ctx(place.modulus)
    hankel = fmpz_mod_mat(heads, heads, [mu[i + j] for i in range(heads) for j in range(1, heads + 1)], context)
    right = fmpz_mod_mat(heads, 1, [-mu[i] for i in range(heads)], context)
    return [fmpz(1), *(fmpz(int(x)) for x in hankel.solve(right).entries())]
