"""What a person meets first, as rows of promises: known items, and an answer on a screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from memory_palace.bench.confidence import ask_across, compare, read_groups
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.known_items import MOST, KnownScore, measure_known
from memory_palace.bench.runs import Progress
from memory_palace.bench.scale import command
from memory_palace.bench.shown import SHOWN, Draw, measure_shown
from memory_palace.bench.timing import Measured
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import PalaceError

SEED = 12
COLUMNS, MOST_LINES = 80, 24
LEAST_KNOWN = {
    "title": ("@1", 0.97),
    "file name": ("@1", 0.97),
    "alias": ("@1", 0.97),
    "typo": ("@5", 0.85),
    "quote": ("@1", 0.98),
}
"""Where the note that is meant has to be, and in what share of the questions."""
LEAST_SHOWN = dict(zip(SHOWN, (0.66, 0.50), strict=True))
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def measure_names(
    folders: Sequence[Path], *, cache: Path, embedder: str = "minilm", most: int = MOST
) -> Iterator[Measured]:
    """Ask folders of notes for their own names, quotes and words; yield the worst of them."""
    worst: dict[str, KnownScore] = {}
    small: dict[str, list[KnownScore]] = defaultdict(list)
    remembering = RememberingEmbedder(get_embedder("minilm"), cache)
    for folder in folders:
        with loading(remembering):
            scores = measure_known(folder, embedder=embedder, seed=SEED, most=most)
        remembering.save()
        for score in scores:
            if score.kind.startswith("palace of") and score.system.startswith(("palace", "--")):
                small[score.system].append(score)
            elif score.system == "palace query" and score.kind in LEAST_KNOWN:
                before = worst.get(score.kind, score)
                worst[score.kind] = min(before, score, key=_share)
    for kind, score in worst.items():
        depth, least = LEAST_KNOWN[kind]
        yield _at_least(f"known items by {kind}, the worse folder", _share(score), depth, least)
    for system, found in small.items():
        name = f"small palaces, {system}"
        yield _at_least(f"{name}, first", min(s.at_1 for s in found), "the worst size", 0.9)
        yield _at_least(f"{name}, answered", min(s.at_10 for s in found), "the worst size", 1.0)


def measure_turns(
    collections: Sequence[Collection], cache: Path, *, draw: Draw, progress: Progress
) -> Iterator[Measured]:
    """Look for a right turn in what is shown of five hits, each session of talks being a note."""
    embedder = RememberingEmbedder(get_embedder("minilm"), cache)
    with loading(embedder):
        rows = measure_shown(collections, embedder=embedder, draw=draw, progress=progress)
    embedder.save()
    held = {row.system: row for row in rows if row.group == "all"}
    for system, least in LEAST_SHOWN.items():
        row = held[system]
        what = f"right turn shown whole, {system}"
        yield _at_least(what, row.held, f"of {row.questions}", least)


def _share(score: KnownScore) -> float:
    return score.at_5 if LEAST_KNOWN[score.kind][0] == "@5" else score.at_1


def measure_screen(root: Path, questions: Sequence[str]) -> Iterator[Measured]:
    """Ask on a terminal of 80 columns; yield the most lines of an answer, and the widest."""
    screens = [read_screen(command(root, "query", question), COLUMNS) for question in questions]
    what = f"five hits on {COLUMNS} columns"
    yield Measured(f"{what}, most lines", max(map(len, screens)), "lines", limit=MOST_LINES)
    width = max(len(line) for screen in screens for line in screen)
    yield Measured(f"{what}, widest line", width, "columns", limit=COLUMNS)


def measure_sureness(data: Path, checkout: Path, cache: Path) -> Iterator[Measured]:
    """Ask collections the questions of others; yield the worst pairs."""
    embedder = get_embedder("minilm")
    groups = read_groups(data, checkout)
    pairs = [pair for group in groups for pair in compare(ask_across(group, embedder, cache))]
    worst = min(pairs, key=lambda pair: pair.auc)
    what = f"confidence, worst pair ({worst.palace}, asked of {worst.source})"
    yield _at_least(what, worst.auc, "AUC", 0.95)
    own = min(pair.own for pair in pairs)
    yield _at_least("own questions answered, the worst palace", own, "of them", 0.75)
    most = max(pair.foreign for pair in pairs)
    yield Measured("foreign questions answered, the worst pair", most, "of them", limit=0.05)


def read_screen(
    arguments: Sequence[str], columns: int, *, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """Run a command on a terminal so wide; return the lines it writes, without what colours them.

    Raise ``PalaceError`` where it fails.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    kept = {key: value for key, value in environ.items() if key not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        arguments,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**kept, "TERM": "xterm-256color"},
    )
    os.close(follower)
    written = b""
    with process, suppress(OSError):  # Linux says so when the last writer has closed it
        while block := os.read(leader, 65_536):
            written += block
    os.close(leader)
    lines = _ESCAPE.sub("", written.decode(errors="replace")).replace("\r", "").splitlines()
    if process.returncode:
        raise PalaceError(f"{' '.join(arguments)} failed: {' '.join(lines[-3:])}")
    return lines


def _at_least(what: str, value: float, unit: str, limit: float) -> Measured:
    return Measured(what, round(value, 3), unit, limit=limit, at_least=True)
