"""Separating a profile: what is returned was proved, whatever the guess says.

Samples are built from the closed form f_k = σ + Σ_h c_h·k r_h/(1 + k r_h), with Python fractions where K = Q.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import pytest
from flint import fmpq

from exactmha.errors import BadPlace, NoInterpolant, Undecided
from exactmha.fields import ExactField, ExponentialField, ExponentialValue, RadicalField, RationalField
from exactmha.fields.interface import rational
from exactmha.modular.guess import Guess, guess_profile
from exactmha.modular.places import Place
from exactmha.outcome import Outcome
from exactmha.recover.separate import PLACES, PRECISIONS, Separator

SEPARATE = "exactmha.recover.separate"
RATIONAL = RationalField((2, 3))
EXPONENTIAL = ExponentialField(1, 1)
RADICAL = RadicalField(fmpq(2), 3)

Heads = dict[tuple[int, ...], Sequence[int | fmpq]]


def samples(field: ExactField, sigma: int, heads: Heads, count: int) -> list[Any]:
    """f_0, …, f_{2·count}, by the operations of the values."""
    one, found = rational(field, 1), []
    for k in range(2 * count + 1):
        total = rational(field, sigma)
        for exponent, c in heads.items():
            kr = rational(field, k) * field.monomial(exponent)
            total += field.embed(tuple(map(fmpq, c))) * kr / (one + kr)
        found.append(total)
    return found


def rational_samples(sigma: Fraction, heads: dict[tuple[int, int], Fraction], count: int) -> list[Any]:
    """The same in Python fractions, embedded afterwards."""
    poles = {
        prod((Fraction(p) ** e for p, e in zip((2, 3), n, strict=True)), start=Fraction(1)): c for n, c in heads.items()
    }
    values = [
        sigma + sum((c * k * r / (1 + k * r) for r, c in poles.items()), Fraction(0)) for k in range(2 * count + 1)
    ]
    return [RATIONAL.embed((fmpq(f.numerator, f.denominator),)) for f in values]


PROFILES: dict[str, tuple[ExactField, Heads]] = {
    "none": (RATIONAL, {}),
    "one": (RATIONAL, {(1, -1): [fmpq(5, 7)]}),
    "r = 1": (RATIONAL, {(0, 0): [3]}),
    "three rational": (RATIONAL, {(-4, 0): [1], (1, 1): [fmpq(-1, 2)], (30, 17): [12]}),
    "three exponential": (EXPONENTIAL, {(-7,): [1], (0,): [fmpq(2, 3)], (10**6,): [-5]}),
    "opposite residues": (EXPONENTIAL, {(-1,): [1], (1,): [-1]}),
    "radical": (RADICAL, {(-2,): [1, 0, 0], (1,): [0, 1, 0], (2,): [fmpq(1, 2), -3, 4]}),
}


@pytest.mark.parametrize("spare", [0, 1, 3])
@pytest.mark.parametrize("name", PROFILES)
def test_finds_and_proves_the_profile(name: str, spare: int) -> None:
    field, heads = PROFILES[name]
    base, *answers = samples(field, 4, heads, len(heads) + spare)
    separator = Separator(field)
    found = separator.separate("(b, u)", base, answers)
    assert found.name == "(b, u)"
    assert found.exponents == tuple(heads)
    assert found.residues == tuple(tuple(map(fmpq, c)) for c in heads.values())
    assert separator.most_images <= 2


def test_samples_from_python_fractions_give_the_same() -> None:
    heads = {(-2, 1): Fraction(7, 3), (5, -1): Fraction(-1, 6)}
    base, *answers = rational_samples(Fraction(11, 13), heads, 2)
    found = Separator(RATIONAL).separate("", base, answers)
    assert dict(zip(found.exponents, found.residues, strict=True)) == {(-2, 1): (fmpq(7, 3),), (5, -1): (fmpq(-1, 6),)}


# --- wrong guesses are never accepted --------------------------------------------------------------------


TRUE_HEADS: Heads = {(-1,): [2], (3,): [5]}
WRONG_GUESSES: dict[str, tuple[tuple[int, ...], tuple[int | fmpq, ...]]] = {
    "residue": ((-1, 3), (2, 6)),
    "residue slightly": ((-1, 3), (2, 5 + fmpq(1, 10**30))),
    "exponent": ((-1, 4), (2, 5)),
    "residues swapped": ((-1, 3), (5, 2)),
    "fewer heads": ((3,), (5,)),
    "no head": ((), ()),
    "one head more": ((-1, 3, 7), (2, 5, 1)),
    "the sum split over equal poles": ((-1, 3, 3), (2, 1, 4)),
    "a head with residue 0 more": ((-1, 3, 7), (2, 5, 0)),
    "two heads that cancel": ((-1, 3, 7, 7), (2, 5, 1, -1)),
}


def guess_of(exponents: Sequence[int], residues: Sequence[int | fmpq]) -> Guess:
    return Guess(tuple((e,) for e in exponents), tuple((fmpq(c),) for c in residues))


@pytest.mark.parametrize("field", [EXPONENTIAL, RadicalField(fmpq(3), 1), RationalField((5,))])
@pytest.mark.parametrize("wrong", WRONG_GUESSES)
def test_a_wrong_guess_is_never_accepted(wrong: str, field: ExactField, monkeypatch: pytest.MonkeyPatch) -> None:
    base, *answers = samples(field, 1, TRUE_HEADS, 4)
    guesses: list[int] = []

    def guess(_samples: object, place: Place) -> Guess:
        guesses.append(place.prime)
        return guess_of(*WRONG_GUESSES[wrong])

    monkeypatch.setattr(f"{SEPARATE}.guess_profile", guess)
    with pytest.raises(NoInterpolant, match=r"profile X.*at most 4 heads.*8 answers"):
        Separator(field).separate("profile X", base, answers)
    assert len(set(guesses)) == PLACES  # every place was tried


def test_the_right_guess_at_a_later_place_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    base, *answers = samples(EXPONENTIAL, 1, TRUE_HEADS, 2)
    guesses = [guess_of(*WRONG_GUESSES["exponent"]), guess_of(*WRONG_GUESSES["residue"]), guess_of((3, -1), (5, 2))]
    monkeypatch.setattr(f"{SEPARATE}.guess_profile", lambda _samples, _place: guesses.pop(0))
    separator = Separator(EXPONENTIAL)
    found = separator.separate("", base, answers)
    assert (found.exponents, found.residues) == (((3,), (-1,)), ((fmpq(5),), (fmpq(2),)))
    assert separator.most_images == 3


@pytest.mark.parametrize("wrong_at", range(5))
def test_every_answer_takes_part_in_the_proof(wrong_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = samples(EXPONENTIAL, 1, TRUE_HEADS, 2)
    values[wrong_at] += rational(EXPONENTIAL, 1)
    monkeypatch.setattr(f"{SEPARATE}.guess_profile", lambda _samples, _place: guess_of((-1, 3), (2, 5)))
    with pytest.raises(NoInterpolant):
        Separator(EXPONENTIAL).separate("", values[0], values[1:])


def test_an_undecided_comparison_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    base, *answers = samples(EXPONENTIAL, 1, TRUE_HEADS, 2)
    monkeypatch.setattr(ExponentialValue, "equals", lambda _self, _other: Outcome.UNDECIDED)
    with pytest.raises(Undecided, match="size budget"):
        Separator(EXPONENTIAL).separate("", base, answers)


# --- answers without an interpolant ---------------------------------------------------------------------


NO_PROFILES: dict[str, Callable[[int], Fraction]] = {
    "quadratic": lambda k: Fraction(k * k),
    "linear": lambda k: Fraction(k, 3),
    "exponential": lambda k: Fraction(2**k),
    "pole 5 is no monomial": lambda k: Fraction(5 * k, 1 + 5 * k),
    "a double pole": lambda k: Fraction(k, (1 + 2 * k) ** 2),
    "complex poles": lambda k: Fraction(k, 1 + k * k),
    "negative pole": lambda k: Fraction(k, 3 * k - 1),
}


@pytest.mark.parametrize("name", NO_PROFILES)
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_other_functions_have_no_interpolant(name: str, heads: int) -> None:
    values = [NO_PROFILES[name](k) for k in range(2 * heads + 1)]
    base, *answers = [RATIONAL.embed((fmpq(f.numerator, f.denominator),)) for f in values]
    with pytest.raises(NoInterpolant):
        Separator(RATIONAL).separate("", base, answers)


@pytest.mark.parametrize("field", [RATIONAL, EXPONENTIAL, RADICAL])
def test_more_heads_than_told_have_no_interpolant(field: ExactField) -> None:
    heads: Heads = {(n,) * field.rank: [1] + [0] * (field.degree - 1) for n in (-2, 1, 5)}
    base, *answers = samples(field, 0, heads, 2)
    with pytest.raises(NoInterpolant):
        Separator(field).separate("", base, answers)


def test_after_a_profile_without_interpolant_others_are_still_found() -> None:
    separator = Separator(RATIONAL)
    base, *answers = samples(RATIONAL, 0, {(1, 0): [1], (0, 1): [1], (1, 1): [1]}, 1)
    with pytest.raises(NoInterpolant):
        separator.separate("", base, answers)
    base, *answers = samples(RATIONAL, 0, {(1, 0): [1]}, 1)
    assert separator.separate("", base, answers).exponents == ((1, 0),)


# --- precision and places ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10**6, 10**20, 10**60, 10**200])
def test_precision_grows_with_the_exponents_and_is_remembered(size: int) -> None:
    heads: Heads = {(-size,): [1], (3,): [fmpq(-2, 9)], (size + 1,): [4]}
    base, *answers = samples(EXPONENTIAL, 0, heads, 3)
    separator = Separator(EXPONENTIAL)
    found = separator.separate("", base, answers)
    assert found.exponents == tuple(heads)
    # p^{k−1} > 2·size, with p just below 2^62, and the first listed k for which this holds
    needed = next(k for k in PRECISIONS if (k - 1) * 62 > (2 * size).bit_length())
    assert separator.precision == needed
    first = separator.most_images
    assert first == PRECISIONS.index(needed) + 1
    separator.most_images = 0
    separator.separate("", base, answers)
    assert separator.most_images == 1


def test_exponents_beyond_every_precision_are_not_invented() -> None:
    base, *answers = samples(EXPONENTIAL, 0, {(2 ** (62 * PRECISIONS[-1]),): [1]}, 1)
    with pytest.raises(NoInterpolant):
        Separator(EXPONENTIAL).separate("", base, answers)


def test_precision_grows_with_the_residues() -> None:
    c = fmpq(10**90 + 1, 3**200)
    base, *answers = samples(RATIONAL, 0, {(1, 0): [c]}, 1)
    separator = Separator(RATIONAL)
    assert separator.separate("", base, answers).residues == ((c,),)
    assert separator.precision > PRECISIONS[0]


@pytest.mark.parametrize("bad", range(PLACES + 1))
@pytest.mark.parametrize("first_place", [0, 20])
def test_bad_places_cost_only_another_place(bad: int, first_place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    primes = {EXPONENTIAL.place(first_place + i, 1).prime for i in range(bad)}
    base, *answers = samples(EXPONENTIAL, 1, TRUE_HEADS, 2)
    true_image = ExponentialValue.image

    def image(value: ExponentialValue, place: Place) -> int:
        if place.prime in primes:
            raise BadPlace("planted")
        return true_image(value, place)

    monkeypatch.setattr(ExponentialValue, "image", image)
    separator = Separator(EXPONENTIAL, first_place)
    if bad == PLACES:
        with pytest.raises(NoInterpolant):
            separator.separate("", base, answers)
    else:
        assert separator.separate("", base, answers).exponents == tuple(TRUE_HEADS)
    assert separator.most_images == min(bad + 1, PLACES)


def test_a_residue_whose_denominator_is_the_first_prime() -> None:
    c = fmpq(1, RATIONAL.place(0, 1).prime)
    base, *answers = samples(RATIONAL, 0, {(1, 0): [c]}, 1)
    separator = Separator(RATIONAL)
    assert separator.separate("", base, answers).residues == ((c,),)
    assert separator.most_images == 2


def test_places_used_are_the_public_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    def guess(values: Sequence[int], place: Place) -> Guess:
        used.append(place.prime)
        return guess_profile(values, place)

    monkeypatch.setattr(f"{SEPARATE}.guess_profile", guess)
    base, *answers = samples(RATIONAL, 1, {(1, 0): [2], (0, 1): [3]}, 2)
    Separator(RATIONAL, 7).separate("", base, answers)
    assert used == [RATIONAL.place(7, 1).prime]


# --- a guess that other profiles foretell ---------------------------------------------------------------


def test_a_foretold_profile_is_proved_without_images() -> None:
    base, *answers = samples(EXPONENTIAL, 1, TRUE_HEADS, 2)
    separator = Separator(EXPONENTIAL)
    found = separator.separate("", base, answers, expected=guess_of((3, -1), (5, 2)))
    assert (found.exponents, found.residues) == (((3,), (-1,)), ((fmpq(5),), (fmpq(2),)))
    assert separator.most_images == 0


@pytest.mark.parametrize("wrong", WRONG_GUESSES)
def test_a_wrong_foretold_profile_is_ignored(wrong: str) -> None:
    base, *answers = samples(EXPONENTIAL, 1, TRUE_HEADS, 4)
    separator = Separator(EXPONENTIAL)
    found = separator.separate("", base, answers, expected=guess_of(*WRONG_GUESSES[wrong]))
    assert (found.exponents, found.residues) == (((-1,), (3,)), ((fmpq(2),), (fmpq(5),)))
    assert separator.most_images == 1
