"""Instance files: exact expressions → model, and back.

    {"format": "exactmha/instance/1", "field": "exponential", "dim": 2,
     "heads": [{"W": [["1/2", "-3"], ["0", "2"]], "v": ["1", "-2/3"]}]}

The field is inferred from W: all rational, or rational multiples of one square root → exponential;
integer combinations of logarithms → rational; rational multiples of one logarithm → radical. The
optional key "field" settles what could be two of them (W = 0, or 1/2*log(4)).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from pathlib import Path
from typing import Annotated, Any, Literal

from flint import fmpq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from exactmha.attention import Model
from exactmha.errors import InputError, LimitError
from exactmha.expressions import Node, calls, evaluate, parse
from exactmha.fields import ExactField, ExponentialField, RadicalField, RationalField
from exactmha.fields.coprime import coordinates, coprime_base
from exactmha.fields.interface import Scalar
from exactmha.fields.text import ValueAlgebra
from exactmha.files import parse_json, read_bytes, write_atomically
from exactmha.forms import Form, FormAlgebra, Radical
from exactmha.heads import Head
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.outcome import Outcome

FORMAT = "exactmha/instance/1"
SUPPORTED = (
    "W must be all rational or rational multiples of one sqrt(n) (exponential field), integer combinations of "
    "log(q) (rational field), or rational multiples of one log(q) (radical field)"
)

V_SUPPORTED = "v is rational, or in the radical field made of rationals and powers of root(β,N)"

Coordinates = list[tuple[fmpq, ...]]
"""For every entry of every W, its coordinates on the field's logarithmic units."""

_STRICT = ConfigDict(strict=True, extra="forbid")


class _HeadFile(BaseModel):
    model_config = _STRICT
    W: list[list[str]]
    v: list[str]


class _InstanceFile(BaseModel):
    model_config = _STRICT
    format: Literal["exactmha/instance/1"]
    field: Literal["rational", "radical", "exponential"] | None = None
    dim: Annotated[int, Field(ge=1)]
    heads: list[_HeadFile]


