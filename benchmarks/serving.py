"""The cost of a question where the resident server of a palace answers."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.generate import generated_palace, scratch_folder
from benchmarks.given import GARDEN, Given, need_models
from benchmarks.golden import copy_vault
from benchmarks.scale import QUESTION, command
from benchmarks.timing import Measured, measure_commands
from benchmarks.vectors import drawn_minilm, loading
from memory_palace.errors import PalaceError
from memory_palace.language.words import plain_words
from memory_palace.palace import Palace
from memory_palace.places import socket_path

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


def measure_process(root: Path, label: str, runs: int) -> Iterator[Measured]:
    """Ask one question in a fresh process while a server answers, beside Python alone."""
    line = [str(_PALACE), "-C", str(root), "query", QUESTION]
    with served(root):
        warm, nothing = measure_commands(line, _NOTHING, runs=runs)
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
def served(root: Path) -> Iterator[int]:
    """Serve a palace in a process of its own; give its number, and end it afterwards.

    Raise ``PalaceError`` where it does not start.
    """
    line = command(root, "serve")
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
