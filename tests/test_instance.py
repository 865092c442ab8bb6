"""Instance files: how the field is found, what is refused and how, and round trips."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactmha.attention import Model
from exactmha.errors import InputError, LimitError
from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.heads import Head
from exactmha.instance import equivalent, from_dict, load, save, to_text
from exactmha.limits import Limits
from exactmha.outcome import Outcome

Q = fmpq
FORMAT = "exactmha/instance/1"


def content(*heads: tuple[str, str], **keys: Any) -> dict[str, Any]:
    """An instance of dimension 1 with one (W, v) per head."""
    return {"format": FORMAT, "dim": 1, "heads": [{"W": [[w]], "v": [v]} for w, v in heads], **keys}


def with_weights(*weights: str, **keys: Any) -> dict[str, Any]:
    return content(*((w, "1") for w in weights), **keys)


def logits(model: Model) -> list[list[fmpq]]:
    """Per head of a one-dimensional model: the coordinates of W on the field's units."""
    return [[matrix[0][0] for matrix in head.W] for head in model.heads]


def write(path: Path, data: Any) -> Path:
    file = path / "instance.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


class TestInference:
    @pytest.mark.parametrize(
        ("weights", "field", "expected"),
        [
            (["1/2", "-3"], ExponentialField(1, 2), [[Q(1, 2)], [Q(-3)]]),
            (["0.25"], ExponentialField(1, 4), [[Q(1, 4)]]),
            (["sqrt(2)"], ExponentialField(2, 1), [[Q(1)]]),
            (["1/sqrt(2)", "sqrt(8)"], ExponentialField(2, 2), [[Q(1, 2)], [Q(2)]]),
            (["sqrt(2)*sqrt(3)", "0"], ExponentialField(6, 1), [[Q(1)], [Q(0)]]),
            (["sqrt(4)"], ExponentialField(1, 1), [[Q(2)]]),
            (["1 + sqrt(2) - sqrt(2)"], ExponentialField(1, 1), [[Q(1)]]),
            (["0"], ExponentialField(1, 1), [[Q(0)]]),
            (["log(4) - 2*log(2)"], ExponentialField(1, 1), [[Q(0)]]),
            (["log(3/2)", "2*log(5)"], RationalField((2, 3, 5)), [[Q(-1), Q(1), Q(0)], [Q(0), Q(0), Q(2)]]),
            (["log(8)"], RationalField((2,)), [[Q(3)]]),
            (["log(4)/2"], RationalField((2,)), [[Q(1)]]),
            (["1/2*log(2) + 1/2*log(8)"], RationalField((2,)), [[Q(2)]]),
            (["log(2) + log(3) - log(3)"], RationalField((2,)), [[Q(1)]]),
            (["log(6) - log(3)", "log(1)"], RationalField((2,)), [[Q(1)], [Q(0)]]),
            (["1/2*log(2)"], RadicalField(Q(2), 2), [[Q(1, 2)]]),
            (["1/2*log(8)", "log(2)/3"], RadicalField(Q(2), 6), [[Q(3, 2)], [Q(1, 3)]]),
            (["1/4*log(9)"], RadicalField(Q(3), 2), [[Q(1, 2)]]),
            (["1/2*log(2/3)"], RadicalField(Q(3, 2), 2), [[Q(-1, 2)]]),
            (["1/2*log(6)", "log(1/36)"], RadicalField(Q(6), 2), [[Q(1, 2)], [Q(-2)]]),
            (["1/2*log(2) + 1/2*log(3)"], RadicalField(Q(6), 2), [[Q(1, 2)]]),
            (["1/3*log(12)"], RadicalField(Q(12), 3), [[Q(1, 3)]]),
        ],
        ids=str,
    )
    def test_field_and_coordinates(self, weights: list[str], field: ExactField, expected: list[list[fmpq]]) -> None:
        model = from_dict(with_weights(*weights))
        assert model.field == field
        assert logits(model) == expected

    def test_no_heads(self) -> None:
        model = from_dict(content())
        assert model.heads == ()
        assert isinstance(model.field, ExponentialField)

    @pytest.mark.parametrize(
        ("weight", "key", "field"),
        [
            ("0", "rational", RationalField(())),
            ("0", "radical", RadicalField(Q(2), 1)),
            ("0", "exponential", ExponentialField(1, 1)),
            ("log(1)", "rational", RationalField(())),
            ("log(4)/2", "rational", RationalField((2,))),
            ("log(4)/2", "radical", RadicalField(Q(2), 1)),
            ("1/2*log(4)", "radical", RadicalField(Q(2), 1)),
            ("log(2/3)", "radical", RadicalField(Q(3, 2), 1)),
            ("1/2", "exponential", ExponentialField(1, 2)),
        ],
    )
    def test_the_key_field_settles_it(self, weight: str, key: str, field: ExactField) -> None:
        assert from_dict(with_weights(weight, field=key)).field == field

    @pytest.mark.parametrize("key", ["rational", "radical", "exponential"])
    def test_no_heads_with_a_key(self, key: str) -> None:
        assert from_dict(content(field=key)).field.name == key

    def test_entries_of_a_matrix_stay_in_place(self) -> None:
        model = from_dict(
            {"format": FORMAT, "dim": 2, "heads": [{"W": [["1", "2"], ["3", "-1/2"]], "v": ["5", "-2/3"]}]}
        )
        assert model.heads == (Head((((Q(1), Q(2)), (Q(3), Q(-1, 2))),), ((Q(5),), (Q(-2, 3),))),)

    @pytest.mark.parametrize(
        ("weight", "readout", "field", "scalar"),
        [
            ("1/2*log(2)", "1 + sqrt(2)", RadicalField(Q(2), 2), (Q(1), Q(1))),
            ("1/2*log(2)", "1/(1 + sqrt(2))", RadicalField(Q(2), 2), (Q(-1), Q(1))),
            ("log(2)", "root(2,4)^3", RadicalField(Q(2), 4), (Q(0), Q(0), Q(0), Q(1))),
            ("1/3*log(2)", "sqrt(2)", RadicalField(Q(2), 6), (Q(0), Q(0), Q(0), Q(1), Q(0), Q(0))),
            ("0", "3*sqrt(8)", RadicalField(Q(2), 2), (Q(0), Q(6))),
            ("1/3*log(12)", "root(12,3)^2", RadicalField(Q(12), 3), (Q(0), Q(0), Q(1))),
            ("1/2*log(3/2)", "sqrt(3/2)", RadicalField(Q(3, 2), 2), (Q(0), Q(1))),
            ("1/2*log(3/2)", "sqrt(6)", RadicalField(Q(3, 2), 2), (Q(0), Q(2))),
            ("1/2*log(12)", "root(12,2)", RadicalField(Q(12), 2), (Q(0), Q(1))),
            ("1/2*log(12)", "sqrt(3)", RadicalField(Q(12), 2), (Q(0), Q(1, 2))),
            ("1/2*log(2/3)", "root(3/2,4)", RadicalField(Q(3, 2), 4), (Q(0), Q(1), Q(0), Q(0))),
            ("log(3/2)", "sqrt(6)", RadicalField(Q(3, 2), 2), (Q(0), Q(2))),
            ("1/3*log(12)", "root(18,3)", RadicalField(Q(12), 3), (Q(0), Q(0), Q(1, 2))),
            ("log(2)", "root(8,6)", RadicalField(Q(2), 2), (Q(0), Q(1))),
            ("log(2)", "sqrt(9/4)", RationalField((2,)), (Q(3, 2),)),
            ("1", "sqrt(2)*sqrt(8)", ExponentialField(1, 1), (Q(4),)),
        ],
    )
    def test_readouts_in_the_coefficient_field(
        self, weight: str, readout: str, field: ExactField, scalar: tuple[fmpq, ...]
    ) -> None:
        model = from_dict(content((weight, readout)))
        assert model.field == field
        assert model.heads[0].v == (scalar,)


