"""Regenerates every table that README shows, between its markers `<!-- reproduce:NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

from exactmha.errors import InputError
from exactmha.files import read_bytes, write_atomically

_BLOCK = re.compile(r"(<!-- reproduce:([a-z-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
SWEEP_DATABASE = "sweep.db"
"""The campaign behind README's summary, in the current folder; an earlier one is resumed."""


def _output_of(*arguments: str) -> str:
    from exactmha.cli.main import run

    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        status = run(list(arguments))
    if status:
        raise InputError(f"exactmha {' '.join(arguments)} ended with status {status}")
    return captured.getvalue()


def _verify() -> str:
    return _output_of("verify")


def _by_hand() -> str:
    text = _output_of("verify", "--example", "two-heads-1d")
    return text[text.index("Query X") : text.index("\n\nCondition")] + "\n"


def _bench() -> str:
    return _output_of("bench")


def _sweep() -> str:
    common = ("--db", SWEEP_DATABASE, "--jobs", "2")
    _output_of("sweep", "--heads", "1-4", "--dim", "1-6", "--trials", "28", *common)
    for grid in ("101", "1001"):
        _output_of(
            "sweep",
            "--heads",
            "1-3",
            "--dim",
            "1-3",
            "--field",
            "exponential",
            "--grid",
            grid,
            "--trials",
            "100",
            *common,
        )
    lines = _output_of("sweep", "--heads", "1", "--dim", "1", "--trials", "1", *common).splitlines(keepends=True)
    small = [line for line in lines if re.search(r"\s(101|1001)\s", line)]
    return "".join([lines[0], *small, "\n", lines[-1]])


def _counterexample() -> str:
    return _output_of("counterexample", "one-sample-short", "--smallest", "--field", "rational")


def _counterexamples() -> str:
    return _output_of("counterexample")


def _identify() -> str:
    return _output_of("identify", "--table")


BLOCKS: dict[str, Callable[[], str]] = {
    "verify": _verify,
    "by-hand": _by_hand,
    "counterexamples": _counterexamples,
    "counterexample": _counterexample,
    "identify": _identify,
    "bench": _bench,
    "sweep": _sweep,
}


def reproduce(path: str | Path, only: tuple[str, ...] = ()) -> list[str]:
    """Rewrite the marked blocks of a Markdown file (all, or those named); return the names of those that changed."""
    text = read_bytes(path).decode("utf-8")
    names = [match[2] for match in _BLOCK.finditer(text)]
    unknown = [name for name in (*names, *only) if name not in BLOCKS]
    if unknown or not names:
        problem = f"nothing known as {', '.join(unknown)}" if unknown else "has no block <!-- reproduce:NAME -->"
        raise InputError(
            problem,
            file=str(path),
            hint=f"known: {', '.join(BLOCKS)}",
        )
    changed = []

    def replaced(match: re.Match[str]) -> str:
        if only and match[2] not in only:
            return match[0]
        body = f"```text\n{BLOCKS[match[2]]()}```\n"
        if body != match[3]:
            changed.append(match[2])
        return match[1] + body + match[4]

    write_atomically(path, _BLOCK.sub(replaced, text))
    return changed
