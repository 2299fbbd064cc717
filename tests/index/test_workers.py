"""Passages that other processes embed: the same bytes, and nothing left whatever ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

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
    assert active_children() == []


@two_cores
@pytest.mark.skipif(not is_available("minilm"), reason="the weights are not here")
def test_workers_make_the_half_that_a_pair_lacks(wide):
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


def test_no_process_is_started_for_a_few_passages(palace):
    assert palace.index(embedder="hashing", workers=1).workers == 0


class Failing(Here):
    """Workers of which one dies after so many answers, while others are under way."""

    count, ahead, peak_mib = 2, 4, 1.0

    def __init__(self, answers):
        self.left = answers

    def ask(self, embedder, texts):
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


def start(palace):
    """Start a build with two workers in a group of its own, as a shell does."""
    line = ["-C", str(palace.paths.root), "index", "--embedder", "hashing", "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "memory_palace", *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def workers_of(parent):
    """Return the living workers among the children of a process."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                line = (folder / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if fields[0] != "Z" and fields[1] == str(parent) and b"spawn_main" in line:
                found.append(int(folder.name))
    return found


def await_workers(process, count):
    while len(found := workers_of(process.pid)) < count:
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
    assert errors.startswith("palace: a worker was killed") and errors.count("\n") == 1
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


def test_a_worker_with_other_weights_embeds_nothing():
    with pytest.raises(WrongEmbedderError, match=r"hashing on .* is hashing:blake2b.*, and other"):
        make_vectors("hashing", "other", ["text"])
