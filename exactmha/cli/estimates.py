"""What a verification will cost, in words."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from exactmha.attention import Model
    from exactmha.estimate import Estimate

_LONG = 20_000
"""A run of more queries is announced with an estimate."""


def announce(model: Model, settings: dict[str, Any], *, is_certified: bool) -> None:
    """Say on standard error what a long run, with its certificate if one is asked for, will take, before it starts."""
    from exactmha.estimate import estimate, told
    from exactmha.recover.design import expected_queries

    if expected_queries(told(model, settings["heads_bound"]), model.dim) > _LONG:
        found = estimate(model, **settings)
        more = f"; the certificate {_certificate(found)}" if is_certified else ""
        click.echo(f"{found.queries} queries; expect {_cost(found)}{more}", err=True)


def as_text(found: Estimate) -> str:
    """Return a report of four lines."""
    H, d = found.heads, found.dim
    return (
        f"Queries      {found.queries} = 4·{H}·{d}² − 2·{H} + 1, of length at most {found.max_length}\n"
        f"Expect       {_cost(found)}\n"
        f"Certificate  if one is asked for, {_certificate(found)}\n"
        f"Measured     on {found.profiles} profiles here and now; a run has {2 * d * d - 1} and re-drawn ones\n"
    )


def as_json(found: Estimate) -> str:
    """Return one JSON object."""
    return json.dumps(asdict(found), indent=1) + "\n"


def _cost(found: Estimate) -> str:
    return f"about {_time(found.seconds)} and {found.mebibytes:.0f} MiB of memory"


def _certificate(found: Estimate) -> str:
    time = "an unknown time" if found.certificate_seconds is None else f"about {_time(found.certificate_seconds)}"
    return f"{time} more, and a file of {max(found.certificate_mebibytes, 0.1):.1f} MiB"


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{max(seconds, 0.1):.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
