"""One profile in balls: enclose (c, λ), λ_h = log r_h, from enclosures of its samples (`proofs/stability`).

    f_k = σ + F_k(c, λ),   F_k(c, λ) = Σ_h c_h·k r_h/(1 + k r_h),   k = 1..2H.

Two enclosures: `plain_profile` carries balls through the steps of the learner; `mean_value_profile`
proves with a Krawczyk operator that a box holds one solution for all samples in the balls, and
bounds its derivative there. No model is seen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from flint import acb_poly, arb, arb_mat, arb_poly, ctx

from exactmha.approximate.balls import identity, largest, midpoint, total
from exactmha.approximate.lost import SeparationLost

_INFLATION = 1.25
_MOST_INFLATIONS = 12
_TIGHTENINGS = 3
_NEWTON_STEPS = 12


@dataclass(frozen=True, slots=True)
class ProfileSamples:
    """Enclosures of σ = f_0 and of f_1..f_2H in the profile `name`."""

    name: str
    base: arb
    answers: tuple[arb, ...]

    @property
    def heads(self) -> int:
        """The number H of heads."""
        return len(self.answers) // 2


@dataclass(frozen=True, slots=True)
class ProfileBox:
    """Balls for c_h and λ_h = log r_h, h = 1..H, pairwise disjoint in λ, and without 0 in c.

    `sensitivity` encloses ∂(c, λ)/∂(σ, f_1, …, f_2H), a 2H × (2H+1) matrix, for all samples in the
    balls; None where it was not asked for.
    """

    name: str
    residues: tuple[arb, ...]
    logits: tuple[arb, ...]
    sensitivity: arb_mat | None = None

    def permuted(self, order: Sequence[int]) -> ProfileBox:
        """Return the same profile with its heads listed in the given order."""
        heads = len(order)
        matrix = self.sensitivity
        if matrix is not None:
            rows = matrix.tolist()
            matrix = arb_mat([rows[h] for h in order] + [rows[heads + h] for h in order])
        return replace(
            self,
            residues=tuple(self.residues[h] for h in order),
            logits=tuple(self.logits[h] for h in order),
            sensitivity=matrix,
        )


def forward(residues: Sequence[arb], logits: Sequence[arb]) -> list[arb]:
    """Return F_k(c, λ), k = 1..2H."""
    columns = [shares(x, 2 * len(logits)) for x in logits]
    return [total([c * share for c, share in zip(residues, row, strict=True)]) for row in zip(*columns, strict=True)]


def jacobian(residues: Sequence[arb], logits: Sequence[arb]) -> arb_mat:
    """Return DF: rows k = 1..2H; columns k r/(1+k r) for the c_h, then c_h·k r/(1+k r)² for the λ_h."""
    columns = [shares(x, 2 * len(logits)) for x in logits]
    return arb_mat(
        [
            [*row, *(c * share * (1 - share) for c, share in zip(residues, row, strict=True))]
            for row in zip(*columns, strict=True)
        ]
    )


def shares(logit: arb, count: int) -> list[arb]:
    """Return k r/(1 + k r) = 1/(1 + e^{−λ}/k), k = 1..count: monotone in λ, so balls stay tight."""
    inverse = (-logit).exp()
    return [1 / (1 + inverse / k) for k in range(1, count + 1)]


# --- plain balls: the steps of the learner --------------------------------------------------------


def plain_profile(samples: ProfileSamples) -> ProfileBox:
    """Carry the balls through pole polynomial, roots, and Cauchy system.

    Every function of form (P) with at most H terms through samples in the balls has its c and λ in
    the box (`proofs/stability`, Theorem 3). Raises `SeparationLost`.
    """
    elementary = pole_polynomial(samples)
    roots = _isolated_roots(elementary, samples.name)
    residues = _cauchy(samples, roots)
    return separated(ProfileBox(samples.name, residues, tuple(r.log() for r in roots)))


def pole_polynomial(samples: ProfileSamples) -> list[arb]:
    """Enclose q_1..q_H, Q(k) = Π_h (1 + k r_h) = 1 + Σ_j q_j k^j.

    With g_k = (f_k − σ)/k, Q(k)·g_k is a polynomial in k of degree < H, so its H-th differences vanish:
    Σ_j q_j Δ^H[k^j g_k](m) = −Δ^H[g](m), m = 1..H.
    """
    heads = samples.heads
    g = [(f - samples.base) / k for k, f in enumerate(samples.answers, 1)]
    columns = [_differences([k**j * x for k, x in enumerate(g, 1)], heads) for j in range(heads + 1)]
    system = arb_mat([[columns[j][m] for j in range(1, heads + 1)] for m in range(heads)])
    right = arb_mat([[-columns[0][m]] for m in range(heads)])
    return _solved("pole polynomial", samples.name, system, right)


def _differences(values: Sequence[arb], order: int) -> list[arb]:
    """Return the `order`-th finite differences, from binomial coefficients (no ball is used twice)."""
    signs = [1]
    for i in range(order):
        signs.append(-signs[-1] * (order - i) // (i + 1))
    return [
        total([s * x for s, x in zip(signs, values[m : m + order + 1], strict=True)])
        for m in range(len(values) - order)
    ]


def _solved(step: str, name: str, system: arb_mat, right: arb_mat) -> list[arb]:
    try:
        inverse = system.mid().inv().mid()  # preconditioned: only a matrix near 1 is eliminated in balls
        solution = (inverse * system).solve(inverse * right)
    except ZeroDivisionError:
        raise SeparationLost(step, name, "the linear system is not proved regular") from None
    entries: list[arb] = solution.entries()
    return entries


def _isolated_roots(elementary: Sequence[arb], name: str) -> list[arb]:
    """Enclose the r_h, the negated roots of y^H + q_1 y^{H−1} + … + q_H, in increasing order.

    One interval Newton step per root, with the coefficients as balls, proves that each interval holds
    exactly one root of every polynomial in the balls; H disjoint intervals hold them all.
    """
    polynomial = arb_poly([*reversed(elementary), arb(1)])
    derivative = polynomial.derivative()
    intervals = []
    for centre in approximate_roots(elementary, name):
        step = polynomial(-centre) / derivative(-centre)
        radius = _INFLATION * 2 * step.abs_upper()
        for _ in range(_MOST_INFLATIONS):
            box = arb(-centre, radius)
            newton = -centre - polynomial(-centre) / derivative(box)
            if box.contains_interior(newton):
                intervals.append(-newton)
                break
            radius = _INFLATION * (abs(newton + centre)).abs_upper() if newton.is_finite() else radius / 2
        else:
            raise SeparationLost("isolated poles", name, "a pole is not isolated in its ball")
    for low, high in pairwise(intervals):
        if not low < high:
            raise SeparationLost("isolated poles", name, "two poles have overlapping balls")
    if intervals and not intervals[0] > 0:
        raise SeparationLost("isolated poles", name, "a relative weight r is not proved positive")
    return intervals


def approximate_roots(elementary: Sequence[arb], name: str) -> list[arb]:
    """Return the H approximate r_h as exact balls, increasing, from the midpoints of q; proves nothing."""
    centres = [midpoint(q) for q in elementary]
    try:
        roots = acb_poly([*reversed(centres), 1]).roots(tol=arb(2) ** (8 - ctx.prec))
    except ValueError:
        raise SeparationLost("isolated poles", name, "the midpoint polynomial has no isolated roots") from None
    if any(not root.imag.contains(0) or not root.real < 0 for root in roots):
        raise SeparationLost("isolated poles", name, "the midpoint polynomial has a root that is not real and negative")
    return sorted(midpoint(-root.real) for root in roots)


def _cauchy(samples: ProfileSamples, poles: Sequence[arb]) -> tuple[arb, ...]:
    """Solve Σ_h c_h r_h/(1 + k r_h) = (f_k − σ)/k, k = 1..H."""
    heads = samples.heads
    system = arb_mat([[1 / (1 / r + k) for r in poles] for k in range(1, heads + 1)])
    right = arb_mat([[(f - samples.base) / k] for k, f in enumerate(samples.answers[:heads], 1)])
    return tuple(_solved("residues", samples.name, system, right))


def separated(box: ProfileBox) -> ProfileBox:
    """Return the box, its heads in the order of increasing λ, once λ's are disjoint and no c is 0."""
    for c in box.residues:
        if not (c > 0 or c < 0):
            raise SeparationLost("residues", box.name, "a residue c_h is not proved non-zero")
    order = sorted(range(len(box.logits)), key=lambda h: box.logits[h].mid())
    sorted_box = box.permuted(order)
    for low, high in pairwise(sorted_box.logits):
        if not low < high:
            raise SeparationLost("isolated poles", box.name, "two logits λ_h have overlapping balls")
    return sorted_box


