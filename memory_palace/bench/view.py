"""``palace view``: seconds to write the page, its bytes, and what it takes in a browser."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memory_palace.bench.browsing import EMPTY, PageCost, measure_page, open_browser
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.given import Given
from memory_palace.bench.timing import Measured, time_calls
from memory_palace.palace import Palace

SIZES = (5_000, 25_000)
CORPUS = "beir/scifact"
FIRST_PAINT_MS = {5_000: 1_500.0, 25_000: 6_000.0}
"""Aims, by the number of notes that they are for."""
KEYSTROKE_MS, FRAMES = 50.0, 30.0
_ROOMS = 12
_TYPED = 5
"""Titles whose beginnings are typed."""
_LETTERS = 12
_SENTENCE = re.compile(r"(?<=[.!?]) ")


@contextmanager
def dealt_palace(collection: Collection, count: int) -> Iterator[Path]:
    """Give a palace of ``count`` notes of a collection's text; it is gone afterwards.

    Where the collection has fewer documents, its sentences are dealt out, the same number to each
    note. Each links to two others and lies in one of twelve folders, by chance, the same each time.
    """
    luck = random.Random(1)
    texts = [document.text for document in collection.documents]
    if len(texts) < count:
        lines = (line.lstrip("# ") for text in texts for line in text.splitlines())
        sentences = [part for line in lines for part in _SENTENCE.split(line) if part.strip()]
        share = max(len(sentences) // count, 1)
        texts = [" ".join(sentences[n * share : (n + 1) * share]) for n in range(count)]
    with scratch_folder() as root:
        for number, text in enumerate(texts[:count]):
            folder = root / f"room {luck.randrange(_ROOMS):02}"
            folder.mkdir(exist_ok=True)
            links = " ".join(f"[[{luck.randrange(count):05}]]" for _ in range(2))
            title = "" if text.startswith("# ") else f"# {' '.join(text.split()[:6])}\n\n"
            (folder / f"{number:05}.md").write_text(f"{title}{text}\n\n{links}\n", "utf-8")
        Palace.init(root, here=True)
        yield root


def measure_dealt(
    corpus: Path, sizes: Sequence[int], *, embedder: str, runs: int
) -> Iterator[Measured]:
    """Yield the rows of palaces of each size, dealt from a folder in BEIR's form."""
    collection = load_beir(corpus)
    for size in sizes:
        with dealt_palace(collection, size) as root:
            Palace(root).index(embedder=embedder)
            yield from measure_view(root, f"{size:,} notes", runs=runs)


def measure_promised(given: Given) -> Iterator[Measured]:
    """Yield the rows of both sizes that are promised."""
    corpus = given.find(CORPUS)
    yield from measure_dealt(corpus, SIZES, embedder="hashing", runs=given.runs)


def measure_view(root: Path, what: str, *, runs: int) -> Iterator[Measured]:
    """Yield what the page of an indexed palace costs, beside a page that draws one square."""
    with scratch_folder() as folder, open_browser() as browser:
        page, empty = folder / "palace.html", folder / "empty.html"
        anew, _ = _write(root, page, "--relayout")
        again, written = _write(root, page)
        empty.write_text(EMPTY, "utf-8")
        words = choose_words(root)
        nothing = measure_page(browser, empty, words, runs=runs)
        cost = measure_page(browser, page, words, runs=runs)
    yield Measured(f"{what}: page written, laid out anew", anew, "s")
    yield Measured(f"{what}: page written, laid out before", again, "s")
    size, most = written["size_bytes"], written["limit_bytes"]
    note = f"limit: 400 kB and half of {written['text_bytes'] / 1e6:.1f} MB of text"
    yield Measured(f"{what}: size", size / 1e6, "MB", limit=most / 1e6, note=note)
    yield from _rows(what, written["notes"], cost, nothing)
    yield _measure_grep(root, what, words[0])


def _write(root: Path, page: Path, *options: str) -> tuple[float, dict[str, Any]]:
    """Return the seconds of the command, and what it said of the page."""
    command = [sys.executable, "-m", "memory_palace", "-C", str(root), "view", "--json"]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--out", str(page), *options], capture_output=True, check=True, text=True
    )
    return time.perf_counter() - started, json.loads(done.stdout)


def _rows(what: str, notes: int, cost: PageCost, nothing: PageCost) -> Iterator[Measured]:
    paint = next((ms for most, ms in FIRST_PAINT_MS.items() if notes <= most), None)
    beside = f"an empty page: {nothing.painted:.0f} ms, {nothing.first_content:.0f} ms to content"
    yield Measured(f"{what}: plan painted", cost.painted, "ms", limit=paint, note=beside)
    yield Measured(f"{what}: first content painted", cost.first_content, "ms")
    beside = f"an empty page: {nothing.keystroke:.0f}, 95 % {nothing.keystroke_late:.0f}"
    typed = f"{what}: keystroke of search"
    yield Measured(typed, cost.keystroke, "ms", limit=KEYSTROKE_MS, note=beside)
    yield Measured(f"{what}: keystroke, 95 %", cost.keystroke_late, "ms")
    beside = f"an empty page: {nothing.frames:.0f}, {nothing.frames_late:.0f}"
    moved = f"{what}: zoomed and dragged"
    yield Measured(moved, cost.frames, "frames/s", limit=FRAMES, at_least=True, note=beside)
    yield Measured(f"{moved}, 5 %", cost.frames_late, "frames/s")
    heap = f"an empty page: {nothing.heap_mib:.1f}"
    yield Measured(f"{what}: JavaScript heap", cost.heap_mib, "MiB", note=heap)


def choose_words(root: Path) -> list[str]:
    """Return beginnings of titles of a palace, which are typed into its search."""
    snapshot = Palace(root).snapshot()
    luck, count = random.Random(1), len(snapshot.paths)
    titles = [snapshot.note(luck.randrange(count)).title for _ in range(4 * _TYPED)]
    return [title[:_LETTERS].strip() for title in titles if title.strip()][:_TYPED] or ["note"]


def _measure_grep(root: Path, what: str, word: str) -> Measured:
    command = ["grep", "-rliF", "--include=*.md", "-e", word, str(root)]
    (times,) = time_calls(lambda: subprocess.run(command, capture_output=True), runs=3, warmup=1)
    return Measured(f"{what}: grep for the same", times, "ms", note="whole notes, not their titles")
