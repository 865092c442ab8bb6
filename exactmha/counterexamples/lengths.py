"""What sequences of length 1, 2 and 3 can tell (`proofs/short-sequences`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import fmpq

from exactmha.attention import Model
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.errors import InputError
from exactmha.fields.interface import Scalar, added
from exactmha.heads import Head, canonical, opposite
from exactmha.instance import over_one_field
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.sequences import TokenSequence


@dataclass(frozen=True, slots=True)
class Agreement:
    """Do two models agree on all sequences of length 1, on all of length ≤ 2, on all?

    Agreement on all sequences of length ≤ 3 is the same as on all (`proofs/short-sequences`).
    """

    length_one: Outcome
    length_two: Outcome
    every_length: Outcome


def agreement(first: Model, second: Model) -> Agreement:
    """Decide exactly on which lengths two models agree.

    Length 1: s = Σ v_h. Length ≤ 2: s, and the heads up to (W, v) ~ (−W, −v), those with W = 0 left out.
    Every length: the canonical heads. Where no field holds both, some W of one is no ±W of the other.
    Raises `InputError` when the dimensions differ, `LimitError` beyond the default limits.
    """
    if first.dim != second.dim:
        raise InputError("the two models must have one dimension", value=(first.dim, second.dim))
    both = over_one_field(first, second)
    if both is None:
        blind = over_one_field(_without_weights(first), _without_weights(second))
        one = Outcome.UNDECIDED if blind is None else Outcome.of(_total(blind[0]) == _total(blind[1]))
        return Agreement(one, Outcome.FAILS, Outcome.FAILS)
    first, second = both
    one = Outcome.of(_total(first) == _total(second))
    two = Outcome.of(_up_to_sign(first) == _up_to_sign(second))
    every = Outcome.of(first.canonical().heads == second.canonical().heads)
    return Agreement(one, Outcome.every([one, two]), every)


def _without_weights(model: Model) -> Model:
    """Return the model with every W = 0, over the rationals where v is rational."""
    zero = ((fmpq(0),) * model.dim,) * model.dim
    heads = tuple(Head((zero,) * model.field.rank, head.v) for head in model.heads)
    return Model(model.field, model.dim, heads)


def _total(model: Model) -> tuple[Scalar, ...]:
    total: tuple[Scalar, ...] = ((fmpq(0),) * model.field.degree,) * model.dim
    for head in model.heads:
        total = added(total, head.v)
    return total


def _up_to_sign(model: Model) -> tuple[Head, ...]:
    """Return the canonical heads after every W is given a positive first entry, (W, v) → (−W, −v), "
    "and W = 0 dropped."""
    return canonical(_positive(head) for head in model.heads if any(_entries(head))).heads


def _positive(head: Head) -> Head:
    return head if next(x for x in _entries(head) if x != 0) > 0 else opposite(head, opposite_v=True)


def _entries(head: Head) -> Iterable[fmpq]:
    return [x for unit in head.W for row in unit for x in row]


def short_sequences(setting: Setting) -> Construction:
    """(W, v), (−W, v) and (W', v), (−W', v), with H − 2 common heads: both pairs answer v·(x_1 + x_2) at length 2."""
    first, second, *others = setting.some_heads(setting.heads)
    second = Head(second.W, first.v)
    pairs = [[head, opposite(head)] for head in (first, second)]
    if _up_to_sign(setting.model([first])) == _up_to_sign(setting.model([second])):
        raise Degenerate("W and W' are equal up to sign")
    models = setting.model([*pairs[0], *others]), setting.model([*pairs[1], *others])
    drawn = [tuple((setting.vector(), 1) for _ in range(length)) for length in (1, 1, 2, 2, 2, 2)]
    agree = [TokenSequence(runs) for runs in dict.fromkeys(drawn)]
    found = agreement(*models)
    return Construction(
        models,
        "sequences of length ≤ 2 do not tell these two models apart, not even all of them",
        "σ(w) + σ(−w) = 1, so (W, v), (−W, v) answer v·(x_1 + x_2) on (x_1, x_2) for every W; from length 3 on W shows",
        agree=agree,
        more=(
            Claim(
                "length-1",
                "they agree on all sequences of length 1",
                found.length_one,
                Evidence.PROVED,
                "s = Σ v_h is equal",
            ),
            Claim(
                "length-2",
                "they agree on all sequences of length ≤ 2",
                found.length_two,
                Evidence.PROVED,
                "heads equal up to (W, v) ~ (−W, −v): proofs/short-sequences",
            ),
        ),
    )