# --- mean-value form --------------------------------------------------------------------------------


def midpoint_profile(samples: ProfileSamples) -> tuple[list[arb], list[arb]]:
    """Return approximate (c, λ) as exact balls, for the midpoints of the samples; proves nothing.

    Pole polynomial, roots and Cauchy system at the midpoints, then Newton steps on F(c, λ) = f − σ.
    Raises `SeparationLost` where the midpoints have no profile with H positive poles.
    """
    centre = ProfileSamples(samples.name, midpoint(samples.base), tuple(midpoint(f) for f in samples.answers))
    elementary = [midpoint(q) for q in pole_polynomial(centre)]
    poles = approximate_roots(elementary, samples.name)
    residues = [midpoint(c) for c in _cauchy(centre, poles)]
    return newton(centre, residues, [midpoint(r.log()) for r in poles])


def newton(samples: ProfileSamples, residues: list[arb], logits: list[arb]) -> tuple[list[arb], list[arb]]:
    """Improve (c, λ) by Newton steps on midpoints while they help; proves nothing.

    The unknowns are c and λ·max|c|, so that the matrix is well scaled whatever the size of the answers.
    """
    heads = len(logits)
    best, found = None, (residues, logits)
    for _ in range(_NEWTON_STEPS):
        values = forward(residues, logits)
        rest = arb_mat([[midpoint(f - samples.base - x)] for f, x in zip(samples.answers, values, strict=True)])
        size = max((abs(x).mid() for x in rest.entries()), default=arb(0))
        if best is not None and not size < best:
            break
        best, found = size, (residues, logits)
        scale = largest([abs(c) for c in residues]).mid()
        if not scale > 0:
            break
        rows = jacobian(residues, logits).mid().tolist()
        matrix = arb_mat([[*row[:heads], *(x / scale for x in row[heads:])] for row in rows]).mid()
        steps = _solved("residues", samples.name, matrix, rest)
        residues = [midpoint(c + step) for c, step in zip(residues, steps[:heads], strict=True)]
        logits = [midpoint(x + step / scale) for x, step in zip(logits, steps[heads:], strict=True)]
    return found


