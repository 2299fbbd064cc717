"""What was answered is kept, whatever happens; what was not is there whole or not at all."""

import os
import signal
import subprocess
import sys

import pytest
from forking import Forked, run_line
from running import commit_all
from stopping import DYING, is_stopped

from memory_palace.changes.journal import read_log, recover
from memory_palace.config import Config
from memory_palace.features.capture.remembering import read_entries
from memory_palace.palace import Palace
from memory_palace.storage import writer_lock

CALLS = ("open", "fsync", "replace", "link", "unlink")
HASHING = "embedder: hashing\n"


@pytest.fixture
def palace(tmp_path):
    Palace.init(tmp_path, here=True)
    (tmp_path / ".palace/palace.yaml").write_text(HASHING)
    palace = Palace(tmp_path)
    palace.index()
    return palace


def said(palace, agent="wren"):
    """Return the texts of all entries of an agent, after reading every file of its inbox."""
    found = []
    for file in sorted((palace.paths.root / "Inbox").glob(f"{agent}-*.md")):
        data = file.read_bytes()
        entries = list(read_entries(file.name, data))
        assert data.endswith(b"\n") and entries
        found += [entry.text for entry in entries]
    return found


def test_stopped_at_any_disk_call_nothing_that_was_answered_is_lost(palace, monkeypatch):
    palace.remember("first", agent="wren")
    index = "memory_palace.features.capture.remembering.index_note"
    monkeypatch.setattr(index, lambda *_, **__: "")
    outcomes = set()
    for number in range(1, 200):
        text = f"entry {'x' * number}"
        stopped = is_stopped(
            lambda: palace.remember(text, agent="wren"),  # noqa: B023
            monkeypatch,
            CALLS,
            at=number,
        )
        monkeypatch.setattr(index, lambda *_, **__: "")
        recover(palace.paths)
        found = said(palace)
        assert found.count("first") == 1 and found.count(text) in (0, 1)
        outcomes.add(text in found)
        if not stopped:
            assert text in found
            break
    assert outcomes == {False, True}
    assert [entry.command for entry in read_log(palace.paths)].count("remember") == len(
        said(palace)
    )


KILLED = f"""{DYING}
from memory_palace.palace import Palace
palace = Palace(sys.argv[1])
palace.remember("answered", agent="wren")
print("answered", flush=True)
die_at(int(sys.argv[3]), sys.argv[2])
palace.remember("not answered", agent="wren")
"""


@pytest.mark.parametrize(("call", "number"), [("replace", 1), ("replace", 2), ("replace", 4)])
def test_a_killed_process_leaves_no_half_entry(palace, call, number):
    command = [sys.executable, "-c", KILLED, str(palace.paths.root), call, str(number)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "answered\n")
    palace.remember("after", agent="wren")
    found = said(palace)
    assert found.count("answered") == found.count("after") == 1
    assert len(found) <= 3
    assert palace.query("after").hits


def test_many_processes_at_once_lose_nothing(palace):
    line = ("-C", str(palace.paths.root), "remember", "--agent", "wren")
    environ = {**os.environ, "PALACE_NO_SERVE": "1"}
    running = [Forked(run_line, *line, f"statement number {n}", environ=environ) for n in range(20)]
    ended = [process.wait() for process in running]
    assert [status for status, _, _ in ended] == [0] * 20
    answers = [out.strip() for _, out, _ in ended]
    assert sorted(said(palace)) == sorted(f"statement number {n}" for n in range(20))
    assert len(set(answers)) == 20
    for n, answer in enumerate(answers):
        path, _, number = answer.rpartition(":")
        lines = (palace.paths.root / path).read_text("utf-8").split("\n")
        assert lines[int(number) + 1] == f"statement number {n}"


def test_while_another_writer_holds_the_lock_it_is_kept_in_a_file_of_its_own(palace):
    first = palace.remember("said before", agent="wren", title="Said")
    with writer_lock(palace.paths.lock):
        about = {"agent": "wren", "title": "Said", "wait_seconds": 0}
        found = palace.remember("said in between", **about)
        again = palace.remember("said in between", **about)
    assert not found.is_indexed and "written" in found.remark
    assert len({first.path, found.path, again.path}) == 3
    text = (palace.paths.root / found.path).read_text("utf-8")
    assert "said in between" in text
    assert palace.remember("said later", agent="wren").is_indexed
    assert "between" in palace.query("between").hits[0].text


def test_an_inbox_that_a_person_left_open_gets_another_note(palace):
    first = palace.remember("said before", agent="wren")
    file = palace.paths.root / first.path
    for ending in ("\n```\nopen\n", "\n<!-- open\n", "\n<private>\n"):
        file.write_text(file.read_text("utf-8") + ending, "utf-8")
        before = file.read_bytes()
        found = palace.remember(f"said after {ending.strip()}", agent="wren")
        assert found.path != first.path and found.is_indexed and file.read_bytes() == before


def test_an_inbox_note_that_is_full_is_followed_by_another(palace):
    paths = {palace.remember(f"{n} {'word ' * 200}", agent="wren").path for n in range(6)}
    ends = {path.rpartition("/")[2].removeprefix("wren-")[len("2026-11-22") :] for path in paths}
    assert ends == {".md", "-2.md"}


def test_what_is_not_indexed_is_said(palace, capsys):
    (palace.paths.root / ".palaceignore").write_text("Inbox/\n")
    found = palace.remember("one thing", agent="wren")
    assert not found.is_indexed and ".palaceignore" in found.remark
    assert (palace.paths.root / found.path).exists()


def test_the_first_thing_remembered_makes_the_index_of_a_small_palace(tmp_path):
    Palace.init(tmp_path)
    palace = Palace(tmp_path, config=Config(embedder="hashing"))
    assert palace.remember("one thing").is_indexed
    assert palace.query("thing").hits


def test_edits_that_git_has_not_seen_are_no_obstacle(palace):
    root = palace.paths.root
    palace.remember("one thing", agent="wren")
    commit_all(root)
    file = next((root / "Inbox").glob("*.md"))
    file.write_text(file.read_text("utf-8").replace("one thing", "one thing, and more"), "utf-8")
    palace.remember("another thing", agent="wren")
    assert said(palace) == ["one thing, and more", "another thing"]
