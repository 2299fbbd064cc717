"""Server, client or indexer killed at any time: what is left is cleared, and answers are right."""

import os
import signal
import threading
from pathlib import Path
from random import Random

import pytest
from forking import Forked, run_line
from serving_palaces import (
    ask,
    connect,
    is_alive,
    pause,
    request,
    start,
    stop,
    text_of,
    wait_for_end,
    wait_until,
    warm,
)

from memory_palace.places import socket_path
from memory_palace.server.client import encode

LINE = ("query", "rain", "gauge", "--json")
LONGEST = 0.15
"""Seconds after which a question is answered and a note indexed, where nothing else runs."""


@pytest.fixture
def served(root):
    yield root
    stop(root)


def left(runtime: Path) -> list[str]:
    return sorted(path.name for path in runtime.rglob("*") if not path.is_dir())


def processes_of(root: Path) -> list[int]:
    """Return the processes that name a palace on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(root).encode() in line:
                found.append(int(entry.name))
    return found


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_for_end(pid)


def test_a_killed_server_leaves_nothing_that_the_next_call_does_not_clear(served, runtime):
    alone = warm(served, *LINE)
    end(start(served))
    assert left(runtime)
    assert warm(served, *LINE) == alone
    assert left(runtime) == []


def test_a_server_that_starts_is_not_taken_for_one_that_was_killed(served, runtime):
    """Its socket is there before it listens; nobody may take that away."""
    pid = start(served)
    address = Path(socket_path(str(served), os.environ))
    os.kill(pid, signal.SIGSTOP)  # it answers nobody, and holds its lock
    try:
        assert warm(served, "serve", "--status")[0] == 1
        assert address.exists()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "felt" in text_of(ask(served, *LINE))


@pytest.mark.parametrize("count", [5, pytest.param(60, marks=pytest.mark.long)])
def test_killing_anything_at_any_time_loses_no_answer(served, runtime, count):
    random = Random(20261122)
    status, right, _ = warm(served, *LINE)
    assert status == 0
    pid = start(served)
    for number in range(count):
        kind = ("server", "client", "indexer")[number % 3]
        asking = Forked(run_line, *LINE, folder=served)
        indexing = None
        if kind == "indexer":
            (served / "Boat.md").write_text(f"# Boat\n\nPears {number}.\n" * 50, "utf-8")
            indexing = Forked(run_line, "index", "-q", folder=served)
        pause(random.uniform(0, LONGEST))
        if kind == "server":
            end(pid)
        elif kind == "client":
            asking.kill()
        else:
            indexing.kill()
            indexing.wait()
        ended, out, _ = asking.wait()
        if kind == "server":  # who was asked answers, with the server or without
            assert (ended, out) == (0, right), number
        if kind == "indexer":
            assert warm(served, "index", "-q")[0] == 0
            (served / "Boat.md").unlink()
            assert warm(served, "index", "-q")[0] == 0
            right = warm(served, *LINE, PALACE_NO_SERVE="1")[1]
        assert warm(served, *LINE)[:2] == (0, right), (number, kind)
        if kind == "server":
            assert left(runtime) == []
            pid = start(served)
    assert is_alive(pid)
    assert text_of(ask(served, *LINE)) == right
    assert warm(served, "doctor")[0] == 0


@pytest.mark.parametrize("count", [3, pytest.param(50, marks=pytest.mark.long)])
def test_starting_and_stopping_leaves_nothing(served, runtime, count):
    for number in range(count):
        pid = start(served)
        if number % 2:
            assert "felt" in text_of(ask(served, *LINE))
        if number % 3 == 2:
            os.kill(pid, signal.SIGTERM)
        stop(served)
        wait_for_end(pid)
        assert left(runtime) == []
    assert processes_of(served) == []


def test_many_that_start_at_once_become_one(served):
    starting = [Forked(run_line, "serve", "--background", folder=served) for _ in range(6)]
    assert [process.wait()[0] for process in starting] == [0] * 6
    wait_until(lambda: len(processes_of(served)) == 1, "two servers stay")


def test_a_client_that_goes_away_while_it_is_answered_harms_nobody(served):
    pid = start(served)
    for _ in range(20):
        with connect(served) as client:
            client.sendall(encode(request(served, *LINE)))
    assert "felt" in text_of(ask(served, *LINE))
    assert is_alive(pid)


@pytest.mark.parametrize(
    ("clients", "questions"), [(4, 15), pytest.param(8, 500, marks=pytest.mark.long)]
)
def test_every_answer_is_one_of_a_committed_index(served, clients, questions):
    """A note tells how often it was written; what is answered was committed when it was asked."""
    start(served)
    writer = Writer(served)
    problems: list[str] = []

    def question() -> None:
        for _ in range(questions):
            least = writer.committed
            reply = ask(served, "query", "zebra", "--json", "-k1")
            turn = int(text_of(reply).partition("turn=")[2][:6] or 0) if "parts" in reply else -1
            if not least <= turn <= writer.written:
                problems.append(f"{turn} is not between {least} and {writer.written}: {reply}")

    asking = [threading.Thread(target=question) for _ in range(clients)]
    for thread in (writer, *asking):
        thread.start()
    for thread in asking:
        thread.join()
    writer.is_over.set()
    writer.join()
    assert [*problems, *writer.problems] == []
    assert writer.committed > 1


class Writer(threading.Thread):
    """Writes two notes and indexes them, again and again; old segments are merged meanwhile."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root, self.problems, self.is_over = root, [], threading.Event()
        self.written = self.committed = 0
        self.write()

    def write(self) -> None:
        turn = self.written = self.written + 1
        (self.root / "Turn.md").write_text(f"# Turn\n\nzebra turn={turn:06d}.\n", "utf-8")
        (self.root / f"Other {turn % 40}.md").write_text(f"# Other\n\nowl {turn}.\n", "utf-8")
        status, _, errors = warm(self.root, "index", "-q")
        if status:
            self.problems.append(errors)
        self.committed = turn

    def run(self) -> None:
        while not self.is_over.is_set():
            self.write()
