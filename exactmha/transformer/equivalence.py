"""Are two Transformers the same function? Their canonical forms decide, with three outcomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from flint import fmpq

from exactmha.errors import LimitError
from exactmha.outcome import Outcome
from exactmha.randomness import Stream
from exactmha.sequences import Token
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.form import Blocks, CanonicalForm, Vector, canonical_form
from exactmha.transformer.instance import over_one_field
from exactmha.transformer.model import Transformer

_SEARCHED = 64


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome, and the reason for it in words."""

    outcome: Outcome
    reason: str


def equivalent(left: Transformer, right: Transformer) -> Verdict:
    """Decide whether two Transformers agree on every sequence (`proofs/transformer-canonical`).

    Holds when their canonical forms are equal. Fails when the difference of the forms has a linear part, or a line
    with n_l ≠ 0, or where a sequence is found on which they differ. Undecided when every line that is left has n_l = 0
    and a search over short sequences shows no difference: then the lines may cancel.
    """
    if left.dim != right.dim:
        return Verdict(Outcome.FAILS, "their tokens have different dimensions")
    left, right = _with_used_heads(left), _with_used_heads(right)
    try:
        both = over_one_field(left, right)
    except LimitError as error:
        return Verdict(Outcome.UNDECIDED, str(error))
    if both is None:
        return _over_two_fields(left, right)
    rest = difference(both[0].canonical(), both[1].canonical())
    if any(map(any, rest.linear)):
        return Verdict(Outcome.FAILS, "T(X) − T(−X) has different heads (W, Λ)")
    if any(any(line.token_normal) for line in rest.lines):
        return Verdict(Outcome.FAILS, "a line of one canonical form, visible on single tokens, is not in the other")
    if not rest.lines:
        return Verdict(Outcome.HOLDS, "their canonical forms are equal")
    return _searched(*both)


def _with_used_heads(model: Transformer) -> Transformer:
    """Return the same function without the heads that its canonical form does not use: their W need no common field.

    Leaving out their blocks is linear, and leaves Λ and every ν of the canonical form as they are.
    """
    used = set(model.canonical().W)
    kept = [h for h, W in enumerate(model.W) if W in used]
    return replace(model, W=tuple(model.W[h] for h in kept), O=tuple(model.O[h] for h in kept))


def difference(left: CanonicalForm, right: CanonicalForm) -> CanonicalForm:
    """Return the canonical form of left − right, both over one field."""
    count, dim = (len(left.W), len(right.W)), _dim(left, right)
    pieces = [
        *((line.kappa, (*line.nu, *_zeros(count[1], dim))) for line in left.lines),
        *((-line.kappa, (*_zeros(count[0], dim), *line.nu)) for line in right.lines),
    ]
    linear = (*left.linear, *(tuple(-x for x in block) for block in right.linear))
    return canonical_form((*left.W, *right.W), linear, pieces)


def _zeros(count: int, dim: int) -> Blocks:
    zero: Vector = (fmpq(0),) * dim
    return (zero,) * count


def _dim(left: CanonicalForm, right: CanonicalForm) -> int:
    return next((len(block) for block in chain(left.linear, right.linear)), 0)


def _over_two_fields(left: Transformer, right: Transformer) -> Verdict:
    """No field holds the W of both, so the sets of W differ, and every head is used by its own form alone."""
    forms = left.canonical(), right.canonical()
    if all(any(line.token_normal) for form in forms for line in form.lines):
        return Verdict(Outcome.FAILS, "their W lie in no common field, so their canonical forms differ")
    return Verdict(Outcome.UNDECIDED, "their W lie in no common field, and some lines have n_l = 0")


def _searched(left: Transformer, right: Transformer) -> Verdict:
    """Look for a short sequence on which they differ."""
    answer = TransformerAnswer(left), TransformerAnswer(right)
    stream = Stream(0, "transformer-equivalence")
    for attempt in range(_SEARCHED):
        tokens: list[Token] = [tuple(stream.between(-2, 2) for _ in range(left.dim)) for _ in range(2 + attempt % 3)]
        if answer[0](tokens).equals(answer[1](tokens)) is Outcome.FAILS:
            return Verdict(Outcome.FAILS, f"they differ on the sequence {tokens}")
    return Verdict(
        Outcome.UNDECIDED,
        f"their canonical forms differ only in lines with n_l = 0, which may cancel, and {_SEARCHED} short sequences "
        "show no difference",
    )
