"""Every counterexample, in every field where it exists, for H, d ≤ 3: all its claims hold.

An independent numeric evaluation (mpmath, from the definition of softmax attention, with as many digits as the largest
logit needs) sees the same agreements and differences.
"""

from __future__ import annotations

from dataclasses import replace

import mpmath
import pytest
from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.counterexamples import build
from exactmha.counterexamples.build import Assumption, Construction
from exactmha.counterexamples.catalogue import CATALOGUE, assumption
from exactmha.counterexamples.setting import Setting, learner_queries
from exactmha.errors import InputError
from exactmha.fields import ExponentialField, RadicalField, RationalField
from exactmha.heads import Head
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.recover.learn import learn
from exactmha.sequences import TokenSequence

CASES = [
    (each, field, heads, dim)
    for each in CATALOGUE
    for field in each.fields
    for heads in range(each.least[0], 4)
    for dim in range(each.least[1], 4)
    if each.name != "overlapping-subspaces" or heads <= dim  # R^d has no more than d orthogonal subspaces
]


def number(q: fmpq) -> mpmath.mpf:
    return mpmath.mpf(int(q.numerator)) / int(q.denominator)


def units(model: Model) -> list[mpmath.mpf]:
    """The real numbers that the coordinates of W multiply."""
    match model.field:
        case RationalField(base=base):
            return [mpmath.log(b) for b in base]
        case RadicalField(beta=beta):
            return [mpmath.log(number(beta))]
        case ExponentialField(radicand=radicand):
            return [mpmath.sqrt(radicand)]
    raise AssertionError(model.field)


def readouts(model: Model, head: Head) -> list[mpmath.mpf]:
    gamma = (
        number(model.field.beta) ** (mpmath.mpf(1) / model.field.denominator)
        if isinstance(model.field, RadicalField)
        else 1
    )
    return [sum(number(c) * gamma**i for i, c in enumerate(scalar)) for scalar in head.v]


def weights_matrix(model: Model, head: Head) -> list[list[mpmath.mpf]]:
    return [
        [sum(number(unit[i][j]) * a for unit, a in zip(head.W, units(model), strict=True)) for j in range(model.dim)]
        for i in range(model.dim)
    ]


def bilinear(x: list[mpmath.mpf], W: list[list[mpmath.mpf]], y: list[mpmath.mpf]) -> mpmath.mpf:
    return sum(a * w * b for a, row in zip(x, W, strict=True) for w, b in zip(row, y, strict=True))


def decimal(query: TokenSequence) -> list[tuple[list[mpmath.mpf], int]]:
    return [([mpmath.mpf(int(x)) for x in token], count) for token, count in query.runs]


def largest_logit(model: Model, query: TokenSequence) -> mpmath.mpf:
    tokens = decimal(query)
    return max(abs(bilinear(tokens[-1][0], weights_matrix(model, h), x)) for h in model.heads for x, _ in tokens)


def attention(model: Model, query: TokenSequence) -> mpmath.mpf:
    """Softmax attention from its definition."""
    tokens = decimal(query)
    total = mpmath.mpf(0)
    for head in model.heads:
        W, v = weights_matrix(model, head), readouts(model, head)
        weights = [count * mpmath.exp(bilinear(tokens[-1][0], W, x)) for x, count in tokens]
        values = [sum(a * b for a, b in zip(v, x, strict=True)) for x, _ in tokens]
        total += sum(w * y for w, y in zip(weights, values, strict=True)) / sum(weights)
    return total


@pytest.mark.parametrize(
    ("each", "field", "heads", "dim"), CASES, ids=[f"{a.name}-{f}-{h}-{d}" for a, f, h, d in CASES]
)
def test_every_claim_holds_and_so_it_does_numerically(each: Assumption, field: str, heads: int, dim: int) -> None:
    found = build.build(each, Setting(heads, dim, field, seed=0))
    assert found.outcome is Outcome.HOLDS, found.claims
    assert found.claims
    built = found.construction
    with mpmath.workdps(60):
        for query in built.agree:
            assert gap(built, query) < mpmath.mpf(10) ** -40
        if built.same:
            tokens = ((1,) * dim, 2), ((-1,) + (1,) * (dim - 1), 1), ((2,) * dim, 1)
            assert gap(built, TokenSequence(tokens)) < mpmath.mpf(10) ** -40
    for query in built.differ:
        with mpmath.workdps(30):
            digits = 60 + int(2 * max(largest_logit(model, query) for model in built.models))
        if digits > 4000:
            continue  # too many zeros for decimals: the claim rests on the exact evaluation alone
        with mpmath.workdps(digits):  # a large logit hides a difference behind many zeros
            assert gap(built, query) > mpmath.mpf(10) ** (20 - digits)


