"""The cost of building an index and of asking, beside a floor of the same run (``floor.py``)."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import floor
from benchmarks.generate import generated_palace, scratch_folder
from benchmarks.timing import Measured, measure_commands, python, time_calls
from memory_palace.models import Filters, ParsedQuery
from memory_palace.palace import Palace
from memory_palace.places import PALACE
from memory_palace.retrieval.search import search

QUESTION = "how was the river station repaired after the frost"
_MARGIN_SECONDS = 2.5
"""A file that changed less than that ago is hashed again."""
_EMPTY_TYPER = """
import typer
app = typer.Typer()
app.command()(lambda: None)
app(args=[], standalone_mode=False)
"""


def measure_scale(sizes: tuple[int, ...], *, embedder: str, runs: int) -> Iterator[Measured]:
    """Yield rows for generated palaces of each size, then for ranking in one process."""
    for size in sizes:
        with generated_palace(size) as root:
            yield from measure_palace(root, size, embedder, runs)
    yield from measure_ranking()
    yield from measure_start(runs)


def command(root: Path, *arguments: str) -> list[str]:
    """Return the command line that runs a verb in a palace."""
    return [sys.executable, "-m", "memory_palace", "-C", str(root), *arguments]


def run_floor(verb: str, *given: object) -> list[str]:
    """Return the command line of the floor."""
    return [sys.executable, floor.__file__, verb, *map(str, given)]


def measure_palace(root: Path, size: int, embedder: str, runs: int) -> Iterator[Measured]:
    """Build an index, build it again without a change, edit a note, and ask; beside the floor."""
    label = f"{size:,} notes, {embedder}"
    with scratch_folder() as folder:
        file = folder / "floor.npz"
        yield from measure_build(root, label, embedder, file)
        for part, held in Palace(root).status().index_bytes.items():
            yield Measured(f"{label}: index, {part}", held / (1 << 20), "MiB")
        time.sleep(_MARGIN_SECONDS)
        Palace(root).index()
        yield measure_noop(root, label, runs)
        yield from measure_query(root, label, embedder, file, runs)
    yield from measure_edit(root, label)
    yield measure_page(root, label, runs)


def measure_build(root: Path, label: str, embedder: str, file: Path) -> Iterator[Measured]:
    """Build the index in a fresh process; the floor writes ``file``."""
    build = command(root, "index", "-q", "--embedder", embedder)
    plain = run_floor("build", root / PALACE, embedder, file)
    ours, least = measure_commands(build, plain, runs=1, warmup=0)
    what, beside = f"{label}: build", "floor"
    yield Measured(what, ours.cpu_seconds, "CPU s", beside, least.cpu_seconds)
    yield Measured(f"{what}, peak memory", ours.peak_mib, "MiB", beside, least.peak_mib)


def measure_noop(root: Path, label: str, runs: int) -> Measured:
    """Build an index where nothing has changed, beside the stat of every note."""
    noop, stat = measure_commands(
        command(root, "index", "-q"), run_floor("walk", root / PALACE), runs=runs
    )
    what, beside = f"{label}: build without a change", "a script that stats every file"
    return Measured(what, noop.cpu_seconds, "CPU s", beside, stat.cpu_seconds, limit=3.0)


def measure_query(
    root: Path, label: str, embedder: str, file: Path, runs: int, *, limit: float | None = None
) -> Iterator[Measured]:
    """Ask one question in a fresh process."""
    asked, least = measure_commands(
        command(root, "query", "--no-serve", QUESTION),
        run_floor("ask", embedder, file, QUESTION),
        runs=runs,
    )
    what, beside = f"{label}: cold query", "floor"
    yield Measured(what, asked.cpu_seconds, "CPU s", beside, least.cpu_seconds, limit=limit)
    yield Measured(f"{what}, peak memory", asked.peak_mib, "MiB", beside, least.peak_mib)


def measure_edit(root: Path, label: str) -> Iterator[Measured]:
    """Edit and rename one note; count the bytes written and the chunks embedded."""
    palace = Palace(root)
    paths = palace.snapshot().paths
    path = root / paths[len(paths) // 2]
    path.write_text(path.read_text("utf-8") + "\nOne more line of text.\n", "utf-8")
    started = time.process_time()
    report = palace.index()
    seconds = time.process_time() - started
    yield Measured(f"{label}: one edit, in process", seconds, "CPU s")
    yield Measured(f"{label}: one edit, written", report.bytes_written / 1024, "KiB")
    yield Measured(f"{label}: one edit, chunks embedded", report.embedded, "chunks", limit=2)
    path.rename(path.with_name("renamed by the benchmark.md"))
    renamed = palace.index()
    yield Measured(f"{label}: one rename, chunks embedded", renamed.embedded, "chunks", limit=0)


def measure_page(root: Path, label: str, runs: int) -> Measured:
    """Paint the page of the palace in the Chromium of the system, beside an empty page."""
    what, program = f"{label}: page painted", shutil.which("chromium")
    if program is None or importlib.util.find_spec("playwright") is None:
        return Measured(what, None, note="needs chromium and the extra [browser]")
    from playwright.sync_api import sync_playwright

    empty = root / "empty.html"
    empty.write_text('<!doctype html><html data-ready="plan">', "utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])

        def paint(file: Path) -> None:
            page = browser.new_page()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready=plan]", state="attached")
            page.evaluate("() => new Promise((go) => requestAnimationFrame(() => setTimeout(go)))")
            page.close()

        drawn = Palace(root).view().file
        ours, least = time_calls(lambda: paint(drawn), lambda: paint(empty), runs=runs, warmup=1)
        browser.close()
    return Measured(what, ours, "ms", "an empty page", least)


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
        query = ParsedQuery(" ".join(words), time.time(), Filters(), vector)

        def rank(profile: str) -> object:
            return search(query, snapshot, profile=profile)

        label = f"ranking {len(matrix):,} x {dimension}, p95"
        calls = (lambda: rank("compound"), lambda: matrix @ vector)
        ours, plain = time_calls(*calls, warmup=10, percentile=95)
        yield Measured(label, ours, "ms", "numpy matrix-vector product", plain, limit=1.5)
        every, dense = time_calls(
            lambda: rank("hybrid"), lambda: rank("raw"), warmup=10, percentile=95
        )
        yield Measured(f"{label}, all signals", every, "ms", "cosine alone", dense, limit=2.5)


def measure_start(runs: int) -> Iterator[Measured]:
    """Print the version and import the package in fresh processes, beside the least of each."""
    version, empty, package, bare = measure_commands(
        [sys.executable, "-m", "memory_palace", "--version"],
        python(_EMPTY_TYPER),
        python("import memory_palace"),
        python(""),
        runs=runs,
    )
    ours, least = version.cpu_seconds, empty.cpu_seconds
    yield Measured("palace --version", ours, "CPU s", "an empty Typer command", least, limit=1.2)
    ours, least = package.cpu_seconds, bare.cpu_seconds
    yield Measured("import memory_palace", ours, "CPU s", "an empty interpreter", least, limit=1.5)