class TestUnsupportedMixtures:
    @pytest.mark.parametrize(
        ("weights", "where", "problem"),
        [
            (["1", "log(2)"], "heads[0].W[0][0]", "mixes"),
            (["log(2)", "sqrt(2)"], "heads[1].W[0][0]", "mixes"),
            (["log(2)", "1 + log(3)"], "heads[1].W[0][0]", "mixes"),
            (["1", "sqrt(2)"], "heads[1].W[0][0]", "square root"),
            (["sqrt(2)", "sqrt(3)"], "heads[1].W[0][0]", "square root"),
            (["1 + sqrt(2)"], "heads[0].W[0][0]", "square root"),
            (["root(2,3)"], "heads[0].W[0][0]", "square root"),
            (["log(3)", "1/2*log(2)"], "heads[1].W[0][0]", "one logarithm"),
            (["1/2*log(2) + 1/3*log(3)", "log(2)"], "heads[1].W[0][0]", "one logarithm"),
        ],
        ids=str,
    )
    def test_weights(self, weights: list[str], where: str, problem: str) -> None:
        with pytest.raises(InputError, match=problem) as caught:
            from_dict(with_weights(*weights))
        assert caught.value.field == where
        assert "W must be all rational" in (caught.value.hint or "")

    @pytest.mark.parametrize(
        ("weight", "key", "where"),
        [
            ("log(2)", "exponential", "field"),
            ("1", "rational", "field"),
            ("sqrt(2)", "radical", "field"),
            ("1/2*log(2)", "rational", "heads[0].W[0][0]"),
        ],
    )
    def test_contradicting_the_key_field(self, weight: str, key: str, where: str) -> None:
        with pytest.raises(InputError) as caught:
            from_dict(with_weights(weight, field=key))
        assert caught.value.field == where

    @pytest.mark.parametrize(
        ("weight", "readout", "keys"),
        [
            ("1", "sqrt(2)", {}),
            ("1", "log(2)", {}),
            ("log(2)", "log(2)", {}),
            ("log(2)", "exp(1)", {}),
            ("1/2*log(2)", "exp(1)", {}),
            ("1/2*log(2)", "log(2)", {}),
            ("1/2*log(2)", "sqrt(3)", {}),
            ("log(2)", "sqrt(2)", {"field": "rational"}),
            ("1/2*log(2)", "1/0", {}),
            ("1/2*log(2)", "1/(sqrt(2) - root(2,2))", {}),
            ("1/2*log(2)", "sqrt(-1)", {}),
            ("1/2*log(2)", "root(2,0)", {}),
            ("1/2*log(2)", "root(2,10^9)", {}),
            ("1/2*log(2)", "1 +", {}),
        ],
    )
    def test_readouts_are_located(self, weight: str, readout: str, keys: dict[str, str]) -> None:
        with pytest.raises(InputError) as caught:
            from_dict(content((weight, "1"), (weight, readout), **keys))
        assert caught.value.field == "heads[1].v[0]"

    @pytest.mark.parametrize("text", ["1/0", "log(0)", "log(-1)", "1 +", "x", "root(2,10^9)", "9" * 20_001])
    def test_bad_weights_are_located(self, text: str) -> None:
        with pytest.raises(InputError) as caught:
            from_dict(with_weights("log(2)", text))
        assert caught.value.field == "heads[1].W[0][0]"

    def test_degree_and_base_are_limited(self) -> None:
        assert from_dict(with_weights("1/96*log(2)")).field == RadicalField(Q(2), 96)
        with pytest.raises(LimitError, match="root_order"):
            from_dict(with_weights("1/97*log(2)"))
        with pytest.raises(LimitError, match="root_order"):
            from_dict(with_weights("1/95*log(2)", "1/96*log(2)"))
        with pytest.raises(LimitError, match="log_bases"):
            from_dict(with_weights("log(30)"), Limits(log_bases=2))


