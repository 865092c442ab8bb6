"""Adversarial check: perturbed answers never leave the certified boxes, and the worst direction nearly fills them.

Evidence of the level "sampled": the learner is run on each perturbation by Newton's method on midpoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from exactmha.approximate.balls import largest
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Parameters, base_value, parameters, readouts
from exactmha.approximate.numeric import midpoint_parameters
from exactmha.approximate.profile import ProfileBox, newton
from exactmha.approximate.run import Enclosure
from exactmha.approximate.samples import Samples, SampleSource
from exactmha.randomness import Stream

_RESOLUTION = 1 << 20


@dataclass(frozen=True, slots=True)
class Attack:
    """What the perturbed runs showed."""

    epsilon: fmpq
    runs: int
    inside: int
    """runs all of whose parameters lie in the certified boxes"""
    from_scratch: int
    """of these, so many were run from scratch: poles from a polynomial, heads matched anew"""
    worst_random: arb
    """largest move of a parameter in a random run, divided by (a)·ε"""
    sharpness: arb
    """the same for the sign patterns of the rows of the Jacobian"""


def attack(
    source: SampleSource, enclosure: Enclosure, epsilon: fmpq, constant: arb, *, runs: int, seed: int, precision: int
) -> Attack:
    """Try the sign pattern of every row of the Jacobian, and `runs` random perturbations (half of them signs).

    `constant` is the first-order constant (a). Every from-scratch run also perturbs the sum profiles.
    """
    with ctx.workprec(precision):
        samples, size = source().centre(), arb(epsilon)
        boxes = enclosure.parameters.entries()
        still = _learned(samples, enclosure).entries()
        scale = constant * size
        inside = scratch = count = 0
        moves: dict[bool, list[arb]] = {True: [], False: []}
        for is_worst, signs in _patterns(samples, enclosure, runs, seed):
            perturbed = _perturbed(samples, [size * s for s in signs])
            found = _learned(perturbed, enclosure).entries()
            count += 1
            inside += all(box.contains(x) for box, x in zip(boxes, found, strict=True))
            moves[is_worst].append(largest([abs(x - y) for x, y in zip(found, still, strict=True)]) / scale)
            if is_worst:
                again = midpoint_parameters(_sums_perturbed(perturbed, size, seed, count)).entries()
                count, scratch = count + 1, scratch + 1
                inside += all(box.contains(x) for box, x in zip(boxes, again, strict=True))
        return Attack(epsilon, count, inside, scratch, largest(moves[False]).mid(), largest(moves[True]).mid())


def _patterns(samples: Samples, enclosure: Enclosure, runs: int, seed: int) -> Iterator[tuple[bool, list[arb]]]:
    """Yield (is a worst direction, offsets in [−1, 1] for the grid samples)."""
    length = len(samples.grid_vector())
    if enclosure.jacobian is not None:
        for row in enclosure.jacobian.parameters.tolist():
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


def _learned(samples: Samples, enclosure: Enclosure) -> Parameters:
    """Return the learner's result for given answers, heads as in the boxes: Newton's method from the boxes' centres."""
    design = samples.design
    grid: dict[tuple[int, int], ProfileBox] = {}
    bases = [samples.base]
    for index, planned in enumerate(design.profiles):
        if planned.is_sum:
            continue
        if planned.row and len(bases) == 1:
            bases += _later_bases(design, grid)
        start = enclosure.grid[planned.row, planned.column]
        residues, logits = newton(
            samples.of(index, bases[planned.row]), [c.mid() for c in start.residues], [x.mid() for x in start.logits]
        )
        grid[planned.row, planned.column] = ProfileBox(planned.name, tuple(residues), tuple(logits))
    return parameters(design, grid)


def _later_bases(design: TokenDesign, grid: dict[tuple[int, int], ProfileBox]) -> list[arb]:
    v = readouts(design, [grid[0, i].residues for i in range(design.dim)])
    return [base_value(design, v, j).mid() for j in range(1, design.dim)]
