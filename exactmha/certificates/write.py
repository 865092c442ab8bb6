"""Writing certificates: a recorder that follows the learner, and the canonical text (SPECIFICATION.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from exactmha.errors import InputError
from exactmha.fields import ExponentialField, ExponentialValue, RadicalField, RadicalValue, RationalField, RationalValue
from exactmha.fields.interface import Scalar, Value
from exactmha.fields.model_field import ExactField
from exactmha.recover.learn import Recovery, Sampled
from exactmha.recover.profile import Profile

FORMAT = "exactmha/certificate/1"


def hexadecimal(x: int | fmpq) -> str:
    """Return an integer, or a rational as a/b, in canonical hexadecimal."""
    q = fmpq(x)
    top = f"{int(q.numerator):x}"
    return top if q.denominator == 1 else f"{top}/{int(q.denominator):x}"


class CertificateRecorder:
    """Follows a run of the learner and keeps, as text, what the certificate needs of every accepted profile."""

    def __init__(self) -> None:
        self._profiles: list[dict[str, Any]] = []
        self._base: tuple[list[str], Any] | None = None
        self._transcript = hashlib.sha256()

    def restart(self) -> None:
        """Forget everything: the design was drawn again."""
        self.__init__()  # type: ignore[misc]  # back to the initial state

    def profile(self, sampled: Sampled) -> None:
        """Keep one accepted profile; those of the first row come first."""
        tokens = [[hexadecimal(x) for x in token] for token in (sampled.b, sampled.u)]
        if self._base is None:
            self._base = (tokens[0], value_text(sampled.base))
            self._transcript.update(canonical_json([tokens[0], self._base[1]]))
        written = profile_text(sampled.answers, sampled.profile)
        self._transcript.update(canonical_json([*tokens, written["answers"]]))
        self._profiles.append(written)

    def text(self, recovery: Recovery, field: ExactField, instance: bytes) -> str:
        """Return the certificate of a finished run; `instance` is the instance file, byte for byte."""
        dim, heads = len(recovery.b), recovery.head_count
        if self._base is None:
            raise InputError("nothing was recorded")
        document = {
            "format": FORMAT,
            "claim": {
                "heads": heads,
                "told": recovery.told,
                "bound": recovery.is_bound,
                "queries": recovery.queries,
                "length": recovery.max_length,
            },
            "field": field_text(field),
            "dim": dim,
            "instance": hashlib.sha256(instance).hexdigest(),
            "transcript": self._transcript.hexdigest(),
            "steps": _steps(recovery, self._base[1], self._profiles),
        }
        return canonical_json(document).decode()


def profile_text(answers: Sequence[Value], profile: Profile) -> dict[str, Any]:
    """Return the answers, poles and residues of one profile as its step lists them."""
    return {
        "answers": [value_text(answer) for answer in answers],
        "exponents": [[hexadecimal(e) for e in exponent] for exponent in profile.exponents],
        "residues": [scalar_text(c) for c in profile.residues],
    }


def _steps(recovery: Recovery, base: Any, profiles: list[dict[str, Any]]) -> list[Any]:
    places = range(2, len(recovery.b) + 1)
    rows = [recovery.b, recovery.u]
    b, u = ([[hexadecimal(x) for x in token] for token in tokens] for tokens in rows)
    steps: list[Any] = [{"kind": "tokens", "b": b, "u": u}, {"kind": "base", "answer": base}]
    remaining = iter(profiles)
    where: dict[tuple[int, int], int] = {}

    def profile(b: list[int], u: list[int]) -> int:
        steps.append({"kind": "profile", "b": b, "u": u, **next(remaining)})
        return len(steps) - 1

    def matched(first: int, b: list[int], u: list[int], b_sum: list[int], u_sum: list[int]) -> int:
        other = profile(b, u)
        total = profile(b_sum, u_sum)
        steps.append({"kind": "match", "first": first, "other": other, "sum": total})
        return other

    where[1, 1] = profile([1], [1])
    for i in places:
        where[1, i] = matched(where[1, 1], [1], [i], [1], [1, i])
    steps.append(
        {
            "kind": "readout",
            "v": [[scalar_text(x) for x in head.v] for head in recovery.labelled_heads],
            "s": [scalar_text(x) for x in recovery.readout_sum],
        }
    )
    for j in places:
        for i in range(1, len(recovery.b) + 1):
            matched(where[1, i], [j], [i], [1, j], [i])
    W = [[[[hexadecimal(x) for x in row] for row in matrix] for matrix in head.W] for head in recovery.labelled_heads]
    steps.append({"kind": "heads", "W": W})
    steps.append(
        {"kind": "conclusion", "conditions": {name: hexadecimal(count) for name, count in recovery.checked.items()}}
    )
    return steps


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON text of a value: no white space, ASCII, one newline at the end."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def scalar_text(scalar: Scalar) -> list[str]:
    """Return a scalar as a list of rationals."""
    return [hexadecimal(x) for x in scalar]


def field_text(field: ExactField) -> dict[str, Any]:
    """Return the description of a field."""
    if isinstance(field, RationalField):
        return {"name": "rational", "base": [hexadecimal(b) for b in field.base]}
    if isinstance(field, RadicalField):
        return {"name": "radical", "beta": hexadecimal(field.beta), "order": field.denominator}
    if isinstance(field, ExponentialField):
        return {
            "name": "exponential",
            "radicand": hexadecimal(field.radicand),
            "denominator": hexadecimal(field.denominator),
        }
    raise InputError(f"no certificates for {type(field).__name__}")


def value_text(value: Value) -> Any:
    """Return an exact value as the specification writes it."""
    if isinstance(value, RationalValue):
        return hexadecimal(value.q)
    if isinstance(value, RadicalValue):
        return scalar_text(value.field.scalar(value))
    if isinstance(value, ExponentialValue):
        return _exponential_text(value)
    raise InputError(f"no certificates for values of type {type(value).__name__}")


def _exponential_text(value: ExponentialValue) -> list[Any]:
    constant, terms = fmpq(0), []
    for (shift, (powers, integers)), c in value.terms.items():
        if shift != 0 or len(powers) > 1:
            raise InputError("an answer is no combination of 1 and 1/(a + b t^n)")
        if not powers:
            constant = c
        else:
            terms.append((int(powers[0]), integers[0], integers[1], c))
    terms.sort(key=lambda term: term[:3])
    written = [[hexadecimal(c), hexadecimal(a), hexadecimal(n), hexadecimal(b)] for n, a, b, c in terms]
    return [hexadecimal(constant), *written]
