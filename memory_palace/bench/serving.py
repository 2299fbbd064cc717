"""``palace bench serve``: what a question costs where the resident server of a palace answers."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from memory_palace.bench.generate import generated_palace, scratch_folder
from memory_palace.bench.given import GARDEN, AskServer, Connect, Given, need_models
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.scale import QUESTION, command
from memory_palace.bench.timing import Measured, measure_commands
from memory_palace.bench.vectors import drawn_minilm, loading
from memory_palace.errors import PalaceError
from memory_palace.language.tokens import plain_words
from memory_palace.palace import Palace
from memory_palace.places import socket_path

PASSAGES, QUERIES, EDITS = 50_000, 10_000, 500
_PER_NOTE = 4
"""Passages of a generated note."""
_WARM, _TIMED = 30, 400
_NOTES = 1_000
_WORDS = 8
_LEAST_RUNS = 20
_START_SECONDS, _POLL_SECONDS = 20.0, 0.05
_PALACE = Path(sys.executable).with_name("palace")
_NOTHING = (sys.executable, "-S", "-c", "pass")


def measure_promised(given: Given) -> Iterator[Measured]:
    """Yield what is promised of the server."""
    vault = given.find(GARDEN)
    need_models("minilm")
    with copied_palace(vault) as root:
        yield from measure_process(root, "the garden", max(given.runs, _LEAST_RUNS))
    yield from measure_answers(given.connect)
    yield from measure_memory(given.connect)


def measure_process(root: Path, label: str, runs: int) -> Iterator[Measured]:
    """Ask one question in a fresh process while a server answers, beside Python alone."""
    line = [str(_PALACE), "-C", str(root), "query", QUESTION]
    with served(root):
        warm, nothing = measure_commands(line, _NOTHING, runs=runs)
        prompt = json.dumps({"cwd": str(root), "prompt": QUESTION})
        hook = [str(_PALACE), "hook", "prompt"]
        told, bare = measure_commands(hook, _NOTHING, runs=runs, stdin=prompt)
    (cold,) = measure_commands([*line, "--no-serve"], runs=3)
    allowed = 2.5 * nothing.wall_seconds * 1_000 + 15
    yield Measured(
        f"{label}: served query, whole process",
        warm.wall_seconds * 1_000,
        "ms",
        "2.5 times python -S -c pass and 15 ms",
        allowed,
        limit=1,
    )
    yield Measured(
        f"{label}: the same beside one without a server",
        warm.wall_seconds * 1_000,
        "ms",
        "--no-serve",
        cold.wall_seconds * 1_000,
    )
    milliseconds = told.wall_seconds * 1_000
    yield Measured(f"{label}: palace hook prompt, whole process", milliseconds, "ms", limit=300)
    yield Measured(
        f"{label}: the same beside Python alone",
        milliseconds,
        "ms",
        "python -S -c pass",
        bare.wall_seconds * 1_000,
    )


def measure_answers(connect: Connect, passages: int = PASSAGES) -> Iterator[Measured]:
    """Ask many questions over one connection, of generated notes with minilm."""
    with generated_palace(passages // _PER_NOTE) as root:
        rows = len(_index(root).snapshot().row_note)
        questions = draw_questions(root, _WARM + _TIMED)
        with served(root) as pid, connect(root) as ask:
            for question in questions[:_WARM]:
                _time(ask, root, question)
            before = read_cpu(pid)
            times = [_time(ask, root, question) for question in questions[_WARM:]]
            cpu = (read_cpu(pid) - before) / _TIMED * 1_000
    p50, p95 = np.percentile(times, (50, 95)).tolist()
    label = f"{rows:,} passages, minilm: answer of the server"
    yield Measured(f"{label}, p95", p95, "ms", limit=15)
    yield Measured(f"{label}, median", p50, "ms")
    yield Measured(f"{label}, CPU time, mean", cpu, "ms")


def measure_memory(
    connect: Connect, *, queries: int = QUERIES, edits: int = EDITS
) -> Iterator[Measured]:
    """Ask while notes change; compare what the server holds at the end with the first twentieth."""
    with generated_palace(_NOTES) as root:
        palace = _index(root)
        paths = [root / path for path in palace.snapshot().paths]
        texts = {path: path.read_text("utf-8") for path in paths}
        questions = draw_questions(root, queries)
        early, between = max(queries // 20, 1), max(queries // edits, 1)
        before = 0.0
        with served(root, "--no-watch") as pid, connect(root) as ask:
            for number, question in enumerate(questions):
                if number % between == 0:
                    path = paths[number // between % len(paths)]
                    path.write_text(f"{texts[path]}\nEdited {number:06d} times.\n", "utf-8")
                    palace.index()
                ask(["-C", str(root), "query", question])
                if number + 1 == early:
                    before = read_memory(pid)
            after = read_memory(pid)
    what = f"server's memory after {queries:,} queries and {edits:,} edits"
    yield Measured(what, after, "MiB", f"after {early:,} queries", before, limit=1.05)


@contextmanager
def copied_palace(notes: Path | None) -> Iterator[Path]:
    """Give a copy of a folder of notes, or generated ones, indexed; it is gone afterwards."""
    with generated_palace(_NOTES) if notes is None else scratch_folder() as root:
        if notes is not None:
            copy_vault(notes, root)
        _index(root)
        yield root


def _index(root: Path) -> Palace:
    """Index a palace with minilm's tokens, and vectors by chance: only their number counts."""
    palace = Palace(root)
    with loading(drawn_minilm()):
        palace.index(embedder="minilm")
    return palace


@contextmanager
def served(root: Path, *options: str) -> Iterator[int]:
    """Serve a palace in a process of its own; give its number, and end it afterwards.

    Raise ``PalaceError`` where it does not start.
    """
    line = command(root, "serve", *options)
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            _wait_for(Path(socket_path(str(root.resolve()), os.environ)), process)
            yield process.pid
        finally:
            process.terminate()
            process.wait()


def _wait_for(address: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server has read its model, and listens."""
    deadline = time.monotonic() + _START_SECONDS
    while not _listens(address):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            errors = process.stderr.read() if process.stderr else b""
            raise PalaceError(f"the server does not start: {errors.decode()[-500:]}")
        time.sleep(_POLL_SECONDS)


def _listens(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(address))
        except OSError:
            return False
    return True


def draw_questions(root: Path, count: int) -> list[str]:
    """Return questions that differ, of words that stand together in notes."""
    rng = random.Random(1)
    paths = sorted(root.rglob("*.md"))[:200]
    notes = [plain_words(path.read_text("utf-8")) for path in paths]
    drawn = (rng.choice(notes) for _ in range(count))
    starts = ((words, rng.randrange(max(len(words) - _WORDS, 1))) for words in drawn)
    return [" ".join(words[start : start + _WORDS]) for words, start in starts]


def _time(ask: AskServer, root: Path, question: str) -> float:
    started = time.perf_counter()
    ask(["-C", str(root), "query", question])
    return (time.perf_counter() - started) * 1_000


def read_cpu(pid: int) -> float:
    """Return the CPU seconds that a process has taken; 0 where the system has no ``/proc``."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return 0.0
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def read_memory(pid: int) -> float:
    """Return the MiB that a process holds now."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(shown.stdout) / 1_024
