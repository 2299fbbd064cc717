from __future__ import annotations

import threading

import pytest

from memory_palace.palace import Palace

LONGEST_SECONDS = 600
"""Only a failing test waits for so long."""


@pytest.fixture
def refused():
    """Set when an update was put off because another writer was at work."""
    return threading.Event()


@pytest.fixture
def watching(indexed, refused):
    """Watch a palace in a thread; yields it, the reports, and a way to wait for a path."""
    stop, reports, seen = threading.Event(), [], threading.Condition()

    def report(done):
        with seen:
            reports.append(done)
            seen.notify_all()

    def wait_for(predicate, seconds=LONGEST_SECONDS):
        with seen:
            return seen.wait_for(lambda: predicate(reports), seconds)

    palace = Palace(indexed.paths.root)
    thread = threading.Thread(
        target=palace.watch,
        args=(report,),
        kwargs={"stop": stop, "debounce_seconds": 0.1, "warn": lambda words: refused.set()},
    )
    thread.start()
    assert wait_for(lambda done: len(done) >= 1)
    yield indexed, reports, wait_for
    stop.set()
    thread.join(LONGEST_SECONDS)
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


def test_another_writer_only_delays_it(watching, refused):
    palace, _, wait_for = watching
    with palace.writing():
        (palace.paths.notes / "chambers" / "late.md").write_text("late\n")
        assert refused.wait(LONGEST_SECONDS)
    assert wait_for(lambda done: "palace/chambers/late.md" in added(done))
