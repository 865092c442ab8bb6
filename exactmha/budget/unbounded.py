"""The paper's learner without any bound on H: raise H_0 until two extra samples agree (`proofs/budget-unbounded`).

4Hd² − 2H + 3 queries of length at most 2H + 3. Proved: the model has at least H heads, and no other model with at
most H heads gives these answers. Only very likely (probability one over generic tokens): that it has no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactmha.conditions import Grid, grid_for
from exactmha.errors import BadPlace, ConditionFailed, NoInterpolant
from exactmha.fields.interface import Field, Value
from exactmha.modular.pole_polynomial import head_rank, moments, slopes
from exactmha.oracle import QueryOracle
from exactmha.recover.design import DEFAULT_FAILURE_BOUND, Design, default_grid
from exactmha.recover.learn import MOST_REDRAWS, Recorder, Recovery
from exactmha.recover.learn import learn as learn_known
from exactmha.recover.sample import IntToken, ask_base, ask_profile
from exactmha.recover.separate import PLACES, PRECISIONS, Separator
from exactmha.sequences import Token, TokenSequence, runs_of

MOST_HEADS = 64
"""Heads tried, and the number for which the grid of tokens is chosen."""


def formula(heads: int, dim: int) -> int:
    """Return 4Hd² − 2H + 3."""
    return 4 * heads * dim**2 - 2 * heads + 3


def longest(heads: int, _dim: int) -> int:
    """Return 2H + 3."""
    return 2 * heads + 3


class Remembering:
    """An oracle that asks no query twice."""

    def __init__(self, oracle: QueryOracle) -> None:
        self._oracle, self.field, self.dim = oracle, oracle.field, oracle.dim
        self._answers: dict[tuple[tuple[Token, int], ...], Value] = {}

    def ask(self, sequence: Sequence[Token], /) -> Value:
        """Answer from memory, or ask."""
        key = tuple(runs_of(sequence))
        if key not in self._answers:
            self._answers[key] = self._oracle.ask(TokenSequence(key))
        return self._answers[key]

    @property
    def asked(self) -> int:
        """How many different queries were asked."""
        return len(self._answers)


@dataclass(frozen=True, slots=True)
class Unbounded:
    """The recovery, told the number of heads that was found, and all queries asked for both."""

    recovery: Recovery
    queries: int


def learn(
    oracle: QueryOracle, *, seed: int = 0, grid: Grid | None = None, recorder: Recorder | None = None
) -> Unbounded:
    """Find H, then recover the heads as if it had been known; `recorder` sees that recovery, for a certificate."""
    exact = oracle.field.logit_bits == 0
    chosen = grid or (
        grid_for(MOST_HEADS, oracle.dim, DEFAULT_FAILURE_BOUND)
        if exact
        else default_grid(oracle.field, MOST_HEADS, oracle.dim, DEFAULT_FAILURE_BOUND)
    )
    remembering = Remembering(oracle)
    heads = count_heads(remembering, seed, chosen)
    recovery = learn_known(remembering, heads=heads, seed=seed, grid=chosen, recorder=recorder)
    return Unbounded(recovery, remembering.asked)


def count_heads(oracle: QueryOracle, seed: int, grid: Grid) -> int:
    """Return the least n of which the profile (b_1, u_1) shows n heads and fits 2n + 2 samples: 2n + 3 queries.

    At least n heads are proved by a determinant that is no zero modulo p.
    """
    design = Design(seed, oracle.dim, grid)
    b, u = (_drawn(design, kind) for kind in ("b", "u"))
    base = ask_base(oracle, b)
    for n in range(MOST_HEADS):
        answers = ask_profile(oracle, b, u, 2 * n + 2)
        if not _shows_more(oracle.field, [base, *answers], n):
            profile = Separator(oracle.field).separate("(b_1, u_1)", base, answers)
            if len(profile.exponents) == n:
                return n
            raise NoInterpolant("(b_1, u_1): the number of heads could not be settled")
    raise ConditionFailed(("H",), profile="(b_1, u_1)", witness=f"more than {MOST_HEADS} heads")


def _drawn(design: Design, kind: str) -> IntToken:
    """Draw the first token of a kind as `exactmha.recover.learn` does, again where it is 0."""
    for _ in range(MOST_REDRAWS):
        try:
            return design.draw(kind, 1)
        except ConditionFailed as failure:
            last = failure
    raise last


def _shows_more(field: Field, samples: Sequence[Value], heads: int) -> bool:
    """Whether the samples show more heads modulo some public prime, which is a proof; one prime may hide heads."""
    good = 0
    for index in range(PLACES):
        place = field.place(index, PRECISIONS[0])
        try:
            images = [value.image(place) for value in samples]
            rank = head_rank(moments(slopes(images, place), len(images) // 2, place), place)
        except (BadPlace, ZeroDivisionError):
            continue
        if rank > heads:
            return True
        good += 1
    if not good:
        raise NoInterpolant("no public place is good for these answers")
    return False