SOLID = content(("1", "1"))


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in SOLID.items() if name != key}


class TestStrictness:
    @pytest.mark.parametrize(
        ("data", "field"),
        [
            ({**SOLID, "extra": 1}, "extra"),
            ({**SOLID, "heads": [{"W": [["1"]], "v": ["1"], "b": ["0"]}]}, "heads[0].b"),
            (without("format"), "format"),
            (without("dim"), "dim"),
            (without("heads"), "heads"),
            ({**SOLID, "format": "exactmha/instance/2"}, "format"),
            ({**SOLID, "format": None}, "format"),
            ({**SOLID, "field": "complex"}, "field"),
            ({**SOLID, "dim": True}, "dim"),
            ({**SOLID, "dim": 1.0}, "dim"),
            ({**SOLID, "dim": "1"}, "dim"),
            ({**SOLID, "dim": 0}, "dim"),
            ({**SOLID, "dim": -1}, "dim"),
            ({**SOLID, "dim": None}, "dim"),
            ({**SOLID, "heads": {}}, "heads"),
            ({**SOLID, "heads": [[]]}, "heads[0]"),
            ({**SOLID, "heads": [{"W": [["1"]]}]}, "heads[0].v"),
            ({**SOLID, "heads": [{"W": [[1]], "v": ["1"]}]}, "heads[0].W[0][0]"),
            ({**SOLID, "heads": [{"W": [[0.5]], "v": ["1"]}]}, "heads[0].W[0][0]"),
            ({**SOLID, "heads": [{"W": [["1"]], "v": [None]}]}, "heads[0].v[0]"),
            ({**SOLID, "heads": [{"W": ["1"], "v": ["1"]}]}, "heads[0].W[0]"),
            ({**SOLID, "heads": [{"W": [["1"]], "v": "1"}]}, "heads[0].v"),
            ({**SOLID, "heads": [{"W": [["1", "2"]], "v": ["1"]}]}, "heads[0].W[0]"),
            ({**SOLID, "heads": [{"W": [["1"], ["2"]], "v": ["1"]}]}, "heads[0].W"),
            ({**SOLID, "heads": [{"W": [], "v": ["1"]}]}, "heads[0].W"),
            ({**SOLID, "heads": [{"W": [["1"]], "v": []}]}, "heads[0].v"),
            ({**SOLID, "heads": [{"W": [["1"]], "v": ["1", "2"]}]}, "heads[0].v"),
            ({**SOLID, "dim": 513}, "dim"),
            ({**SOLID, "heads": SOLID["heads"] * 513}, "heads"),
            ([], "top level"),
            (None, "top level"),
            ("text", "top level"),
        ],
        ids=lambda x: json.dumps(x)[:60] if not isinstance(x, str) else x,
    )
    def test_wrong_content_is_located_in_file_and_field(self, tmp_path: Path, data: Any, field: str) -> None:
        file = write(tmp_path, json.dumps(data))
        with pytest.raises(InputError) as caught:
            load(file)
        assert caught.value.field == field
        assert str(caught.value).startswith(f"{file}: {field}: ")

    @pytest.mark.parametrize("rows", [[["1", "2"], ["3"]], [["1"], ["2", "3"]]])
    def test_ragged_matrices(self, rows: list[list[str]]) -> None:
        with pytest.raises(InputError, match="needs 2 entries"):
            from_dict({"format": FORMAT, "dim": 2, "heads": [{"W": rows, "v": ["1", "1"]}]})

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ('{"format": "a", "format": "b"}', "format: a key occurs twice"),
            ('{"heads": [{"W": [], "v": [], "W": []}]}', "W: a key occurs twice"),
            ('{"dim": NaN}', "NaN"),
            ('{"dim": -Infinity}', "Infinity"),
            ("", "is not JSON"),
            ("{", "is not JSON"),
            ("{} {}", "is not JSON"),
            ("{'dim': 1}", "is not JSON"),
            ('{"dim": 1,}', "is not JSON"),
            ('{"dim": 01}', "is not JSON"),
            ('// note\n{"dim": 1}', "is not JSON"),
            ('{"dim": 1e400}', "dim|format"),
            (f'{{"dim": {"9" * 5000}}}', "more than 18 digits"),
            (f'{{"dim": -{"9" * 20}}}', "more than 18 digits"),
            ("[" * 65 + "]" * 65, "nested more than 64"),
            ("[" * 100_000, "nested more than 64"),
            ('{"a":' * 100_000, "nested more than 64"),
        ],
        ids=range(17),
    )
    def test_wrong_json_names_the_file(self, tmp_path: Path, text: str, problem: str) -> None:
        file = write(tmp_path, text)
        with pytest.raises(InputError, match=problem) as caught:
            load(file)
        assert str(caught.value).startswith(f"{file}: ")

    def test_brackets_inside_strings_are_not_nesting(self, tmp_path: Path) -> None:
        file = write(tmp_path, json.dumps({**SOLID, "note": '\\"' + "[" * 1000}))
        with pytest.raises(InputError, match="note"):
            load(file)

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (b"\xef\xbb\xbf{}", "byte-order mark"),
            (b'{"dim": "\xff"}', r"not UTF-8 \(byte 9\)"),
            (json.dumps(SOLID).encode("utf-16"), "not UTF-8"),
            (b"\x00\x00", "not JSON"),
        ],
    )
    def test_wrong_bytes(self, tmp_path: Path, data: bytes, problem: str) -> None:
        file = tmp_path / "instance.json"
        file.write_bytes(data)
        with pytest.raises(InputError, match=problem):
            load(file)

    @pytest.mark.parametrize("key", ["\x1b[31m", "new\nline", "\ud800", "k" * 10_000])
    def test_messages_stay_one_printable_line_of_modest_length(self, key: str) -> None:
        with pytest.raises(InputError) as caught:
            from_dict({**SOLID, key: 1})
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000

    def test_a_repeated_key_in_a_message_is_printable(self, tmp_path: Path) -> None:
        file = write(tmp_path, '{"\\u001b[31m": 1, "\\u001b[31m": 2}')
        with pytest.raises(InputError, match="twice") as caught:
            load(file)
        assert str(caught.value).isprintable()


