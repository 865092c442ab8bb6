"""exactmha: an exact-arithmetic verifier for learning multi-head attention from value queries (arXiv:2608.03294).

    f(X) = Σ_h v_h · Σ_i p_{h,i} x_i,   p_h = softmax_i(x_n^T W_h x_i),   only f at the last token x_n is seen.

The names below are imported when first used, so that `import exactmha` is fast.

>>> import exactmha
>>> model = exactmha.random_model(heads=2, dim=2, field="exponential", seed=0)
>>> oracle = exactmha.Oracle(exactmha.Attention(model), model.field, model.dim)
>>> recovery = exactmha.learn(oracle, heads=2)
>>> recovery.heads == model.canonical().heads, oracle.queries, oracle.max_length
(True, 29, 5)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from exactmha import explain as explain
    from exactmha.approximate.doubles import double_oracle as double_oracle
    from exactmha.approximate.numeric import learn_numeric as learn_numeric
    from exactmha.attention import Attention as Attention
    from exactmha.attention import Model as Model
    from exactmha.conditions import Grid as Grid
    from exactmha.errors import ExactMHAError as ExactMHAError
    from exactmha.errors import InputError as InputError
    from exactmha.fields import ExponentialField as ExponentialField
    from exactmha.fields import RadicalField as RadicalField
    from exactmha.fields import RationalField as RationalField
    from exactmha.heads import Head as Head
    from exactmha.heads import canonical as canonical
    from exactmha.instance import equivalent as equivalent
    from exactmha.instance import load as load
    from exactmha.instance import save as save
    from exactmha.limits import Limits as Limits
    from exactmha.oracle import Oracle as Oracle
    from exactmha.outcome import Claim as Claim
    from exactmha.outcome import Evidence as Evidence
    from exactmha.outcome import Outcome as Outcome
    from exactmha.random_instance import random_model as random_model
    from exactmha.recover.learn import Recovery as Recovery
    from exactmha.recover.learn import learn as learn
    from exactmha.sequences import TokenSequence as TokenSequence
    from exactmha.symbolic import to_sympy as to_sympy
    from exactmha.verification import Verification as Verification
    from exactmha.verification import verify as verify

_HOME = {
    "Attention": "attention",
    "Claim": "outcome",
    "Evidence": "outcome",
    "ExactMHAError": "errors",
    "ExponentialField": "fields",
    "Grid": "conditions",
    "Head": "heads",
    "InputError": "errors",
    "Limits": "limits",
    "Model": "attention",
    "Oracle": "oracle",
    "Outcome": "outcome",
    "RadicalField": "fields",
    "RationalField": "fields",
    "Recovery": "recover.learn",
    "TokenSequence": "sequences",
    "Verification": "verification",
    "canonical": "heads",
    "double_oracle": "approximate.doubles",
    "equivalent": "instance",
    "learn": "recover.learn",
    "learn_numeric": "approximate.numeric",
    "load": "instance",
    "random_model": "random_instance",
    "save": "instance",
    "to_sympy": "symbolic",
    "verify": "verification",
}
__all__ = sorted(_HOME)  # noqa: PLE0605  # a list of strings, computed


def __getattr__(name: str) -> object:
    if name == "explain":  # the only sub-package that need not be imported before it is used
        return import_module("exactmha.explain")
    if name not in _HOME:
        raise AttributeError(f"module 'exactmha' has no attribute {name!r}")
    value = getattr(import_module(f"exactmha.{_HOME[name]}"), name)
    globals()[name] = value  # so that the sub-module of the same name does not shadow it later
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__", "explain"]
