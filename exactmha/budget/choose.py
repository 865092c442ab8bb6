"""One query instead of a profile: which of finitely many candidates gives the answer (`proofs/budget-adapted`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import fmpq, fmpz_mod

from exactmha.budget.lab import Lab, Vector
from exactmha.errors import BadPlace, ConditionFailed, InconsistentAnswers
from exactmha.fields.interface import Exponent, Scalar, Value
from exactmha.modular.places import Place
from exactmha.recover.separate import PLACES, PRECISIONS

Options = Sequence[Sequence[tuple[Exponent, Scalar]]]
"""options[h][o] = (exponent, residue) of head h under its option o."""
Candidate = tuple[int, ...]
"""One option for every head."""
MOST_COPIES = 3
"""Queries asked before the candidates count as not told apart."""


def choose(
    lab: Lab,
    name: str,
    at: tuple[Vector, Vector],
    base: Scalar,
    options: Options,
    candidates: Iterable[Candidate],
) -> tuple[Candidate, list[int]]:
    """Ask the profile `at` = (b, u) at k = 1, and at k = 2, 3 only if need be; return the candidate and the k asked.

    All others are proved to give another answer: their images differ. Raises `InconsistentAnswers` where none fits,
    `ConditionFailed` where more than one remains.
    """
    remaining, start = list(candidates), lab.field.embed(base)
    for k in range(1, MOST_COPIES + 1):
        answer = lab.ask(at[0], (at[1], k))
        remaining = _fitting(lab, answer, start, k, options, remaining)
        if len(remaining) == 1:
            chosen = [options[h][o] for h, o in enumerate(remaining[0])]
            value = lab.form(start, fmpq(k), [e for e, _ in chosen], [c for _, c in chosen])
            if not lab.same(answer, value):
                break
            return remaining[0], list(range(1, k + 1))
        if not remaining:
            break
    else:
        witness = f"{len(remaining)} candidates give the same answers"
        raise ConditionFailed(("one candidate",), profile=name, witness=witness)
    raise InconsistentAnswers(f"{name}: no candidate gives this answer: {lab.no_model} does")


def _fitting(
    lab: Lab, answer: Value, start: Value, k: int, options: Options, candidates: list[Candidate]
) -> list[Candidate]:
    """Return the candidates whose image at one public place is that of the answer."""
    for index in range(lab.first_place, lab.first_place + PLACES):
        place = lab.field.place(index, PRECISIONS[0])
        try:
            target = place.ring(answer.image(place)) - place.ring(start.image(place))
            table = [[_image(lab, place, k, e, c) for e, c in row] for row in options]
        except (BadPlace, ZeroDivisionError):
            continue
        zero = place.ring(0)
        return [x for x in candidates if sum((row[o] for row, o in zip(table, x, strict=True)), zero) == target]
    return candidates


def _image(lab: Lab, place: Place, k: int, exponent: Exponent, residue: Scalar) -> fmpz_mod:
    ring = place.ring
    r = ring(place.monomial(exponent))
    return ring(lab.field.embed(residue).image(place)) * k * r / (1 + k * r)
