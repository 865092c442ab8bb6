"""`exactmha counterexample`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactmha.cli.certificate import write_certificate
from exactmha.cli.options import field_option, json_option, limit_option, seed_option
from exactmha.errors import InputError
from exactmha.limits import Limits
from exactmha.outcome import exit_status

if TYPE_CHECKING:
    from exactmha.counterexamples.build import Counterexample
    from exactmha.counterexamples.networks import NetworkAssumption
    from exactmha.counterexamples.setting import Setting

_SHOWN_QUERIES = 6


@click.command("counterexample")
@click.argument("name", required=False)
@click.option("--heads", type=click.IntRange(1, 16), help="Number H of heads.  [default: the least possible]")
@click.option("--dim", type=click.IntRange(1, 16), help="Dimension d.  [default: the least possible]")
@field_option
@seed_option
@click.option("--transformer", is_flag=True, help="List those about Transformers instead.")
@click.option("--smallest", is_flag=True, help="Shrink: least H, then d, then least height of the numbers.")
@click.option("-o", "--output", help="Write the instance files and the queries into this folder.")
@click.option("--certificate", help="Write a certificate for `exactmha check` to this file.")
@json_option
@limit_option
def command(
    name: str | None,
    heads: int | None,
    dim: int | None,
    field_name: str,
    seed: int,
    transformer: bool,
    smallest: bool,
    output: str | None,
    certificate: str | None,
    as_json: bool,
    limits: Limits,
) -> int:
    """List what fails without each assumption, or build the exact counterexample NAME and verify it."""
    from exactmha.counterexamples import build
    from exactmha.counterexamples.catalogue import assumption
    from exactmha.counterexamples.networks import network_assumption
    from exactmha.counterexamples.setting import Setting

    if transformer and name is None:
        click.echo(_network_catalogue(), nl=False)
        return 0
    if name is None:
        click.echo(_catalogue(as_json=as_json), nl=False)
        return 0
    network = network_assumption(name)
    if network is not None:
        if output is not None or certificate is not None:
            raise InputError(
                "is not available for Transformers",
                field="--output" if certificate is None else "--certificate",
                hint="--json prints the models",
            )
        setting = Setting(heads or network.least[0], dim or network.least[1], field_name, seed)
        return _network(network, setting, limits, as_json=as_json)
    if smallest and (heads is not None or dim is not None):
        raise InputError("--smallest chooses H and d itself", field="--smallest", hint="leave out --heads and --dim")
    chosen = assumption(name)
    setting = Setting(heads or chosen.least[0], dim or chosen.least[1], field_name, seed)
    found = build.smallest(chosen, setting, limits) if smallest else build.build(chosen, setting, limits)
    if output is not None:
        _write_folder(output, _files(found))
    if certificate is not None:
        write_certificate(_certificate(found), certificate)
    click.echo(_as_json(found) if as_json else _as_text(found), nl=False)
    return exit_status(claim.outcome for claim in found.claims)


def _catalogue(*, as_json: bool) -> str:
    from rich.text import Text

    from exactmha.cli.tables import render, table
    from exactmha.counterexamples.catalogue import CATALOGUE

    if as_json:
        listed = [
            {
                "name": a.name,
                "dropped": a.dropped,
                "least": {"heads": a.least[0], "dim": a.least[1]},
                "fields": a.fields,
            }
            for a in CATALOGUE
        ]
        return json.dumps(listed, indent=1, ensure_ascii=False) + "\n"
    rows = table("Name", "assumption dropped", "H ≥", "d ≥", "fields", right=(2, 3))
    for a in CATALOGUE:
        rows.add_row(Text(a.name), Text(a.dropped), str(a.least[0]), str(a.least[1]), ", ".join(a.fields))
    return render(rows)


def _network_catalogue() -> str:
    from rich.text import Text

    from exactmha.cli.tables import render, table
    from exactmha.counterexamples.networks import NETWORKS

    rows = table("Name", "assumption dropped", "H ≥", "d ≥", right=(2, 3))
    for a in NETWORKS:
        rows.add_row(Text(a.name), Text(a.dropped), str(a.least[0]), str(a.least[1]))
    return render(rows)


def _network(network: NetworkAssumption, setting: Setting, limits: Limits, *, as_json: bool) -> int:
    """Build one about Transformers, and print it."""
    from exactmha.cli.report import claim_json, claims_table, field_text
    from exactmha.cli.tables import plain_console, text_of
    from exactmha.cli.transformer import form_lines
    from exactmha.transformer.instance import to_text

    found = network.build(setting, limits)
    if as_json:
        document = {
            "name": network.name,
            "dropped": network.dropped,
            "statement": found.statement,
            "reason": found.reason,
            "models": [json.loads(to_text(model)) for model in found.models],
            "claims": [claim_json(claim) for claim in found.claims],
        }
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return exit_status(claim.outcome for claim in found.claims)
    console = plain_console()
    console.print(f"Dropped      {network.dropped}", soft_wrap=True)
    console.print(f"Statement    {found.statement}", soft_wrap=True)
    console.print(f"Reason       {found.reason}", soft_wrap=True)
    console.print(f"Field        {field_text(setting.field)}", soft_wrap=True)
    for number, model in enumerate(found.models, 1):
        title, *lines = form_lines(model.canonical(), model.field)
        console.print(f"\nModel {number}      {title.split(maxsplit=1)[1]}", soft_wrap=True)
        for line in lines:
            console.print(line, soft_wrap=True)
    console.print()
    console.print(claims_table(found.claims))
    click.echo(text_of(console), nl=False)
    return exit_status(claim.outcome for claim in found.claims)


def _as_text(found: Counterexample) -> str:
    from rich.text import Text

    from exactmha.cli.report import claims_table, field_text, model_lines, query_text
    from exactmha.cli.tables import plain_console, table, text_of

    built, setting = found.construction, found.setting
    console = plain_console()
    console.print(f"Dropped      {found.dropped}", soft_wrap=True)
    console.print(f"Statement    {built.statement}", soft_wrap=True)
    console.print(f"Reason       {built.reason}", soft_wrap=True)
    console.print(f"Field        {field_text(built.models[0].field)}", soft_wrap=True)
    console.print(
        f"Size         H = {setting.heads}, d = {setting.dim}; seed {setting.seed}, numbers up to {setting.height}"
    )
    for number, model in enumerate(built.models, 1):
        console.print(f"\nModel {number}      {len(model.heads)} head{'s' * (len(model.heads) != 1)}")
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


def _query_lists(found: Counterexample) -> dict[str, Any]:
    built = found.construction
    lists = {"Queries on which they agree": built.agree, "Query on which they differ": built.differ}
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
        "differ": listed(built.differ),
        "no_profile": None
        if built.no_profile is None
        else {"heads": built.no_profile[0], "queries": listed(built.no_profile[1])},
    }


def _files(found: Counterexample) -> dict[str, str]:
    """Return the instance files, and the queries as runs [token, count]."""
    from exactmha.instance import to_text

    files = {f"model-{i}.json": to_text(model) for i, model in enumerate(found.construction.models, 1)}
    files["queries.json"] = json.dumps(_queries_json(found)) + "\n"
    return files


def _write_folder(output: str, files: dict[str, str]) -> None:
    from exactmha.files import write_atomically

    folder = Path(output)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make this folder: {error.strerror}", field="--output", value=output) from None
    for file, text in files.items():
        write_atomically(folder / file, text)


def _certificate(found: Counterexample) -> str:
    from exactmha.certificates.counterexample import counterexample_text

    built = found.construction
    canonical = "single" if len(built.models) == 1 else "equal" if built.same else "different"
    return counterexample_text(found.name, built.models, canonical, built.agree, built.differ, built.no_profile)
