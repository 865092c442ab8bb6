"""Regenerates every table that README shows, between its markers `<!-- reproduce:NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from exactmha.errors import InputError
from exactmha.files import decoded, read_bytes, write_atomically

_BEGIN = re.compile(r"<!-- reproduce:([a-z-]+) -->\n")
_BLOCK = re.compile(rf"({_BEGIN.pattern})(.*?)(<!-- end -->)", re.DOTALL)
SWEEP_DATABASE = "readme-sweep.db"
"""The campaign behind README's summary, in the current folder; an earlier one is resumed."""


def _output_of(*arguments: str) -> str:
    """Return what a command prints; its errors, and Ctrl-C, are this command's."""
    from exactmha.cli.main import cli

    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        status = cli.main(list(arguments), prog_name="exactmha", standalone_mode=False)
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
    common = ("sweep", "--db", SWEEP_DATABASE, "--jobs", "2", "--trials")
    _output_of(*common, "28", "--heads", "1-4", "--dim", "1-6")
    small = ("100", "--heads", "1-3", "--dim", "1-3", "--field", "exponential", "--grid")
    _output_of(*common, *small, "101")
    lines = _output_of(*common, *small, "1001").splitlines(keepends=True)
    shown = [line for line in lines if re.search(r"\s(101|1001)\s", line)]
    return "".join([lines[0], *shown, "\n", lines[-1]])


def _counterexample() -> str:
    return _output_of("counterexample", "one-sample-short", "--smallest", "--field", "rational")


def _counterexamples() -> str:
    return _output_of("counterexample")


def _identify() -> str:
    return _output_of("identify", "--table")


def _transformer() -> str:
    return _output_of("verify", "--heads", "2", "--dim", "2", "--neurons", "3")


def _stability() -> str:
    with tempfile.TemporaryDirectory() as folder:
        instance = str(Path(folder) / "instance.json")
        _output_of("random", "--heads", "2", "--dim", "2", "-o", instance)
        return _output_of("stability", instance)


def _amplification() -> str:
    return _output_of("stability", "--table")


def _budget() -> str:
    return _output_of("budget")


def _budget_table() -> str:
    return _output_of("budget", "--table", "--heads", "1-4", "--dim", "1-6")


BLOCKS: dict[str, Callable[[], str]] = {
    "verify": _verify,
    "by-hand": _by_hand,
    "counterexamples": _counterexamples,
    "counterexample": _counterexample,
    "identify": _identify,
    "transformer": _transformer,
    "stability": _stability,
    "amplification": _amplification,
    "budget": _budget,
    "budget-table": _budget_table,
    "bench": _bench,
    "sweep": _sweep,
}


def reproduce(path: str | Path, only: tuple[str, ...] = ()) -> list[str]:
    """Rewrite the marked blocks of a Markdown file (all, or those named); return the names of those that changed."""
    text = decoded(read_bytes(path), file=str(path))
    _check_blocks(text, only, str(path))
    changed = []

    def replaced(match: re.Match[str]) -> str:
        begin, name, old, end = match.groups()
        if only and name not in only:
            return match[0]
        body = f"```text\n{BLOCKS[name]()}```\n"
        if body != old:
            changed.append(name)
        return begin + body + end

    write_atomically(path, _BLOCK.sub(replaced, text))
    return changed


def _check_blocks(text: str, only: tuple[str, ...], file: str) -> None:
    """Refuse a page whose blocks are not those we know, or would swallow each other or what stands between them."""
    if "\r" in text:
        raise InputError("has line ends other than \\n", file=file, hint="save it with Unix line ends")
    names = _BEGIN.findall(text)
    known = f"known: {', '.join(BLOCKS)}"
    if not names:
        raise InputError("has no block <!-- reproduce:NAME -->", file=file, hint=known)
    for name in (*names, *only):
        if name not in BLOCKS:
            raise InputError("no such block", file=file, value=name, hint=known)
        if name not in names:
            raise InputError("is not on this page", file=file, field="--only", value=name)
    for block in _BEGIN.split(text)[2::2]:
        if "<!-- end -->" not in block:
            raise InputError("a block has no <!-- end --> before the next begins", file=file, hint="add it")
