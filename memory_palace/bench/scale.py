"""``palace bench scale``: what building and asking cost, as ratios within one run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from memory_palace.bench.generate import generated_palace, scratch_folder
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.timing import Measured, measure_commands, python, time_calls
from memory_palace.config import PalacePaths
from memory_palace.models import Filters, Query
from memory_palace.notes.discovery import discover_notes
from memory_palace.palace import Palace
from memory_palace.retrieval.search import search

QUESTION = "how was the river station repaired after the frost"

_STAT_ALL = """
import os, sys
import memory_palace.engine, memory_palace.cli.index, memory_palace.index.build
def walk(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)
            else:
                entry.stat()
walk(sys.argv[1])
"""
_ASK_NOTHING = """
import numpy, typer, sys
from memory_palace.embedding.registry import get_embedder
app = typer.Typer()
@app.command()
def ask() -> None:
    get_embedder(sys.argv[1]).embed_queries(["how was the river station repaired"])
app(args=[], standalone_mode=False)
"""
_STAT_WALK = """
import os, sys
import typer
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        os.stat(os.path.join(folder, name))
"""
_EMPTY_TYPER = """
import typer
app = typer.Typer()
@app.command()
def nothing() -> None:
    pass
app(args=[], standalone_mode=False)
"""


def measure_scale(sizes: tuple[int, ...], *, embedder: str, runs: int) -> Iterator[Measured]:
    """Yield rows for generated palaces of each size, then for ranking in one process."""
    for size in sizes:
        with generated_palace(size) as root:
            yield from _measure_palace(root, size, embedder, runs)
    yield from measure_ranking()
    yield measure_start(runs)


def measure_notes(notes: Path, *, embedder: str, runs: int) -> Iterator[Measured]:
    """Yield the rows of one palace for a copy of somebody's notes."""
    with scratch_folder() as root:
        copy_vault(notes, root)
        size = sum(1 for _ in discover_notes(PalacePaths(root)).files)
        yield from _measure_palace(root, size, embedder, runs)


def command(root: Path, *arguments: str) -> list[str]:
    """Return the command line that runs a verb in a palace."""
    return [sys.executable, "-m", "memory_palace", "-C", str(root), *arguments]


def _measure_palace(root: Path, size: int, embedder: str, runs: int) -> Iterator[Measured]:
    build = command(root, "index", "-q", "--embedder", embedder)
    (cold,) = measure_commands(build, runs=1, warmup=0)
    label = f"{size:,} notes, {embedder}"
    yield Measured(f"{label}: cold index", cold.cpu_seconds, "CPU s")
    yield Measured(f"{label}: cold index, peak memory", cold.peak_mib, "MiB")
    for part, held in Palace(root).status().index_bytes.items():
        yield Measured(f"{label}: index, {part}", held / (1 << 20), "MiB")
    time.sleep(2.5)  # past the margin in which a fresh file is hashed again
    Palace(root).index()
    yield from measure_noop(root, label, runs)
    yield from measure_edit(root, label)
    yield from measure_query(root, label, embedder, runs, limit=1.35 if size <= 1000 else None)
    yield _measure_warm(root, label, limit=25 if size <= 10_000 else None)


def measure_noop(root: Path, label: str, runs: int) -> Iterator[Measured]:
    """Build an index where nothing has changed, beside the stat of every note, and beside git."""
    noop, stat = measure_commands(
        command(root, "index", "-q"), python(_STAT_ALL, str(root / "palace")), runs=runs
    )
    what, seconds, beside = f"{label}: no-op index", noop.cpu_seconds, "import + stat of every note"
    yield Measured(what, seconds, "CPU s", beside, stat.cpu_seconds, limit=3)
    if shutil.which("git") is not None:
        yield Measured(what, seconds, "CPU s", "git status", _git_seconds(root, runs))


def measure_query(
    root: Path, label: str, embedder: str, runs: int, *, limit: float | None
) -> Iterator[Measured]:
    """Ask one question in a fresh process, beside one that only embeds it."""
    asked, nothing = measure_commands(
        command(root, "query", QUESTION), python(_ASK_NOTHING, embedder), runs=runs
    )
    yield Measured(
        f"{label}: cold query",
        asked.cpu_seconds,
        "CPU s",
        "numpy + Typer + model + one vector",
        nothing.cpu_seconds,
        limit=limit,
    )
    yield Measured(f"{label}: cold query, peak memory", asked.peak_mib, "MiB")


