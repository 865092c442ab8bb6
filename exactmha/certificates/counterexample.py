"""Writing certificates of counterexamples (SPECIFICATION.md, second half)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from exactmha.attention import Model
from exactmha.certificates.write import canonical_json, field_text, hexadecimal, scalar_text
from exactmha.errors import InputError
from exactmha.heads import Head
from exactmha.sequences import TokenSequence

FORMAT = "exactmha/counterexample/1"
_NAME = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)


def counterexample_text(
    name: str,
    models: Sequence[Model],
    canonical: str,
    agree: Sequence[TokenSequence],
    differ: Sequence[TokenSequence],
    no_profile: tuple[int, Sequence[TokenSequence]] | None = None,
) -> str:
    """Return the certificate of a counterexample; nothing is checked here but that it can be written.

    `canonical` is "equal" or "different" for two models, "single" for one. Raises `InputError` for a
    name that the format does not allow and for models over different fields or of different dimensions.
    """
    if not _NAME.fullmatch(name):
        raise InputError("must be 1 to 64 lower-case letters, digits and hyphens", field="name", value=name)
    if len(models) not in {1, 2}:
        raise InputError("a counterexample has one or two models", field="models", value=len(models))
    field, dim = models[0].field, models[0].dim
    if any(model.field != field or model.dim != dim for model in models):
        raise InputError("the models of a counterexample need one field and one dimension", field="models")
    document = {
        "format": FORMAT,
        "name": name,
        "field": field_text(field),
        "dim": dim,
        "models": [[_head_text(head) for head in model.heads] for model in models],
        "canonical": canonical,
        "agree": _queries_text(agree),
        "differ": _queries_text(differ),
        "no_profile": None if no_profile is None else {"heads": no_profile[0], "queries": _queries_text(no_profile[1])},
    }
    return canonical_json(document).decode()


def _head_text(head: Head) -> dict[str, Any]:
    W = [[[hexadecimal(x) for x in row] for row in matrix] for matrix in head.W]
    return {"W": W, "v": [scalar_text(scalar) for scalar in head.v]}


def _queries_text(queries: Iterable[TokenSequence]) -> list[Any]:
    """Return every query as its runs [token, count]."""
    return [[[[hexadecimal(x) for x in token], count] for token, count in query.runs] for query in queries]
