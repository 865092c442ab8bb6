"""The learner's guess for one profile, made again so that it can be shown (`proofs/p-adic-guess`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpz, fmpz_mod_mat

from exactmha.errors import BadPlace
from exactmha.explain.run import Run
from exactmha.modular.guess import MorePrecision, guess_profile, roots
from exactmha.modular.places import Place
from exactmha.modular.pole_polynomial import moments, pole_polynomial, slopes
from exactmha.recover.learn import Sampled
from exactmha.recover.separate import PLACES, PRECISIONS


@dataclass(frozen=True, slots=True)
class Guessed:
    """Solutions modulo the prime of a place: q_1..q_H, then r_h and c_h in the order of the profile."""

    place: Place
    coefficients: tuple[int, ...]
    ratios: tuple[int, ...]
    residues: tuple[int, ...]


def guessed(run: Run, sampled: Sampled) -> Guessed | None:
    """Return the guess at the first place and precision that lead to the proved profile, as the learner tries them."""
    index, level = 0, 0
    while index < PLACES and level < len(PRECISIONS):
        place = run.model.field.place(index, PRECISIONS[level])
        try:
            samples = [run.exact_answer(sampled, k).image(place) for k in range(len(sampled.answers) + 1)]
            found = guess_profile(samples, place)
            if set(found.exponents) == set(sampled.profile.exponents):
                return _solved(sampled, samples, place)
            index += 1
        except MorePrecision:
            level += 1
        except BadPlace:
            index += 1
    return None


def _solved(sampled: Sampled, samples: Sequence[fmpz], place: Place) -> Guessed:
    """Solve for Q, its roots −1/r_h, and Σ_h c_h·k r_h/(1 + k r_h) = f_k − f_0, k = 1..H."""
    heads = len(sampled.profile.exponents)
    q = pole_polynomial(moments(slopes(samples, place), heads, place), place)
    reversed_q = q.reverse(heads)
    units = [-root for root in roots(reversed_q, reversed_q.derivative(), place)]
    by_exponent = {place.exponent_of(fmpz(int(unit))): unit for unit in units}
    ratios = [by_exponent[exponent] for exponent in sampled.profile.exponents]
    shares = [[k * r / (1 + k * r) for r in ratios] for k in range(1, heads + 1)]
    rises = [[sample - samples[0]] for sample in samples[1 : heads + 1]]
    residues = fmpz_mod_mat(shares, place.ring).solve(fmpz_mod_mat(rises, place.ring)).entries()
    p = place.prime
    return Guessed(
        place,
        tuple(int(c) % p for c in q.coeffs()[1:]),
        tuple(int(r) % p for r in ratios),
        tuple(int(c) % p for c in residues),
    )