def gap(built: Construction, query: TokenSequence) -> mpmath.mpf:
    left, right = (attention(model, query) for model in built.models)
    return abs(left - right)


def test_names_of_the_issue_are_all_there() -> None:
    assert [each.name for each in CATALOGUE] == [
        "unmerged", "zero-sum", "one-sample-short", "short-sequences", "fixed-tokens", "no-matching",
        "wrong-head-count",
        "inexact-outputs", "rounded-outputs", "bound-only", "invisible-head", "colliding-poles", "dependent-tokens",
        "tokens-in-a-subspace", "overlapping-subspaces", "position-encoding",
    ]  # fmt: skip


@pytest.mark.parametrize("each", CATALOGUE, ids=lambda each: each.name)
def test_below_the_least_size_or_in_another_field_it_says_why(each: Assumption) -> None:
    heads, dim = each.least
    for smaller in ((heads - 1, dim), (heads, dim - 1)):
        with pytest.raises(InputError, match="needs at least"):
            each.check(Setting(*smaller, each.fields[0], 0))
    for field in {"rational", "radical", "exponential"} - set(each.fields):
        with pytest.raises(InputError, match="does not exist in this field"):
            each.check(Setting(heads, dim, field, 0))


def spoiled(built: Construction) -> Construction:
    """Change v of the first head of the second model, by a vector orthogonal to no small token."""
    model = built.models[1]
    first, *others = model.heads
    v = tuple((scalar[0] + 9 ** (i + 1), *scalar[1:]) for i, scalar in enumerate(first.v))
    return replace(built, models=(built.models[0], replace(model, heads=(Head(first.W, v), *others))))


@pytest.mark.parametrize(
    "name",
    [each.name for each in CATALOGUE if each.name not in {"position-encoding", "inexact-outputs", "rounded-outputs"}],
)
def test_a_wrong_construction_does_not_pass(name: str) -> None:
    each = assumption(name)
    wrong = replace(each, construct=lambda setting: spoiled(each.construct(setting)))
    try:
        found = build.build(wrong, Setting(*each.least, each.fields[0], 0))
    except InputError:
        return  # every draw was refused
    assert found.outcome is Outcome.FAILS


def test_the_listed_queries_are_the_learners_own() -> None:
    setting = Setting(2, 2, "exponential", seed=0, height=40)
    model = setting.model(setting.some_heads(2))
    oracle = Oracle(Attention(model), model.field, 2, keep_transcript=True)
    learn(oracle, heads=2, seed=0, grid=setting.grid, redraw=False)
    assert [query.runs for query, _ in oracle.transcript or []] == [q.runs for q in learner_queries(*setting.tokens, 2)]


def test_random_tokens_tell_the_fixed_token_models_apart() -> None:
    found = build.build(assumption("fixed-tokens"), Setting(2, 2, "exponential", 0))
    recovered = [
        learn(Oracle(Attention(model), model.field, 2), heads=2, seed=1).heads for model in found.construction.models
    ]
    assert recovered == [model.canonical().heads for model in found.construction.models]
    assert recovered[0] != recovered[1]


@pytest.mark.parametrize("seed", range(3))
def test_bound_only_is_a_family(seed: int) -> None:
    """Other free entries give the same answers: three models or more have one transcript."""
    found = build.build(assumption("bound-only"), Setting(2, 2, "exponential", 10 * seed))
    setting, first = found.setting, found.construction
    one, two = first.models
    left, right = two.heads
    # add x yᵀ to W_a with x ⟂ b_1 and y ⟂ u_1: only entries (j ≥ 2, 2) of L_a move, which are free
    b, u = setting.tokens
    x, y = (b[0][1], -b[0][0]), (u[0][1], -u[0][0])
    third = setting.model([setting.changed(left, x, y), right])
    assert third.canonical().heads != two.canonical().heads
    answers = Attention(one), Attention(third)
    assert all(answers[0](q).equals(answers[1](q)) is Outcome.HOLDS for q in first.agree)
