"""Position encodings: copies of a token are no longer copies (`proofs/counterexamples`)."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.attention import Attention
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.setting import Setting, copies
from exactmha.errors import ExactMHAError
from exactmha.fields.values import ExactValue
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.recover.learn import learn
from exactmha.sequences import Token, TokenSequence, runs_of


def encoded(sequence: Sequence[Token], step: Token) -> TokenSequence:
    """Return x_1, x_2 + step, x_3 + 2·step, …: a linear position encoding."""
    tokens = [token for token, count in runs_of(sequence) for _ in range(count)]
    return TokenSequence(
        [(tuple(x + i * s for x, s in zip(token, step, strict=True)), 1) for i, token in enumerate(tokens)]
    )


def position_encoding(setting: Setting) -> Construction:
    """A layer that adds i·e to its i-th token (i = 0, 1, …): its samples f_k are not of form (P) with H terms."""
    model = setting.model(setting.some_heads(setting.heads))
    step = setting.vector()
    b, u = setting.tokens[0][0], setting.tokens[1][0]
    asked = copies(b, u, range(2 * setting.heads + 2))
    return Construction(
        (model,),
        f"tokens x_i + i·e with e = {step}: the answers to copies are those of no attention layer with "
        f"at most {setting.heads} heads",
        "the k copies of b + u have k different relative logits, and b itself moves, so k ↦ f_k is no "
        "rational function of degree H; "
        "the queries listed are what the layer sees: the tokens with their encodings",
        no_profile=(setting.heads, [encoded(query, step) for query in asked]),
        more=(_learner_refuses(setting, Attention(model), step),),
    )


def _learner_refuses(setting: Setting, attention: Attention, step: Token) -> Claim:
    """Run the learner on the encoded layer: it must not return heads."""

    def answer(sequence: Sequence[Token]) -> ExactValue:
        return attention(encoded(sequence, step))

    statement = "the learner, asked to recover it, returns no heads"
    try:
        learn(Oracle(answer, setting.field, setting.dim), heads=setting.heads, seed=setting.seed, grid=setting.grid)
    except ExactMHAError as error:
        return Claim("refused", statement, Outcome.HOLDS, Evidence.COMPUTED, f"{type(error).__name__}: {error}")
    return Claim("refused", statement, Outcome.FAILS, Evidence.COMPUTED, "it returned heads")
