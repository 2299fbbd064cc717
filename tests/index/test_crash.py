"""Stop a build at every call that reaches the disk, and damage every file it wrote."""

from __future__ import annotations

import os

import pytest
from stopping import Stopped, steps_of

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


def test_a_deleted_index_loses_nothing(indexed):
    good = answer(indexed)
    for path in indexed.paths.index.iterdir():
        path.unlink()
    indexed.paths.index.rmdir()
    Palace(indexed.paths.root).index(embedder="hashing")
    assert answer(indexed) == good


def test_a_second_writer_is_told_who_holds_the_lock(indexed):
    with indexed.writing(), pytest.raises(IndexLockedError, match=f"process {os.getpid()} "):
        Palace(indexed.paths.root).index()
    assert indexed.index().unchanged == 4
