"""Instance files with "O" and "ffn": round trips, and one clear sentence for each way to be wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from exactmha import instance as plain
from exactmha.errors import InputError, LimitError
from exactmha.limits import Limits
from exactmha.transformer.instance import from_dict, is_transformer, load, save, to_text
from exactmha.transformer.random_transformer import random_transformer

GOOD: dict[str, Any] = {
    "format": "exactmha/instance/1",
    "field": "exponential",
    "dim": 2,
    "heads": [{"W": [["1/2", "-3"], ["0", "2"]], "O": [["1", "0"], ["1/2", "-1"], ["0", "0.5"]]}],
    "ffn": {"w": [["1", "-1", "0"], ["0", "2", "1"]], "a": ["3", "-1/2"]},
}


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
@pytest.mark.parametrize("shape", [(2, 2, 3, 2), (0, 2, 1, 0), (1, 1, 1, 1)])
def test_round_trip(field: str, shape: tuple[int, int, int, int], tmp_path: Path) -> None:
    model = random_transformer(*shape, field, 1)
    assert from_dict(json.loads(to_text(model))) == model
    save(model, tmp_path / "t.json")
    assert load(tmp_path / "t.json") == model


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    assert is_transformer(GOOD)
    assert not any(map(is_transformer, ({"heads": []}, {"heads": [{"W": [["0"]], "v": ["1"]}]}, [], {"heads": 1})))
    path = tmp_path / "plain.json"
    path.write_text(json.dumps({"format": GOOD["format"], "dim": 1, "heads": [{"W": [["1"]], "v": ["1"]}]}))
    assert isinstance(load(path), plain.Model)
    with pytest.raises(InputError, match="is a Transformer"):
        plain.from_dict(GOOD)


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    content = deepcopy(GOOD)
    at: Any = content
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "field", "words"),
    [
        (("ffn",), None, "ffn", "field required"),
        (("ffn", "a"), None, "ffn.a", "field required"),
        (("ffn", "a"), ["1"], "ffn.w", "needs 1 rows"),
        (("ffn", "w", 0), ["1", "2"], "ffn.w[0]", "needs 3 entries"),
        (("ffn", "w", 0, 1), "1/0", "ffn.w[0][1]", "division by zero"),
        (("ffn", "a", 1), "log(2)", "ffn.a[1]", "must be rational"),
        (("ffn", "bias"), ["1"], "ffn.bias", "remove this key"),
        (("heads", 0, "O"), None, "heads[0].O", "field required"),
        (("heads", 0, "O", 1), ["1"], "heads[0].O[1]", "needs 2 entries"),
        (("heads", 0, "O", 1, 0), "sqrt(2)", "heads[0].O[1][0]", "must be rational"),
        (("heads", 0, "O", 1, 0), 1, "heads[0].O[1][0]", "as a string"),
        (("heads", 0, "v"), ["1", "1"], "heads[0].v", "remove this key"),
        (("heads", 0, "W", 0, 0), "1 +", "heads[0].W[0][0]", "expected"),
        (("heads", 0, "W"), [["1"]], "heads[0].W", "needs 2 rows"),
        (("field",), "rational", "field", "rationals or roots"),
        (("dim",), 0, "dim", "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, field: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        from_dict(changed(path, value))
    assert caught.value.field == field
    assert words in str(caught.value)


def test_two_heads_need_one_width() -> None:
    content = deepcopy(GOOD)
    content["heads"].append({"W": [["1", "0"], ["0", "1"]], "O": [["1", "0"]]})
    with pytest.raises(InputError, match="needs 3 rows"):
        from_dict(content)


@pytest.mark.parametrize("limits", [Limits(neurons=1), Limits(width=2)])
def test_sizes_are_bounded(limits: Limits) -> None:
    with pytest.raises(LimitError, match="more than"):
        from_dict(GOOD, limits)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([(("dim",), 10**9)], "dim: more than 512"),
        ([(("heads",), [{"W": [], "O": []}] * 513), (("dim",), 10**9)], "dim: more than 512"),
        ([(("heads",), [{"W": [], "O": []}] * 513)], "heads: more than 512 heads"),
    ],
)
def test_sizes_are_checked_before_anything_of_that_size_is_built(
    changes: list[tuple[tuple[Any, ...], Any]], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "from_dict", lambda *_: pytest.fail("heads were built"))
    content = deepcopy(GOOD)
    for path, value in changes:
        content[path[0]] = value
    with pytest.raises(LimitError, match=words):
        from_dict(content)
