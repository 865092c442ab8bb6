"""What all tests share."""

import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from exactmha.certificates import checker

collect_ignore = [] if find_spec("torch") else ["weights/make_layers.py"]  # a script, for those who have PyTorch


def pytest_configure() -> None:
    """Hear Ctrl-C: a shell that starts the tests in the background has their children ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the checker of certificates in this process: exit status, standard output, standard error."""

    def run(path: str | Path, *options: str) -> tuple[int, str, str]:
        status = checker.main([str(path), *options])
        return status, *capsys.readouterr()

    return run
