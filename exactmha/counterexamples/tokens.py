"""Tokens that are fixed, dependent, in a subspace, blind to a head or make poles collide (`proofs/counterexamples`)."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.setting import Setting, copies, dual, learner_queries, orthogonal
from exactmha.errors import ConditionFailed
from exactmha.fields.interface import Scalar, added, dot, negated
from exactmha.heads import Head, bilinear, canonical
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.recover.learn import learn
from exactmha.recover.sample import IntToken
from exactmha.sequences import TokenSequence

WHY_ONE_DIM = "in R^1 a non-zero token is a basis, and v·u = 0 or b·W u = b·W' u forces v = 0 or W = W'"


def fixed_tokens(setting: Setting) -> Construction:
    """For any B, U known in advance: v_1 ⟂ u_1, and W_1' = W_1 + x yᵀ with x ⟂ b_1, y·u_1 ≠ 0, y ⟂ u_i for i ≥ 2.

    Head 1 is invisible for the displacement u_1; every other displacement u_i has W_1' u_i = W_1 u_i, and
    b_1ᵀW_1' = b_1ᵀW_1. So all 4Hd² − 2H + 1 answers agree.
    """
    b, u = setting.tokens
    first, *others = setting.some_heads(setting.heads)
    first = setting.with_readout(first, orthogonal([u[0]], setting.dim))
    moved = setting.changed(first, orthogonal([b[0]], setting.dim), dual(u, 0))
    models = setting.model([first, *others]), setting.model([moved, *others])
    return Construction(
        models,
        "tokens B, U fixed in advance: these two models answer every query of the learner alike (it sees that a "
        "condition fails, but with these tokens it cannot go on)",
        f"v_1 ⟂ u_1, W_1' = W_1 + x yᵀ with x ⟂ b_1, y·u_1 ≠ 0 and y ⟂ u_i for i ≥ 2; {_shown(b, u)}",
        agree=learner_queries(b, u, setting.heads),
        more=(_same_transcript(setting, models),),
    )


def _same_transcript(setting: Setting, models: Sequence[Model]) -> Claim:
    """Run the learner with these very tokens on both models and compare all that it sees."""
    seen = []
    for model in models:
        oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
        try:
            learn(oracle, heads=setting.heads, seed=setting.seed, grid=setting.grid, redraw=False)
        except ConditionFailed as failure:
            seen.append((str(failure), oracle.transcript or []))
    if len(seen) < len(models):
        return Claim("transcript", "the learner stops at a condition", Outcome.FAILS, Evidence.COMPUTED, "it did not")
    (end, left), (other_end, right) = seen
    asked_alike = [list(x) for x, _ in left] == [list(x) for x, _ in right]
    answers = (
        Outcome.every(a.equals(b) for (_, a), (_, b) in zip(left, right, strict=True)) if asked_alike else Outcome.FAILS
    )
    outcome = Outcome.every([Outcome.of(asked_alike and end == other_end), answers])
    statement = "the learner with these tokens has the same transcript on both, and the same end"
    return Claim("transcript", statement, outcome, Evidence.CERTIFIED, f"{len(left)} queries, then: {end}")


def dependent_tokens(setting: Setting) -> Construction:
    """C1 dropped: u_1..u_d do not span, y ⟂ all of them, and W_1' = W_1 + x yᵀ."""
    b, u = setting.tokens
    u = [*u[:-1], u[0] if setting.dim > 1 else (0,)]
    first, *others = setting.some_heads(setting.heads)
    moved = setting.changed(first, setting.vector(), orthogonal(u, setting.dim))
    return Construction(
        (setting.model([first, *others]), setting.model([moved, *others])),
        "displacements that do not span R^d: these two models answer every query of the learner alike",
        f"W_1' = W_1 + x yᵀ with y ⟂ u_1, …, u_d, so W_1' u_i = W_1 u_i for every i; {_shown(b, u)}",
        agree=learner_queries(b, u, setting.heads),
    )


def subspace_tokens(setting: Setting) -> Construction:
    """All tokens have last coordinate 0: W_1' = W_1 + x e_dᵀ gives the same logits on all sequences of them."""
    first, *others = setting.some_heads(setting.heads)
    normal = tuple(int(i == setting.dim - 1) for i in range(setting.dim))
    moved = setting.changed(first, setting.vector(), normal)
    agree = [TokenSequence([((*setting.vector()[:-1], 0), 1) for _ in range(length)]) for length in range(1, 7)]
    models = setting.model([first, *others]), setting.model([moved, *others])
    return Construction(
        models,
        "tokens in the subspace x_d = 0 never tell these two models apart, however many and however "
        "long the queries are",
        "W_1' = W_1 + x e_dᵀ, and x_nᵀ x e_dᵀ x_i = 0 for every token x_i of the subspace: all logits are equal",
        agree=agree,
        more=(_same_on_subspace(models),),
    )


