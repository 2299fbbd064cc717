import shutil
import signal
import subprocess
import sys

import pytest
from running import git
from stopping import DYING, is_stopped
from writing_notes import read_state

from memory_palace.changes import journal
from memory_palace.changes.changing import render_diff
from memory_palace.changes.journal import (
    Create,
    Move,
    Remove,
    Replace,
    apply_change,
    plan_undo,
    read_log,
    recover,
    undo,
)
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError

CALLS = ("open", "fsync", "replace", "link", "unlink")
OLD = b"old \xff\r\nbytes"
CHANGE = [
    Move("palace/chambers/a.md", "palace/grand_hall/a.md"),
    Replace("palace/chambers/a.md", OLD, b"new\n"),
    Replace("palace/chambers/b.md", OLD, b"other\n"),
    Create("palace/conflict_room/2026/c.md", b"created"),
    Remove("palace/chambers/d.md", OLD),
]
NEW = {
    "palace/grand_hall/a.md": b"new\n",
    "palace/chambers/b.md": b"other\n",
    "palace/conflict_room/2026/c.md": b"created",
}


def make_palace(root):
    (root / "palace" / "chambers").mkdir(parents=True)
    for name in "abd":
        (root / "palace" / "chambers" / f"{name}.md").write_bytes(OLD)
    return PalacePaths(root)


@pytest.fixture
def paths(tmp_path):
    return make_palace(tmp_path)


def change(paths, operations=CHANGE, **more):
    about = {"command": "task", "reason": "test", "now": "t"}
    return apply_change(paths, operations, **about | more)


def leftovers(paths):
    return [path for path in paths.notes.rglob("*") if path.name.endswith(".tmp")]


def test_a_stop_at_any_disk_call_is_all_or_nothing_after_recovery(tmp_path, monkeypatch):
    outcomes = []
    for number in range(1, 300):
        paths = make_palace(tmp_path / str(number))
        before = read_state(paths)
        reached = is_stopped(lambda paths=paths: change(paths), monkeypatch, CALLS, at=number)
        recover(paths)
        outcomes.append(read_state(paths) == NEW)
        if outcomes[-1]:
            undo(paths, now="u")
        else:
            assert read_log(paths) == []
        assert read_state(paths) == before
        assert leftovers(paths) == []
        shutil.rmtree(paths.root)
        if not reached:
            break
    assert outcomes[-1] and not outcomes[0] and len(outcomes) > 40


def test_a_stop_while_rolling_back_is_rolled_back_all_the_same(tmp_path, monkeypatch):
    torn = []
    for number in range(1, 300):
        paths = make_palace(tmp_path / f"torn-{number}")
        before = read_state(paths)
        if not is_stopped(lambda paths=paths: change(paths), monkeypatch, CALLS, at=number):
            break
        if read_state(paths) != before and read_log(paths) == []:
            torn.append(number)
    assert len(torn) > 10
    for number in range(1, 200):
        paths = make_palace(tmp_path / str(number))
        is_stopped(lambda paths=paths: change(paths), monkeypatch, CALLS, at=torn[-1])
        reached = is_stopped(lambda paths=paths: recover(paths), monkeypatch, CALLS, at=number)
        recover(paths)
        assert read_state(paths) == before
        if not reached:
            break
    assert number > 10


def test_undo_gives_every_byte_back_once(paths):
    before = read_state(paths)
    identity = change(paths, evidence=["two tasks"])
    assert read_state(paths) == NEW
    assert read_log(paths)[0].evidence == ("two tasks",)
    undo(paths, now="u")
    assert read_state(paths) == before
    with pytest.raises(UsageError, match="already been undone"):
        undo(paths, identity, now="u")
    with pytest.raises(UsageError, match="nothing to undo"):
        undo(paths, now="u")


def test_undo_goes_by_id(paths):
    first = change(paths)
    change(paths, [Create("palace/chambers/e.md", b"")], command="conflict")
    assert plan_undo(paths)[0].command == "conflict"
    assert undo(paths, first, now="u")[0].identity == first
    assert (paths.notes / "chambers" / "e.md").exists()


