"""Guesses modulo p^k of profiles at any positive rational nodes, and with what is already known about them.

A profile is F(κ) = base + Σ_h c_h·κ r_h/(1 + κ r_h). Its value at κ = ∞ is base + Σ_h c_h, so a known sum of the
residues counts as one sample (`proofs/budget-interpolation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flint import fmpq, fmpz, fmpz_mod, fmpz_mod_mat

from exactmha.errors import BadPlace
from exactmha.modular.guess import Guess, MorePrecision, roots
from exactmha.modular.places import Place


class Singular(BadPlace):
    """The linear system of a guess is singular modulo p: over the field too, unless the prime is to blame."""


Node = tuple[int, int]
"""(k, l) is the query "k copies of b + u, l copies of b, then b", a sample at κ = k/(1 + l)."""


def kappa(node: Node) -> fmpq:
    """Return κ = k/(1 + l)."""
    return fmpq(node[0], 1 + node[1])


def copies(count: int) -> list[Node]:
    """Return the nodes κ = 1..count of the paper."""
    return [(k, 0) for k in range(1, count + 1)]


def guess_at(
    nodes: Sequence[Node], samples: Sequence[fmpz], total: fmpz | None, heads: int, place: Place
) -> list[tuple[fmpz_mod, fmpz_mod]]:
    """Guess the pairs (r_h, c_h) from samples[0] = base, samples[i] = F(κ_i), and Σ_h c_h where `total` is known.

    Needs 2n nodes for n = `heads`, or 2n − 1 with `total`. Raises `Singular` where the system is singular modulo p.
    """
    ring = place.ring
    x = [ring(k) / ring(1 + extra) for k, extra in nodes]
    g = [(ring(f) - ring(samples[0])) / k for f, k in zip(samples[1:], x, strict=True)]
    try:
        weights = difference_weights(x, ring(1))
        moments = [
            sum((w * y * k**s for w, y, k in zip(weights, g, x, strict=True)), ring(0)) for s in range(2 * heads)
        ]
        rows = [[moments[i + j] for j in range(1, heads + 1)] for i in range(heads)]
        if total is not None:  # the numerator Q·g has the leading coefficient q_n·Σ c
            rows[-1][-1] -= ring(total)
        q = fmpz_mod_mat(rows, ring).solve(fmpz_mod_mat([[-moments[i]] for i in range(heads)], ring)).entries()
        reversed_q = place.polynomials([*reversed(q), 1])
        poles = [-y for y in roots(reversed_q, reversed_q.derivative(), place)]
        system = fmpz_mod_mat([[k * r / (1 + k * r) for r in poles] for k in x[:heads]], ring)
        differences = fmpz_mod_mat([[y * k] for y, k in zip(g[:heads], x, strict=False)], ring)
        return list(zip(poles, system.solve(differences).entries(), strict=True))
    except ZeroDivisionError:
        raise Singular(f"the system is singular modulo {place.prime}") from None


def guess_equal(nodes: Sequence[Node], averages: Sequence[fmpz_mod], place: Place) -> list[fmpz_mod]:
    """Guess r_1..r_n from the values G(κ_i) = Σ_h 1/(1 + κ_i r_h) at n nodes: one linear system.

    With Q = Π(1 + κ r_h): κ Q' = (n − G)·Q, which is linear in the coefficients of Q (`proofs/budget-interpolation`).
    """
    ring, n = place.ring, len(nodes)
    x = [ring(k) / ring(1 + extra) for k, extra in nodes]
    try:
        rows = [[(j - n + y) * k**j for j in range(1, n + 1)] for k, y in zip(x, averages, strict=True)]
        right = fmpz_mod_mat([[n - y] for y in averages], ring)
        q = fmpz_mod_mat(rows, ring).solve(right).entries()
        if n == 2 and q[0] * q[0] == 4 * q[1]:  # one double pole
            return [q[0] / 2] * 2
        reversed_q = place.polynomials([*reversed(q), 1])
        return [-y for y in roots(reversed_q, reversed_q.derivative(), place)]
    except ZeroDivisionError:
        raise Singular(f"the system is singular modulo {place.prime}") from None


def lift(pairs: Sequence[tuple[fmpz_mod, fmpz_mod]], place: Place) -> Guess:
    """Lift poles to exponents and residues to scalars; raises `MorePrecision` where one does not lift."""
    lifted = []
    for pole, residue in pairs:
        exponent, scalar = place.exponent_of(fmpz(int(pole))), place.scalar_of(fmpz(int(residue)))
        if exponent is None or scalar is None:
            raise MorePrecision(f"no lift at precision {place.precision}")
        lifted.append((exponent, scalar))
    lifted.sort(key=lambda pair: pair[0])
    if any(left[0] == right[0] for left, right in pairwise(lifted)):
        raise BadPlace("two poles are equal")
    return Guess(tuple(e for e, _ in lifted), tuple(c for _, c in lifted))


def difference_weights(x: Sequence[fmpz_mod], one: fmpz_mod) -> list[fmpz_mod]:
    """Return w_i = 1/Π_{j≠i}(x_i − x_j): Σ w_i p(x_i) is 0 for polynomials p of degree below len(x) − 1."""
    weights = []
    for i, y in enumerate(x):
        product = one
        for j, z in enumerate(x):
            if j != i:
                product *= y - z
        weights.append(1 / product)
    return weights
