"""`exactmha canonical`."""

from __future__ import annotations

import click

from exactmha.cli.options import limit_option, output_option, write_or_print
from exactmha.cli.transformer import canonical_text, load_any
from exactmha.cli.transformer import compare as compare_transformers
from exactmha.limits import Limits


@click.command("canonical")
@click.argument("instance")
@click.option("--compare", help="Say instead on which lengths INSTANCE and this other instance agree.")
@output_option
@limit_option
def command(instance: str, compare: str | None, output: str | None, limits: Limits) -> int:
    """Write the canonical form of INSTANCE: heads with equal W merged, zero sums discarded.

    For a Transformer, neurons on one line are merged too, and it is written with the fewest neurons.

    With --compare, decide exactly whether two instances agree on all sequences of length 1, of length at most 2, and
    on all; exit status 0 when they are one function, 1 when they are not.
    """
    if compare is not None:
        return _compare(instance, compare, limits)
    from dataclasses import replace

    from exactmha.cli.report import explain_canonical
    from exactmha.instance import to_text
    from exactmha.transformer.model import Transformer

    model = load_any(instance, limits)
    if isinstance(model, Transformer):
        text, explanation = canonical_text(model)
        click.echo(explanation, err=True)
        write_or_print(text, output)
        return 0
    found = model.canonical()
    if found.is_changed:
        click.echo(explain_canonical(found), err=True)
    write_or_print(to_text(replace(model, heads=found.heads)), output)
    return 0


def _compare(instance: str, other: str, limits: Limits) -> int:
    from exactmha.counterexamples.lengths import agreement
    from exactmha.errors import InputError, LimitError
    from exactmha.outcome import exit_status
    from exactmha.transformer.model import Transformer

    first, second = load_any(instance, limits), load_any(other, limits)
    if isinstance(first, Transformer) or isinstance(second, Transformer):
        return compare_transformers(first, second, other)
    if first.dim != second.dim:
        raise InputError(f"has another dimension than {instance}", file=other, field="dim", value=second.dim)
    try:
        found = agreement(first, second)
    except LimitError as error:
        raise error.located(file=other) from None
    for what, outcome in (
        ("of length 1", found.length_one),
        ("of length ≤ 2", found.length_two),
        ("of length ≤ 3, and all", found.every_length),
    ):
        click.echo(f"{outcome.value:9}  they agree on all sequences {what}")
    return exit_status([found.every_length])
