from __future__ import annotations

from functools import partial

import pytest
from stopping import is_stopped
from writing_notes import read_state

from memory_palace.changes.cold_zone import plan_archive, plan_restore
from memory_palace.changes.journal import apply_change, plan_undo, read_log, recover
from memory_palace.changes.operations import Move
from memory_palace.config import SEVEN, PalacePaths
from memory_palace.errors import UsageError

apply_moves = partial(apply_change, command="cold", allow_uncommitted=True)
CALLS = ("open", "fsync", "replace", "link", "unlink")
MOVES = [
    Move("palace/chambers/a.md", "palace/archive_basement/2026/chambers/a.md"),
    Move("palace/grand_hall/b.md", "palace/archive_basement/2026/grand_hall/b.md"),
]


@pytest.fixture
def paths(tmp_path):
    for move in MOVES:
        (tmp_path / move.old).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / move.old).write_bytes(b"bytes of " + move.old.encode())
    return PalacePaths(tmp_path)


def test_a_stop_at_any_disk_call_is_all_or_nothing_after_recovery(paths, monkeypatch):
    before = read_state(paths)
    outcomes = []
    for number in range(1, 200):
        reached = is_stopped(
            lambda: apply_moves(paths, MOVES, reason="test", now="t"), monkeypatch, CALLS, at=number
        )
        recover(paths)
        after = read_state(paths)
        outcomes.append(after == before)
        if after == before:
            assert read_log(paths) == []
        else:
            assert set(after) == {move.new for move in MOVES}
            assert sorted(after.values()) == sorted(before.values())
            moves = plan_undo(paths, command="cold").entry.moves
            apply_moves(
                paths, [Move(m.new, m.old) for m in moves], reason="back", now="t", undoes="x"
            )
            (paths.logs / "moves.jsonl").unlink()
        assert read_state(paths) == before
        if not reached:
            break
    assert outcomes[0] and not outcomes[-1] and len(outcomes) > 10


def test_undo_restores_every_byte_and_is_not_undone_twice(paths):
    before = read_state(paths)
    apply_moves(paths, MOVES, reason="archive", now="2026-01-01")
    planned = plan_undo(paths, command="cold")
    identity, moves = planned.entry.identity, planned.entry.moves
    back = [Move(move.new, move.old) for move in reversed(moves)]
    apply_moves(paths, back, reason="undo", now="2026-01-02", undoes=identity)
    assert read_state(paths) == before
    with pytest.raises(UsageError, match="nothing to undo"):
        plan_undo(paths, command="cold")
    assert len(read_log(paths)) == 2


def test_nothing_is_ever_overwritten(paths):
    target = paths.root / MOVES[1].new
    target.parent.mkdir(parents=True)
    target.write_bytes(b"already there")
    before = read_state(paths)
    with pytest.raises(UsageError, match="already exists"):
        apply_moves(paths, MOVES, reason="x", now="t")
    assert read_state(paths) == before


@pytest.mark.parametrize("path", ["palace/../x.md", "elsewhere/x.md", "palace/gone.md"])
def test_paths_that_are_no_notes_of_the_palace_are_refused(paths, path):
    with pytest.raises(UsageError):
        apply_moves(paths, [Move(path, "palace/chambers/new.md")], reason="x", now="t")


def test_a_torn_log_line_is_passed_over_and_ended(paths):
    paths.logs.mkdir(parents=True)
    (paths.logs / "moves.jsonl").write_bytes(b'{"id": "torn", "mo')
    apply_moves(paths, MOVES[:1], reason="x", now="t")
    assert [entry.reason for entry in read_log(paths)] == ["x"]


def test_an_archived_note_goes_back_where_the_log_says(paths):
    move = plan_archive(SEVEN, "palace/chambers/a.md", year=2026)
    assert move == MOVES[0]
    apply_moves(paths, [move], reason="x", now="t")
    assert plan_restore(paths, move.new) == Move(move.new, move.old)
    other = Move("palace/grand_hall/b.md", "palace/archive_basement/put away/b.md")
    apply_moves(paths, [other], reason="its folders do not say where it came from", now="t")
    assert plan_restore(paths, other.new) == Move(other.new, other.old)
    with pytest.raises(UsageError, match="archived already"):
        plan_archive(SEVEN, move.new, year=2026)
    with pytest.raises(UsageError, match="not in the archive"):
        plan_restore(paths, "palace/grand_hall/b.md")
