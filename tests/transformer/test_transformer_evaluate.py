"""Exact evaluation against mpmath from the definition; the sign of exact numbers that are 0 or nearly so."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest
from decimals import transformer
from flint import fmpq

from exactmha.errors import InputError, Undecided
from exactmha.fields import ExponentialField, RadicalField, RationalField
from exactmha.outcome import Outcome
from exactmha.randomness import Stream
from exactmha.transformer import sign as sign_module
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.instance import from_dict, to_text
from exactmha.transformer.random_transformer import random_transformer
from exactmha.transformer.sign import sign

FIELDS = ["exponential", "rational", "radical"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim", "width", "neurons"), [(1, 1, 1, 1), (2, 2, 3, 4), (3, 2, 2, 6), (2, 3, 4, 3)])
def test_answers_are_those_of_the_definition(field: str, heads: int, dim: int, width: int, neurons: int) -> None:
    model = random_transformer(heads, dim, width, neurons, field, seed=3)
    answer, content = TransformerAnswer(model), json.loads(to_text(model))
    stream = Stream(0, "test", field, heads)
    patterns = set()
    with mpmath.workdps(60):
        for length in (1, 2, 2, 3, 4):
            tokens = [tuple(stream.between(-2, 2) for _ in range(dim)) for _ in range(length)]
            expected = transformer(content, [[Fraction(x) for x in token] for token in tokens])
            ball = answer(tokens).enclosure(40)
            middle = mpmath.mpf(ball.mid().str(50, radius=False))
            assert abs(middle - expected) < mpmath.mpf(10) ** -35 * (1 + abs(expected))
            patterns.add(answer.pattern(tokens))
    assert dim == 1 or len(patterns) > 1


def test_by_hand() -> None:
    """d = 1, W = log 2: with last token 0 the weights are equal, A = 1/2 on (1, 0); on (0, 1) they are 1 : 2, A = 2/3.

    T = 3·ReLU(A) − ReLU(−2A): on (x, 0) it is 3·1/2 for x = 1 and −1 for x = −1.
    """
    content = {
        "format": "exactmha/instance/1",
        "field": "rational",
        "dim": 1,
        "heads": [{"W": [["log(2)"]], "O": [["1"]]}],
        "ffn": {"w": [["1"], ["-2"]], "a": ["3", "-1"]},
    }
    answer = TransformerAnswer(from_dict(content))
    assert str(answer([(1,), (0,)])) == "3/2"
    assert str(answer([(-1,), (0,)])) == "-1"
    assert str(answer([(0,), (1,)])) == "2"
    assert answer.pattern([(0,), (1,)]) == (1, -1)
    assert answer.pattern([(1,), (-1,), (0,)]) == (0, 0)


def test_no_neurons_no_heads() -> None:
    model = from_dict(
        {"format": "exactmha/instance/1", "field": "rational", "dim": 2, "heads": [], "ffn": {"w": [], "a": []}}
    )
    assert TransformerAnswer(model)([(1, 2)]).is_zero() is Outcome.HOLDS
    with pytest.raises(InputError, match="2 coordinates"):
        TransformerAnswer(model)([(1,)])


# --- signs -----------------------------------------------------------------------------------------


def test_zero_is_decided_exactly() -> None:
    field = RadicalField(fmpq(2), 2)
    root = field.monomial((1,))
    two = field.embed((fmpq(2), fmpq(0)))
    assert sign(root * root - two) == 0
    exponential = ExponentialField(1, 1)
    one, t = exponential.embed((fmpq(1),)), exponential.monomial((1,))
    assert sign(one / (one + t) + t / (one + t) - one) == 0


def test_tiny_numbers_have_a_sign() -> None:
    # (1 + √2)^−200: a + b√2 with |a|, |b| of 254 bits, and a value of about 2^−254
    field = RadicalField(fmpq(2), 2)
    small = field.embed((fmpq(-1), fmpq(1)))
    power = field.embed((fmpq(1), fmpq(0)))
    for _ in range(200):
        power = power * small
    assert sign(power) == 1
    assert sign(field.embed((fmpq(0), fmpq(0))) - power) == -1
    exponential = ExponentialField(1, 1)
    one, huge = exponential.embed((fmpq(1),)), exponential.monomial((400,))
    assert sign(one - huge / (one + huge)) == 1  # 1/(1 + e^400)
    rational = RationalField((2,))
    assert sign(rational.embed((fmpq(-1, 10**400),))) == -1


def test_what_stays_unclear_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_module, "MOST_BITS", 64)
    field = RadicalField(fmpq(2), 2)
    small, power = field.embed((fmpq(-1), fmpq(1))), field.embed((fmpq(1), fmpq(0)))
    for _ in range(200):
        power = power * small
    with pytest.raises(Undecided, match="do not show its sign"):
        sign(power)
