"""The command line: commands, and the one place where errors become exit statuses."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from exactmha import __version__
from exactmha.errors import ExactMHAError, InputError, shorten
from exactmha.outcome import EXIT_BAD_INPUT, EXIT_UNDECIDED

COMMANDS = {
    "verify": "Check the exact-recovery theorem on an instance: every step in exact arithmetic.",
    "check": "Check a certificate without trusting the learner.",
    "counterexample": "Break the theorem: an exact counterexample for every assumption dropped.",
    "sweep": "Verify many random instances; resumable, in parallel or on a cluster.",
    "bench": "Time everything against bare FLINT and SymPy, side by side in one run.",
    "reproduce": "Regenerate every table that README shows.",
    "query": "Ask the exact oracle of an instance one query.",
    "identify": "Decide whether a list of queries determines the heads, to first order.",
    "random": "Write a random canonical instance.",
    "canonical": "Write the canonical form of an instance: equal W merged, zero sums discarded.",
}
"""Command → short help; each has its module in exactmha.cli, imported only when the command runs."""

INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return the command names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"exactmha.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"exactmha.cli.{cmd_name} defines no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from `COMMANDS` alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="exactmha")
def cli() -> None:
    """Exact-arithmetic verifier for "Provably Learning Multi-Head Attention with Queries" (arXiv:2608.03294).

    Exit status: 0 all claims hold, 1 one fails, 2 bad input, 3 none fails but one is undecided.
    """


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status; prints one sentence, never a traceback, on bad input."""
    _prepare_streams()
    try:
        status = cli.main(arguments, prog_name="exactmha", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        click.echo(f"error: {shorten(error.format_message().rstrip('.'), 400)}; see --help", err=True)
        return EXIT_BAD_INPUT
    except InputError as error:
        click.echo(f"error: {error}", err=True)
        return EXIT_BAD_INPUT
    except ExactMHAError as error:
        click.echo(f"undecided: {error}", err=True)
        return EXIT_UNDECIDED
    except (RecursionError, MemoryError):
        click.echo("error: the input is too large or nested too deep for this machine; lower --limit", err=True)
        return EXIT_BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click exits when the reader of a pipe is gone
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        click.echo(f"error: standard output: {error.strerror}", err=True)
        return EXIT_BAD_INPUT
    return int(status or 0)


def _prepare_streams() -> None:
    """Open what was closed before we started, and write the same bytes in every locale."""
    if sys.stdout is None:  # closed before we started
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # kept open to the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # kept open to the end
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _drop_output() -> None:
    """Send what is left in the buffer nowhere, so that the interpreter does not try to flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main() -> NoReturn:
    """Entry point of the `exactmha` command."""
    sys.exit(run())
