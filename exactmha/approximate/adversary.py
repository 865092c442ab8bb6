"""Adversarial check: perturbed answers never leave the certified boxes, and the worst direction nearly fills them.

Evidence of the level "sampled": the learner is run on each perturbation by Newton's method on midpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from exactmha.approximate.balls import largest
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Jacobian, Parameters, base_value, parameters, readouts
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.numeric import midpoint_parameters
from exactmha.approximate.profile import ProfileBox, forward, newton
from exactmha.approximate.run import CertifiedRun, Enclosure, digits_apart
from exactmha.approximate.samples import Samples, SampleSource
from exactmha.randomness import Stream

_RESOLUTION = 1 << 20
_EXTRA_BITS = 128
_CONVERGED = fmpq(1, 1 << 20)


@dataclass(frozen=True, slots=True)
class Attack:
    """What the perturbed runs showed."""

    epsilon: fmpq
    runs: int
    inside: int
    """runs all of whose parameters lie in the certified boxes"""
    from_scratch: int
    """of these, so many were run from scratch: poles from a polynomial, heads matched anew"""
    skipped: int
    """more runs that could not be made"""
    why: str
    """the step at which the first of these stopped"""
    worst_random: arb
    """largest move of a parameter in a random run, divided by (a)·ε"""
    sharpness: arb
    """the same for the sign patterns of the rows of the Jacobian"""


def attack(
    source: SampleSource,
    run: CertifiedRun,
    first_order: Jacobian,
    *,
    runs: int,
    seed: int,
    progress: Callable[[], None] | None = None,
) -> Attack:
    """Try the sign pattern of every row of the Jacobian, and `runs` random perturbations (half of them signs).

    `first_order` is the Jacobian at the exact answers; its constant (a) is the unit of the moves. Every run from
    scratch also perturbs the sum profiles. The precision is enough for moves of size (a)·ε among answers of their size.
    `progress` is called after every pattern.
    """
    enclosure, epsilon = run.enclosure, run.epsilon
    if enclosure is None:
        raise ValueError("the run has no boxes to attack")
    constant = first_order.constant
    with ctx.workprec(max(run.precision, _EXTRA_BITS + digits_apart(source, epsilon))):
        samples, size = source().centre(), arb(epsilon)
        boxes = enclosure.parameters.entries()
        still = _rerun(samples, enclosure, size)
        scale = constant * size
        inside = scratch = skipped = count = 0
        why = ""
        moves: dict[bool, list[arb]] = {True: [], False: []}
        for is_worst, signs in _patterns(samples, first_order, runs, seed):
            perturbed = _perturbed(samples, [size * s for s in signs])
            if progress is not None:
                progress()
            try:
                found = _rerun(perturbed, enclosure, size)
                count += 1
                inside += all(box.contains(x) for box, x in zip(boxes, found, strict=True))
                moves[is_worst].append(largest([abs(x - y) for x, y in zip(found, still, strict=True)]) / scale)
                if is_worst:
                    again = midpoint_parameters(_sums_perturbed(perturbed, size, seed, count)).entries()
                    count, scratch = count + 1, scratch + 1
                    inside += all(box.contains(x) for box, x in zip(boxes, again, strict=True))
            except SeparationLost as lost:
                skipped, why = skipped + 1, why or str(lost)
        worst_random, sharpness = (largest(moves[is_worst]).mid() for is_worst in (False, True))
        return Attack(epsilon, count, inside, scratch, skipped, why, worst_random, sharpness)


def _patterns(samples: Samples, first_order: Jacobian, runs: int, seed: int) -> Iterator[tuple[bool, list[arb]]]:
    """Yield (is a worst direction, offsets in [−1, 1] for the grid samples)."""
    length = len(samples.grid_vector())
    for row in first_order.parameters.tolist():
        yield True, [arb(1) if x.mid() >= 0 else arb(-1) for x in row]
    stream = Stream(seed, "attack")
    for run in range(runs):
        if run % 2:
            yield False, [arb(1 - 2 * stream.below(2)) for _ in range(length)]
        else:
            yield False, [arb(fmpq(stream.between(-_RESOLUTION, _RESOLUTION), _RESOLUTION)) for _ in range(length)]


def _perturbed(samples: Samples, offsets: list[arb]) -> Samples:
    """Add offsets to f(b_1) and to the grid profiles, in the order of `Samples.grid_vector`."""
    rest = iter(offsets)
    base = samples.base + next(rest)
    answers = tuple(
        profile if planned.is_sum else tuple(f + next(rest) for f in profile)
        for planned, profile in zip(samples.design.profiles, samples.answers, strict=True)
    )
    return Samples(samples.design, samples.heads, base, answers).centre()


def _sums_perturbed(samples: Samples, size: arb, seed: int, run: int) -> Samples:
    """Add random signs times `size` to the answers of the sum profiles."""
    stream = Stream(seed, "attack", "sums", run)
    answers = tuple(
        tuple(f + size * (1 - 2 * stream.below(2)) for f in profile) if planned.is_sum else profile
        for planned, profile in zip(samples.design.profiles, samples.answers, strict=True)
    )
    return Samples(samples.design, samples.heads, samples.base, answers).centre()


def _rerun(samples: Samples, enclosure: Enclosure, size: arb) -> list[arb]:
    """Return the learner's result for given answers, heads as in the boxes; from scratch where Newton's method fails.

    Raises `SeparationLost` where both fail.
    """
    try:
        return _learned(samples, enclosure, size).entries()
    except SeparationLost:
        return midpoint_parameters(samples).entries()


def _learned(samples: Samples, enclosure: Enclosure, size: arb) -> Parameters:
    """Return the learner's result, by Newton's method from the boxes' centres.

    Raises `SeparationLost` where it does not converge: where it misses an answer by more than 2^−20·ε.
    """
    design = samples.design
    grid: dict[tuple[int, int], ProfileBox] = {}
    bases = [samples.base]
    for index, planned in enumerate(design.profiles):
        if planned.is_sum:
            continue
        if planned.row and len(bases) == 1:
            bases += _later_bases(design, grid)
        start = enclosure.grid[planned.row, planned.column]
        given = samples.of(index, bases[planned.row])
        residues, logits = newton(given, [c.mid() for c in start.residues], [x.mid() for x in start.logits])
        misses = [f - given.base - x for f, x in zip(given.answers, forward(residues, logits), strict=True)]
        if not all(abs(x) < size * _CONVERGED for x in misses):
            raise SeparationLost("Newton's method", planned.name, "it does not converge from the centre of the box")
        grid[planned.row, planned.column] = ProfileBox(planned.name, tuple(residues), tuple(logits))
    return parameters(design, grid)


def _later_bases(design: TokenDesign, grid: dict[tuple[int, int], ProfileBox]) -> list[arb]:
    v = readouts(design, [grid[0, i].residues for i in range(design.dim)])
    return [base_value(design, v, j).mid() for j in range(1, design.dim)]
