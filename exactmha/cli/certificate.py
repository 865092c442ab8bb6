"""Writing certificates: what is written is what `exactmha check` accepts."""

from __future__ import annotations

from exactmha.errors import InputError
from exactmha.files import write_atomically


def write_certificate(text: str, path: str) -> None:
    """Check a certificate with the independent checker, then write it; raises `InputError` when it is too large."""
    from exactmha.certificates.checker import Unreadable
    from exactmha.certificates.kinds import check_text

    try:
        check_text(text, path)
    except Unreadable as error:
        problem = str(error).removeprefix(f"{path}: ")
        raise InputError(
            f"would not be read by `exactmha check`: {problem}", file=path, hint="use a smaller instance"
        ) from None
    write_atomically(path, text)
