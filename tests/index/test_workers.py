"""Passages that other processes embed: the same bytes, and nothing left whatever ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from memory_palace.embedding import forward, processes
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.embedding.registry import is_available
from memory_palace.embedding.workers import Here, make_vectors, open_workers
from memory_palace.errors import PalaceError, UsageError, WrongEmbedderError
from memory_palace.index import build
from memory_palace.palace import Palace

PASSAGES = 150
WORDS = "harbour lantern granite orchard saddle violin copper thistle ferry candle".split()

two_cores = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="this machine has one processor")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


@pytest.fixture
def wide(palace):
    """A palace of more passages than are embedded without workers."""
    for number in range(PASSAGES):
        words = " ".join(WORDS[(number * step) % 10] for step in range(1, 3 + number % 40))
        path = palace.paths.notes / "chambers" / f"w{number:03d}.md"
        path.write_text(f"# Note {number}\n\n{words}, on day {number}.\n")
    return palace


def segments_of(palace):
    return sorted(path.name for path in palace.paths.index.glob("seg-*"))


def clear(palace):
    for path in palace.paths.index.iterdir():
        path.unlink()


@two_cores
def test_workers_make_the_same_bytes(wide):
    alone = wide.index(embedder="hashing")
    expected = segments_of(wide)
    clear(wide)
    report = wide.index(embedder="hashing", workers=2)
    assert segments_of(wide) == expected
    assert (alone.workers, report.workers, report.embedded) == (0, 2, alone.embedded)
    assert 10 < report.worker_mib < 1000
    assert children_of(os.getpid()) == []


@two_cores
@pytest.mark.skipif(not is_available("minilm"), reason="the weights are not here")
def test_workers_make_the_half_that_a_pair_lacks(wide, monkeypatch):
    monkeypatch.setattr(build, "embed_null_lines", lambda *_: None)  # hundreds, 4 CPU s
    monkeypatch.setattr(build, "ask_null_lines", lambda *_: lambda: None)
    for path in sorted((wide.paths.notes / "chambers").glob("w*.md"))[40:]:
        path.unlink()
    wide.index(embedder="hashing")
    old = {path.name: path.read_bytes() for path in wide.paths.index.iterdir()}
    wide.index(embedder="minilm+hashing", force=True)
    expected = segments_of(wide)
    clear(wide)
    for name, data in old.items():
        (wide.paths.index / name).write_bytes(data)
    report = Palace(wide.paths.root).index(embedder="minilm+hashing", force=True, workers="2")
    assert segments_of(wide) == expected
    assert report.workers == 2 and report.reused_halves == report.embedded > 32


@two_cores
def test_no_process_is_started_for_a_few_passages(palace):
    palace.index(embedder="hashing")
    (palace.paths.notes / "chambers" / "new.md").write_text("# New\n\nA lantern.\n")
    report = palace.index(workers=2)
    assert (report.workers, report.embedded) == (0, 1)


def test_one_worker_is_this_process_with_one_thread(wide):
    before, seen = forward.THREADS, set()
    report = wide.index(
        embedder="hashing", workers=1, progress=lambda *doing: seen.add(forward.THREADS)
    )
    assert report.workers == 0 and children_of(os.getpid()) == []
    assert 1 in seen and forward.THREADS == before > 1


@two_cores
def test_workers_read_small_talk_as_one_process_does(wide):
    wide.index(embedder="hashing")
    (expected,) = (path.name for path in wide.paths.index.glob("null-*"))
    clear(wide)
    wide.index(embedder="hashing", workers=2)
    assert [path.name for path in wide.paths.index.glob("null-*")] == [expected]


class Failing(Here):
    """Workers of which one dies after so many answers, while others are under way."""

    count, ahead, peak_mib = 2, 4, 1.0

    def __init__(self, answers):
        self.left = answers

    def ask(self, embedder, texts, *, are_questions=False):
        return partial(self.answer, embedder, texts)

    def answer(self, embedder, texts):
        self.left -= 1
        if self.left < 0:
            raise PalaceError("a worker was killed")
        return embedder.embed_passages(texts)


def test_what_was_embedded_before_a_worker_died_is_kept(wide, monkeypatch):
    total = wide.index(embedder="hashing", dry_run=True).embedded
    with monkeypatch.context() as patch:
        patch.setattr(build, "open_workers", lambda asked, embedder: Failing(7))
        with pytest.raises(PalaceError, match="killed"):
            wide.index(embedder="hashing", workers=2)
    assert wide.index(embedder="hashing").embedded == total - (1 + 1 + 2 + 4 + 8 + 16 + 32)
    assert Palace(wide.paths.root).doctor().findings == ()


SLOWLY = """import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
from memory_palace.embedding import processes
processes._PROGRAM = processes._PROGRAM.replace("from", "import time; from", 1).replace(
    "main()", "worker = sys.modules[main.__module__]; make = worker.make_vectors; "
    "worker.make_vectors = lambda *task: (time.sleep(2), make(*task))[1]; main()"
)
from memory_palace.cli.app import main
main()
"""


def start(palace):
    """Start a build with two workers in a group of its own, as a shell does.

    Each answer takes two seconds, so that no busy machine finishes the build before it is stopped.
    """
    line = ["-C", str(palace.paths.root), "index", "--embedder", "hashing", "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def children_of(parent, words=b"embedding.worker"):
    """Return the living children of a process whose command line has these words: the workers."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                line = (folder / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if fields[0] != "Z" and fields[1] == str(parent) and words in line:
                found.append(int(folder.name))
    return found


