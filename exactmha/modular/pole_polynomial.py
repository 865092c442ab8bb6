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

from flint import fmpz, fmpz_mod_ctx, fmpz_mod_mat, nmod_mat

from exactmha.modular.places import Place


def slopes(samples: Sequence[int], place: Place) -> list[fmpz]:
    """Return g_k = (f_k − f_0)/k for k = 1, 2, …, from f_0, f_1, …."""
    base = samples[0]
    return [(f - base) * _inverse_integer(k, place) % place.modulus for k, f in enumerate(samples[1:], 1)]


def _inverse_integer(k: int, place: Place) -> fmpz:
    return pow(fmpz(k), -1, place.modulus)


@lru_cache(maxsize=256)
def _weighted_powers(half: int, modulus: int) -> fmpz_mod_mat:
    """Return the matrix w_k k^s modulo p^k, k = 1..2·half, s = 0..2·half."""
    nodes = range(1, 2 * half + 1)
    rows = [[(-1) ** k * comb(2 * half - 1, k - 1) * k**s for s in range(2 * half + 1)] for k in nodes]
    return fmpz_mod_mat(rows, fmpz_mod_ctx(modulus))


def moments(g: Sequence[fmpz], half: int, place: Place) -> list[fmpz]:
    """Return Σ_{k ≤ 2·half} w_k g_k k^s for s = 0..2·half."""
    row = fmpz_mod_mat(1, 2 * half, list(g[: 2 * half]), fmpz_mod_ctx(place.modulus))
    table = _weighted_powers(half, int(place.modulus))
    return [fmpz(int(x)) for x in (row * table).entries()]


def head_rank(mu: Sequence[fmpz], place: Place) -> int:
    """Return the rank modulo p of the Hankel matrix of all moments: a guess of the number of visible heads."""
    half = len(mu) // 2
    residues = [int(x % place.prime) for x in mu]
    hankel = [residues[i + j] for i in range(half) for j in range(half + 1)]
    return int(nmod_mat(half, half + 1, hankel, place.prime).rank()) if half else 0


def pole_polynomial(mu: Sequence[fmpz], place: Place) -> list[fmpz]:
    """Return q_0 = 1, q_1, …, q_n in Z/p^k with Q·g a polynomial of degree < n on the 2n nodes of the moments.

    Raises `ZeroDivisionError` when the system is singular modulo p.
    """
    size = len(mu) // 2
    context = fmpz_mod_ctx(place.modulus)
    hankel = fmpz_mod_mat(size, size, [mu[i + j] for i in range(size) for j in range(1, size + 1)], context)
    right = fmpz_mod_mat(size, 1, [-mu[i] for i in range(size)], context)
    return [fmpz(1), *(fmpz(int(x)) for x in hankel.solve(right).entries())]