def _measure_warm(root: Path, label: str, *, limit: float | None) -> Measured:
    """Rank with every signal in one process: what a question costs beyond embedding and stat."""
    palace = Palace(root)
    snapshot = palace.snapshot()
    vector = palace.embedder().embed_queries([QUESTION])[0]
    query = Query(QUESTION, time.time(), Filters(), vector)
    (slowest,) = _slowest(lambda: search(query, snapshot, profile="hybrid", limit=5))
    return Measured(f"{label}: warm hybrid ranking, p95", slowest, "ms", limit=limit)


def _git_seconds(root: Path, runs: int) -> float:
    """Return the CPU seconds of ``git status`` in a repository of the same notes."""
    with scratch_folder() as folder:
        copy = folder / "copy"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".index"))
        git = ["git", "-C", str(copy)]
        for arguments in (["init", "-q"], ["add", "-A"]):
            subprocess.run([*git, *arguments], check=True, capture_output=True)
        (status,) = measure_commands([*git, "status", "--porcelain"], runs=runs)
    return status.cpu_seconds


def measure_edit(root: Path, label: str) -> Iterator[Measured]:
    """Edit and rename one note; count what that writes and embeds."""
    palace = Palace(root)
    paths = palace.snapshot().paths
    path = root / paths[len(paths) // 2]
    path.write_text(path.read_text("utf-8") + "\nOne more line of text.\n", "utf-8")
    started = time.process_time()
    report = palace.index()
    seconds = time.process_time() - started
    segment = palace.snapshot().commit.segments[-1]
    own = 2 * (segment.line_bytes + segment.rows * palace.snapshot().commit.dimension * 4)
    yield Measured(f"{label}: one edit, in process", seconds, "CPU s")
    yield Measured(
        f"{label}: one edit, written",
        report.bytes_written / 1024,
        "KiB",
        "64 KiB + twice its records",
        (65536 + own) / 1024,
        limit=1,
    )
    yield Measured(f"{label}: one edit, merged", report.bytes_merged / 1024, "KiB")
    yield Measured(f"{label}: one edit, chunks embedded", report.embedded, "chunks", limit=2)
    path.rename(path.with_name("renamed by the benchmark.md"))
    renamed = palace.index()
    yield Measured(f"{label}: one rename, chunks embedded", renamed.embedded, "chunks", limit=0)


def measure_ranking() -> Iterator[Measured]:
    """Rank 100,000 rows of 384 in one process, beside the bare matrix-vector product."""
    with generated_palace(25_000, words=420) as root:
        palace = Palace(root)
        palace.index(embedder="hashing")
        snapshot = palace.snapshot()
        dimension = snapshot.commit.dimension
        vector = np.full(dimension, dimension**-0.5, np.float32)
        matrix = snapshot.rows_of(np.arange(len(snapshot.row_note)))
        words = (root / snapshot.paths[0]).read_text("utf-8").split()[-12:]
        query = Query(" ".join(words), time.time(), Filters(), vector)

        def rank(profile: str) -> object:
            return search(query, snapshot, profile=profile, limit=5)

        label = f"ranking {len(matrix):,} x {dimension}, p95"
        ours, plain = _slowest(lambda: rank("compound"), lambda: matrix @ vector)
        yield Measured(label, ours, "ms", "numpy matrix-vector product", plain, limit=1.5)
        every, dense = _slowest(lambda: rank("hybrid"), lambda: rank("raw"))
        yield Measured(f"{label}, all signals", every, "ms", "cosine alone", dense, limit=2.5)


def measure_start(runs: int) -> Measured:
    """Print the version in a fresh process, beside an empty Typer command."""
    version, empty = measure_commands(
        [sys.executable, "-m", "memory_palace", "--version"], python(_EMPTY_TYPER), runs=runs
    )
    seconds, beside = version.cpu_seconds, "an empty Typer command"
    return Measured("palace --version", seconds, "CPU s", beside, empty.cpu_seconds, limit=1.2)


def measure_init(notes: int, runs: int) -> Measured:
    """Take a folder of notes as it stands, beside a walk that stats them."""
    with scratch_folder() as root:
        for number in range(notes):
            folder = root / f"{number // 200}"
            folder.mkdir(exist_ok=True)
            (folder / f"{number}.md").write_text(f"# Note {number}\n", "utf-8")
        init, walk = measure_commands(
            command(root, "init", "--here"), python(_STAT_WALK, str(root)), runs=runs
        )
    what, beside = f"init --here, {notes:,} notes", "import typer + stat of every note"
    return Measured(what, init.cpu_seconds, "CPU s", beside, walk.cpu_seconds, limit=1.5)


def _slowest(*calls: Callable[[], object]) -> list[float]:
    return time_calls(*calls, warmup=10, percentile=95)
