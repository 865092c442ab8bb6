"""The command line: commands, and the one place where errors become exit statuses."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from exactmha import __version__
from exactmha.errors import ExactMHAError, InputError, shorten
from exactmha.outcome import EXIT_BAD_INPUT, EXIT_UNDECIDED

COMMANDS = {
    "verify": "Check the exact-recovery theorem on an instance: every step in exact arithmetic.",
    "stability": "How many digits the theorem needs: certified error bounds for approximate outputs.",
    "check": "Check a certificate without trusting the learner.",
    "export-rocq": "Write a certificate as a Rocq file, which coqc proves again.",
    "counterexample": "Break the theorem: an exact counterexample for every assumption dropped.",
    "explain": "Tell a run as a story: every step with its formula, its numbers and what was checked.",
    "sweep": "Verify many random instances, or a folder of instance files; resumable, in parallel or on a cluster.",
    "bench": "Time everything against bare FLINT and SymPy, side by side in one run.",
    "reproduce": "Regenerate every table that README shows.",
    "query": "Ask the exact oracle of an instance one query.",
    "budget": "Compare how many queries every learner needs, against the number of unknowns.",
    "identify": "Decide whether a list of queries determines the heads, to first order.",
    "import": "Read a real attention layer (.safetensors or .npz) as an exact instance.",
    "reference": "Write a short reference of the Python interface as one HTML page.",
    "random": "Write a random canonical instance.",
    "canonical": "Write the canonical form of an instance: equal W merged, zero sums discarded.",
}
"""Command → short help; each has its module in exactmha.cli, imported only when the command runs."""
MODULES = {"export-rocq": "export_rocq", "import": "import_weights"}
"""Commands whose module cannot have their name."""

INTERRUPTED = 130
CUT_OFF = 141
"""The reader of a pipe went away before everything was written (128 + SIGPIPE, as other programs have it)."""
FAULT = 70
"""An error nobody foresaw: a fault of exactmha, not of the input (EX_SOFTWARE)."""


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return the command names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"exactmha.cli.{MODULES.get(cmd_name, cmd_name)}").command
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

    Exit status: 0 all claims hold, 1 one fails, 2 bad input, 3 none fails but one is undecided,
    130 interrupted, 141 output cut off by a closed pipe, 70 a fault of exactmha itself.
    """


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status; prints one sentence, never a traceback, when it goes wrong."""
    _prepare_streams()
    try:
        status = cli.main(arguments, prog_name="exactmha", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:  # the one place where errors become statuses
        status, message = _explained(error)
        if status == FAULT and sys.flags.dev_mode:
            raise
        _say(message)
    return int(status or 0)


def _explained(error: BaseException) -> tuple[int, str]:
    """Return the exit status and the sentence of an error."""
    match error:
        case click.ClickException():
            return EXIT_BAD_INPUT, f"error: {shorten(error.format_message().rstrip('.'), 400)}; see --help"
        case InputError():
            return EXIT_BAD_INPUT, f"error: {error}"
        case ExactMHAError():
            return EXIT_UNDECIDED, f"undecided: {error}"
        case RecursionError() | MemoryError():
            return EXIT_BAD_INPUT, "error: the input is too large or nested too deep for this machine; lower --limit"
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED, "interrupted"
        case BrokenPipeError() | SystemExit():  # click exits when the reader of a pipe is gone
            _drop(1)
            return CUT_OFF, ""
        case OSError():
            _drop(1)
            return EXIT_BAD_INPUT, f"error: {error.filename or 'standard output'}: {error.strerror or error}"
        case ModuleNotFoundError():
            return EXIT_BAD_INPUT, f"error: {error}; install exactmha again with pip"
    what = shorten(f"{type(error).__name__}: {error}", 400)
    return FAULT, f"error: a fault of exactmha itself ({what}); please report what python -X dev -m exactmha … shows"


def _say(message: str) -> None:
    """Write a line to standard error, or nowhere when that is closed or full."""
    try:
        if message:
            click.echo(message, err=True)
        sys.stderr.flush()
    except OSError:
        _drop(2)


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


def _drop(descriptor: int) -> None:
    """Send what is left in a stream's buffer nowhere, so that the interpreter does not try to flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def main() -> NoReturn:
    """Entry point of the `exactmha` command; SIGTERM stops it in order, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run())
