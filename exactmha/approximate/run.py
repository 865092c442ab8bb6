"""Certified runs: the whole learner in balls, so that the result holds for every error up to ε (`proofs/stability`).

A run that holds proves: every model with at most H canonical heads whose answers to the design's queries differ from
the given ones by at most ε has exactly H heads, and its parameters lie in the boxes (up to the order of the heads).
This is conditional: it does not say that there is such a model. H must be right, and ε a true bound; some violations
are seen, and then the run fails. A run that cannot go on is undecided, and names the step. No model is seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from flint import arb, arb_mat, ctx, fmpq

from exactmha.approximate.balls import precisions
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import (
    Jacobian,
    Parameters,
    assemble,
    base_value,
    first_row,
    parameters,
    readouts,
)
from exactmha.approximate.lost import Contradiction, SeparationLost
from exactmha.approximate.match import matched
from exactmha.approximate.profile import ProfileBox, ProfileSamples, mean_value_profile, plain_profile
from exactmha.approximate.samples import Samples, SampleSource, magnitude
from exactmha.outcome import Outcome

_SETTLED = fmpq(1, 1000)
"""A success is kept once doubling the precision improves its constant by less than this."""


class Method(Enum):
    """How balls are carried from the answers to the parameters."""

    PLAIN = "plain balls"
    MEAN_VALUE = "mean-value form"


@dataclass(frozen=True)
class Enclosure:
    """Boxes that hold the parameters, in the order of increasing λ in (b_1, u_1)."""

    parameters: Parameters
    constant: arb
    """C(ε): the largest distance from the centre of a box to its end, divided by ε; an upper bound"""
    grid: Mapping[tuple[int, int], ProfileBox]
    jacobian: Jacobian | None
    """the derivative on the whole box; None for plain balls"""


@dataclass(frozen=True)
class CertifiedRun:
    """The outcome of one run at one ε: boxes when it holds, else why not.

    HOLDS is conditional: *if* some model with at most H heads has such answers within ε, it has exactly H heads and its
    parameters are in the boxes. FAILS means that there is no such model; that is proved too.
    """

    method: Method
    epsilon: fmpq
    outcome: Outcome
    precision: int
    enclosure: Enclosure | None
    reason: str
    """the step at which separation was lost, or the contradiction; empty when the run holds"""
    step: str


def certify(source: SampleSource, epsilon: fmpq, method: Method | None = None) -> CertifiedRun:
    """Run the learner in balls, every answer given the radius `epsilon` > 0 on top of its own.

    By default both methods are run, and `better` chooses. Precision starts low and is doubled until the run succeeds
    and its constant has settled, or until the budget, some multiple of log2(max|answer|/ε), says undecided. FLINT's
    global precision is left as it was.
    """
    if method is None:
        return better(*(certify(source, epsilon, each) for each in (Method.MEAN_VALUE, Method.PLAIN)))
    best: CertifiedRun | None = None
    run: CertifiedRun | None = None
    for bits in precisions(max(256, 128 + 4 * digits_apart(source, epsilon))):
        with ctx.workprec(bits):
            run = _attempt(source, epsilon, method, bits)
            if run.outcome is Outcome.FAILS:
                return run
            if best is not None and _settled(best, run):
                return better(best, run)
        if run.outcome is Outcome.HOLDS:
            best = run if best is None else better(best, run)
    found = best or run
    if found is None:
        raise ValueError("the precision budget allows no run")
    return found


def better(first: CertifiedRun, second: CertifiedRun) -> CertifiedRun:
    """Return the one that says more: a contradiction, else boxes, the smaller ones; the first where they are equal."""
    for run in (first, second):
        if run.outcome is Outcome.FAILS:
            return run
    if first.enclosure is None or second.enclosure is None:
        return first if second.enclosure is None else second
    return second if second.enclosure.constant < first.enclosure.constant else first


def digits_apart(source: SampleSource, epsilon: fmpq) -> int:
    """Return about log2(max|answer|/ε): the binary digits of an answer that matter."""
    return magnitude(source) + int(epsilon.denominator).bit_length() - int(epsilon.numerator).bit_length()


def _settled(best: CertifiedRun, run: CertifiedRun) -> bool:
    if best.enclosure is None or run.enclosure is None:
        return False
    return bool(run.enclosure.constant * (1 + arb(_SETTLED)) >= best.enclosure.constant)


def _attempt(source: SampleSource, epsilon: fmpq, method: Method, bits: int) -> CertifiedRun:
    samples = source()
    enclose = plain_enclosure if method is Method.PLAIN else mean_value_enclosure
    try:
        enclosure = enclose(samples.widened(arb(epsilon)), arb(epsilon))
    except SeparationLost as lost:
        return CertifiedRun(method, epsilon, Outcome.UNDECIDED, bits, None, str(lost), lost.step)
    except Contradiction as found:
        return CertifiedRun(method, epsilon, Outcome.FAILS, bits, None, str(found), found.step)
    return CertifiedRun(method, epsilon, Outcome.HOLDS, bits, enclosure, "", "")


# --- the learner in balls -----------------------------------------------------------------------------

EncloseProfile = Callable[[ProfileSamples], ProfileBox]
Grid = dict[tuple[int, int], ProfileBox]


def plain_enclosure(samples: Samples, epsilon: arb) -> Enclosure:
    """Carry the balls of the samples through every step of the learner."""
    design = samples.design
    grid, _ = _first_row(samples, plain_profile)
    check_base(samples, base_misfit(samples, grid))
    later, _ = _later_rows(samples, plain_profile, grid, computed_bases(design, grid))
    grid |= later
    found = parameters(design, grid)
    return Enclosure(found, (found.radius / epsilon).upper(), grid, None)


def mean_value_enclosure(samples: Samples, epsilon: arb) -> Enclosure:
    """Enclose θ(f) by θ(f_mid) + Dθ(box)·(f − f_mid), after every profile is isolated in its Krawczyk box.

    Entry by entry, the image of the Krawczyk boxes is taken where it is smaller.
    """
    design, centre = samples.design, samples.centre()
    radii = arb_mat([[arb(x.rad())] for x in samples.grid_vector()])
    grid, orders = _first_row(samples, mean_value_profile)
    check_base(samples, base_misfit(samples, grid))
    middle = _ordered_profiles(centre, orders, [centre.base])
    middle_bases = computed_bases(design, middle)
    moves = first_row(design, [grid[0, i] for i in range(design.dim)]).bases
    against = [moves[0][0] - 1, *moves[0][1:]]  # ∂(s·b_1 − f(b_1)), sharper than the difference of two balls
    check_base(samples, _moved([base_misfit(centre, middle)], [against], radii)[0])
    bases = _moved(middle_bases, moves[1:], radii)
    later, later_orders = _later_rows(samples, mean_value_profile, grid, bases)
    grid |= later
    middle |= _ordered_profiles(centre, later_orders, [centre.base, *middle_bases])
    jacobian = assemble(design, grid)
    boxes = _moved(parameters(design, middle).entries(), jacobian.parameters.tolist(), radii)
    direct = parameters(design, grid).entries()  # better only where the derivative varies much over the box
    boxes = [x if not y.rad() < x.rad() else y for x, y in zip(boxes, direct, strict=True)]
    found = reshaped(boxes, samples.heads, design.dim)
    return Enclosure(found, (found.radius / epsilon).upper(), grid, jacobian)


def base_misfit(samples: Samples, grid: Mapping[tuple[int, int], ProfileBox]) -> arb:
    """Return s·b_1 − f(b_1), s from the residues of the first row: 0 for every model."""
    design = samples.design
    v = readouts(design, [grid[0, i].residues for i in range(design.dim)])
    return base_value(design, v, 0) - samples.base


def check_base(samples: Samples, misfit: arb) -> None:
    """Raise `Contradiction` when s·b_1 − f(b_1) cannot be 0 (`proofs/stability`, Lemma 3)."""
    if not misfit.contains(0):
        witness = f"since s·b_1 from the profiles and the answer f(b_1) differ by {misfit.str(4)}"
        raise Contradiction("base value", "f(b_1)", samples.heads, witness)


def computed_bases(design: TokenDesign, grid: Mapping[tuple[int, int], ProfileBox]) -> list[arb]:
    """Return s·b_j, j = 2..d, from the residues of the first row."""
    v = readouts(design, [grid[0, i].residues for i in range(design.dim)])
    return [base_value(design, v, j) for j in range(1, design.dim)]


def _moved(centres: list[arb], derivatives: list[list[arb]], radii: arb_mat) -> list[arb]:
    """Return centre ± Σ_m |derivative_m|·radius_m, the mean-value form, for every entry."""
    if not centres:
        return []
    absolute = arb_mat([[arb(x.abs_upper()) for x in row] for row in derivatives])
    spread = (absolute * radii).entries()
    return [x + arb(0, r.abs_upper()) for x, r in zip(centres, spread, strict=True)]


def _first_row(samples: Samples, enclose: EncloseProfile) -> tuple[Grid, dict[int, list[int]]]:
    """Enclose the profiles (b_1, u_i), their heads in the order of (b_1, u_1); also return the orders, by profile."""
    grid: Grid = {}
    orders = {}
    for index, planned in enumerate(samples.design.profiles):
        if planned.row or planned.is_sum:
            continue
        box = enclose(samples.of(index, samples.base))
        order = list(range(samples.heads))
        if planned.column:
            both = samples.of(samples.design.sum_of(index), samples.base)
            order = matched(grid[0, 0], box, both, add_residues=True, enclose=enclose)
        grid[0, planned.column], orders[index] = box.permuted(order), order
    return grid, orders


def _later_rows(
    samples: Samples, enclose: EncloseProfile, row: Grid, bases: list[arb]
) -> tuple[Grid, dict[int, list[int]]]:
    """Enclose the profiles (b_j, u_i), j ≥ 2, with σ = s·b_j from the first row, heads in the same order."""
    grid: Grid = {}
    orders = {}
    for index, planned in enumerate(samples.design.profiles):
        if not planned.row or planned.is_sum:
            continue
        base = bases[planned.row - 1]
        box = enclose(samples.of(index, base))
        both = samples.of(samples.design.sum_of(index), samples.base + base)
        order = matched(row[0, planned.column], box, both, add_residues=False, enclose=enclose)
        grid[planned.row, planned.column], orders[index] = box.permuted(order), order
    return grid, orders


def _ordered_profiles(centre: Samples, orders: dict[int, list[int]], bases: list[arb]) -> Grid:
    """Enclose the profiles of the midpoints alone; heads in the given orders, which λ-disjoint boxes have fixed."""
    grid = {}
    for index, order in orders.items():
        planned = centre.design.profiles[index]
        grid[planned.row, planned.column] = mean_value_profile(centre.of(index, bases[planned.row])).permuted(order)
    return grid


def reshaped(entries: list[arb], heads: int, dim: int) -> Parameters:
    """Return the parameters whose `entries()` these are."""
    v = tuple(tuple(entries[h * dim : (h + 1) * dim]) for h in range(heads))
    rest = iter(entries[heads * dim :])
    W = tuple(tuple(tuple(next(rest) for _ in range(dim)) for _ in range(dim)) for _ in range(heads))
    return Parameters(v, W)


# --- the largest error that is still certified --------------------------------------------------------


def largest_certified(source: SampleSource, method: Method | None = None, most_bits: int = 1024) -> CertifiedRun | None:
    """Return the certified run at ε*, a power of two found by bisection on the exponent; None when there is none.

    The run at 2ε* is not certified. ε* lies between 2^(e−most_bits) and 2^e, e = `magnitude`: no run at ε ≥ max|answer|
    can be certified, since the model without heads has such answers. (Nothing is claimed about ε between 2ε* and that.)
    """
    top = magnitude(source)
    certified: dict[int, CertifiedRun] = {}

    def holds(n: int) -> bool:
        run = certify(source, fmpq(2) ** (top - n), method)
        if run.outcome is Outcome.HOLDS:
            certified[n] = run
        return run.outcome is Outcome.HOLDS

    low, high = 0, 16  # ε = 2^(top−low) is not certified, 2^(top−high) is
    while not holds(high):
        low, high = high, 2 * high
        if high > most_bits:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return certified[high]
