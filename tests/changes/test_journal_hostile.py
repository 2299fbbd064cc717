from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stopping import DYING
from writing_notes import read_state

from memory_palace.changes.journal import apply_change, plan_undo, read_log, recover
from memory_palace.changes.operations import Move
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError

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


def test_a_log_line_that_makes_no_sense_is_passed_over(paths):
    paths.logs.mkdir(parents=True)
    (paths.logs / "moves.jsonl").write_text('{"id": "x", "moves": 3}\n[]\n')
    assert read_log(paths) == []


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


KILLED = f"""{DYING}
from pathlib import Path
from memory_palace.config import PalacePaths
from memory_palace.changes.journal import apply_change
from memory_palace.changes.operations import Move
die_at(int(sys.argv[3]), sys.argv[2])
moves = [Move(*pair.split(":")) for pair in sys.argv[4:]]
apply_change(
    PalacePaths(Path(sys.argv[1])), moves, command="cold", reason="x", now="t",
    allow_uncommitted=True,
)
"""


@pytest.mark.parametrize(
    ("call", "number"), [("replace", 1), ("link", 1), ("link", 2), ("unlink", 1), ("unlink", 2)]
)
def test_a_killed_process_leaves_the_old_notes_or_the_new(paths, call, number):
    before = read_state(paths)
    pairs = [f"{move.old}:{move.new}" for move in (A, B)]
    command = [sys.executable, "-c", KILLED, str(paths.root), call, str(number), *pairs]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    recover(paths)
    assert read_state(paths) == before


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
        planned = plan_undo(paths, command="cold")
        identity, done = planned.entry.identity, planned.entry.moves
        back = [Move(move.new, move.old) for move in reversed(done)]
        apply_moves(paths, back, reason="undo", now="t", undoes=identity)
        assert read_state(paths) == before
