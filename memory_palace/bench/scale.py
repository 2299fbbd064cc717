"""``palace bench scale``: what building and asking cost, as ratios within one run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memory_palace.bench.generate import generate_palace
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.process import measure, measure_pair, python
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
_EMPTY_TYPER = """
import typer
app = typer.Typer()
@app.command()
def nothing() -> None:
    pass
app(args=[], standalone_mode=False)
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    what: str
    value: float
    unit: str
    beside: str = ""
    baseline: float | None = None
    limit: str = ""
    """What it is held to, in the words of the requirement."""

    @property
    def ratio(self) -> float | None:
        """Value over baseline."""
        return self.value / self.baseline if self.baseline else None


def measure_scale(sizes: tuple[int, ...], *, embedder: str, runs: int) -> Iterator[Row]:
    """Yield rows for generated palaces of each size, then for ranking in one process."""
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="palace-bench-") as folder:
            root = Path(folder)
            generate_palace(root, size)
            yield from _measure_palace(root, size, embedder, runs)
    yield from _measure_ranking()
    yield from _measure_start(runs)


def measure_notes(notes: Path, *, embedder: str, runs: int) -> Iterator[Row]:
    """Yield the rows of one palace for a copy of somebody's notes."""
    with tempfile.TemporaryDirectory(prefix="palace-bench-") as folder:
        root = Path(folder)
        copy_vault(notes, root)
        size = sum(1 for _ in discover_notes(root).files)
        yield from _measure_palace(root, size, embedder, runs)


def _command(root: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "memory_palace", "-C", str(root), *arguments]


def _measure_palace(root: Path, size: int, embedder: str, runs: int) -> Iterator[Row]:
    build = _command(root, "index", "-q", "--embedder", embedder)
    cold = measure(build, runs=1, warmup=0)
    label = f"{size:,} notes, {embedder}"
    yield Row(f"{label}: cold index", cold.cpu_seconds, "CPU s")
    yield Row(f"{label}: cold index, peak memory", cold.peak_mib, "MiB")
    yield from _sizes(root, label)
    time.sleep(2.5)  # past the margin in which a fresh file is hashed again
    Palace(root).index()
    noop, stat = measure_pair(
        _command(root, "index", "-q"), python(_STAT_ALL, str(root / "palace")), runs=runs
    )
    yield Row(
        f"{label}: no-op index", noop.cpu_seconds, "CPU s", "import + stat of every note",
        stat.cpu_seconds, "<= 3",
    )  # fmt: skip
    yield from _measure_git(root, label, noop.cpu_seconds, runs)
    yield from _measure_edit(root, label)
    asked, nothing = measure_pair(
        _command(root, "query", QUESTION), python(_ASK_NOTHING, embedder), runs=runs
    )
    yield Row(
        f"{label}: cold query", asked.cpu_seconds, "CPU s",
        "numpy + Typer + model + one vector", nothing.cpu_seconds,
        "<= 1.35 at 1,000" if size <= 1000 else "",
    )  # fmt: skip
    yield Row(f"{label}: cold query, peak memory", asked.peak_mib, "MiB")
    yield _measure_warm(root, label)


def _measure_warm(root: Path, label: str) -> Row:
    """Rank with every signal in one process: what a question costs beyond embedding and stat."""
    palace = Palace(root)
    snapshot = palace.snapshot()
    vector = palace.embedder().embed_queries([QUESTION])[0]
    query = Query(QUESTION, time.time(), Filters(), vector)

    def ask() -> object:
        return search(query, snapshot, profile="hybrid", limit=5)

    slowest, _ = _percentiles(ask, ask)
    return Row(f"{label}: warm hybrid ranking, p95", slowest, "ms", limit="<= 25 at 10,000")


def _sizes(root: Path, label: str) -> Iterator[Row]:
    for part, size in Palace(root).status().index_bytes.items():
        yield Row(f"{label}: index, {part}", size / (1 << 20), "MiB")


def _measure_git(root: Path, label: str, noop: float, runs: int) -> Iterator[Row]:
    """Print ``git status`` beside the no-op build, in a repository of the same notes."""
    if shutil.which("git") is None:
        return
    with tempfile.TemporaryDirectory(prefix="palace-bench-git-") as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".index"))
        for arguments in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", *arguments], cwd=copy, check=True, capture_output=True)
        status = measure(["git", "status", "--porcelain"], runs=runs, cwd=copy)
    yield Row(f"{label}: no-op index", noop, "CPU s", "git status", status.cpu_seconds)


def _measure_edit(root: Path, label: str) -> Iterator[Row]:
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
    yield Row(f"{label}: one edit, in process", seconds, "CPU s")
    yield Row(
        f"{label}: one edit, written", report.bytes_written / 1024, "KiB",
        "64 KiB + twice its records", (65536 + own) / 1024, "<= 1",
    )  # fmt: skip
    yield Row(f"{label}: one edit, merged", report.bytes_merged / 1024, "KiB")
    yield Row(f"{label}: one edit, chunks embedded", report.embedded, "chunks", limit="<= 2")
    path.rename(path.with_name("renamed by the benchmark.md"))
    renamed = palace.index()
    yield Row(f"{label}: one rename, chunks embedded", renamed.embedded, "chunks", limit="0")


def _measure_ranking() -> Iterator[Row]:
    """Rank 100,000 rows of 384 in one process, beside the bare matrix-vector product."""
    with tempfile.TemporaryDirectory(prefix="palace-bench-") as folder:
        root = Path(folder)
        generate_palace(root, 25_000, words=420)
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

        ours, plain = _percentiles(lambda: rank("compound"), lambda: matrix @ vector)
        label = f"ranking {len(matrix):,} x {dimension}, p95"
        yield Row(label, ours, "ms", "numpy matrix-vector product", plain, "<= 1.5")
        every, dense = _percentiles(lambda: rank("hybrid"), lambda: rank("raw"))
        yield Row(f"{label}, all signals", every, "ms", "cosine alone", dense, "<= 4")


def _percentiles(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Return the 95th percentile in milliseconds of two calls that are made in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(60):
        for side, call in enumerate((first, second)):
            started = time.perf_counter()
            call()
            times[side].append((time.perf_counter() - started) * 1000)
    return float(np.percentile(times[0][10:], 95)), float(np.percentile(times[1][10:], 95))


def _measure_start(runs: int) -> Iterator[Row]:
    version, empty = measure_pair(
        [sys.executable, "-m", "memory_palace", "--version"], python(_EMPTY_TYPER), runs=runs
    )
    yield Row(
        "palace --version", version.cpu_seconds, "CPU s", "an empty Typer command",
        empty.cpu_seconds, "<= 1.2",
    )  # fmt: skip
