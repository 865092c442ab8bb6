"""`exactmha counterexample`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.certificate import write_certificate
from exactmha.cli.options import field_option, given_options, json_option, limit_option, seed_option
from exactmha.errors import InputError
from exactmha.field_names import FIELD_NAMES
from exactmha.files import check_new_folder, check_writable, write_folder
from exactmha.limits import Limits
from exactmha.outcome import counted, exit_status

if TYPE_CHECKING:
    from exactmha.counterexamples.build import Counterexample
    from exactmha.counterexamples.setting import Setting

_SHOWN_QUERIES = 6
_OPTIONS = {"heads", "dim", "field_name", "seed", "smallest", "output", "certificate"}


@click.command("counterexample")
@click.argument("name", required=False)
@click.option("--heads", type=click.IntRange(1, 16), help="Number H of heads.  [default: the least possible]")
@click.option("--dim", type=click.IntRange(1, 16), help="Dimension d.  [default: the least possible]")
@field_option
@seed_option
@click.option("--smallest", is_flag=True, help="Least H, then d, then numbers drawn from −1..1, −2..2, ….")
@click.option("-o", "--output", help="Write the instance files and the queries into this new folder.")
@click.option("--certificate", help="Write a certificate for `exactmha check` to this file.")
@json_option
@limit_option
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    heads: int | None,
    dim: int | None,
    field_name: str,
    seed: int,
    smallest: bool,
    output: str | None,
    certificate: str | None,
    as_json: bool,
    limits: Limits,
) -> int:
    """List what fails without each assumption, or build the exact counterexample NAME and verify it."""
    from exactmha.cli.transformer import network_example
    from exactmha.counterexamples.build import build
    from exactmha.counterexamples.build import smallest as smallest_one
    from exactmha.counterexamples.catalogue import assumption
    from exactmha.counterexamples.networks import network_assumption
    from exactmha.counterexamples.setting import Setting

    given = given_options(ctx) & _OPTIONS
    if name is None:
        if given:
            hint = "exactmha counterexample lists the names"
            raise InputError("is needed with these options", field="NAME", hint=hint)
        click.echo(_catalogue(as_json=as_json), nl=False)
        return 0
    if smallest and (heads is not None or dim is not None):
        raise InputError("--smallest chooses H and d itself", field="--smallest", hint="leave out --heads and --dim")
    network = network_assumption(name)
    if network is not None:
        _check_network_options(name, given)
        setting = Setting(heads or network.least[0], dim or network.least[1], field_name, seed)
        return network_example(network, setting, limits, as_json=as_json)
    dropped = assumption(name)
    if "field_name" not in given and field_name not in dropped.fields:
        field_name = dropped.fields[0]
    if output is not None:
        check_new_folder(output)  # before the long search, not after it
    if certificate is not None:
        check_writable(certificate)
    setting = Setting(heads or dropped.least[0], dim or dropped.least[1], field_name, seed)
    found = (smallest_one if smallest else build)(dropped, setting, limits)
    if certificate is not None:
        write_certificate(_certificate(found), certificate)
    if output is not None:
        write_folder(output, _files(found))
    click.echo(_as_json(found) if as_json else _as_text(found, seed), nl=False)
    return exit_status(claim.outcome for claim in found.claims)


def _check_network_options(name: str, given: set[str]) -> None:
    for option in ("smallest", "output", "certificate"):
        if option in given:
            hint = "--json prints the models"
            raise InputError("is not available for Transformers", field=f"--{option}", value=name, hint=hint)


def _catalogue(*, as_json: bool) -> str:
    from rich.text import Text

    from exactmha.cli.tables import render, table

    if as_json:
        listed = [
            {"name": name, "dropped": dropped, "least": {"heads": heads, "dim": dim}, "fields": fields}
            for name, dropped, (heads, dim), fields in _entries()
        ]
        return json.dumps(listed, indent=1, ensure_ascii=False) + "\n"
    rows = table("Name", "assumption dropped", "H ≥", "d ≥", "fields", right=(2, 3))
    for name, dropped, (heads, dim), fields in _entries():
        shown = "all" if fields == FIELD_NAMES else ", ".join(fields)
        rows.add_row(Text(name), Text(dropped), str(heads), str(dim), shown)
    return render(rows)


def _entries() -> Iterator[tuple[str, str, tuple[int, int], tuple[str, ...]]]:
    """Yield (name, what is dropped, the least H and d, the fields), those about Transformers last."""
    from exactmha.counterexamples.catalogue import CATALOGUE
    from exactmha.counterexamples.networks import NETWORKS

    for each in CATALOGUE:
        yield each.name, each.dropped, each.least, each.fields
    for network in NETWORKS:
        yield network.name, f"Transformers: {network.dropped}", network.least, FIELD_NAMES


def _as_text(found: Counterexample, asked: int) -> str:
    from rich.text import Text

    from exactmha.cli.report import claims_table, field_text, model_lines, query_text
    from exactmha.cli.tables import plain_console, table, text_of

    built, setting = found.construction, found.setting
    console = plain_console()
    console.print(f"Dropped      {found.dropped}", soft_wrap=True)
    console.print(f"Statement    {built.statement}", soft_wrap=True)
    console.print(f"Reason       {built.reason}", soft_wrap=True)
    console.print(f"Field        {field_text(built.models[0].field)}", soft_wrap=True)
    console.print(f"Size         H = {setting.heads}, d = {setting.dim}; {_drawn(setting, asked)}")
    for number, model in enumerate(built.models, 1):
        console.print(f"\nModel {number}      {counted(len(model.heads), 'head')}")
        for line in model_lines(model):
            console.print(line, soft_wrap=True)
    console.print()
    for title, queries in _query_lists(found).items():
        rows = table(f"{title} ({len(queries)})")
        for query in queries[:_SHOWN_QUERIES]:
            rows.add_row(Text(query_text(query)))
        if len(queries) > _SHOWN_QUERIES:
            rows.add_row(f"… and {len(queries) - _SHOWN_QUERIES} more (--json and -o list all)")
        console.print(rows)
        console.print()
    console.print(claims_table(found.claims))
    return text_of(console)


def _drawn(setting: Setting, asked: int) -> str:
    """Say which seed was used; the one asked for may have drawn numbers that do not do."""
    return f"seed {setting.seed}{'' if setting.seed == asked else f', the first from {asked} on that will do'}"


def _query_lists(found: Counterexample) -> dict[str, Any]:
    built = found.construction
    lists = {
        "Queries on which they agree": built.agree,
        "Queries on which they are close": built.close,
        "Query on which they differ": built.differ,
    }
    if built.no_profile:
        lists["What the layer sees at k = 0, 1, …"] = built.no_profile[1]
    return {title: queries for title, queries in lists.items() if queries}


def _as_json(found: Counterexample) -> str:
    from exactmha.cli.report import claim_json

    built, setting = found.construction, found.setting
    document = {
        "name": found.name,
        "dropped": found.dropped,
        "statement": built.statement,
        "reason": built.reason,
        "field": setting.field_name,
        "heads": setting.heads,
        "dim": setting.dim,
        "seed": setting.seed,
        "models": [json.loads(text) for name, text in _files(found).items() if name.startswith("model")],
        **_queries_json(found),
        "claims": [claim_json(claim) for claim in found.claims],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _queries_json(found: Counterexample) -> dict[str, Any]:
    built = found.construction

    def listed(queries: Any) -> list[Any]:
        return [[[[str(x) for x in token], count] for token, count in query.runs] for query in queries]

    return {
        "agree": listed(built.agree),
        "close": listed(built.close),
        "differ": listed(built.differ),
        "no_profile": None
        if built.no_profile is None
        else {"heads": built.no_profile[0], "queries": listed(built.no_profile[1])},
    }


def _files(found: Counterexample) -> dict[str, str]:
    """Return the instance files, and one file for each kind of queries, in the format of `identify --queries`."""
    from exactmha.cli.tokens import sequences_text
    from exactmha.instance import to_text

    built = found.construction
    files = {f"model-{i}.json": to_text(model) for i, model in enumerate(built.models, 1)}
    no_profile = built.no_profile[1] if built.no_profile else ()
    kinds = {"agree": built.agree, "close": built.close, "differ": built.differ, "no-profile": no_profile}
    for name, queries in kinds.items():
        if queries:
            sequences = ([token for token, count in query.runs for _ in range(count)] for query in queries)
            files[f"{name}.json"] = sequences_text(sequences)
    return files


def _certificate(found: Counterexample) -> str:
    from exactmha.certificates.counterexample import counterexample_text

    built = found.construction
    canonical = "single" if len(built.models) == 1 else "equal" if built.same else "different"
    return counterexample_text(found.name, built.models, canonical, built.agree, built.differ, built.no_profile)