def await_workers(process, count):
    while len(found := children_of(process.pid)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def await_end(pids):
    for _ in range(3000):
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.01)
    return False


@linux
@two_cores
def test_a_killed_worker_is_one_line_and_the_next_build_goes_on(wide):
    process = start(wide)
    workers = await_workers(process, 1)
    os.kill(workers[0], signal.SIGKILL)
    out, errors = process.communicate()
    assert process.returncode == 1 and out == ""
    assert errors.startswith("palace: a worker was killed (SIGKILL); what was embedded is kept")
    assert errors.count("\n") == 1
    assert await_end(workers)
    wide.index(embedder="hashing")
    assert Palace(wide.paths.root).doctor().findings == ()


@linux
@two_cores
def test_workers_end_with_a_build_that_is_killed(wide):
    process = start(wide)
    workers = await_workers(process, 2)
    process.send_signal(signal.SIGSTOP)  # so that it cannot end them itself
    assert all(map(is_alive, workers))
    process.kill()
    process.communicate()
    assert await_end(workers)
    wide.index(embedder="hashing")
    assert Palace(wide.paths.root).doctor().findings == ()


@linux
@two_cores
def test_ctrl_c_ends_the_workers_and_says_one_thing(wide):
    process = start(wide)
    workers = await_workers(process, 1)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate()
    assert process.returncode == 130 and out == ""
    assert errors.startswith("stopped; ") and errors.count("\n") == 1
    assert await_end(workers)


@pytest.mark.parametrize("asked", [0, -1, "", "many", "1.5", "9" * 5000, "２", 4000])
def test_what_is_no_number_of_workers_says_what_is(asked):
    with pytest.raises(UsageError, match="give a number from 1 to"):
        open_workers(asked, HashingEmbedder())


def test_a_model_that_takes_every_core_has_no_workers():
    class Torch(HashingEmbedder):
        name = "torch"
        takes_all_cores = True

    with pytest.raises(UsageError, match="torch works on every core"):
        open_workers(1, Torch())


def test_a_worker_with_other_weights_embeds_nothing(monkeypatch):
    monkeypatch.setattr(forward, "THREADS", forward.THREADS)  # a worker has one, and this is none
    with pytest.raises(WrongEmbedderError, match=r"hashing on .* is hashing:blake2b.*, and other"):
        make_vectors("hashing", "other", ["text"])


# --- What can go wrong with a worker, for real ----------------------------------------------------

