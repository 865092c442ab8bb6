"""`exactmha identify`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.options import json_option, limit_option, load_model, output_option, seed_option
from exactmha.errors import InputError, shorten
from exactmha.limits import Limits
from exactmha.outcome import Outcome, counted, exit_status

if TYPE_CHECKING:
    from exactmha.attention import Model
    from exactmha.beyond.identify import Identification
    from exactmha.beyond.suggest import Row, Suggestion

_SHOWN_CHARS = 400
_DEFAULT_LENGTH = 3


@click.command("identify")
@click.argument("instance", required=False)
@click.option("--queries", help="JSON file: a list of token sequences, each as for `exactmha query --tokens`.")
@click.option("--suggest", "sets", type=click.IntRange(1, 1000), help="Propose this many random query sets instead.")
@click.option(
    "--length", type=click.IntRange(1, 4096), help=f"Largest length of their queries.  [default: {_DEFAULT_LENGTH}]"
)
@click.option("--table", "show_table", is_flag=True, help="How few queries suffice, H, d ≤ 4; needs no INSTANCE.")
@click.option("--plot", "plot_path", help="Write the table as a plot to this image file.")
@seed_option
@json_option
@output_option
@limit_option
def command(
    instance: str | None,
    queries: str | None,
    sets: int | None,
    length: int | None,
    show_table: bool,
    plot_path: str | None,
    seed: int,
    as_json: bool,
    output: str | None,
    limits: Limits,
) -> int:
    """Decide whether the queries in a file determine the heads of INSTANCE locally, in exact arithmetic.

    Identifiable: the answers are injective on a neighbourhood of the canonical parameters (W_h, v_h), the heads being
    an ordered list; proved by a Jacobian of full rank. Not identifiable: proved by an exact family of models with the
    same answers, or by fewer different queries than parameters. Else undecided, with the blind direction if one is
    proved.

    Exit status: 0 identifiable, 1 not, 2 bad input, 3 undecided; with --suggest 0 if a set of full rank was found, else
    3.
    """
    _check_options(instance, queries, sets, length, show_table, plot_path, output)
    if show_table:
        return _table(seed, as_json, plot_path, limits)
    model = load_model(str(instance), limits)
    if sets is not None:
        return _suggest(model, sets, length or _DEFAULT_LENGTH, seed, as_json, output, limits)
    return _identify(model, str(queries), as_json, limits)


def _check_options(
    instance: str | None,
    queries: str | None,
    sets: int | None,
    length: int | None,
    show_table: bool,
    plot_path: str | None,
    output: str | None,
) -> None:
    """Raise `InputError` unless exactly one thing is asked for, with its own options only."""
    if sum((queries is not None, sets is not None, show_table)) != 1:
        raise InputError(
            "give exactly one of them",
            field="--queries, --suggest, --table",
            hint="exactmha identify INSTANCE --queries FILE",
        )
    if (instance is None) != show_table:
        raise InputError(
            "INSTANCE is needed except with --table", field="INSTANCE", value=instance, hint="see identify --help"
        )
    if plot_path is not None and not show_table:
        raise InputError("goes with --table only", field="--plot", value=plot_path)
    for name, value in (("--length", length), ("--output", output)):
        if value is not None and sets is None:
            raise InputError("goes with --suggest only", field=name, value=value)


# --- --queries --------------------------------------------------------------------------------------------------------


def _identify(model: Model, path: str, as_json: bool, limits: Limits) -> int:
    from exactmha.beyond.identify import identify
    from exactmha.cli.tokens import sequences_from

    sequences = sequences_from(path, model.dim, limits)
    try:
        found = identify(model, sequences, limits)
    except InputError as error:
        raise error.located(file=path) from None
    click.echo(_verdict_json(model, found) if as_json else _verdict_text(model, found), nl=False)
    return exit_status([found.outcome])


def _verdict_json(model: Model, found: Identification) -> str:
    from exactmha.beyond.identify import VERDICT

    family = found.family
    document: dict[str, Any] = {
        "field": model.field.name,
        "dim": model.dim,
        "heads": len(model.canonical().heads),
        "parameters": found.parameters,
        "queries": found.queries,
        "queries_effective": found.effective,
        "rank_proved": found.rank,
        "full_rank": found.full_rank.value,
        "outcome": found.outcome.value,
        "verdict": VERDICT[found.outcome],
        "reason": found.reason,
        "blind_direction": [{"dW": W, "dv": v} for W, v in found.moves(model.dim)] if found.direction else None,
        "family": {"kind": family.kind, "proof": family.proof} if family else None,
    }
    return json.dumps(document) + "\n"


def _verdict_text(model: Model, found: Identification) -> str:
    from exactmha.beyond.identify import VERDICT
    from exactmha.cli.report import explain_canonical
    from exactmha.cli.tables import render, table

    heads = len(model.canonical().heads)
    shown = table("", "")
    shown.show_header = False
    if model.canonical().is_changed:
        shown.add_row("merged", explain_canonical(model.canonical()))
    shown.add_row("parameters", f"{found.parameters} = H(d² + d), H = {heads}, d = {model.dim}")
    shown.add_row("queries", f"{found.queries}, answers are functions of {counted(found.effective, 'number')}")
    shown.add_row("rank proved", f"{found.rank}, full rank: {found.full_rank.value}")
    shown.add_row("verdict", f"{VERDICT[found.outcome]} (locally, among models with {counted(heads, 'head')})")
    shown.add_row("reason", found.reason)
    for h, (W, v) in enumerate(found.moves(model.dim), start=1):
        moved_w, moved_v = any(x != "0" for row in W for x in row), any(x != "0" for x in v)
        if moved_w:
            shown.add_row(f"δW of head {h}", shorten(_matrix(W), _SHOWN_CHARS))
        if moved_v:
            shown.add_row(f"δv of head {h}", shorten(_vector(v), _SHOWN_CHARS))
    if found.direction is not None:
        shown.add_row("", "every other δW and δv is 0; heads in canonical order")
    if found.family is not None:
        shown.add_row("family", f"{found.family.proof}; for all real t")
    return render(shown)


def _vector(entries: list[str]) -> str:
    return f"[{', '.join(entries)}]"


def _matrix(rows: list[list[str]]) -> str:
    return _vector([_vector(row) for row in rows])


# --- --suggest --------------------------------------------------------------------------------------------------------


def _suggest(model: Model, sets: int, length: int, seed: int, as_json: bool, output: str | None, limits: Limits) -> int:
    from exactmha.beyond.suggest import best, suggest
    from exactmha.cli.tokens import sequences_text
    from exactmha.files import check_writable, write_atomically

    if output is not None:
        check_writable(output)
    found = [suggest(model, length, seed, attempt, limits) for attempt in range(sets)]
    chosen = best(found)
    text = sequences_text(chosen.sequences)
    if output is not None:
        write_atomically(output, text)
    if as_json:
        click.echo(_suggestions_json(found, chosen, length))
    else:
        click.echo(_suggestions_text(found, chosen, model, length) + ("" if output else text), nl=False)
    return exit_status([Outcome.HOLDS if chosen.is_full else Outcome.UNDECIDED])


def _suggestions_json(found: list[Suggestion], chosen: Suggestion, length: int) -> str:
    sets = [{"queries": s.rank, "tried": s.tried, "tokens": s.tokens, "full_rank": s.is_full} for s in found]
    sequences = [[[str(x) for x in token] for token in sequence] for sequence in chosen.sequences]
    return json.dumps({"parameters": chosen.parameters, "length": length, "sets": sets, "best": sequences})


def _suggestions_text(found: list[Suggestion], chosen: Suggestion, model: Model, length: int) -> str:
    from exactmha.cli.tables import render, table
    from exactmha.recover.design import expected_queries

    shown = table("Set", "queries kept", "sequences tried", "tokens", "full rank", right=(0, 1, 2, 3))
    for i, s in enumerate(found, start=1):
        shown.add_row(
            str(i), str(s.rank), str(s.tried), str(s.tokens), "yes" if s.is_full else f"at most {s.rank} seen"
        )
    heads = len(model.canonical().heads)
    paper = expected_queries(heads, model.dim)
    return (
        f"{chosen.parameters} parameters H(d² + d), queries of length ≤ {length}; "
        f"the paper's algorithm asks 4Hd² − 2H + 1 = {paper}\n\n" + render(shown) + "\n"
    )


# --- --table ----------------------------------------------------------------------------------------------------------


def _table(seed: int, as_json: bool, plot_path: str | None, limits: Limits) -> int:
    from exactmha.beyond.suggest import LARGEST, plot, rows
    from exactmha.figures import check_figure

    if plot_path is not None:
        check_figure(plot_path)
    sizes = range(1, LARGEST + 1)
    found = rows(sizes, sizes, seed, limits)
    click.echo(_table_json(found) if as_json else _table_text(found), nl=False)
    if plot_path is not None:
        plot(found, plot_path)
    return 0


def _table_json(found: list[Row]) -> str:
    lines = [
        {
            "heads": row.heads,
            "dim": row.dim,
            "parameters": row.parameters,
            "learner_queries": row.learner,
            "rank_reached": [{"length": length, "rank": rank} for length, rank in row.reached],
        }
        for row in found
    ]
    return json.dumps(lines, indent=1) + "\n"


def _table_text(found: list[Row]) -> str:
    from exactmha.cli.tables import render, table

    names = ("H", "d", "H(d²+d)", "L = 1", "L ≤ 2", "L ≤ 3", "L ≤ 2H+1", "4Hd²−2H+1")
    shown = table(*names, right=range(len(names)))
    for row in found:
        reached = [str(rank) if rank == row.parameters else f"rank {rank}" for _, rank in row.reached]
        shown.add_row(str(row.heads), str(row.dim), str(row.parameters), *reached, str(row.learner))
    return (
        "Queries of length ≤ L that were enough for local identifiability, or the highest rank reached (random\n"
        "exponential instances; fewer than H(d²+d) never suffice)\n\n" + render(shown)
    )
