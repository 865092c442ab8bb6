"""What the learner itself makes of a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exactmha.attention import Attention, Model
from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.errors import ExactMHAError, LimitError
from exactmha.fields.values import ExactValue
from exactmha.heads import Head
from exactmha.oracle import Oracle
from exactmha.outcome import Claim, Evidence, Outcome, counted
from exactmha.recover.learn import learn
from exactmha.sequences import Token

Answer = Callable[[Sequence[Token]], ExactValue]


def refused(setting: Setting, answer: Answer, what: str, told: int) -> Claim:
    """Run the learner, told a number of heads: it must not return any. Asks at most 4Hd² − 2H + 1 queries a draw."""
    statement = f"the learner, told {counted(told, 'head')} and asked to recover {what}, returns none"
    try:
        learn(Oracle(answer, setting.field, setting.dim), heads=told, seed=setting.seed)
    except LimitError:
        raise
    except ExactMHAError as error:
        return Claim("refused", statement, Outcome.HOLDS, Evidence.COMPUTED, f"{type(error).__name__}: {error}")
    return Claim("refused", statement, Outcome.FAILS, Evidence.COMPUTED, "it returned heads")


def recovered(
    setting: Setting, oracle: Oracle, *, heads: int | None = None, heads_bound: int | None = None
) -> tuple[Head, ...]:
    """Run the learner with the tokens of the setting; raises `Degenerate` where it returns no heads."""
    try:
        run = learn(oracle, heads=heads, heads_bound=heads_bound, seed=setting.seed, grid=setting.grid, redraw=False)
    except LimitError:
        raise
    except ExactMHAError as error:
        raise Degenerate(str(error)) from None
    return run.heads


def same_recovery(setting: Setting, models: Sequence[Model], bound: int) -> Claim:
    """Run the learner, told only a bound, on both models with the tokens of the setting: it finds the first one twice.

    Raises `Degenerate` when a condition fails for these tokens that the construction does not need to fail.
    """
    statement = f"told H ≤ {bound} and given these tokens, the learner returns the heads of model 1 for both"
    found = []
    for model in models:
        oracle = Oracle(Attention(model), setting.field, setting.dim)
        found.append(recovered(setting, oracle, heads_bound=bound))
    same = Outcome.of(found == [models[0].canonical().heads] * len(models))
    return Claim("recovery", statement, same, Evidence.COMPUTED, "exact comparison of two runs")
