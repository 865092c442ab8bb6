"""The queries of a run by stage, as one stacked bar against the formula 4Hd² − 2H + 1 (`proofs/query-count`)."""

from __future__ import annotations

from typing import Any

from exactmha.explain.pictures.picture import HEADS, INK, Picture, Scene, Scenes, part
from exactmha.explain.run import Run
from exactmha.figures import whole_numbers
from exactmha.verification import LedgerRow

FORMULA = "4Hd² − 2H + 1"


def rows(run: Run) -> list[LedgerRow]:
    """Return the stages in which something was asked."""
    return [row for row in run.verification.ledger if row.used]


def drawn_again(run: Run) -> int:
    """Return the number of queries that went to tokens which were drawn again; the formula does not count them."""
    return run.verification.oracle_queries - run.recovery.queries


def _title(run: Run) -> str:
    again = drawn_again(run)
    return f"{run.recovery.queries} queries" + (f", and {again} for tokens drawn again" if again else "")


def _stage(i: int) -> str:
    return f"stage-{i + 1}"


def _draw(axes: Any, run: Run) -> None:
    at = 0
    for i, row in enumerate(rows(run)):
        axes.barh(1, row.used, left=at, color=HEADS[i], edgecolor=INK, alpha=0.75, label=row.stage, gid=None)
        axes.patches[-1].set_gid(part(_stage(i)))
        if row.used >= run.recovery.queries / 40:
            axes.text(at + row.used / 2, 1, str(row.used), ha="center", va="center", gid=part(_stage(i)))
        at += row.used
    again = drawn_again(run)
    if again:
        axes.barh(1, again, left=at, color="none", edgecolor=INK, hatch="..", label="for tokens drawn again")
        axes.patches[-1].set_gid(part("again"))
    axes.barh(0, run.verification.expected_queries, color="none", edgecolor=INK, hatch="//")
    axes.set_yticks([1, 0], ["asked", FORMULA])
    axes.set(xlabel="queries", title=_title(run), ylim=(-0.6, 1.6))
    whole_numbers(axes.xaxis)
    axes.figure.legend(*axes.get_legend_handles_labels(), fontsize="small", loc="outside lower center", ncols=2)


def _label(run: Run) -> str:
    return "; ".join(f"{row.stage}: {row.used}" for row in rows(run))


def _caption(run: Run) -> str:
    dotted = f" Dotted: {drawn_again(run)} more, for tokens that were drawn again." if drawn_again(run) else ""
    return (
        f"Queries by stage, left to right: {_label(run)}.{dotted} "
        f"Below, {FORMULA} = {run.verification.expected_queries}."
    )


def _scenes(run: Run) -> Scenes:
    scenes, sofar = [Scene("all stages")], 0
    for i, row in enumerate(rows(run)):
        sofar += row.used
        scenes.append(Scene(f"{row.stage}: {row.used}, together {sofar} of {run.recovery.queries}", (_stage(i),)))
    if drawn_again(run):
        scenes.append(Scene(f"for tokens drawn again: {drawn_again(run)}, not counted by the formula", ("again",)))
    return Scenes("stage", tuple(scenes))


LEDGER = Picture("ledger", "Counting every query", lambda _run: (7.4, 3.0), _draw, _label, _caption, _scenes)
