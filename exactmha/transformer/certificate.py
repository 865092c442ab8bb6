"""Writing certificates of Transformers, `exactmha/transformer/1` (last section of certificates/SPECIFICATION.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from exactmha.certificates.write import CertificateRecorder, canonical_json, field_text, hexadecimal, value_text
from exactmha.transformer.breakpoints import cut
from exactmha.transformer.cells import Cell
from exactmha.transformer.form import Blocks, CanonicalForm, inner
from exactmha.transformer.learn import TransformerRecovery
from exactmha.transformer.verification import TransformerVerification

FORMAT = "exactmha/transformer/1"


def certificate_text(result: TransformerVerification, recorder: CertificateRecorder, instance: bytes) -> str | None:
    """Return the certificate of a finished run, or None where `why_none` names a condition.

    `recorder` has followed the learner on the odd part; `instance` is the instance file, byte for byte.
    """
    recovery = result.recovery
    if recovery is None or why_none(result):
        return None
    form, rays = recovery.form, recovery.bends.rays if recovery.bends else ()
    document = {
        "format": FORMAT,
        "claim": {
            "heads": len(form.W),
            "lines": len(form.lines),
            "queries": recovery.queries,
            "length": recovery.max_length,
        },
        "field": field_text(result.model.field),
        "dim": result.model.dim,
        "instance": hashlib.sha256(instance).hexdigest(),
        "odd": json.loads(recorder.text(recovery.odd, result.model.field, instance)),
        "form": _form(form),
        "plane": {
            "p": _integers(recovery.p),
            "q": _integers(recovery.q),
            "samples": [[*_integers(direction), hexadecimal(value)] for direction, value in recovery.samples],
        },
        "bends": [
            {
                "left": _integers(cone.left),
                "middle": _integers(cut(cone.left, cone.right)),
                "right": _integers(cone.right),
            }
            for cone in (recovery.bends.cones if recovery.bends else ())
        ],
        "rays": [{"ray": _integers(ray), "line": i} for ray, i in zip(rays, _lines_on(recovery), strict=True)],
        "cells": [_cell(cell) for cell in recovery.cells],
    }
    return canonical_json(document).decode()


def why_none(result: TransformerVerification) -> str:
    """Name the condition that failed, or that is not known to hold, where there is no certificate; else "".

    A certificate proves part (b) of the theorem of `proofs/transformer-algorithm`, which needs F1, and as many lines as
    there are at most (F3).
    """
    recovery = result.recovery
    if recovery is None:
        return str(result.failure)
    hidden = recovery.form.invisible_in_odd_part
    if hidden:
        return f"F1 fails: Λ = 0 for head {', '.join(str(h + 1) for h in hidden)}"
    if len(recovery.odd.heads) != recovery.heads_told:
        found = f"{len(recovery.odd.heads)} heads were found where H ≤ {recovery.heads_told}"
        return f"F1 is not known to hold for all heads: {found}"
    if not recovery.is_complete:
        found = f"{len(recovery.form.lines)} lines were found where L ≤ {recovery.lines_told}"
        return f"F2 and F3 are not known to hold: {found}"
    return ""


def _lines_on(recovery: TransformerRecovery) -> list[int]:
    """Return which line bends T on each ray: the one with n_l·token = 0."""
    found = []
    for s, t in recovery.bends.rays if recovery.bends else ():
        token = [s * x + t * y for x, y in zip(recovery.p, recovery.q, strict=True)]
        found += [i for i, line in enumerate(recovery.form.lines) if inner(line.token_normal, token) == 0]
    return found


def _form(form: CanonicalForm) -> dict[str, Any]:
    return {
        "W": [[[[hexadecimal(x) for x in row] for row in matrix] for matrix in weights] for weights in form.W],
        "linear": _blocks(form.linear),
        "lines": [{"kappa": hexadecimal(line.kappa), "nu": _blocks(line.nu)} for line in form.lines],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "base": _integers(cell.base),
        "gradient": _blocks(cell.gradient),
        "sides": [
            {"u": _integers(side.u), "answers": [value_text(answer) for answer in side.answers]} for side in cell.sides
        ],
    }


def _blocks(blocks: Blocks) -> list[list[str]]:
    return [[hexadecimal(x) for x in block] for block in blocks]


def _integers(numbers: Sequence[int | fmpq]) -> list[str]:
    return [hexadecimal(x) for x in numbers]
