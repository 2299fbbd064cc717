"""Copies of palaces, and golden questions asked of them."""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from benchmarks.golden import Pair
from memory_palace.config import PalacePaths, find_paths
from memory_palace.palace import Palace


@dataclass(frozen=True, slots=True)
class Recall:
    """Share of questions whose note is among the first 1, 3 and 5."""

    at_1: float
    at_3: float
    at_5: float
    questions: int


def copy_palace(source: Path, root: Path) -> Palace:
    """Copy the notes and settings of a palace, in its own layout; return the copy."""
    paths = find_paths(source) or PalacePaths(source)
    copy = replace(paths, root=root)
    shutil.copytree(paths.notes, copy.notes, ignore=shutil.ignore_patterns(".*"))
    copy.own.mkdir(exist_ok=True)
    if paths.settings.exists():
        shutil.copy2(paths.settings, copy.settings)
    return Palace(root)


def copy_sample(root: Path, *, embedder: str | None = None) -> Palace:
    """Copy the sample palace, indexed where an embedder is named; return the copy."""
    if not embedder:
        return copy_palace(Path(__file__).parents[1], root)
    shutil.copytree(_indexed_sample(embedder), root, dirs_exist_ok=True)
    return Palace(root)


@cache
def _indexed_sample(embedder: str) -> Path:
    """Return the sample palace, indexed once a process; nobody changes it."""
    root = Path(tempfile.mkdtemp(prefix="sample-"))
    atexit.register(shutil.rmtree, root)
    copy_sample(root).index(embedder=embedder)
    return root


def measure_recall(
    pairs: Sequence[Pair], ranked: Callable[[str], list[str]], *, prefix: str = ""
) -> Recall:
    """Ask every question of ``ranked``, which returns paths, best first."""
    ranks = []
    for pair in pairs:
        paths, wanted = ranked(pair.question), prefix + pair.path
        ranks.append(paths.index(wanted) + 1 if wanted in paths else 99)
    shares = (sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 3, 5))
    return Recall(*shares, len(ranks))


def ask(palace: Palace, *, profile: str, gate: bool = True) -> Callable[[str], list[str]]:
    """Return how to rank notes with a profile, five hits and no neighbors."""

    def ranked(question: str) -> list[str]:
        result = palace.query(question, limit=5, profile=profile, gate=gate, neighbors=0)
        return [hit.path for hit in result.hits]

    return ranked
