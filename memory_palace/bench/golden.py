"""Question and note pairs that people keep in Markdown tables, and how well they are answered."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memory_palace.bench.datasets.reading import read_jsonl, read_table, read_text, take
from memory_palace.config import PalacePaths, find_paths
from memory_palace.errors import UsageError
from memory_palace.notes.golden import GoldenQuestion, parse_golden
from memory_palace.palace import Palace
from memory_palace.places import PALACE


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the note that answers it best."""

    question: str
    path: str
    shares_rare_word: bool = False


@dataclass(frozen=True, slots=True)
class Recall:
    """Share of questions whose note is among the first 1, 3 and 5."""

    at_1: float
    at_3: float
    at_5: float
    questions: int


def read_pairs(path: Path) -> list[Pair]:
    """Read the table of a golden file; raise ``UsageError`` where there is none."""
    rows = read_table(path, "question", "note", "shares a rare word")
    return [Pair(question, note, shared == "yes") for question, note, shared in rows]


def read_questions(path: Path) -> list[GoldenQuestion]:
    """Read questions and the notes that answer them: JSON lines, or a table as a golden file has.

    Raise ``UsageError`` where there are none.
    """
    if path.suffix != ".jsonl":
        found = parse_golden(read_text(path))
    else:
        found = [_read_line(record, f"{path}:{number}") for number, record in read_jsonl(path)]
    if not found:
        raise UsageError(f"{path} holds no question with a note")
    return found


def _read_line(record: Mapping[str, object], where: str) -> GoldenQuestion:
    notes = record.get("notes", [record.get("note")])
    if not isinstance(notes, list) or not notes or not all(isinstance(n, str) for n in notes):
        raise UsageError(f"{where}: a line needs a question, and a note or a list of notes")
    return GoldenQuestion(str(take(record, "question", where)), tuple(notes))


def copy_vault(vault: Path, root: Path) -> str:
    """Copy a folder of notes into a room of a new palace; return their path prefix there."""
    room = "project_rooms/vault"
    if not vault.is_dir():
        raise UsageError(f"{vault} is not a folder")
    Palace.init(root)
    shutil.copytree(vault, root / PALACE / room, dirs_exist_ok=True)
    return f"{PALACE}/{room}/"


def copy_palace(source: Path, root: Path, *, with_index: bool = False) -> Palace:
    """Copy the notes and settings of a palace, in its own layout; return the copy."""
    paths = find_paths(source) or PalacePaths(source)
    copy = replace(paths, root=root)
    shutil.copytree(paths.notes, copy.notes, ignore=shutil.ignore_patterns(".*"))
    copy.own.mkdir(exist_ok=True)
    if paths.settings.exists():
        shutil.copy2(paths.settings, copy.settings)
    if with_index:
        shutil.copytree(paths.index, copy.index)
    return Palace(root)


def measure_recall(
    pairs: Sequence[Pair], ranked: Callable[[str], list[str]], *, prefix: str = ""
) -> Recall:
    """Ask every question of ``ranked``, which returns paths, best first."""
    ranks = []
    for pair in pairs:
        paths = ranked(pair.question)
        wanted = prefix + pair.path
        ranks.append(paths.index(wanted) + 1 if wanted in paths else 99)

    def share(k: int) -> float:
        return sum(rank <= k for rank in ranks) / len(ranks)

    return Recall(share(1), share(3), share(5), len(ranks))


def ask(palace: Palace, *, profile: str, gate: bool = True) -> Callable[[str], list[str]]:
    """Return how to rank notes with a profile, five hits and no neighbors."""

    def ranked(question: str) -> list[str]:
        result = palace.query(question, limit=5, profile=profile, gate=gate, neighbors=0)
        return [hit.path for hit in result.hits]

    return ranked
