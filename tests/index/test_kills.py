"""Processes that die in the middle of a build, and many that write and read one index at once.

How often is a number and not a span of time: a busy machine takes longer and proves the same. The
large numbers are marked ``slow``.
"""

from __future__ import annotations

import random
import signal
import threading

import pytest
from forking import Forked, run_code
from stopping import DYING

from memory_palace.palace import Palace

QUESTION = "quince jelly"

WORKER = (
    DYING
    + """
import pathlib
from memory_palace.palace import Palace
root, left = pathlib.Path(sys.argv[1]), int(sys.argv[2])
number = 0
while True:
    number += 1
    for name in range(12):
        text = f"# Note {name}\\n\\nRound {number} of note {name}.\\n"
        (root / "palace" / "chambers" / f"k{name}.md").write_text(text)
    if number == 1:
        die_at(left, "open", "fsync", "replace", "unlink")
    Palace(root).index(embedder="hashing")
"""
)
"""Writes and indexes for ever; dies at its n-th call that reaches the disk."""
MOST_CALLS = 150
"""Enough for two builds and a merge."""


@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.long)])
def test_sigkill_at_any_disk_call_breaks_no_reader_and_not_the_next_build(indexed, kills):
    rng = random.Random(5)
    errors: list[BaseException] = []
    reads = 0
    is_done = threading.Event()

    def read():
        nonlocal reads
        while not is_done.is_set():
            try:
                Palace(indexed.paths.root).query(QUESTION, neighbors=0)
                reads += 1
            except BaseException as error:
                errors.append(error)
                return

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(kills):
            number = str(rng.randint(1, MOST_CALLS))
            worker = Forked(run_code, WORKER, str(indexed.paths.root), number)
            assert worker.wait()[0] == -signal.SIGKILL
    finally:
        is_done.set()
        reader.join()
    assert not errors and reads
    indexed.index()
    assert Palace(indexed.paths.root).doctor().findings == ()


WRITER = """
import pathlib, sys
from memory_palace.palace import Palace
root, me, rounds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(rounds):
    (root / "palace" / "chambers" / f"w{me}-{number % 9}.md").write_text(f"# {me}\\n\\n{number}\\n")
    Palace(root).index(embedder="hashing", wait_seconds=3600)
"""

READER = """
import pathlib, sys
from memory_palace.palace import Palace
for number in range(3 * int(sys.argv[3])):
    assert Palace(pathlib.Path(sys.argv[1])).query("bread oven", limit=3).hits
"""


@pytest.mark.parametrize("rounds", [4, pytest.param(100, marks=pytest.mark.long)])
def test_four_writers_and_four_readers_lose_nothing(indexed, rounds):
    jobs = [
        Forked(run_code, code, str(indexed.paths.root), str(number), str(rounds))
        for number in range(4)
        for code in (WRITER, READER)
    ]
    ended = [job.wait() for job in jobs]
    assert [status for status, _, _ in ended] == [0] * 8, [errors for _, _, errors in ended]
    written = {path for path in Palace(indexed.paths.root).snapshot().paths if "/w" in path}
    assert len(written) == 4 * min(rounds, 9)
    indexed.index(wait_seconds=3600)
    assert Palace(indexed.paths.root).doctor().findings == ()
