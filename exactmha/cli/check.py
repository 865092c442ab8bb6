"""`exactmha check`."""

from __future__ import annotations

import click


@click.command("check")
@click.argument("file")
@click.option("--instance", help="Also prove that the answers, or the first model, are those of this instance file.")
@click.option("--claim", help='Accept only this statement, e.g. \'{"heads": 3, "bound": false, "dim": 3}\'.')
def command(file: str, instance: str | None, claim: str | None) -> int:
    """Check the certificate FILE: exit status 0 accepted, 1 rejected, 2 unreadable.

    The keys of --claim are heads (recovered), told (what the learner was told: H or H_0), bound (only H_0 was known),
    queries, length, dim, field and instance (SHA-256); for a counterexample: name, heads (a list: how many canonical
    heads each model has), dim, field, canonical, agree and differ (numbers of queries), and no_profile (a number of
    terms, or null).

    Prints the exact statement proved and what it rests on, or the first step that fails and why.
    """
    from exactmha.certificates.checker import main
    from exactmha.certificates.kinds import KINDS

    options = [("--instance", instance), ("--claim", claim)]
    return main([file, *(part for name, value in options if value is not None for part in (name, value))], KINDS)
