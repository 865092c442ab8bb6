"""Position encodings: copies of a token are no longer copies (`proofs/counterexamples`)."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.attention import Attention
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.learner import refused
from exactmha.counterexamples.setting import Setting, copies
from exactmha.outcome import counted
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
    attention = Attention(model)
    step = setting.vector()
    b, u = setting.tokens[0][0], setting.tokens[1][0]
    asked = copies(b, u, range(2 * setting.heads + 2))
    return Construction(
        (model,),
        f"tokens x_i + i·e with e = {step}: the answers to k copies of b + u, then b, with b = {b} and u = {u}, are "
        f"those of no attention layer with at most {counted(setting.heads, 'head')}",
        "the k copies of b + u have k different relative logits, and b itself moves, so k ↦ f_k is no "
        "rational function of degree H; "
        "the queries listed are what the layer sees: the tokens with their encodings",
        no_profile=(setting.heads, [encoded(query, step) for query in asked]),
        more=(refused(setting, lambda sequence: attention(encoded(sequence, step)), "it", setting.heads),),
    )
