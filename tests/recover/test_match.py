"""Matching: poles multiply, so exponents add; displacements add residues, final tokens keep them.

In the hand cases a pole is written by its exponent: first profile 0, 1, 3 and other profile 0, 2, 4 give the sums
0, 3, 7; the stray products are 2, 4, 1, 5, 3, 5, of which 3 = 3 + 0 is a sum too, so head 3 of the first fits twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from flint import fmpq

from exactmha.errors import ConditionFailed, InconsistentAnswers
from exactmha.modular.guess import Guess
from exactmha.recover.match import expected_sum, match_displacements, match_final_tokens
from exactmha.recover.profile import Profile


def profile(name: str, exponents: Sequence[int], residues: Sequence[int]) -> Profile:
    return Profile(name, tuple((e,) for e in exponents), tuple((fmpq(c),) for c in residues))


def test_displacements_poles_multiply_and_residues_add() -> None:
    first = profile("first", [1, 2, 5], [1, 2, 3])
    other = profile("other", [30, 10, 20], [300, 100, 200])  # heads 3, 1, 2
    total = profile("total", [22, 35, 11], [202, 303, 101])
    assert match_displacements(first, other, total) == [1, 2, 0]


def test_final_tokens_poles_multiply_and_residues_stay() -> None:
    first = profile("first", [1, 2, 5], [1, 2, 3])
    other = profile("other", [30, 10, 20], [3, 1, 2])
    total = profile("total", [22, 35, 11], [2, 3, 1])
    assert match_final_tokens(first, other, total) == [1, 2, 0]


def test_poles_with_two_generators_and_residues_with_two_coordinates() -> None:
    # r_1 = 2·3, r_2 = 3² and r'_1 = 2⁻¹, r'_2 = 3; residues in Q(√2)
    first = Profile("first", ((1, 1), (0, 2)), ((fmpq(1), fmpq(2)), (fmpq(3), fmpq(0))))
    other = Profile("other", ((0, 1), (-1, 0)), ((fmpq(0), fmpq(-7)), (fmpq(1, 2), fmpq(1))))
    total = Profile("total", ((0, 1), (0, 3)), ((fmpq(3, 2), fmpq(3)), (fmpq(3), fmpq(-7))))
    assert match_displacements(first, other, total) == [1, 0]


def test_equal_residues_do_not_matter() -> None:
    first, other = profile("first", [0, 1], [4, 4]), profile("other", [0, 5], [4, 4])
    assert match_final_tokens(first, other, profile("total", [6, 0], [4, 4])) == [0, 1]


def test_one_head_and_none() -> None:
    assert match_displacements(profile("a", [3], [1]), profile("b", [4], [2]), profile("c", [7], [3])) == [0]
    assert match_final_tokens(profile("a", [], []), profile("b", [], []), profile("c", [], [])) == []


@pytest.mark.parametrize("match", [match_displacements, match_final_tokens])
def test_ambiguous_products_fail_c4_and_name_the_heads(match: object) -> None:
    first, other = profile("first", [0, 1, 3], [1, 1, 1]), profile("other", [0, 2, 4], [1, 1, 1])
    total = profile("the sum", [0, 3, 7], [2, 2, 2] if match is match_displacements else [1, 1, 1])
    with pytest.raises(ConditionFailed, match="r_3·r'_1 = r''_2") as caught:
        match(first, other, total)  # type: ignore[operator]  # one of two functions
    assert caught.value.conditions == ("C4",)
    assert caught.value.profile == "the sum"
    assert caught.value.heads == (2,)  # counted from 0: the third
    assert "r_3·r'_3 = r''_3" in caught.value.witness


def test_residues_that_do_not_add_are_inconsistent() -> None:
    first, other = profile("first", [1, 2], [1, 2]), profile("other", [10, 20], [5, 6])
    assert match_displacements(first, other, profile("total", [11, 22], [6, 8])) == [0, 1]
    for wrong in ([6, 9], [5, 8], [8, 6]):
        with pytest.raises(InconsistentAnswers, match="total: the residues do not fit those of first and other"):
            match_displacements(first, other, profile("total", [11, 22], wrong))


@pytest.mark.parametrize(
    ("first", "other", "total"), [([1, 2], [1, 3], [1, 2]), ([1, 2], [1, 2], [1, 3]), ([1, 3], [1, 2], [1, 2])]
)
def test_residues_that_change_with_the_final_token_are_inconsistent(
    first: list[int], other: list[int], total: list[int]
) -> None:
    profiles = [
        profile(name, exponents, residues)
        for name, exponents, residues in (("a", [1, 2], first), ("b", [10, 20], other), ("c", [11, 22], total))
    ]
    with pytest.raises(InconsistentAnswers, match="residues"):
        match_final_tokens(*profiles)


@pytest.mark.parametrize("match", [match_displacements, match_final_tokens])
@pytest.mark.parametrize(
    "total", [[12, 23], [11, 23], [11, 12]], ids=["no product fits", "one product fits", "one head fits twice"]
)
def test_poles_that_are_no_products_are_inconsistent(match: object, total: list[int]) -> None:
    first, other = profile("first", [1, 2], [1, 1]), profile("other", [10, 20], [1, 1])
    with pytest.raises(InconsistentAnswers, match="poles are not products"):
        match(first, other, profile("total", total, [1, 1]))  # type: ignore[operator]  # one of two functions


def number_of_hits(first: Sequence[int], other: Sequence[int]) -> int:
    sums = {a + b for a, b in zip(first, other, strict=True)}
    return sum(a + b in sums for a in first for b in other)


def test_finds_the_true_permutation_or_says_that_c4_fails() -> None:
    random, outcomes = Random(0), Counter[str]()
    for _ in range(600):
        size = random.randint(1, 4)
        first, other = (random.sample(range(-6, 7), size) for _ in range(2))
        c, sums = random.choices(range(1, 4), k=size), [a + b for a, b in zip(first, other, strict=True)]
        if len(set(sums)) < size:
            continue  # C2 fails in the sum profile
        shuffled, mixed = (random.sample(range(size), size) for _ in range(2))
        profiles = (
            profile("first", first, c),
            profile("other", [other[h] for h in shuffled], [c[h] for h in shuffled]),
            profile("total", [sums[h] for h in mixed], [c[h] for h in mixed]),
        )
        if number_of_hits(first, other) == size:
            assert [shuffled[i] for i in match_final_tokens(*profiles)] == list(range(size))
            outcomes["matched"] += size > 1
        else:
            with pytest.raises(ConditionFailed, match="C4 fails in total"):
                match_final_tokens(*profiles)
            outcomes["ambiguous"] += 1
    assert min(outcomes["matched"], outcomes["ambiguous"]) > 50


def test_different_residues_foretell_the_sum_profile() -> None:
    first = profile("first", [1, 2, 5], [1, 2, 3])
    other = profile("other", [30, 10, -20], [3, 1, 2])
    # residue 1: 1 + 10; residue 2: 2 − 20; residue 3: 5 + 30
    assert expected_sum(first, other) == Guess(((-18,), (11,), (35,)), ((fmpq(2),), (fmpq(1),), (fmpq(3),)))
    assert expected_sum(profile("a", [], []), profile("b", [], [])) == Guess((), ())


def test_tied_or_foreign_residues_foretell_nothing() -> None:
    first = profile("first", [1, 2], [4, 4])
    assert expected_sum(first, profile("other", [3, 5], [4, 4])) is None
    assert expected_sum(first, profile("other", [3, 5], [4, 7])) is None
    assert expected_sum(profile("first", [1, 2], [4, 7]), profile("other", [3, 5], [4, 4])) is None
