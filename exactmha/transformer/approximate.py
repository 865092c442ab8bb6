"""Approximate answers of a Transformer: what errors of at most ε do to (W, Λ), and to the jumps 2κ_l ν_l.

The tokens are chosen by who knows the Transformer, as in `exactmha.approximate.stability`: this measures how many
digits are needed, and is not a learner. The bends are taken as known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, arb_mat, ctx, fmpq

from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.run import CertifiedRun, certify
from exactmha.approximate.samples import exact_source
from exactmha.approximate.stability import choose, contains_truth
from exactmha.attention import Model
from exactmha.errors import InputError
from exactmha.outcome import Outcome
from exactmha.sequences import TokenSequence
from exactmha.transformer.evaluate import TransformerAnswer, attention_model
from exactmha.transformer.model import Transformer
from exactmha.transformer.realise import as_transformer
from exactmha.transformer.symmetry import negated


@dataclass(frozen=True, slots=True)
class OddRun:
    """The certified run on T(X) − T(−X): boxes for (W_h, 2Λ_h), and whether the true numbers lie in them."""

    run: CertifiedRun
    truth_inside: Outcome


def odd_part(model: Transformer) -> Model:
    """Return T(X) − T(−X) = Σ_h 2Λ_h·A_h(X), a plain attention."""
    form = model.canonical()
    canonical = as_transformer(form, model.field, model.dim)
    return attention_model(canonical, tuple(tuple(2 * x for x in block) for block in form.linear))


def approximate_odd_part(model: Transformer, epsilon: fmpq, *, seed: int = 0) -> OddRun:
    """Enclose all (W_h, 2Λ_h), Λ_h ≠ 0, when every answer of T has an error of at most ε.

    T(X) − T(−X) then has an error of at most 2ε, and is a plain attention (`proofs/transformer-algorithm`, stage 1), so
    the certified run for 2ε applies to it. Asks 2(4Hd² − 2H + 1) queries.
    Raises `InputError` for ε ≤ 0, and where no Λ_h ≠ 0; `ConditionFailed` when no tokens suit.
    """
    if epsilon <= 0:
        raise InputError("must be positive", field="epsilon", value=str(epsilon))
    odd, answer = odd_part(model), TransformerAnswer(model)
    design = choose(odd, seed=seed).design
    heads = len(odd.canonical().heads)
    source = exact_source(lambda x: answer(x) - answer(negated(x)), design, heads)
    run = certify(source, 2 * epsilon)
    return OddRun(run, contains_truth(odd, design, [run]))


def enclosed_gradient(
    model: Transformer, W: Sequence[Sequence[Sequence[arb]]], base: Sequence[fmpq], delta: fmpq, epsilon: fmpq
) -> list[list[arb]]:
    """Enclose the gradient g_h of T in the cell of b, from boxes for the W_h and answers with errors of at most ε.

    The displacements are δ times the unit vectors. As in `exactmha.transformer.cells`: T_k − T(b) =
    Σ_h (g_h·u) k r_h/(1 + k r_h), k = 1..H, r_h = exp(b^T W_h u), a linear system, here of balls; that the queries stay
    in the cell is for the caller to prove. Asks H·d + 1 queries. Raises `SeparationLost` when the system is not seen to
    be regular.
    """
    answer, heads, dim = TransformerAnswer(model), len(W), len(base)
    spread = arb(0, arb(epsilon).abs_upper())
    token = tuple(base)
    start = answer(TokenSequence([(token, 1)])).ball() + spread
    columns = []
    for i in range(dim):
        moved = tuple(x + delta * int(i == j) for j, x in enumerate(base))
        ratios = [sum((arb(x) * row[i] for x, row in zip(base, matrix, strict=True)), arb(0)) for matrix in W]
        poles = [(x * arb(delta)).exp() for x in ratios]
        rises = [[answer(TokenSequence([(moved, k), (token, 1)])).ball() + spread - start] for k in range(1, heads + 1)]
        try:
            solved = arb_mat([[k * r / (1 + k * r) for r in poles] for k in range(1, heads + 1)]).solve(arb_mat(rises))
        except ZeroDivisionError:
            raise SeparationLost("gradients", f"the cell of {token}", "the system is not seen to be regular") from None
        columns.append([solved[h, 0] / arb(delta) for h in range(heads)])
    return [[column[h] for column in columns] for h in range(heads)]


def enclosed_jump(
    model: Transformer,
    W: Sequence[Sequence[Sequence[arb]]],
    before: Sequence[fmpq],
    after: Sequence[fmpq],
    *,
    delta: fmpq,
    epsilon: fmpq,
    bits: int,
) -> list[list[arb]]:
    """Enclose 2κ_l s ν_l, the jump of the gradient from the cell of `before` to that of `after`, at `bits` bits.

    `s` is the sign of n_l·after for the one line l between the two cells.
    """
    with ctx.workprec(bits):
        first, second = (enclosed_gradient(model, W, base, delta, epsilon) for base in (before, after))
        return [[y - x for x, y in zip(a, b, strict=True)] for a, b in zip(first, second, strict=True)]