class TestUnreadableFiles:
    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"absent\.json: cannot be read: No such file"):
            load(tmp_path / "absent.json")

    def test_directory(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not a regular file"):
            load(tmp_path)

    def test_device(self) -> None:
        with pytest.raises(InputError, match="not a regular file"):
            load(os.devnull)

    def test_null_byte_in_the_name(self) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            load("a\0b")

    def test_a_pipe_without_a_writer_does_not_hang(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        problems: list[str] = []

        def attempt() -> None:
            try:
                load(pipe)
            except InputError as error:
                problems.append(error.problem)

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(timeout=20)
        assert problems == ["is not a regular file"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_unreadable_file(self, tmp_path: Path) -> None:
        file = write(tmp_path, SOLID)
        file.chmod(0)
        with pytest.raises(InputError, match="cannot be read: Permission denied"):
            load(file)

    def test_size_limit(self, tmp_path: Path) -> None:
        file = write(tmp_path, SOLID)
        size = file.stat().st_size
        assert load(file, Limits(file_bytes=size)).dim == 1
        with pytest.raises(LimitError, match="file_bytes"):
            load(file, Limits(file_bytes=size - 1))


rationals = st.builds(fmpq, st.integers(-50, 50), st.sampled_from([1, 2, 3, 7]))
integers = st.integers(-9, 9).map(fmpq)


@st.composite
def models(draw: st.DrawFn, field: ExactField, dim: int = 2) -> Model:
    """A model that uses its whole field: some entry of the first W has denominator N, or holds the base number."""
    entry = integers if field.name == "rational" else st.builds(fmpq, st.integers(-9, 9), st.just(field.denominator))
    size = draw(st.integers(1, 3))
    heads = []
    for h in range(size):
        W = [[[draw(entry) for _ in range(dim)] for _ in range(dim)] for _ in range(field.rank)]
        if h == 0:
            for matrix in W:
                matrix[0][0] = fmpq(1, field.denominator)
        v = tuple(tuple(draw(rationals) for _ in range(field.degree)) for _ in range(dim))
        heads.append(Head(tuple(tuple(map(tuple, matrix)) for matrix in W), v))
    return Model(field, dim, tuple(heads))


class TestRoundTrip:
    @pytest.mark.parametrize(
        "field",
        [
            ExponentialField(1, 6),
            ExponentialField(30, 1),
            RationalField((2, 3, 7)),
            RationalField((10,)),
            RadicalField(Q(2), 1),
            RadicalField(Q(5), 4),
            RadicalField(Q(3, 2), 1),
            RadicalField(Q(6), 3),
            RadicalField(Q(3, 2), 3),
            RadicalField(Q(12), 2),
        ],
        ids=str,
    )
    def test_load_inverts_save(self, tmp_path_factory: pytest.TempPathFactory, field: ExactField) -> None:
        file = tmp_path_factory.mktemp("round") / "instance.json"

        @settings(derandomize=True, deadline=None, max_examples=10)
        @given(models(field))
        def check(model: Model) -> None:
            save(model, file)
            loaded = load(file)
            if field.name == "rational" and 10 in field.base:
                assert equivalent(loaded, model) is Outcome.HOLDS
            else:
                assert loaded == model

        check()

    def test_no_heads(self, tmp_path: Path) -> None:
        for field in ("rational", "radical", "exponential"):
            model = from_dict(content(field=field))
            save(model, tmp_path / "empty.json")
            assert load(tmp_path / "empty.json") == model

    def test_numbers_beyond_pythons_digit_limit(self, tmp_path: Path) -> None:
        model = from_dict(with_weights("9" * 10_000, "1/2"))
        save(model, tmp_path / "big.json")
        assert load(tmp_path / "big.json") == model

    def test_the_file_is_plain_json_with_exact_strings(self) -> None:
        text = to_text(from_dict(content(("0.5*sqrt(8)", "-4/6"))))
        assert json.loads(text) == content(("sqrt(2)", "-2/3"), field="exponential")

    def test_negative_and_missing_parts_of_a_readout(self) -> None:
        text = to_text(from_dict(content(("log(2)/3", "root(2,3)^2 - 2/3"))))
        assert json.loads(text)["heads"][0] == {"W": [["1/3*log(2)"]], "v": ["-2/3 + root(2,3)^2"]}


class TestEquivalence:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (content(("1", "1")), content(("1", "1"))),
            (content(("1", "1"), ("2", "3")), content(("2", "3"), ("1", "1"))),
            (content(("1", "1"), ("1", "2")), content(("1", "3"))),
            (content(("1", "1"), ("2", "1"), ("2", "-1")), content(("1", "1"))),
            (content(("1", "1"), ("1/2", "1"), ("1/2", "-1")), content(("1", "1"))),
            (content(("log(4)", "1")), content(("2*log(2)", "1"))),
            (content(("log(4)/2", "1"), field="rational"), content(("1/2*log(4)", "1"), field="radical")),
            (content(("log(2)", "1")), content(("log(2)", "1"), ("log(3)", "1"), ("log(3)", "-1"))),
            (content(("1/2*log(2)", "1")), content(("1/2*log(2)", "1"), ("1/3*log(2)", "0"))),
            (content(("1/2*log(2)", "sqrt(2)")), content(("1/4*log(4)", "root(2,4)^2"))),
            (content(), content(("log(2)", "0"))),
            (content(), content(("1", "1"), ("1", "-1"))),
            (content(("0", "1")), content(("log(1)", "1"), field="rational")),
            (content(("0", "1"), field="exponential"), content(("0", "1"), field="radical")),
            (content(("log(1000003*1000033)", "1")), content(("log(1000003) + log(1000033)", "1"))),
        ],
    )
    def test_same_function(self, left: dict[str, Any], right: dict[str, Any]) -> None:
        a, b = from_dict(left), from_dict(right)
        assert equivalent(a, b) is Outcome.HOLDS
        assert equivalent(b, a) is Outcome.HOLDS

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (content(("1", "1")), content(("1", "2"))),
            (content(("1", "1")), content(("2", "1"))),
            (content(("1", "1")), content()),
            (content(("1", "1")), content(("log(2)", "1"))),
            (content(("1", "1")), content(("sqrt(2)", "1"))),
            (content(("sqrt(2)", "1")), content(("sqrt(3)", "1"))),
            (content(("log(2)", "1")), content(("log(3)", "1"))),
            (content(("log(2)", "1")), content(("1/2*log(2)", "1"))),
            (content(("1/2*log(2)", "1")), content(("1/2*log(3)", "1"))),
            (content(("1/2*log(2)", "1")), content(("1/2*log(2)", "sqrt(2)"))),
            (content(("0", "1")), content(("0", "sqrt(2)"))),
            (content(("1", "1")), content(("0", "sqrt(2)"))),
        ],
    )
    def test_different_functions(self, left: dict[str, Any], right: dict[str, Any]) -> None:
        a, b = from_dict(left), from_dict(right)
        assert equivalent(a, b) is Outcome.FAILS
        assert equivalent(b, a) is Outcome.FAILS

    def test_different_dimensions(self) -> None:
        wide = {"format": FORMAT, "dim": 2, "heads": []}
        assert equivalent(from_dict(wide), from_dict(content())) is Outcome.FAILS

    def test_too_many_heads_to_compare_are_not_called_different(self) -> None:
        weights = [f"{k}*log(2)" for k in range(1, 301)]
        left, right = (from_dict(with_weights(*weights, field=key)) for key in ("rational", "radical"))
        assert equivalent(left, right) in (Outcome.HOLDS, Outcome.UNDECIDED)

    def test_across_files(self, tmp_path: Path) -> None:
        save(from_dict(content(("1/2*log(2)", "sqrt(2)"), ("1/3*log(2)", "0"))), tmp_path / "a.json")
        save(from_dict(content(("1/2*log(2)", "root(2,2)"))), tmp_path / "b.json")
        a, b = load(tmp_path / "a.json"), load(tmp_path / "b.json")
        assert a.field != b.field
        assert equivalent(a, b) is Outcome.HOLDS
