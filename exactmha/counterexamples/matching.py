"""Without the matching queries, or with only a bound on the number of heads (`proofs/counterexamples`)."""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.attention import Attention, Model
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.learner import recovered, same_recovery
from exactmha.counterexamples.setting import Degenerate, Setting, dual, learner_queries, orthogonal
from exactmha.errors import LimitError
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome, counted

_MOST_SIZE = 36


def no_matching(setting: Setting) -> Construction:
    """v_1 = v_2 and W, W + Z + x yᵀ against W + x yᵀ, W + Z, where x yᵀ shows in (b_d, u_d) only, and Z elsewhere only.

    x ⟂ b_1..b_{d−1}, y ⟂ u_1..u_{d−1}, b_dᵀ Z u_d = 0. Every grid profile (b_j, u_i) is the same set of (r, c) in both
    models, so the 2Hd² + 1 queries without the sum profiles have the same answers; the two models are different.
    """
    _check_size(setting)
    b, u = setting.tokens
    spread = setting.height * (setting.heads - 1) * (setting.dim - 1)  # many conditions need many values
    W = [setting.matrix(spread) for _ in range(setting.field.rank)]
    v = setting.vector(spread)
    plain = setting.with_logits(W, v)
    jump = orthogonal(b[:-1], setting.dim), orthogonal(u[:-1], setting.dim)
    rest = (
        (_turned(setting, b[-1]), setting.vector()),
        (setting.vector(), _turned(setting, u[-1])),
    )  # the two parts of Z
    moved, turned = setting.changed(plain, *jump), plain
    both = moved
    for part in rest:
        turned, both = setting.changed(turned, *part), setting.changed(both, *part)
    others = setting.some_heads(setting.heads - 2, spread)
    models = [
        setting.model([plain, both, *others]),
        setting.model([moved, turned, *others]),
    ]
    grid_queries = learner_queries(b, u, setting.heads, matching=False)
    return Construction(
        (models[0], models[1]),
        f"without the matching queries, the d² grid profiles ({len(grid_queries)} queries) do not tell "
        "these models apart",
        f"v_1 = v_2, and the entry b_{setting.dim}ᵀ W u_{setting.dim} is swapped between heads 1 and 2: "
        "each profile, an unordered set of (r, c), is unchanged, but not which r belong to one head",
        agree=grid_queries,
        more=(_matching_tells(setting, models),),
    )


def _check_size(setting: Setting) -> None:
    """Refuse sizes whose weights, powers of numbers of the field, would be too long to compare thousands of answers."""
    if setting.field_name != "exponential" and setting.heads * setting.dim > _MOST_SIZE:
        raise LimitError(f"H·d above {_MOST_SIZE} takes too long in the {setting.field_name} field")


def _turned(setting: Setting, token: Sequence[int], spread: int | None = None) -> list[int]:
    """Return A·token ≠ 0, orthogonal to the token, for a random antisymmetric A."""
    most = spread or setting.height
    found = [0] * setting.dim
    for i in range(setting.dim):
        for j in range(i):
            a = setting.stream.between(-most, most)
            found[i] += a * token[j]
            found[j] -= a * token[i]
    if not any(found):
        raise Degenerate("Z = 0")
    return found


def _matching_tells(setting: Setting, models: Sequence[Model]) -> Claim:
    """Run the full learner, with its matching queries, on both: equal answers on the grid, other heads at the end."""
    statement = (
        "the learner sees equal answers in all grid profiles of both, and its matching queries alone tell them apart"
    )
    grid = {tuple(x.runs) for x in learner_queries(*setting.tokens, setting.heads, matching=False)}
    transcripts, found = [], []
    for model in models:
        oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
        found.append(recovered(setting, oracle, heads=setting.heads))
        transcripts.append(oracle.transcript or [])
    left, right = ({tuple(x.runs): answer for x, answer in transcript} for transcript in transcripts)  # type: ignore[attr-defined]  # asked as runs
    same = Outcome.every(left[query].equals(right[query]) for query in grid)
    told = Outcome.of(found[0] != found[1] and found == [model.canonical().heads for model in models])
    evidence = f"{len(grid)} grid queries alike, {len(left) - len(grid)} matching queries; each model recovered"
    return Claim("transcript", statement, Outcome.every([same, told]), Evidence.CERTIFIED, evidence)


def bound_only(setting: Setting) -> Construction:
    """Only H_0 known: a model with H_0 − 1 heads and a family of models with H_0, with one and the same transcript.

    A head (W, v_a + v_b) is split in (W + x yᵀ, v_a) and (W + x' y'ᵀ, v_b) with x, x' ⟂ b_1, y and v_b ⟂ u_i for i ≠ 2,
    y' and v_a ⟂ u_2. In each profile only one of the two is visible, with the pole of W, or both have that pole.
    """
    _check_size(setting)
    b, u = setting.tokens
    spread = setting.height * (setting.heads - 1) * (setting.dim - 1)  # many conditions need many values
    W, *others = setting.some_heads(setting.heads - 1, spread)
    v_a, v_b = _turned(setting, u[1], spread * setting.dim), dual(u, 1)
    left = setting.with_readout(setting.changed(W, _turned(setting, b[0]), dual(u, 1)), v_a)
    right = setting.with_readout(setting.changed(W, _turned(setting, b[0]), _turned(setting, u[1])), v_b)
    whole = setting.with_readout(W, [x + y for x, y in zip(v_a, v_b, strict=True)])
    one, two = setting.model([whole, *others]), setting.model([left, right, *others])
    return Construction(
        (one, two),
        f"told only H ≤ {setting.heads}: a model with {counted(setting.heads - 1, 'head')} and one with "
        f"{setting.heads} answer every query of the learner alike. Here C3 fails for the second model, which the "
        "learner cannot see; random tokens make this as unlikely as any failure of C3, but only rivals with at most "
        f"{counted(setting.heads - 1, 'head')} are excluded for certain",
        "one head is split in two that are never both visible with different poles: v_a·u_2 = 0 and v_b·u_i = 0 for "
        "i ≠ 2; what b_jᵀ W u_i, j ≥ 2, is where a head is invisible is free: a family of models, all with this "
        "transcript",
        agree=learner_queries(b, u, setting.heads),
        more=(same_recovery(setting, (one, two), setting.heads),),
    )