def test_undo_says_so_where_the_old_bytes_are_gone(paths):
    change(paths)
    for kept in (paths.logs / "before").iterdir():
        kept.write_bytes(b"damaged")
    with pytest.raises(PalaceError, match="missing or damaged"):
        undo(paths, now="u")
    assert read_state(paths) == NEW


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (Replace("palace/chambers/b.md", b"never", b"x"), "changed by another program"),
        (Remove("palace/chambers/b.md", b"never"), "changed by another program"),
        (Create("palace/chambers/b.md", b"x"), "already exists"),
        (Move("palace/chambers/b.md", "palace/chambers/d.md"), "already exists"),
        (Create("palace/.index/x.md", b"x"), "outside the palace"),
        (Create("palace/../x.md", b"x"), "outside the palace"),
        (Replace("palace/chambers/gone.md", b"", b"x"), "not a file"),
        (Move("palace/gone.md", "palace/chambers/new.md"), "not a file"),
        (Move("palace/../x.md", "palace/chambers/new.md"), "outside the palace"),
        (Move("elsewhere/x.md", "palace/chambers/new.md"), "outside the palace"),
    ],
)
def test_a_change_that_cannot_be_done_whole_is_not_begun(paths, operation, words):
    before = read_state(paths)
    with pytest.raises(PalaceError, match=words):
        change(paths, [Replace("palace/chambers/a.md", OLD, b"x"), operation])
    assert read_state(paths) == before and read_log(paths) == []


def test_the_diff_shows_texts_creations_and_renames():
    diff = render_diff(
        [
            Replace("palace/x.md", b"a\nb\n", b"a\nc"),
            Create("palace/y.md", b"new\n"),
            Move("palace/x.md", "palace/z.md"),
        ]
    )
    assert diff == (
        "--- a/palace/x.md\n+++ b/palace/x.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        "\\ No newline at end of file\n"
        "--- /dev/null\n+++ b/palace/y.md\n@@ -0,0 +1 @@\n+new\n"
        "diff --git a/palace/x.md b/palace/z.md\nsimilarity index 100%\n"
        "rename from palace/x.md\nrename to palace/z.md\n"
    )


def test_a_note_with_uncommitted_edits_is_refused_unless_told(paths):
    git(paths.root, "init", "-q")
    edit = paths.notes / "chambers" / "b.md"
    edit.write_bytes(b"committed")
    git(paths.root, "add", "-A")
    git(paths.root, "commit", "-qm", "x")
    edit.write_bytes(OLD)
    before = read_state(paths)
    with pytest.raises(UsageError, match=r"not committed to git: palace/chambers/b\.md"):
        change(paths)
    assert read_state(paths) == before
    change(paths, allow_uncommitted=True)
    assert read_state(paths) == NEW
    # What the last change wrote is ours, not an edit that could be lost.
    change(paths, [Replace("palace/chambers/b.md", b"other\n", b"third")])
    (paths.notes / "chambers" / "b.md").write_bytes(b"mine")
    with pytest.raises(UsageError, match="not committed"):
        change(paths, [Replace("palace/chambers/b.md", b"mine", b"x")])


def test_without_git_or_untracked_nothing_is_refused(paths, monkeypatch):
    git(paths.root, "init", "-q")
    change(paths)
    undo(paths, now="u")
    monkeypatch.setenv("PATH", "")
    change(paths)
    assert read_state(paths) == NEW


KILLED = f"""{DYING}
from pathlib import Path
from memory_palace.config import PalacePaths
from memory_palace.changes.journal import *
from memory_palace.changes import journal
die_at(int(sys.argv[3]), sys.argv[2])
change = eval(sys.argv[4])
apply_change(PalacePaths(Path(sys.argv[1])), change, command="task", reason="x", now="t")
"""


@pytest.mark.parametrize(
    ("call", "number"), [("replace", 2), ("replace", 3), ("link", 1), ("link", 2), ("unlink", 1)]
)
def test_a_killed_process_leaves_the_old_notes_or_the_new(paths, call, number):
    before = read_state(paths)
    command = [sys.executable, "-c", KILLED, str(paths.root), call, str(number), repr(CHANGE)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    recover(paths)
    assert read_state(paths) == before and leftovers(paths) == []
    change(paths)
    assert read_state(paths) == NEW


@pytest.mark.parametrize("name", ["b", "d"])
def test_what_an_editor_saves_after_the_check_is_kept(paths, monkeypatch, name):
    """A note is compared again right before it is replaced or removed."""
    victim = paths.notes / "chambers" / f"{name}.md"
    keep = journal._keep

    def save_and_keep(paths, change):
        keep(paths, change)
        victim.write_bytes(b"saved meanwhile")

    monkeypatch.setattr(journal, "_keep", save_and_keep)
    before = read_state(paths)
    with pytest.raises(PalaceError, match="another program"):
        change(paths)
    assert read_state(paths) == {**before, f"palace/chambers/{name}.md": b"saved meanwhile"}
