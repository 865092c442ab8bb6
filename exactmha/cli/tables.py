"""Plain-text tables, the same bytes on every machine."""

from __future__ import annotations

import io
from collections.abc import Collection

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 110


def plain_console() -> Console:
    """Return a console that writes plain text of fixed width to memory."""
    return Console(file=io.StringIO(), width=WIDTH, color_system=None, highlight=False, markup=False, emoji=False)


def text_of(console: Console) -> str:
    """Return what was printed to a `plain_console`, without trailing blanks."""
    output = console.file
    if not isinstance(output, io.StringIO):
        raise TypeError("the console must write to memory")
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def table(*columns: str, right: Collection[int] = ()) -> Table:
    """Return an empty table without a frame; `right` lists the columns aligned to the right."""
    result = Table(box=None, pad_edge=False, header_style="")
    for i, column in enumerate(columns):
        result.add_column(Text(column), justify="right" if i in right else "left", overflow="fold")
    return result


def render(rows: Table) -> str:
    """Return a table as text."""
    console = plain_console()
    console.print(rows)
    return text_of(console)
