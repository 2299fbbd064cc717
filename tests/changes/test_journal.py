"""Moves and the journal: what came from elsewhere, damaged, or is not there moves nothing.

Stops and kills at every disk call are in ``test_change_sets``.
"""

import errno
import json
import os
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from writing_notes import read_state

from memory_palace.changes.journal import Move, apply_change, read_log, recover, undo
from memory_palace.config import SEVEN, PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.metabolism.cold_zone import plan_archive, plan_restore

apply_moves = partial(apply_change, command="cold", allow_uncommitted=True)
A = Move("palace/chambers/a.md", "palace/archive_basement/2026/chambers/a.md")
B = Move("palace/chambers/b.md", "palace/archive_basement/2026/chambers/b.md")


def make_palace(root, names=("a", "b")):
    (root / "palace" / "chambers").mkdir(parents=True)
    for name in names:
        (root / "palace" / "chambers" / f"{name}.md").write_bytes(b"\x00\xff\r\n" + name.encode())
    return PalacePaths(root)


@pytest.fixture
def paths(tmp_path):
    return make_palace(tmp_path)


@pytest.mark.parametrize("outside", ["secret.md", "palace/../secret.md", "palace/link/secret.md"])
def test_a_journal_from_elsewhere_moves_nothing_into_or_out_of_the_palace(paths, outside):
    (paths.root / "secret.md").write_bytes(b"secret")
    (paths.notes / "link").symlink_to(paths.root)
    before = read_state(paths)
    for move in ([A.new, outside], [outside, A.old]):
        (paths.notes / ".journal.json").write_text(json.dumps({"id": "x", "moves": [move]}))
        with pytest.raises(UsageError, match="outside the palace"):
            recover(paths)
        assert read_state(paths) == before


@pytest.mark.parametrize("text", ["", "[]", '{"id": "x"}', '{"id": "x", "moves": [["a"]]}'])
def test_a_damaged_journal_is_named(paths, text):
    (paths.notes / ".journal.json").write_text(text)
    with pytest.raises(PalaceError, match=r"\.journal\.json is damaged"):
        recover(paths)


def test_a_change_of_another_machine_is_neither_taken_back_nor_written_over(paths):
    journal, before = paths.notes / ".journal.json", read_state(paths)
    record = {"id": "x", "moves": [[B.new, B.old]], "machine": "another", "inode": 0}
    journal.write_text(json.dumps(record))
    assert recover(paths) and read_state(paths) == before
    with pytest.raises(PalaceError, match="of another machine"):
        apply_moves(paths, [A], reason="x", now="t")
    journal.write_text(json.dumps(record | {"inode": journal.stat().st_ino}))
    assert recover(paths) and read_state(paths) != before and not journal.exists()


def test_two_notes_for_one_place_are_refused_before_anything_moves(paths):
    before = read_state(paths)
    with pytest.raises(UsageError, match="named twice"):
        apply_moves(paths, [A, Move(B.old, A.new)], reason="x", now="t")
    assert read_state(paths) == before


def test_a_disk_that_refuses_halfway_leaves_every_note_where_it_was(paths, monkeypatch):
    before, real, calls = read_state(paths), os.link, []

    def refuse_second(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **kwargs)

    monkeypatch.setattr(os, "link", refuse_second)
    with pytest.raises(PalaceError, match="no note was changed"):
        apply_moves(paths, [A, B], reason="archive", now="t")
    assert read_state(paths) == before
    assert not (paths.notes / ".journal.json").exists()


def test_a_log_line_that_makes_no_sense_is_passed_over_and_a_torn_one_ended(paths):
    paths.logs.mkdir(parents=True)
    (paths.logs / "moves.jsonl").write_bytes(b'{"id": "x", "moves": 3}\n[]\n{"id": "torn", "mo')
    assert read_log(paths) == []
    apply_moves(paths, [A], reason="x", now="t")
    assert [entry.reason for entry in read_log(paths)] == ["x"]


def test_an_archived_note_goes_back_where_the_log_says(paths):
    move = plan_archive(SEVEN, "palace/chambers/a.md", year=2026)
    assert move == A
    apply_moves(paths, [move], reason="x", now="t")
    assert plan_restore(paths, move.new) == Move(move.new, move.old)
    other = Move("palace/chambers/b.md", "palace/archive_basement/put away/b.md")
    apply_moves(paths, [other], reason="its folders do not say where it came from", now="t")
    assert plan_restore(paths, other.new) == Move(other.new, other.old)
    with pytest.raises(UsageError, match="archived already"):
        plan_archive(SEVEN, move.new, year=2026)
    with pytest.raises(UsageError, match="not in the archive"):
        plan_restore(paths, "palace/grand_hall/x.md")


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(6)), st.integers(1, 6))
def test_any_moves_and_their_undo_give_every_byte_back(order, count):
    with tempfile.TemporaryDirectory() as folder:
        paths = make_palace(Path(folder), [str(number) for number in range(6)])
        before = read_state(paths)
        moves = [
            Move(f"palace/chambers/{number}.md", f"palace/grand_hall/{place}/{number}.md")
            for place, number in enumerate(order[:count])
        ]
        apply_moves(paths, moves, reason="x", now="t")
        assert sorted(read_state(paths).values()) == sorted(before.values())
        undo(paths, now="t")
        assert read_state(paths) == before
