"""What all tests share."""

import signal


def pytest_configure() -> None:
    """Hear Ctrl-C: a shell that starts the tests in the background has their children ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
