"""A search outlives its process: locked, stopped anywhere, damaged, resumed."""

import json
import stat
import subprocess
import sys
import threading

import pytest
from stopping import Stopped, steps_of

from memory_palace.errors import IndexLockedError, PalaceError, UsageError
from memory_palace.features.seek import searches
from memory_palace.features.seek.searches import (
    load_search,
    read_node,
    read_search_log,
    sessions_of,
    start_search,
    step_search,
)
from memory_palace.palace import Palace

CALLS = ("open", "fsync", "replace", "truncate")


@pytest.fixture
def search(notes):
    session = start_search(notes, "where is the pump")
    return notes, session.id


def state(palace, name):
    return json.loads((palace.paths.sessions / f"{name}.json").read_text("utf-8")), read_search_log(
        palace, name
    )


def test_a_stop_at_any_disk_call_leaves_the_old_state_or_the_new_one(search, monkeypatch):
    palace, name = search
    before = state(palace, name)
    sessions = sessions_of(palace)
    session = sessions.load(name)
    session.step += 1
    with sessions.writing(name):
        total = steps_of(lambda: sessions.save(session, {"event": "x"}), monkeypatch, CALLS)
    after = state(palace, name)
    assert total >= 5
    for stop_at in range(1, total + 1):
        (palace.paths.sessions / f"{name}.json").write_text(json.dumps(before[0]), "utf-8")
        again = sessions.load(name)
        again.step += 1
        with sessions.writing(name), pytest.raises(Stopped):
            steps_of(
                lambda s=again: sessions.save(s, {"event": "x"}),
                monkeypatch,
                CALLS,
                stop_at=stop_at,
            )
        assert state(palace, name) in (before, after)


def test_what_was_logged_and_never_committed_is_cut_off_by_the_next_step(search):
    palace, name = search
    log = palace.paths.sessions / f"{name}.jsonl"
    with log.open("ab") as file:
        file.write(b'{"event": "torn')
    assert len(read_search_log(palace, name)) == 1
    step_search(palace, name)
    events = [json.loads(line)["event"] for line in log.read_text("utf-8").splitlines()]
    assert events == ["start", "step"]


def test_a_killed_process_leaves_a_search_that_goes_on(search):
    palace, name = search
    code = """
import os, sys, pathlib
from memory_palace.features.seek.searches import step_search
from memory_palace.palace import Palace
from memory_palace.features.seek.search_session import SearchSessions
save = SearchSessions.save
def save_and_die(self, session, record):
    save(self, session, record)
    os._exit(9)
SearchSessions.save = save_and_die
step_search(Palace(pathlib.Path(sys.argv[1])), None)
"""
    done = subprocess.run([sys.executable, "-c", code, str(palace.paths.root)], check=False)
    assert done.returncode == 9
    other = Palace(palace.paths.root)
    assert load_search(other, name).step == 1
    read_node(other, name, None)
    session, _ = step_search(other, name)
    assert session.step == 2
    assert list(session.closed.values()) == ["read"]


def test_one_writer_at_a_time(search, monkeypatch):
    palace, name = search
    monkeypatch.setattr(searches, "WAIT_SECONDS", 0.0)
    sessions = sessions_of(palace)
    with sessions.writing(name), pytest.raises(IndexLockedError, match=f"the search {name}"):
        step_search(palace, name)


def at_once(act):
    """Do something in four threads."""
    threads = [threading.Thread(target=act) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_writers_that_wait_lose_no_step(search):
    palace, name = search
    at_once(lambda: step_search(Palace(palace.paths.root), name))
    assert load_search(palace, name).step == 4
    steps = [r["step"] for r in read_search_log(palace, name) if r["event"] == "step"]
    assert steps == [0, 1, 2, 3]


def test_two_that_begin_the_same_search_at_once_get_two(search):
    palace, name = search
    begun = []

    def begin():
        begun.append(start_search(Palace(palace.paths.root), "where is the pump").id)

    at_once(begin)
    assert sorted(begun) == [f"{name}-{number}" for number in range(2, 6)]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda text: text[:50], "is damaged"),
        (lambda text: text.replace('"searching"', '"lost"'), "target_status"),
        (lambda text: text.replace('"schema": 1', '"schema": 9'), "schema"),
        (lambda text: text.replace('"k": 5', '"k": 0'), "is damaged: .*k: 0"),
        (lambda text: text.replace('"id": "where', '"id": "here'), "belongs to the search here"),
        (lambda text: text.replace('"closed": {', '"closed": {"9": "read"'), "node 9 has no note"),
    ],
)
def test_a_damaged_session_is_named_and_not_used(search, damage, problem):
    palace, name = search
    file = palace.paths.sessions / f"{name}.json"
    file.write_text(damage(file.read_text("utf-8")), "utf-8")
    with pytest.raises(PalaceError, match=problem):
        step_search(palace, name)


def test_a_log_that_lost_committed_lines_is_named(search):
    palace, name = search
    (palace.paths.sessions / f"{name}.jsonl").write_bytes(b"")
    for act in (step_search, read_search_log):
        with pytest.raises(PalaceError, match="is shorter than when it was written"):
            act(palace, name)


def test_searches_are_found_by_how_their_names_begin(search):
    palace, name = search
    second = start_search(palace, "where is the pump")
    third = start_search(palace, "rye")
    assert (name, second.id) == ("where-is-the-pump", "where-is-the-pump-2")
    assert load_search(palace, None).id == third.id
    assert load_search(palace, "r").id == "rye"
    assert load_search(palace, name).id == name
    with pytest.raises(UsageError, match="2 searches start with 'where'"):
        load_search(palace, "where")
    with pytest.raises(UsageError, match="no search starts with 'x'"):
        load_search(palace, "x")


def test_its_files_are_for_their_owner_alone(search):
    palace, _ = search
    assert stat.S_IMODE(palace.paths.sessions.stat().st_mode) == 0o700
    for file in palace.paths.sessions.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
