"""Writing certificates: what is written is what `exactmha check` accepts."""

from __future__ import annotations

import tempfile
from pathlib import Path

from exactmha.errors import InputError
from exactmha.files import write_atomically


def write_certificate(text: str, path: str) -> None:
    """Check a certificate with the independent checker, then write it; raises `InputError` when it is too large."""
    from exactmha.certificates.checker import Unreadable, check
    from exactmha.certificates.kinds import KINDS

    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "certificate.json"
        write_atomically(draft, text)
        try:
            check(str(draft), kinds=KINDS)
        except Unreadable as error:
            problem = str(error).removeprefix(f"{draft}: ")
            raise InputError(
                f"would not be read by `exactmha check`: {problem}", file=path, hint="use a smaller instance"
            ) from None
    write_atomically(path, text)
