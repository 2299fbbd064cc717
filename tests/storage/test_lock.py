import os
import subprocess
import sys

import pytest

from memory_palace.errors import IndexLockedError
from memory_palace.storage import writer_lock

HOLD = """
import sys, time, pathlib
from memory_palace.storage import writer_lock
with writer_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def _holder(path, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_the_holder_is_named_with_pid_and_age(tmp_path):
    with _holder(tmp_path / "lock", 30) as process:
        with pytest.raises(IndexLockedError, match=rf"process {process.pid} .* for \d+ s"):
            writer_lock(tmp_path / "lock").__enter__()
        process.kill()


def test_a_killed_holder_frees_the_lock(tmp_path):
    with _holder(tmp_path / "lock", 30) as process:
        process.kill()
    with writer_lock(tmp_path / "lock"):
        pass


def test_waiting_gets_the_lock_when_it_is_free(tmp_path):
    with _holder(tmp_path / "lock", 0.3) as process:
        with writer_lock(tmp_path / "lock", wait_seconds=20):
            pass
        process.wait()


def test_an_unreadable_record_still_gives_a_message(tmp_path):
    path = tmp_path / "lock"
    with writer_lock(path):
        path.write_text("{")
        with pytest.raises(IndexLockedError, match="another process"):
            writer_lock(path).__enter__()


def test_the_record_of_a_longer_command_leaves_nothing_behind(tmp_path):
    path = tmp_path / "lock"
    path.write_text("x" * 500)
    with writer_lock(path), pytest.raises(IndexLockedError, match=f"process {os.getpid()} "):
        writer_lock(path).__enter__()
