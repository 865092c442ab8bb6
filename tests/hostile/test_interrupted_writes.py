"""An interrupted run leaves the old file or the new one, never half of either."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WRITE = """
import sys
from exactmha.files import write_atomically
print("ready", flush=True)
for version in range(10**9):
    write_atomically(sys.argv[1], str(version % 10) * 200_000)
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_killed_writer_leaves_a_whole_file(signal_number: int, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    moments = random.Random(0)  # when to kill, no secret
    for _ in range(6):
        target.write_text("old", encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, "-c", WRITE, str(target)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(moments.uniform(0, 0.05))
            os.kill(writer.pid, signal_number)
            writer.wait(timeout=20)
        text = target.read_text(encoding="utf-8")
        assert text == "old" or (len(text) == 200_000 and len(set(text)) == 1)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_killed_verify_leaves_the_old_certificate(signal_number: int, tmp_path: Path) -> None:
    target = tmp_path / "certificate.json"
    target.write_text("old", encoding="utf-8")
    command = [sys.executable, "-m", "exactmha", "verify", "--heads", "12", "--dim", "12", "--certificate", str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1.0)
        os.kill(process.pid, signal_number)
        _, err = process.communicate(timeout=20)
    assert target.read_text(encoding="utf-8") == "old"
    assert "Traceback" not in err
    if signal_number == signal.SIGINT:
        assert process.returncode == 130
        assert [p.name for p in tmp_path.iterdir()] == ["certificate.json"]