def mean_value_profile(samples: ProfileSamples) -> ProfileBox:
    """Enclose (c, λ) and its derivative in the samples, with a Krawczyk operator (`proofs/stability`, Theorem 4).

    x_0 approximate solution at the midpoints, Y ≈ DF(x_0)^{-1}:
    K(X) = x_0 − Y(F(x_0) − (f − σ)) + (I − Y·DF(X))(X − x_0).
    K(X) inside X proves that every f and σ in the balls have exactly one solution in X, and that
    DF is regular on X; H positive poles, distinct, with non-zero residues make it the only function of
    form (P) with at most H terms. The derivative in (σ, f) is DF^{-1}·[−1 | I]. Raises `SeparationLost`.
    """
    residues, logits = midpoint_profile(samples)
    centre = [*residues, *logits]
    heads = len(logits)
    try:
        inverse = jacobian(residues, logits).mid().inv().mid()
    except ZeroDivisionError:
        raise SeparationLost("Krawczyk box", samples.name, "the Jacobian at the midpoint is singular") from None
    shift = _shift(samples, forward(residues, logits), inverse)
    rounding = arb(2) ** (4 - ctx.prec)
    sizes = [largest([abs(c) for c in residues])] * heads + [1 + abs(x) for x in logits]
    radii = [_INFLATION * x.abs_upper() + rounding * size for x, size in zip(shift, sizes, strict=True)]
    box = _fixed_box(samples.name, centre, shift, radii, inverse)
    found = separated(ProfileBox(samples.name, tuple(box[:heads]), tuple(box[heads:])))
    return replace(found, sensitivity=derivative(found))


