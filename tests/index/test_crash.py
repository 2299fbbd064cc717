"""Builds that are stopped or killed at any call that reaches the disk, and files that are damaged.

How often is a number and not a span of time: a busy machine takes longer and proves the same.
"""

from __future__ import annotations

import os
import random
import signal
import threading

import pytest
from forking import Forked, run_code
from stopping import DYING, Stopped, steps_of

from memory_palace.errors import IndexDamagedError, IndexLockedError
from memory_palace.palace import Palace

CALLS = ("open", "fsync", "replace", "unlink")


def answer(palace):
    hits = Palace(palace.paths.root).query("quince jelly", limit=9, as_of=2e9, neighbors=0).hits
    return tuple((hit.path, hit.chunk.digest) for hit in hits)


def edit(palace, text):
    for name in ("grand_hall/map.md", "chambers/baker/2026-02-03 flour.md"):
        (palace.paths.notes / name).write_text(f"# Edited\n\n{text} in {name}.\n")


def test_a_stop_at_any_disk_call_leaves_the_old_index_or_the_new_one(indexed, monkeypatch):
    edit(indexed, "Plain bread")
    indexed.index(force=True)
    before = answer(indexed)
    edit(indexed, "Quince jelly")
    total = steps_of(indexed.index, monkeypatch, CALLS)
    after = answer(indexed)
    assert before != after and total > 10
    outcomes = set()
    for step in range(1, total + 1):
        edit(indexed, "Plain bread")
        indexed.index(force=True)  # the same segments each time, so that steps are the same
        edit(indexed, "Quince jelly")
        try:
            steps_of(indexed.index, monkeypatch, CALLS, stop_at=step)
        except Stopped:
            outcomes.add(answer(indexed))
        else:
            # Notes that were written seconds ago are no longer hashed, so there are fewer steps.
            assert step > 10
        indexed.index()
        assert answer(indexed) == after
        hidden = [path.name for path in indexed.paths.index.glob(".*")]
        assert not list(indexed.paths.index.glob("*.tmp")) and hidden == [".gitignore"]
    assert outcomes == {before, after}


def test_a_stopped_first_build_is_finished_by_the_next(palace, monkeypatch):
    first = palace.index(embedder="hashing")
    assert first.embedded == 4
    total = 0
    for step in range(1, 200):
        for path in palace.paths.index.iterdir():
            path.unlink()
        try:
            steps_of(lambda: palace.index(embedder="hashing"), monkeypatch, CALLS, stop_at=step)
        except Stopped:
            total += 1
        else:
            break
        palace.index(embedder="hashing")
        assert Palace(palace.paths.root).doctor().findings == ()
    assert total > 10


@pytest.mark.parametrize("suffix", ["INDEX.json", ".npz", ".jsonl"])
@pytest.mark.parametrize("damage", ["truncate", "flip", "delete", "empty"])
def test_a_damaged_file_is_named_and_healed(indexed, suffix, damage):
    good = answer(indexed)
    for victim in sorted(p for p in indexed.paths.index.iterdir() if p.name.endswith(suffix)):
        data = bytearray(victim.read_bytes())
        if damage == "delete":
            victim.unlink()
        elif damage == "truncate":
            victim.write_bytes(data[: len(data) // 2])
        elif damage == "empty":
            victim.write_bytes(b"")
        else:
            data[len(data) // 2] ^= 1
            victim.write_bytes(data)
        try:
            assert answer(indexed) == good or suffix == ".jsonl"
        except IndexDamagedError as error:
            assert victim.name in str(error) and "palace index" in str(error)
        except Exception as error:
            assert damage == "delete" and victim.name == "INDEX.json", error
        Palace(indexed.paths.root).index(embedder="hashing", verify=True)
        assert answer(indexed) == good
        assert Palace(indexed.paths.root).doctor().findings == ()


def test_a_commit_record_with_any_digit_changed_is_not_believed(indexed):
    text = indexed.paths.commit.read_text()
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    for place in places[:: max(len(places) // 20, 1)]:
        digit = str((int(text[place]) + 1) % 10)
        indexed.paths.commit.write_text(f"{text[:place]}{digit}{text[place + 1 :]}")
        with pytest.raises(IndexDamagedError, match=r"INDEX\.json"):
            answer(indexed)


def test_a_second_writer_is_told_who_holds_the_lock(indexed):
    with indexed.writing(), pytest.raises(IndexLockedError, match=f"process {os.getpid()} "):
        Palace(indexed.paths.root).index()
    assert indexed.index().unchanged == 4


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
