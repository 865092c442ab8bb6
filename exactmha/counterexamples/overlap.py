"""Heads that overlap: the earlier learner of heads in orthogonal subspaces cannot see it (`proofs/counterexamples`)."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.attention import Attention, Model
from exactmha.budget.lab import Lab
from exactmha.budget.orthogonal import blocks
from exactmha.budget.orthogonal import learn as learn_orthogonal
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.errors import ConditionFailed, InconsistentAnswers, NoInterpolant
from exactmha.heads import Head
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.sequences import TokenSequence

WHY_LEAST = "two heads need two subspaces, which R^1 does not have"


def overlapping_subspaces(setting: Setting) -> Construction:
    """W_1' = W_1 + x yᵀ with x in the subspace of head 1 and y in that of head 2.

    The learner of heads in orthogonal subspaces asks only tokens of one subspace at a time, for which
    x^T W_1' y is never a logit: all its Σ(d_h² + d_h) answers agree.
    """
    bases = blocks(setting.heads, setting.dim)
    heads = [_head(setting, {i for token in basis for i, x in enumerate(token) if x}) for basis in bases]
    x, y = tuple(bases[0][0]), tuple(bases[1][0])
    models = setting.model(heads), setting.model([setting.changed(heads[0], x, y), *heads[1:]])
    asked, more = _run(setting, models)
    seen = next((token for token in bases[0] if any(_dot(heads[0], token))), None)
    if seen is None:
        raise Degenerate("v_1 = 0")
    mixed = tuple(a + b + c for a, b, c in zip(x, y, seen, strict=True))
    return Construction(
        models,
        f"heads in known orthogonal subspaces, learned one by one: the {len(asked)} queries do not see that head 1 "
        "overlaps with the subspace of head 2",
        "W_1' = W_1 + x yᵀ, x in the first subspace, y in the second: the queries have all their tokens in one "
        "subspace, where x^T W_1' y never is a logit",
        agree=asked,
        differ=[TokenSequence.copies(1, mixed, x)],
        more=(more,),
    )


def _head(setting: Setting, inside: set[int]) -> Head:
    """Draw a head that lives in the coordinates `inside`."""
    units = [
        [[w if i in inside and j in inside else 0 for j, w in enumerate(row)] for i, row in enumerate(setting.matrix())]
        for _ in range(setting.field.rank)
    ]
    v = [x if i in inside else 0 for i, x in enumerate(setting.vector())]
    if not any(v):
        raise Degenerate("v = 0")
    return setting.with_logits(units, v)


def _dot(head: Head, token: Sequence[int]) -> list[object]:
    return [c for x, scalar in zip(token, head.v, strict=True) if x for c in scalar if c != 0]


def _run(setting: Setting, models: tuple[Model, Model]) -> tuple[list[TokenSequence], Claim]:
    """Run that learner on both: return its queries but the last one, the check, which tells the two apart."""
    found, transcripts = [], []
    for model in models:
        oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
        lab = Lab(oracle, setting.heads, seed=setting.seed, grid=setting.grid)
        try:
            found.append(lab.run(learn_orthogonal).heads == model.canonical().heads)
        except InconsistentAnswers:
            found.append(False)
        except (ConditionFailed, NoInterpolant) as error:
            raise Degenerate(str(error)) from None
        transcripts.append([TokenSequence(list(x.runs)) for x, _ in oracle.transcript or []])  # type: ignore[attr-defined]  # asked as runs
    *asked, _check = transcripts[0]
    outcome = Outcome.of(found == [True, False] and [x.runs for x in transcripts[1][:-1]] == [x.runs for x in asked])
    statement = "the learner with its check query recovers the first model, and on the second it says that it failed"
    evidence = f"{len(transcripts[0])} queries each; the last one, of tokens outside the subspaces, is the check"
    return asked, Claim("visible-failure", statement, outcome, Evidence.CERTIFIED, evidence)
