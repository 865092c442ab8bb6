"""What goes wrong without a step: the counterexamples that exist at this size and over this field, or why none does."""

from __future__ import annotations

from exactmha.counterexamples.catalogue import assumption
from exactmha.explain.run import Run


def exists(run: Run, name: str) -> bool:
    """Tell whether `exactmha counterexample` builds this one with H heads, dimension d and the field of the run."""
    found = assumption(name)
    least_heads, least_dim = found.least
    return run.model.field.name in found.fields and len(run.heads) >= least_heads and run.dim >= least_dim


def without(run: Run, name: str, consequence: str, *, alone: str = "", flat: str = "") -> str:
    """Return what goes wrong, naming the counterexample, or why there is none here.

    `alone` is the reason for too few heads, `flat` that for too small a dimension, where the catalogue's own
    reason does not fit.
    """
    if exists(run, name):
        return f"{consequence} (exactmha counterexample {name})."
    found = assumption(name)
    if run.model.field.name not in found.fields:
        reason = f"Not over this field: {found.why_fields}."
    elif run.dim < found.least[1]:
        reason = f"Not for d = {run.dim}: {flat or found.why_least}."
    else:
        reason = f"Not for H = {len(run.heads)}: {alone or found.why_least}."
    return f"{consequence}. {reason}"
