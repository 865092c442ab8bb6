"""Breakpoints: where T bends on the half plane of single tokens s·p + t·q, t ≥ 0 (`proofs/transformer-algorithm`).

On single tokens T(x) = Λ·x + Σ_l κ_l |n_l·x| is homogeneous, T(c x) = c T(x) for c > 0, and linear where no n_l·x
changes sign. Each line bends it on at most one ray of the open half plane: so when L disjoint cones are proved to hold
a bend each, and there are at most L lines, T is linear everywhere else, and the bends follow exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from flint import fmpq, fmpq_mat

from exactmha.errors import ConditionFailed, InconsistentAnswers
from exactmha.oracle import QueryOracle
from exactmha.recover.sample import IntToken
from exactmha.sequences import TokenSequence
from exactmha.transformer.lift import Lifter

MOST_ROUNDS = 48
"""Rounds of halving before bends are given up as not to be told apart: cones get about 2^48 times narrower."""
ROUNDS_EVERYWHERE = 3
"""Rounds in which cones without a visible bend are halved too, while bends are missing."""
_SEARCHED = 24
"""Simple directions are searched up to this size."""
_CUT = (101, 103)
"""A cone is cut a little beside its middle: a bend on a cut would not show, and bends like simple directions."""

Direction = tuple[int, int]
"""(s, t), standing for the token s·p + t·q."""
Slopes = tuple[fmpq, fmpq]
"""(α, β): T(s·p + t·q) = α s + β t."""


class HalfPlane:
    """T on the tokens s·p + t·q, as exact rationals; every direction is asked once."""

    def __init__(self, oracle: QueryOracle, lifter: Lifter, p: IntToken, q: IntToken) -> None:
        self._oracle, self._lifter, self.p, self.q = oracle, lifter, p, q
        self._known: dict[Direction, fmpq] = {}
        self.samples: list[Direction] = []
        """the primitive directions asked, in order; one query of length 1 each"""

    def token(self, direction: Direction) -> IntToken:
        """Return s·p + t·q."""
        s, t = direction
        return tuple(s * x + t * y for x, y in zip(self.p, self.q, strict=True))

    def value(self, direction: Direction) -> fmpq:
        """Return T(s·p + t·q)."""
        size = gcd(*direction)
        primitive = (direction[0] // size, direction[1] // size)
        if primitive not in self._known:
            self.samples.append(primitive)
            answer = self._oracle.ask(TokenSequence([(self.token(primitive), 1)]))
            self._known[primitive] = self._lifter.rational(answer)
        return size * self._known[primitive]

    def bends(self, left: Direction, right: Direction) -> bool:
        """Prove a bend in the open cone between two directions x, y: T(a x + b y) ≠ a T(x) + b T(y) for the cut."""
        a, b = _CUT
        return self.value(cut(left, right)) != a * self.value(left) + b * self.value(right)

    def slopes(self, left: Direction, right: Direction) -> Slopes:
        """Return the linear function through the values at two independent directions."""
        solution = fmpq_mat([list(map(fmpq, left)), list(map(fmpq, right))]).solve(
            fmpq_mat([[self.value(left)], [self.value(right)]])
        )
        return solution[0, 0], solution[1, 0]


@dataclass(frozen=True, slots=True)
class Cone:
    """The open cone between two directions, and whether a bend in it is proved."""

    left: Direction
    right: Direction
    is_bent: bool


@dataclass(frozen=True, slots=True)
class Bends:
    """L bends, and the linear pieces of T between them: piece l lies between bend l − 1 and bend l, piece 0 before all.

    Piece L, after the last bend, is the opposite of piece 0.
    """

    rays: tuple[Direction, ...]
    slopes: tuple[Slopes, ...]
    cones: tuple[Cone, ...]
    """the disjoint cones in which the bends were proved"""
    cuts: int = 0
    """how many cones were cut in two to find them"""


def find_bends(plane: HalfPlane, most: int, *, is_bound: bool) -> Bends:
    """Return all bends of T on the half plane, exactly, given the number `most` of lines, or a bound on it.

    Asks 5 + 2·(cones cut) queries of length 1. With a bound there may be fewer bends, or none. Raises
    `ConditionFailed` (F2 or F3) when fewer bends than lines are found, `InconsistentAnswers` when more are proved.
    """
    cones = _isolated(plane, most, is_bound=is_bound)
    cuts = len(cones) - 2  # each cut makes one cone more
    bent = [i for i, cone in enumerate(cones) if cone.is_bent]
    if not bent:  # only where `most` is a bound
        return Bends((), (), (), cuts)
    gaps = zip([-1, *bent], [*bent, len(cones)], strict=True)
    slopes = [plane.slopes(cones[i + 1].left, cones[j - 1].right) for i, j in gaps]
    rays = []
    for i, before, after in zip(bent, slopes, slopes[1:], strict=False):
        ray = meeting(before, after)
        if ray is None or not is_between(cones[i].left, ray, cones[i].right):
            witness = f"T bends more than once between {cones[i].left} and {cones[i].right}"
            if is_bound and len(bent) < most:
                raise _few_bends(plane, f"{witness}, too close to tell apart")
            raise InconsistentAnswers(f"{witness}: there are more than {most} lines")
        rays.append(ray)
    return Bends(tuple(rays), tuple(slopes), tuple(cones[i] for i in bent), cuts)


def _isolated(plane: HalfPlane, most: int, *, is_bound: bool) -> list[Cone]:
    """Return cones covering the half plane, every bent one between two that are not."""
    start: list[Direction] = [(1, 0), (3, 101), (-1, 0)]
    cones = [_cone(plane, left, right) for left, right in itertools.pairwise(start)]
    for round_number in range(MOST_ROUNDS):
        bent = sum(cone.is_bent for cone in cones)
        if bent > most:
            raise InconsistentAnswers(f"T bends in {bent} disjoint cones, so there are more than {most} lines")
        crowded = [cone.is_bent and not _has_room(cones, i) for i, cone in enumerate(cones)]
        everywhere = bent < most and round_number < ROUNDS_EVERYWHERE
        if not any(crowded) and not everywhere and (bent == most or (is_bound and round_number >= MOST_ROUNDS // 2)):
            return cones
        split = [
            (cone.is_bent and (bent < most or is_crowded)) or everywhere
            for cone, is_crowded in zip(cones, crowded, strict=True)
        ]
        cones = [
            part for cone, now in zip(cones, split, strict=True) for part in (_split(plane, cone) if now else [cone])
        ]
    found = sum(cone.is_bent for cone in cones)
    raise _few_bends(
        plane,
        f"T shows {found} bends for {most} lines, after {MOST_ROUNDS} rounds of halving: lines are invisible or "
        "parallel there, or bends too close to tell apart",
    )


def _few_bends(plane: HalfPlane, witness: str) -> ConditionFailed:
    where = f"the single tokens s·p + t·q with p = {plane.p}, q = {plane.q}"
    return ConditionFailed(("F2", "F3"), profile=where, witness=witness)


def _has_room(cones: Sequence[Cone], i: int) -> bool:
    """True when the cones on both sides exist and show no bend."""
    return 0 < i < len(cones) - 1 and not cones[i - 1].is_bent and not cones[i + 1].is_bent


def _cone(plane: HalfPlane, left: Direction, right: Direction) -> Cone:
    return Cone(left, right, plane.bends(left, right))


def _split(plane: HalfPlane, cone: Cone) -> list[Cone]:
    """Cut a cone in two, where its bend was tested."""
    middle, size = cut(cone.left, cone.right), sum(_CUT)
    return [_cone(plane, times(size, cone.left), middle), _cone(plane, middle, times(size, cone.right))]


def cut(left: Direction, right: Direction) -> Direction:
    """Return the direction at which a cone is tested and cut."""
    a, b = _CUT
    return plus(times(a, left), times(b, right))


def plus(left: Direction, right: Direction) -> Direction:
    """Return the sum of two directions."""
    return left[0] + right[0], left[1] + right[1]


def times(factor: int, direction: Direction) -> Direction:
    """Return a multiple of a direction."""
    return factor * direction[0], factor * direction[1]


def cross(left: Direction, right: Direction) -> int:
    """Return s t' − t s': positive when `right` is less than half a turn from `left`, towards q."""
    return left[0] * right[1] - left[1] * right[0]


def is_between(left: Direction, middle: Direction, right: Direction) -> bool:
    """True when `middle` lies strictly inside the cone, which is narrower than half a circle."""
    return cross(left, middle) > 0 and cross(middle, right) > 0


def meeting(before: Slopes, after: Slopes) -> Direction | None:
    """Return the primitive (s, t), t > 0, on which two different linear functions agree; None where there is none."""
    a, b = before[0] - after[0], before[1] - after[1]
    scale = a.denominator * b.denominator
    s, t = int((-b * scale).numerator), int((a * scale).numerator)
    if t == 0:
        return None
    size = gcd(s, t) if t > 0 else -gcd(s, t)
    return s // size, t // size


def inside(bends: Bends, piece: int) -> Iterator[Direction]:
    """Yield directions inside a piece, simple ones first: tokens with small numbers cost least."""
    rays = bends.rays
    left = rays[piece - 1] if piece else times(-1, rays[-1])
    right = rays[piece]
    for size in range(1, _SEARCHED + 1):
        for s in range(-size, size + 1):
            for t in range(-size, size + 1):
                if max(abs(s), abs(t)) == size and gcd(s, t) == 1 and _is_inside(left, (s, t), right):
                    yield s, t
    for factor in range(1, _SEARCHED + 1):  # a narrow piece: sums of its bounds, made about equally long
        balance = max(1, max(map(abs, right)) // max(map(abs, left)))
        yield plus(times(balance * factor, left), right)
        yield plus(times(balance, left), times(factor + 1, right))


def _is_inside(left: Direction, middle: Direction, right: Direction) -> bool:
    """As `is_between`; also for one line, whose two pieces are half planes."""
    return cross(left, middle) > 0 and cross(middle, right) > 0 if cross(left, right) else cross(middle, right) > 0
