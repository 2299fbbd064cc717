"""Notes for measurements: made from a seed, marked as made, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_palace.config import ROOMS
from memory_palace.places import PALACE

_SYLLABLES = "ka lo mi ten ras vel dor ni sha pre cu mon ta gri".split()
_WORDS = 4_000
_ROOMS = [room for room in ROOMS if room != "archive_basement"]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder that is gone afterwards."""
    with TemporaryDirectory(prefix="palace-bench-") as folder:
        yield Path(folder)


@contextmanager
def generated_palace(count: int, *, words: int = 300) -> Iterator[Path]:
    """Give a folder with ``count`` notes of about ``words`` words; it is gone afterwards."""
    with scratch_folder() as root:
        _write_notes(root, count, words)
        yield root


def _write_notes(root: Path, count: int, words: int) -> None:
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(_WORDS)]
    weights = [1.0 / (rank + 3) for rank in range(_WORDS)]
    for number in range(count):
        folder = root / PALACE / _ROOMS[number % len(_ROOMS)] / f"made-{number // 200:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        text = _note(rng, vocabulary, weights, number, count, words)
        (folder / f"note {number:05d}.md").write_text(text, "utf-8")


def _note(
    rng: random.Random,
    vocabulary: list[str],
    weights: list[float],
    number: int,
    count: int,
    words: int,
) -> str:
    def prose(length: int) -> str:
        drawn = rng.choices(vocabulary, weights, k=length)
        drawn[::12] = [f"{word}." for word in drawn[::12]]
        return " ".join(drawn)

    priority = rng.choice(["high", "medium", "low"])
    day = f"2026-{rng.randint(1, 11):02d}-{rng.randint(1, 28):02d}"
    link = f"[[note {rng.randrange(count):05d}]]"
    sections = "\n\n".join(f"## {prose(3)}\n\n{prose(words // 3)} {link}" for _ in range(3))
    head = f"---\ndate: {day}\npriority: {priority}\nsource: generated\n---\n"
    return f"{head}# {prose(4)} {number}\n\n{sections}\n"
