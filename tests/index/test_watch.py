from __future__ import annotations

import errno
import threading
import time
from itertools import pairwise

import pytest
from watchdog.observers import Observer

from memory_palace.errors import IndexLockedError
from memory_palace.index.watch import watch_palace
from memory_palace.notes.discovery import make_palace
from memory_palace.palace import Palace


class Watching:
    """A watched palace whose updates are counted; ``wait_for`` waits for their number."""

    def __init__(self, paths, *, locked_times=0, **options):
        self.stop, self.words, self.calls = threading.Event(), [], []
        self._called, self._locked_times = threading.Condition(), locked_times
        options = {"debounce_seconds": 0.05, "warn": self.words.append, **options}
        self.thread = threading.Thread(
            target=watch_palace, args=(paths, self._update), kwargs={"stop": self.stop, **options}
        )
        self.thread.start()

    def _update(self):
        with self._called:
            self.calls.append((threading.current_thread(), time.monotonic()))
            self._called.notify_all()
        if len(self.calls) <= self._locked_times:
            raise IndexLockedError("somebody is writing")

    def wait_for(self, number, seconds=600):
        with self._called:
            return self._called.wait_for(lambda: len(self.calls) >= number, seconds)

    def end(self):
        self.stop.set()
        self.thread.join(600)
        return not self.thread.is_alive()


@pytest.fixture(params=["classic", "as it stands"])
def paths(request, tmp_path):
    """A palace in either layout, with a folder for notes."""
    paths = make_palace(tmp_path, here=request.param != "classic")
    (paths.notes / "chambers").mkdir(exist_ok=True)
    return paths


@pytest.fixture
def watch(paths):
    started = []

    def start(**options):
        started.append(Watching(paths, **options))
        assert started[-1].wait_for(1)
        return started[-1]

    yield start
    ended = [watching.end() for watching in started]
    assert all(ended)


def test_a_locked_index_is_tried_again_after_the_debounce_and_told_once(watch):
    watching = watch(locked_times=3, debounce_seconds=0.3)
    assert watching.wait_for(4)
    times = [moment for _, moment in watching.calls]
    assert all(later - earlier >= 0.3 for earlier, later in pairwise(times))
    assert watching.words == ["somebody is writing"]


def test_a_change_that_sent_no_event_is_found_by_the_next_rescan(watch):
    assert watch(rescan_seconds=0.2).wait_for(3)


@pytest.mark.parametrize("name", [".palaceignore", "palace.yaml", "watchdog_manifest_v1.jsonl"])
def test_settings_and_the_manifest_count_as_changes(watch, paths, name):
    watching = watch()
    ((paths.notes if name == ".palaceignore" else paths.own) / name).write_text("\n")
    assert watching.wait_for(2)


def test_hidden_files_and_other_suffixes_do_not_count(watch, paths):
    watching = watch()
    for name in ("a.txt", ".hidden.md", ".index/x.md", ".journal/x.md"):
        path = paths.notes / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert not watching.wait_for(2, seconds=0.6)
    (paths.notes / "chambers" / "note.md").write_text("x")
    assert watching.wait_for(2)


def test_the_update_runs_in_the_calling_thread_and_no_thread_outlives_the_stop(watch):
    before = set(threading.enumerate())
    watching = watch()
    assert watching.calls[0][0] is watching.thread
    assert watching.end()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_file_watches_it_polls_and_says_so(watch, paths, monkeypatch, number):
    def refuse(self):
        raise OSError(number, "no more watches")

    monkeypatch.setattr(Observer, "start", refuse)
    watching = watch()
    assert [words for words in watching.words if "no file watches left" in words]
    (paths.notes / "chambers" / "note.md").write_text("x")
    assert watching.wait_for(2)


@pytest.fixture
def watching(indexed):
    """Watch a palace in a thread; yields it, the reports, and a way to wait for a path."""
    stop, reports, seen = threading.Event(), [], threading.Condition()

    def report(done):
        with seen:
            reports.append(done)
            seen.notify_all()

    def wait_for(predicate, seconds=600):
        with seen:
            return seen.wait_for(lambda: predicate(reports), seconds)

    palace = Palace(indexed.paths.root)
    thread = threading.Thread(
        target=palace.watch, args=(report,), kwargs={"stop": stop, "debounce_seconds": 0.1}
    )
    thread.start()
    assert wait_for(lambda done: len(done) >= 1)
    yield indexed, reports, wait_for
    stop.set()
    thread.join(600)
    assert not thread.is_alive()
    assert not [t for t in threading.enumerate() if "bserver" in type(t).__name__]


def added(reports):
    return {path for done in reports for path in done.added}


def test_a_burst_of_writes_is_a_few_updates(watching):
    palace, reports, wait_for = watching
    names = [f"palace/chambers/burst{number}.md" for number in range(200)]
    for name in names:
        (palace.paths.root / name).write_text("# Burst\n\nquick notes\n")
    assert wait_for(lambda done: added(done) >= set(names))
    assert len(reports) < 40


def test_a_rename_and_a_folder_that_moves_in_are_seen(watching, tmp_path_factory):
    palace, _, wait_for = watching
    kitchen = palace.paths.notes / "project_rooms" / "bread" / "Kitchen.md"
    kitchen.rename(kitchen.with_name("Bakery.md"))
    assert wait_for(lambda done: any(d.moved for d in done))
    outside = tmp_path_factory.mktemp("outside") / "box"
    outside.mkdir()
    (outside / "boxed.md").write_text("# Boxed\n\nmoved in with its folder\n")
    outside.rename(palace.paths.notes / "chambers" / "box")
    assert wait_for(lambda done: "palace/chambers/box/boxed.md" in added(done))
