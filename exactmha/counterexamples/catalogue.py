"""The list of counterexamples: which assumption each one drops, and from which H and d on it exists."""

from __future__ import annotations

from exactmha.counterexamples import lengths, matching, outputs, overlap, positions, representation, samples, tokens
from exactmha.counterexamples.build import Assumption
from exactmha.errors import InputError
from exactmha.field_names import FIELD_NAMES

CATALOGUE = (
    Assumption(
        "unmerged",
        "heads with equal W are merged",
        (2, 1),
        FIELD_NAMES,
        representation.unmerged,
        "two heads share one W",
    ),
    Assumption(
        "zero-sum",
        "heads whose v sum to 0 are discarded",
        (2, 1),
        FIELD_NAMES,
        representation.zero_sum,
        "a pair of heads cancels",
    ),
    Assumption(
        "one-sample-short",
        "2H + 1 samples of a profile",
        (1, 2),
        samples.FIELDS,
        samples.one_sample_short,
        samples.WHY_LEAST,
        samples.WHY_FIELDS,
    ),
    Assumption(
        "short-sequences",
        "sequences of length ≥ 3",
        (2, 1),
        FIELD_NAMES,
        lengths.short_sequences,
        "one head is determined by length 2",
    ),
    Assumption("fixed-tokens", "random tokens", (1, 2), FIELD_NAMES, tokens.fixed_tokens, tokens.WHY_ONE_DIM),
    Assumption(
        "no-matching",
        "matching queries",
        (2, 2),
        FIELD_NAMES,
        matching.no_matching,
        "two heads, and two entries of W to confuse, are needed",
    ),
    Assumption(
        "wrong-head-count",
        "the number of heads told is right",
        (2, 2),
        samples.FIELDS,
        samples.wrong_head_count,
        "a learner told no head asks nothing; and " + samples.WHY_LEAST,
        samples.WHY_FIELDS,
    ),
    Assumption(
        "inexact-outputs",
        "exact outputs",
        (2, 1),
        outputs.CLOSE_FIELDS,
        outputs.inexact_outputs,
        "a pair of heads nearly cancels",
        outputs.WHY_CLOSE,
    ),
    Assumption("rounded-outputs", "exact outputs", (1, 1), FIELD_NAMES, outputs.rounded_outputs),
    Assumption(
        "bound-only",
        "the number of heads is known, not only a bound H_0",
        (2, 2),
        FIELD_NAMES,
        matching.bound_only,
        "a head is split in two that no query shows together; --heads is H_0",
    ),
    Assumption("invisible-head", "C3, visible heads", (1, 2), FIELD_NAMES, tokens.invisible_head, tokens.WHY_ONE_DIM),
    Assumption(
        "colliding-poles", "C2, distinct poles", (2, 2), FIELD_NAMES, tokens.colliding_poles, tokens.WHY_ONE_DIM
    ),
    Assumption("dependent-tokens", "C1, bases", (1, 1), FIELD_NAMES, tokens.dependent_tokens),
    Assumption(
        "tokens-in-a-subspace",
        "tokens that span R^d",
        (1, 2),
        FIELD_NAMES,
        tokens.subspace_tokens,
        "R^1 has no proper subspace but 0",
    ),
    Assumption(
        "overlapping-subspaces",
        "heads in known orthogonal subspaces (earlier work)",
        (2, 2),
        FIELD_NAMES,
        overlap.overlapping_subspaces,
        overlap.WHY_LEAST,
    ),
    Assumption(
        "position-encoding",
        "copies of a token are alike",
        (1, 1),
        FIELD_NAMES,
        positions.position_encoding,
    ),
)


def assumption(name: str) -> Assumption:
    """Return the entry of that name, or raise `InputError`."""
    for each in CATALOGUE:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in CATALOGUE)
    raise InputError("unknown counterexample", field="NAME", value=name, hint=f"choose from {known}")