def _same_on_subspace(models: Sequence[Model]) -> Claim:
    """Decide exactly whether the models agree on all tokens with x_d = 0: there they are layers in dimension d − 1."""
    first, second = (
        canonical(
            Head(tuple(tuple(row[:-1] for row in unit[:-1]) for unit in head.W), head.v[:-1]) for head in model.heads
        ).heads
        for model in models
    )
    statement = "they agree on every sequence of tokens with x_d = 0"
    evidence = "without the last coordinates their canonical heads are equal; proofs/canonical-uniqueness"
    return Claim("subspace", statement, Outcome.of(first == second), Evidence.PROVED, evidence)


def invisible_head(setting: Setting) -> Construction:
    """C3 dropped: v_1·u = 0, so the profile (b, u) says nothing of W_1, for any number of copies."""
    b, u = setting.tokens[0][0], setting.tokens[1][0]
    first, *others = setting.some_heads(setting.heads)
    first = setting.with_readout(first, orthogonal([u], setting.dim))
    other = Head(setting.head().W, first.v)
    models = setting.model([first, *others]), setting.model([other, *others])
    return Construction(
        models,
        f"b = {b}, u = {u}: copies of b + u, then b, never show W_1, for any number of copies",
        "c_1 = v_1·u = 0, so head 1 contributes the constant v_1·b to the profile, whatever its W is",
        agree=copies(b, u, range(2 * setting.heads + 2)),
        more=(_same_profile(models, b, u),),
    )


def colliding_poles(setting: Setting) -> Construction:
    """C2 dropped: bᵀ(W_1 − W_2)u = 0, so the profile (b, u) shows v_1 + v_2 only."""
    b, u = setting.tokens[0][0], setting.tokens[1][0]
    first, _, *others = setting.some_heads(setting.heads)
    second = Head(setting.changed(first, orthogonal([b], setting.dim), setting.vector()).W, setting.head().v)
    shift = [setting.scalar(x) for x in setting.vector()]
    pair = [Head(first.W, added(first.v, shift)), Head(second.W, added(second.v, negated(shift)))]
    models = setting.model([first, second, *others]), setting.model([*pair, *others])
    return Construction(
        models,
        f"b = {b}, u = {u}: copies of b + u, then b, only show v_1 + v_2, for any number of copies",
        "bᵀ(W_1 − W_2)u = 0: the heads share the pole −1/r, whose coefficient is c_1 + c_2; (v_1 + δ, "
        "v_2 − δ) has the same sum",
        agree=copies(b, u, range(2 * setting.heads + 2)),
        more=(_same_profile(models, b, u),),
    )


def _same_profile(models: Sequence[Model], b: IntToken, u: IntToken) -> Claim:
    """Decide exactly whether f_k = Σ v_h·b + Σ c_h·k r_h/(1 + k r_h) is the same function of k: equal Σ c_h by pole."""
    first, second = (_profile(model, b, u) for model in models)
    statement = "they agree for every number k of copies"
    evidence = "equal constants, poles and coefficients of the profiles; proofs/profile-identity"
    return Claim("every-k", statement, Outcome.of(first == second), Evidence.PROVED, evidence)


def _profile(model: Model, b: IntToken, u: IntToken) -> tuple[Scalar, dict[tuple[fmpq, ...], Scalar]]:
    """Return Σ v_h·b, and for every logit b^T W u (on the field's units) the sum of its c_h = v_h·u, if not 0."""
    zero = (fmpq(0),) * model.field.degree
    constant, terms = zero, dict[tuple[fmpq, ...], Scalar]()
    for head in model.heads:
        (constant,) = added((constant,), (dot(head.v, b),))
        logit = tuple(bilinear(unit, b, u) for unit in head.W)
        (terms[logit],) = added((terms.get(logit, zero),), (dot(head.v, u),))
    return constant, {logit: c for logit, c in terms.items() if any(c)}


def _shown(b: Sequence[IntToken], u: Sequence[IntToken]) -> str:
    return f"B = {', '.join(map(str, b))}; U = {', '.join(map(str, u))}"
