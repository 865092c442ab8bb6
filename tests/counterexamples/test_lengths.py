"""The classification by length, against exact answers on grids of short sequences."""

from __future__ import annotations

from itertools import product

import pytest

from exactmha.attention import Attention, Model
from exactmha.counterexamples.lengths import agreement
from exactmha.errors import InputError
from exactmha.fields import ExponentialField
from exactmha.instance import from_dict
from exactmha.outcome import Outcome
from exactmha.sequences import TokenSequence

H, F = Outcome.HOLDS, Outcome.FAILS


def model(*heads: tuple[list[list[str]], list[str]]) -> Model:
    dim = len(heads[0][1])
    content = [{"W": W, "v": v} for W, v in heads]
    return from_dict({"format": "exactmha/instance/1", "field": "exponential", "dim": dim, "heads": content})


CASES = {
    "equal up to order and merging": (
        model(([["1"]], ["2"]), ([["3"]], ["1"])),
        model(([["3"]], ["1"]), ([["1"]], ["1"]), ([["1"]], ["1"])),
        (H, H, H),
    ),
    "pairs (W, v), (-W, v)": (
        model(([["1"]], ["2"]), ([["-1"]], ["2"])),
        model(([["5"]], ["2"]), ([["-5"]], ["2"])),
        (H, H, F),
    ),
    # (1, v) ~ (−1, −v): replacing it changes s, which the head with W = 0 makes good
    "one head turned, s made good by W = 0": (
        model(([["1"]], ["2"]), ([["0"]], ["1"])),
        model(([["-1"]], ["-2"]), ([["0"]], ["5"])),
        (H, H, F),
    ),
    "one head turned": (model(([["1"]], ["2"])), model(([["-1"]], ["-2"])), (F, F, F)),
    "same s only": (model(([["1"]], ["2"])), model(([["2"]], ["2"])), (H, F, F)),
    "different s": (model(([["1"]], ["2"])), model(([["1"]], ["3"])), (F, F, F)),
    "two dimensions, W turned as a whole": (
        model(([["0", "-1"], ["2", "0"]], ["1", "0"]), ([["0", "1"], ["-2", "0"]], ["1", "0"])),
        model(([["0", "0"], ["0", "0"]], ["2", "0"])),
        (H, H, F),
    ),
    "two dimensions, only the first entry turned": (
        model(([["1", "1"], ["0", "0"]], ["1", "0"]), ([["-1", "1"], ["0", "0"]], ["1", "0"])),
        model(([["0", "0"], ["0", "0"]], ["2", "0"])),
        (H, F, F),
    ),
}


def agree_on(first: Model, second: Model, length: int) -> bool:
    """Compare exact answers on all sequences of this length over a grid of tokens."""
    answer = Attention(first), Attention(second)
    tokens = list(product(range(-1, 2), repeat=first.dim)) if length < 3 else list(product((-1, 2), repeat=first.dim))
    return all(
        answer[0](query).equals(answer[1](query)) is Outcome.HOLDS
        for chosen in product(tokens, repeat=length)
        for query in (TokenSequence([(token, 1) for token in chosen]),)
    )


@pytest.mark.parametrize("name", CASES)
def test_agreement_by_length(name: str) -> None:
    first, second, (one, two, every) = CASES[name]
    found = agreement(first, second)
    assert (found.length_one, found.length_two, found.every_length) == (one, two, every)


@pytest.mark.parametrize("name", CASES)
def test_the_answers_agree_as_classified(name: str) -> None:
    first, second, (one, two, every) = CASES[name]
    assert agree_on(first, second, 1) == (one is H)
    assert agree_on(first, second, 2) == (two is H) or one is F
    assert agree_on(first, second, 3) == (every is H)


def test_different_fields_are_different_functions_and_dimensions_refused() -> None:
    first = model(([["1"]], ["2"]))
    found = agreement(first, Model(ExponentialField(2, 1), 1, first.heads))  # W = 1 against W = √2
    assert (found.length_one, found.length_two, found.every_length) == (H, F, F)
    with pytest.raises(InputError):
        agreement(first, Model(first.field, 2, ()))
