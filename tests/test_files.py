from __future__ import annotations

import os
import stat
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from exactmha import files
from exactmha.errors import InputError, LimitError
from exactmha.files import check_writable, parse_json, read_bytes, write_atomically
from exactmha.limits import Limits


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


class TestWriting:
    def test_new_file(self, tmp_path: Path) -> None:
        write_atomically(tmp_path / "new.json", "é\n")
        assert (tmp_path / "new.json").read_bytes() == b"\xc3\xa9\n"
        assert names(tmp_path) == ["new.json"]

    def test_replaces_an_old_file(self, tmp_path: Path) -> None:
        file = tmp_path / "old.json"
        file.write_text("a long old content")
        write_atomically(str(file), "new")
        assert file.read_text() == "new"
        assert names(tmp_path) == ["old.json"]

    @pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
    def test_a_new_file_obeys_the_umask(self, tmp_path: Path, umask: int, expected: int) -> None:
        before = os.umask(umask)
        try:
            write_atomically(tmp_path / "new", "x")
            assert os.umask(umask) == umask
        finally:
            os.umask(before)
        assert mode(tmp_path / "new") == expected

    @pytest.mark.parametrize("bits", [0o600, 0o640, 0o755])
    def test_an_existing_mode_is_kept(self, tmp_path: Path, bits: int) -> None:
        file = tmp_path / "old"
        file.write_text("old")
        file.chmod(bits)
        write_atomically(file, "new")
        assert (file.read_text(), mode(file)) == ("new", bits)

    def test_a_relative_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        write_atomically("here", "x")
        assert names(tmp_path) == ["here"]

    @pytest.mark.parametrize(
        "name", ["a" * 255, "é" * 127, "\N{GRINNING FACE}" * 63], ids=["one byte", "two bytes", "four bytes"]
    )
    def test_the_longest_names(self, tmp_path: Path, name: str) -> None:
        write_atomically(tmp_path / name, "x")
        assert names(tmp_path) == [name]


class TestRefusedTargets:
    def test_symbolic_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").write_text("old")
        (tmp_path / "link").symlink_to("real")
        with pytest.raises(InputError, match="not a regular file"):
            write_atomically(tmp_path / "link", "new")
        assert (tmp_path / "real").read_text() == "old"
        assert names(tmp_path) == ["link", "real"]

    def test_dangling_symbolic_link(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("absent")
        with pytest.raises(InputError, match="not a regular file"):
            write_atomically(tmp_path / "link", "new")
        assert names(tmp_path) == ["link"]

    def test_directory(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        with pytest.raises(InputError, match="not a regular file"):
            write_atomically(tmp_path / "folder", "new")
        assert names(tmp_path) == ["folder"]

    def test_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="not a regular file"):
            write_atomically(tmp_path / "pipe", "new")

    @pytest.mark.parametrize("path", ["absent/file", "file/below", "n" * 300, "a\0b"])
    def test_impossible_paths_are_input_errors(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "file").write_text("old")
        with pytest.raises(InputError, match="cannot be written") as caught:
            write_atomically(f"{tmp_path}/{path}", "new")
        assert caught.value.file == f"{tmp_path}/{path}"
        assert caught.value.hint
        assert names(tmp_path) == ["file"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_read_only_folder(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o555)
        try:
            with pytest.raises(InputError, match="cannot be written: Permission denied"):
                write_atomically(tmp_path / "new", "x")
        finally:
            tmp_path.chmod(0o755)
        assert names(tmp_path) == []


class TestFailures:
    @pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
    def test_a_failing_step_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        file = tmp_path / "old"
        file.write_text("old")

        def fail(*_: Any) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(files.os, step, fail)
        with pytest.raises(InputError, match="cannot be written: Permission denied"):
            write_atomically(file, "new")
        monkeypatch.undo()
        assert file.read_text() == "old"
        assert names(tmp_path) == ["old"]

    def test_no_permission_for_the_temporary_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(**_: Any) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(files.tempfile, "mkstemp", fail)
        with pytest.raises(InputError, match="Permission denied"):
            write_atomically(tmp_path / "new", "x")
        assert names(tmp_path) == []

    def test_an_interruption_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "old"
        file.write_text("old")

        def interrupt(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(files.os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(file, "new")
        assert file.read_text() == "old"
        assert names(tmp_path) == ["old"]

    def test_the_target_is_complete_when_it_appears(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        moved: list[str] = []
        replace = os.replace

        def observed(source: str, target: Path) -> None:
            moved.append(Path(source).read_text())
            assert Path(source).parent == target.parent
            replace(source, target)

        monkeypatch.setattr(files.os, "replace", observed)
        write_atomically(tmp_path / "new", "x" * 100_000)
        assert moved == ["x" * 100_000]


class TestReading:
    def test_exactly_the_limit(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"12345")
        assert read_bytes(tmp_path / "file", Limits(file_bytes=5)) == b"12345"
        with pytest.raises(LimitError, match="larger than 4 bytes"):
            read_bytes(tmp_path / "file", Limits(file_bytes=4))

    def test_through_a_symbolic_link(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"x")
        (tmp_path / "link").symlink_to("file")
        assert read_bytes(tmp_path / "link") == b"x"

    def test_no_descriptor_is_left_open(self, tmp_path: Path) -> None:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            with pytest.raises(InputError):
                read_bytes(tmp_path)
        assert len(os.listdir("/proc/self/fd")) == before

    def test_json_values(self) -> None:
        data = b'{"a": [1, -2, 0.5, true, null, "\\u00e9", "x\\"{["]}'
        assert parse_json(data, file="f") == {"a": [1, -2, 0.5, True, None, "é", 'x"{[']}

    def test_the_deepest_allowed_nesting(self) -> None:
        assert parse_json(b"[" * 3 + b"]" * 3, file="f", limits=Limits(json_depth=3)) == [[[]]]
        with pytest.raises(LimitError, match="json_depth"):
            parse_json(b"[" * 4 + b"]" * 4, file="f", limits=Limits(json_depth=3))


class TestCheckWritable:
    def test_leaves_nothing_behind(self, tmp_path: Path) -> None:
        (tmp_path / "old").write_text("old")
        check_writable(tmp_path / "new")
        check_writable(tmp_path / "old")
        assert names(tmp_path) == ["old"]
        assert (tmp_path / "old").read_text() == "old"

    def test_refuses_what_writing_would_refuse(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not a regular file"):
            check_writable(tmp_path)
        with pytest.raises(InputError, match="cannot be written"):
            check_writable(tmp_path / "absent" / "file")


def test_a_long_object_is_read_once() -> None:
    """300,000 keys, and one of them again at the end: comparing each with all the others would take hours."""
    text = ",".join(f'"{i}": 0' for i in range(300_000))
    start = perf_counter()
    assert len(parse_json(f"{{{text}}}".encode(), file="x")) == 300_000
    with pytest.raises(InputError, match="x: 299999: a key occurs twice"):
        parse_json(f'{{{text}, "299999": 0}}'.encode(), file="x")
    assert perf_counter() - start < 60