FAULTS = {
    "has no memory for the texts": (
        "import numpy, resource\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * resource.getpagesize() + (64 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))",
        "failed: MemoryError",
    ),
    "cannot import what it needs": (
        "sys.modules['numpy'] = None",
        "failed: ModuleNotFoundError: import of numpy halted",
    ),
    "cannot start a thread": (
        "import _thread\n"
        'def refuse(*_, **__): raise RuntimeError("can\'t start new thread")\n'
        "_thread.start_new_thread = _thread.start_joinable_thread = refuse\n"
        "from memory_palace.embedding import hashing\n"
        "import threading\n"
        "hashing.HashingEmbedder.embed_passages = lambda *_: threading.Thread().start()",
        "failed: RuntimeError: can't start new thread",
    ),
    "ends in the middle of an answer": (
        "import os, pickle\n"
        "def dump(value, file, protocol):\n"
        "    file.write(b'\\x80\\x05\\x95'); file.flush(); os._exit(3)\n"
        "pickle.dump = dump",
        "failed: status 3",
    ),
}


def begin_with(lines, monkeypatch):
    """Let workers begin with lines of Python of our own."""
    monkeypatch.setattr(processes, "_PROGRAM", "import sys; sys.path[:] = {}\n" + lines + REST)


REST = "\nfrom memory_palace.embedding.worker import main; main()"


@linux
@pytest.mark.parametrize("what", FAULTS)
def test_a_worker_fails_in_one_line_when_it(what, monkeypatch):
    lines, said = FAULTS[what]
    begin_with(lines, monkeypatch)
    texts = ["lantern " * (20_000_000 if "memory" in what else 1)]
    with processes.Processes(2) as workers:
        answer = workers.ask(HashingEmbedder(), texts)
        with pytest.raises(PalaceError) as raised:
            answer()
    assert str(raised.value).startswith(f"a worker {said}")
    assert "\n" not in str(raised.value) and "what was embedded is kept" in str(raised.value)
    assert children_of(os.getpid()) == []


def test_what_a_library_prints_is_no_answer(monkeypatch):
    begin_with(
        "from memory_palace.embedding import hashing\nmake = hashing.HashingEmbedder."
        "embed_passages\nhashing.HashingEmbedder.embed_passages = lambda self, texts: "
        "(print('x' * 100_000, flush=True), make(self, texts))[1]",
        monkeypatch,
    )
    with processes.Processes(1) as workers:
        made = workers.ask(HashingEmbedder(), ["a lantern"])()
    assert (made == HashingEmbedder().embed_passages(["a lantern"])).all()


@linux
def test_a_worker_that_does_not_answer_is_not_waited_for_forever(monkeypatch):
    monkeypatch.setattr(processes, "_PATIENCE_SECONDS", 0.2)
    with processes.Processes(2) as workers:
        answer = workers.ask(HashingEmbedder(), ["a lantern"] * 2)
        stopped = children_of(os.getpid())
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        with pytest.raises(PalaceError, match=r"no worker has answered for 0.2 seconds; "):
            workers.ask(HashingEmbedder(), ["an orchard"])()
            answer()
    assert len(stopped) == 2 and children_of(os.getpid()) == []


@pytest.mark.parametrize("what", ["process", "thread"])
def test_where_no_worker_can_be_started_one_line_says_so(wide, what, monkeypatch):
    def refuse(*_, **__):
        raise OSError(11, "Resource temporarily unavailable")

    def refuse_thread(*_, **__):
        raise RuntimeError("can't start new thread")

    if what == "process":
        monkeypatch.setattr(processes.subprocess, "Popen", refuse)
    else:
        monkeypatch.setattr("threading.Thread.start", refuse_thread)
    with pytest.raises(PalaceError, match=r"no worker can be started: .*(unavailable|new thread)"):
        wide.index(embedder="hashing", workers=2)
    monkeypatch.undo()
    assert children_of(os.getpid()) == []
    assert wide.index(embedder="hashing").embedded
