"""Reading and writing JSON files that may come from strangers: bounded, strict, atomic."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from exactmha.errors import InputError, LimitError
from exactmha.limits import DEFAULT_LIMITS, Limits


def read_bytes(path: str | Path, limits: Limits = DEFAULT_LIMITS, bound: str = "file_bytes") -> bytes:
    """Return the bytes of a regular file, at most as many as the limit named `bound`, or raise `InputError`."""
    name, most = str(path), int(getattr(limits, bound))
    try:
        # O_NONBLOCK: a pipe without a writer must not hang us
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {_reason(error)}"
        raise InputError(problem, file=name, hint="give the path of a file you may read") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError("is not a regular file", file=name, hint="give a file, not a folder or a device")
    with os.fdopen(descriptor, "rb") as stream:
        # a size already known to be too large is not read at all; the one read counts
        data = stream.read(most + 1) if os.fstat(descriptor).st_size <= most else None
    if data is None or len(data) > most:
        raise LimitError(f"is larger than {most} bytes", file=name, hint=f"see --limit {bound}")
    return data


def decoded(data: bytes, *, file: str) -> str:
    """Return text that must be UTF-8 without BOM, or raise `InputError`."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise InputError("starts with a byte-order mark", file=file, hint="save it as UTF-8 without BOM")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start})", file=file, hint="save it as UTF-8") from None


def parse_json(data: bytes, *, file: str, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Parse strict JSON: UTF-8 without BOM, no duplicate keys, no NaN or Infinity, bounded nesting."""
    text = decoded(data, file=file)
    _check_depth(text, file, limits)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in items:
            if key in result:
                raise InputError("a key occurs twice", file=file, field=key, hint="keep one of them")
            result[key] = value
        return result

    def constant(name: str) -> NoReturn:
        raise InputError("is not JSON: NaN and Infinity are no numbers", file=file, value=name)

    def integer(digits: str) -> int:
        if len(digits) > 18:
            raise LimitError(
                "a JSON integer has more than 18 digits", file=file, value=digits, hint="write it as a string"
            )
        return int(digits)

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_int=integer)
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})", file=file, hint="check the syntax"
        ) from None


def _check_depth(text: str, file: str, limits: Limits) -> None:
    depth, in_string, escaped = 0, False, False
    for c in text:
        if in_string:
            escaped, in_string = (c == "\\" and not escaped), not (c == '"' and not escaped)
        elif c == '"':
            in_string = True
        elif c in "[{":
            depth += 1
            if depth > limits.json_depth:
                raise LimitError(
                    f"is nested more than {limits.json_depth} deep", file=file, hint="see --limit json_depth"
                )
        elif c in "]}":
            depth -= 1


def check_writable(path: str | Path, *inputs: str | Path) -> None:
    """Raise `InputError` when a file could not be written here, or is one of the inputs; leaves nothing behind."""
    for source in inputs:
        if _exists(path) and _exists(source) and os.path.samefile(path, source):
            raise InputError("is read by the same command", file=str(path), hint="give another output path")
    descriptor, temporary = _temporary(path)
    os.close(descriptor)
    Path(temporary).unlink()


def check_new_folder(path: str | Path) -> None:
    """Raise `InputError` unless a folder of this name can be made, or is there and empty; leaves nothing behind."""
    _check_name(path)
    folder = Path(path)
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError("is not empty", file=str(path), hint="give a new folder")
    check_writable(folder / "file" if folder.is_dir() else folder)


def write_folder(path: str | Path, files: dict[str, str]) -> None:
    """Write a new folder of text files, whole or not at all."""
    check_new_folder(path)
    folder = Path(path)
    try:
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".exactmha-", suffix=".part"))
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        for name, content in files.items():
            write_atomically(made / name, content)
        os.chmod(made, 0o777 & ~_umask())
        if folder.is_dir():
            folder.rmdir()
        os.replace(made, folder)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file (text as UTF-8) so that an interruption leaves the old file or the new one, never half of either."""
    target = Path(path)
    descriptor, temporary = _temporary(path)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode("utf-8") if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def _temporary(path: str | Path) -> tuple[int, str]:
    """Create, next to `path`, the temporary file that is to replace it."""
    _check_name(path)
    try:
        if _exists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise InputError("is not a regular file", file=str(path), hint="give another output path")
        return tempfile.mkstemp(dir=Path(path).parent, prefix=".exactmha-", suffix=".part")
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from None


def _check_name(path: str | Path) -> None:
    if not Path(path).name:
        raise InputError("is no name for an output", value=str(path), hint="give a path")


def _exists(path: str | Path) -> bool:
    """Return whether `path` names anything; unlike `os.path.lexists`, errors other than absence are raised."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _unwritable(path: str | Path, error: OSError | ValueError) -> InputError:
    return InputError(f"cannot be written: {_reason(error)}", file=str(path), hint="choose a writable folder")


def _reason(error: OSError | ValueError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