def _shift(samples: ProfileSamples, values: Sequence[arb], inverse: arb_mat) -> list[arb]:
    """Enclose Y(f − σ − F(x_0)) as Y(f − σ_mid − F(x_0)) − (Y·1)(σ − σ_mid): each ball is used once a row."""
    base = midpoint(samples.base)
    misfit = arb_mat([[f - base - x] for f, x in zip(samples.answers, values, strict=True)])
    rest = samples.base - base
    moved: list[arb] = (inverse * misfit).entries()
    return [x - total(row) * rest for x, row in zip(moved, inverse.tolist(), strict=True)]


def _fixed_box(name: str, centre: list[arb], shift: list[arb], radii: list[arb], inverse: arb_mat) -> list[arb]:
    """Return K(X) for some X with K(X) inside X: radii are inflated until that holds."""
    for _ in range(_MOST_INFLATIONS):
        image = _krawczyk(centre, shift, radii, inverse)
        if not all(x.is_finite() for x in image):
            break
        if all(arb(x, r).contains_interior(new) for x, r, new in zip(centre, radii, image, strict=True)):
            for _ in range(_TIGHTENINGS):  # K of any box around x_0 that holds the solutions holds them too
                radii = [(new - x).abs_upper() for new, x in zip(image, centre, strict=True)]
                image = _krawczyk(centre, shift, radii, inverse)
            return image
        radii = [_INFLATION * (new - x).abs_upper() for new, x in zip(image, centre, strict=True)]
    raise SeparationLost("Krawczyk box", name, "the operator does not map a box into itself")


def _krawczyk(centre: list[arb], shift: list[arb], radii: list[arb], inverse: arb_mat) -> list[arb]:
    """Return x_0 + Y(f − σ − F(x_0)) + (I − Y·DF(X))·(X − x_0), X = x_0 ± radii."""
    heads = len(centre) // 2
    box = [arb(x, r) for x, r in zip(centre, radii, strict=True)]
    defect = identity(len(centre)) - inverse * jacobian(box[:heads], box[heads:])
    spread: list[arb] = (defect * arb_mat([[arb(0, r)] for r in radii])).entries()
    return [x + s + e for x, s, e in zip(centre, shift, spread, strict=True)]


def derivative(box: ProfileBox) -> arb_mat:
    """Enclose ∂(c, λ)/∂(σ, f_1..f_2H) on a box: DF^{-1}·[−1 | I] = (Y·DF)^{-1}·Y·[−1 | I], 2H × (2H+1).

    Y ≈ DF^{-1} at the midpoint, so that only a matrix near 1 is inverted in balls.
    """
    matrix = jacobian(box.residues, box.logits)
    try:
        left = matrix.mid().inv().mid()
        exact: arb_mat = (left * matrix).inv() * left
    except ZeroDivisionError:
        raise SeparationLost("sensitivity", box.name, "the Jacobian is not proved regular on the box") from None
    return arb_mat([[-total(row), *row] for row in exact.tolist()])