def load(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Model:
    """Read an instance file; raises `InputError` naming file, field, value and what to do."""
    return load_with_source(path, limits)[0]


def load_with_source(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> tuple[Model, bytes]:
    """Read an instance file once; return the model and the bytes it was read from."""
    source = read_bytes(path, limits)
    data = parse_json(source, file=str(path), limits=limits)
    try:
        return from_dict(data, limits), source
    except InputError as error:
        raise error.located(file=str(path)) from None


def from_dict(data: Any, limits: Limits = DEFAULT_LIMITS) -> Model:
    """Build a model from the parsed content of an instance file."""
    if isinstance(data, dict) and "ffn" in data:
        raise InputError(
            "is a Transformer, which is not taken here",
            field="ffn",
            hint="use verify, query, canonical, or another file",
        )
    try:
        content = _InstanceFile.model_validate(data)
    except ValidationError as error:
        raise translated(error) from None
    if content.dim > limits.dim:
        raise LimitError(f"more than {limits.dim}", field="dim", value=content.dim, hint="see --limit dim")
    if len(content.heads) > limits.heads:
        raise LimitError(
            f"more than {limits.heads} heads", field="heads", value=len(content.heads), hint="see --limit heads"
        )
    for h, head in enumerate(content.heads):
        _check_shape(head, h, content.dim)
    reader = _Reader(limits)
    entries = [
        _Entry(f"heads[{h}].W[{i}][{j}]", reader.form(text, f"heads[{h}].W[{i}][{j}]"))
        for h, head in enumerate(content.heads)
        for i, row in enumerate(head.W)
        for j, text in enumerate(row)
    ]
    readouts = [
        [_Readout(f"heads[{h}].v[{i}]", text, reader.tree(text, f"heads[{h}].v[{i}]")) for i, text in enumerate(head.v)]
        for h, head in enumerate(content.heads)
    ]
    field, numbers = _Inference(entries, [entry for v in readouts for entry in v], reader.algebra, limits).choose(
        content.field
    )
    heads = []
    per_head = content.dim**2
    for h, v in enumerate(readouts):
        mine = numbers[h * per_head : (h + 1) * per_head]
        matrices = tuple(
            tuple(tuple(mine[i * content.dim + j][g] for j in range(content.dim)) for i in range(content.dim))
            for g in range(field.rank)
        )
        heads.append(Head(matrices, tuple(_scalar(entry, reader, field, limits) for entry in v)))
    return Model(field, content.dim, tuple(heads))


def translated(error: ValidationError) -> InputError:
    """Turn pydantic's first complaint into ours."""
    first = error.errors(include_url=False)[0]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    hints = {
        "string_type": 'write every number as a string, e.g. "1/2"',
        "extra_forbidden": "remove this key",
        "missing": "add this key",
        "model_type": "write a JSON object",
    }
    value = None if first["type"] == "missing" else first["input"]
    message = first["msg"][0].lower() + first["msg"][1:]
    return InputError(message, field=field or "top level", value=value, hint=hints.get(first["type"]))


def _check_shape(head: _HeadFile, h: int, dim: int) -> None:
    if len(head.v) != dim:
        raise InputError(f"v needs {dim} entries", field=f"heads[{h}].v", value=len(head.v), hint="dim says how many")
    if len(head.W) != dim:
        raise InputError(f"W needs {dim} rows", field=f"heads[{h}].W", value=len(head.W), hint="dim says how many")
    for i, row in enumerate(head.W):
        if len(row) != dim:
            raise InputError(
                f"a row of W needs {dim} entries", field=f"heads[{h}].W[{i}]", value=len(row), hint="dim says how many"
            )


@dataclass(frozen=True, slots=True)
class _Entry:
    where: str
    form: Form


@dataclass(frozen=True, slots=True)
class _Readout:
    where: str
    text: str
    tree: Node


class _Reader:
    """Parses and evaluates expressions, each distinct text once, and says where a bad one stands."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self.algebra = limits, FormAlgebra(limits)
        self._trees: dict[str, Node] = {}
        self._forms: dict[str, Form] = {}

    def tree(self, text: str, where: str) -> Node:
        if text not in self._trees:
            try:
                self._trees[text] = parse(text, self._limits)
            except InputError as error:
                raise error.located(field=where) from None
        return self._trees[text]

    def form(self, text: str, where: str) -> Form:
        if text not in self._forms:
            try:
                self._forms[text] = evaluate(self.tree(text, where), self.algebra)
            except InputError as error:
                raise error.located(field=where) from None
        return self._forms[text]


def _scalar(entry: _Readout, reader: _Reader, field: ExactField, limits: Limits) -> Scalar:
    """Evaluate an entry of v in the coefficient field."""
    if isinstance(field, RadicalField):
        try:
            element = evaluate(entry.tree, ValueAlgebra(field, limits))
        except InputError as error:
            raise error.located(field=entry.where) from None
        return field.scalar(element)  # type: ignore[arg-type]  # an element of this field
    value = reader.form(entry.text, entry.where).rational()
    if value is None:
        raise InputError(f"v must be rational in the {field.name} field", field=entry.where, hint=V_SUPPORTED)
    return (value,)


class _Inference:
    """Finds the field of an instance: all logarithms and roots as vectors over one coprime base."""

    def __init__(
        self, entries: Sequence[_Entry], readouts: Iterable[_Readout], algebra: FormAlgebra, limits: Limits
    ) -> None:
        self.entries, self.limits = entries, limits
        self.roots = [(entry.where, radical) for entry in readouts for radical in _radicals(entry, algebra)]
        arguments = {q for entry in entries for q in entry.form.logs}
        if sum(q.height_bits() for q in arguments) > limits.log_bits:
            raise LimitError(
                f"the numbers under logarithms have more than {limits.log_bits} bits together",
                field="heads",
                hint="see --limit log_bits",
            )
        primes = [fmpq(p) for _, radical in self.roots for p, _ in radical]
        self.base = coprime_base([*arguments, *primes], limits.log_bases)
        self._coordinates = {q: coordinates(q, self.base) for q in arguments}
        self.vectors = [self._vector(entry.form) for entry in entries]

    def _root_vector(self, radical: Radical) -> tuple[fmpq, ...]:
        total = [fmpq(0)] * len(self.base)
        for p, e in radical:
            exponent = fmpq(e.numerator, e.denominator)
            total = [t + exponent * x for t, x in zip(total, coordinates(fmpq(p), self.base), strict=True)]
        return tuple(total)

    def _vector(self, form: Form) -> tuple[fmpq, ...]:
        total = [fmpq(0)] * len(self.base)
        for q, c in form.logs.items():
            total = [t + c * e for t, e in zip(total, self._coordinates[q], strict=True)]
        return tuple(total)

    def choose(self, wanted: str | None) -> tuple[ExactField, Coordinates]:
        """Return the field, and for every entry of W its coordinates on the field's logarithmic units."""
        has_logs = any(x != 0 for vector in self.vectors for x in vector)
        mixed = next((e for e, x in zip(self.entries, self.vectors, strict=True) if e.form.radicals and has_logs), None)
        if mixed is not None:
            raise InputError("W mixes logarithms with rationals or roots", field=mixed.where, hint=SUPPORTED)
        has_numbers = any(entry.form.radicals for entry in self.entries)
        name = wanted or self._name(has_logs, has_numbers)
        if name == "exponential":
            if has_logs:
                raise InputError(
                    'W has logarithms, but the key "field" says exponential', field="field", hint=SUPPORTED
                )
            return self._exponential()
        if has_numbers:
            raise InputError(
                f'W has rationals or roots, but the key "field" says {name}', field="field", hint=SUPPORTED
            )
        return self._rational() if name == "rational" else self._radical()

    def _name(self, has_logs: bool, has_numbers: bool) -> str:
        if not has_logs:
            return "radical" if self.roots and not has_numbers else "exponential"
        integral = all(x.denominator == 1 for vector in self.vectors for x in vector)
        return "rational" if integral and not self.roots else "radical"

    def _exponential(self) -> tuple[ExactField, Coordinates]:
        unit: Radical | None = None
        numbers: Coordinates = []
        for entry in self.entries:
            for radical in entry.form.radicals:
                if unit is None:
                    unit = radical
                if radical != unit or any(e != Fraction(1, 2) for _, e in radical):
                    raise InputError(
                        "W is neither all rational nor all rational multiples of one square root",
                        field=entry.where,
                        hint=SUPPORTED,
                    )
            numbers.append((entry.form.radicals.get(unit or (), fmpq(0)),))
        radicand = reduce(lambda n, p: n * p, (p for p, _ in unit or ()), 1)
        return ExponentialField(radicand, _common_denominator(numbers)), numbers

    def _rational(self) -> tuple[ExactField, Coordinates]:
        for entry, vector in zip(self.entries, self.vectors, strict=True):
            if any(x.denominator != 1 for x in vector):
                raise InputError(
                    "an entry is no integer combination of logarithms of rationals",
                    field=entry.where,
                    hint=SUPPORTED,
                )
        used = [i for i in range(len(self.base)) if any(vector[i] != 0 for vector in self.vectors)]
        base = tuple(self.base[i] for i in used)
        numbers: Coordinates = [tuple(vector[i] for i in used) for vector in self.vectors]
        bits = [sum(abs(int(x.numerator)) * b.bit_length() for x, b in zip(v, base, strict=True)) for v in numbers]
        return RationalField(base, max(bits, default=1) or 1), numbers

    def _radical(self) -> tuple[ExactField, Coordinates]:
        roots = [(where, self._root_vector(radical)) for where, radical in self.roots]
        weights = [v for v in self.vectors if any(x != 0 for x in v)]
        # without logarithms in W, the root of largest order decides: the others must be its powers
        vectors = weights[:1] or sorted((v for _, v in roots), key=lambda v: _common_denominator([v]))[-1:]
        if not vectors:
            return RadicalField(fmpq(2), 1), [(fmpq(0),)] * len(self.vectors)
        direction = _primitive(vectors[0])
        beta = fmpq(1)
        for b, e in zip(self.base, direction, strict=True):
            beta *= fmpq(b) ** e
        if beta < 1:
            direction, beta = [-e for e in direction], 1 / beta
        numbers: Coordinates = [
            (self._multiple(vector, direction, entry.where),)
            for entry, vector in zip(self.entries, self.vectors, strict=True)
        ]
        order = lcm(_common_denominator(numbers), _common_denominator(vector for _, vector in roots))
        if order > self.limits.root_order:
            raise LimitError(
                f"the radical field has degree {order}, above {self.limits.root_order}",
                field="heads",
                hint="see --limit root_order",
            )
        powers: Coordinates = [(self._power(vector, direction, order, where),) for where, vector in roots]
        largest = max((abs(x) for (x,) in numbers), default=fmpq(0))
        bits = int((largest * beta.height_bits()).ceil()) or 1
        return RadicalField(beta, _common_denominator([*numbers, *powers]), bits), numbers

    def _power(self, vector: Sequence[fmpq], direction: Sequence[int], order: int, where: str) -> fmpq:
        """Return q = j/order with the root a rational multiple of β^q: exponents are equal modulo integers."""
        for j in range(order):
            if all((x - fmpq(j * e, order)).denominator == 1 for x, e in zip(vector, direction, strict=True)):
                return fmpq(j, order)
        raise InputError(
            "this root is no rational multiple of a power of the field's root", field=where, hint=V_SUPPORTED
        )

    def _multiple(self, vector: Sequence[fmpq], direction: Sequence[int], where: str) -> fmpq:
        pivot = next(i for i, e in enumerate(direction) if e)
        factor = vector[pivot] / direction[pivot]
        if any(x != factor * e for x, e in zip(vector, direction, strict=True)):
            raise InputError(
                "W holds neither integer combinations of logarithms nor multiples of one logarithm",
                field=where,
                hint=SUPPORTED,
            )
        return factor


def _radicals(entry: _Readout, algebra: FormAlgebra) -> list[Radical]:
    """Return the irrational roots that an entry of v names."""
    try:
        forms = [algebra.call(call.name, call.arguments) for call in calls(entry.tree) if call.name in ("sqrt", "root")]
    except InputError as error:
        raise error.located(field=entry.where) from None
    return [radical for form in forms for radical in form.radicals if radical]


def _primitive(vector: Sequence[fmpq]) -> list[int]:
    """Return the coprime integers proportional to a non-zero rational vector, with a positive factor."""
    scale = lcm(*(int(x.denominator) for x in vector))
    integers = [int((x * scale).numerator) for x in vector]
    content = gcd(*integers)
    return [x // content for x in integers]


def _common_denominator(numbers: Iterable[Sequence[fmpq]]) -> int:
    return lcm(1, *{int(x.denominator) for row in numbers for x in row})


def head_text(head: Head, field: ExactField) -> dict[str, Any]:
    """Return a head as it stands in an instance file: exact strings in the instance grammar."""
    rows = range(head.dim)
    W = [[field.log_text([matrix[i][j] for matrix in head.W]) for j in rows] for i in rows]
    return {"W": W, "v": [field.scalar_text(x) for x in head.v]}


def to_text(model: Model) -> str:
    """Return the instance file of a model, one head a line; the field is always written."""
    heads = ",\n    ".join(json.dumps(head_text(head, model.field)) for head in model.heads)
    listed = f"[\n    {heads}\n  ]" if model.heads else "[]"
    return (
        f'{{\n  "format": "{FORMAT}",\n  "field": "{model.field.name}",\n'
        f'  "dim": {model.dim},\n  "heads": {listed}\n}}\n'
    )


def save(model: Model, path: str | Path) -> None:
    """Write an instance file atomically."""
    write_atomically(path, to_text(model))


def over_one_field(left: Model, right: Model) -> tuple[Model, Model] | None:
    """Return two models of one dimension over one field, by their canonical heads where the fields differ.

    None when no field holds both; then their heads differ. Raises `LimitError` beyond the default limits.
    """
    if left.field == right.field:
        return left, right
    merged: dict[str, Any] = {
        "format": FORMAT,
        "dim": left.dim,
        "heads": [head_text(h, m.field) for m in (left, right) for h in m.canonical().heads],
    }
    try:
        both = from_dict(merged, replace(DEFAULT_LIMITS, heads=max(1, len(merged["heads"]))))
    except LimitError:
        raise
    except InputError:
        return None
    count = len(left.canonical().heads)
    return Model(both.field, left.dim, both.heads[:count]), Model(both.field, left.dim, both.heads[count:])


def equivalent(left: Model, right: Model) -> Outcome:
    """Decide exactly whether two models are the same function of every query (`proofs/canonical-uniqueness`)."""
    if left.dim != right.dim:
        return Outcome.FAILS
    try:
        both = over_one_field(left, right)
    except LimitError:
        return Outcome.UNDECIDED
    return Outcome.FAILS if both is None else Outcome.of(both[0].canonical().heads == both[1].canonical().heads)
