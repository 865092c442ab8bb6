"""Counterexamples about Transformers: every claim holds, mpmath sees the same, a wrong construction does not pass."""

from __future__ import annotations

import json
from dataclasses import replace

import mpmath
import pytest
from decimals import transformer
from flint import fmpq

from exactmha.counterexamples import networks
from exactmha.counterexamples.networks import NETWORKS, network_assumption
from exactmha.counterexamples.setting import Setting
from exactmha.errors import InputError
from exactmha.limits import DEFAULT_LIMITS
from exactmha.outcome import Outcome
from exactmha.randomness import Stream
from exactmha.transformer.instance import to_text

FIELDS = ["exponential", "rational", "radical"]


@pytest.mark.parametrize("each", NETWORKS, ids=lambda each: each.name)
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("more", [(0, 0), (1, 1)])
def test_all_claims_hold(each: networks.NetworkAssumption, field: str, more: tuple[int, int]) -> None:
    setting = Setting(each.least[0] + more[0], each.least[1] + more[1], field, seed=0)
    found = each.build(setting)
    assert found.outcome is Outcome.HOLDS, found.claims
    assert len(found.claims) >= 2
    assert len({claim.statement for claim in found.claims}) == len(found.claims)


def test_names_of_the_issue_are_all_there() -> None:
    names = [each.name for each in NETWORKS]
    assert {"biased-network", "cancelling-lines", "invisible-neuron"} <= set(names)
    assert network_assumption("unmerged") is None


@pytest.mark.parametrize("each", NETWORKS, ids=lambda each: each.name)
def test_below_the_least_size(each: networks.NetworkAssumption) -> None:
    for heads, dim in ((each.least[0] - 1, each.least[1]), (each.least[0], each.least[1] - 1)):
        with pytest.raises(InputError, match="needs at least"):
            each.build(Setting(heads, dim, "rational", 0))


def decimals(name: str, queries: list[list[list[int]]]) -> list[mpmath.mpf]:
    """The differences of the two models."""
    each = network_assumption(name)
    assert each
    first, second = each.build(Setting(*each.least, "rational", 0)).models
    contents = [json.loads(to_text(model)) for model in (first, second)]
    return [transformer(contents[0], x) - transformer(contents[1], x) for x in queries]


QUERIES = [[[1, 2]], [[2, -1], [1, 1]], [[1, 0], [0, 2], [-1, 1]], [[3, 1], [-2, 2], [1, -1], [1, 2]]]


def test_three_lines_cancel_numerically_too() -> None:
    with mpmath.workdps(60):
        assert all(abs(x) < mpmath.mpf(10) ** -45 for x in decimals("cancelling-lines", QUERIES))


@pytest.mark.parametrize("name", ["invisible-neuron", "parallel-neurons"])
def test_single_tokens_agree_and_longer_queries_do_not(name: str) -> None:
    with mpmath.workdps(60):
        stream = Stream(0, "test")
        queries = [[[stream.between(-3, 3) for _ in range(2)] for _ in range(3)] for _ in range(40)]
        single, *longer = decimals(name, [QUERIES[0], *queries])
        assert abs(single) < mpmath.mpf(10) ** -45
        assert max(abs(x) for x in longer) > mpmath.mpf(10) ** -20


def test_a_wrong_construction_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """With −2|·| in place of −|·| the three lines do not cancel."""
    monkeypatch.setattr(networks, "absolute", lambda a, mu, real=networks.absolute: real(2 * a if a < 0 else a, mu))
    found = networks.cancelling_lines(Setting(3, 2, "rational", 0), DEFAULT_LIMITS)
    assert found.outcome is Outcome.FAILS


def test_without_a_bias_the_biased_network_is_no_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Setting, "scalar", lambda self, _x: (fmpq(0),) * self.field.degree)
    with pytest.raises(InputError, match="every draw was degenerate"):
        replace(NETWORKS[0]).build(Setting(1, 1, "rational", 0))
