"""People's own notes: a folder of Markdown, and a file of questions with the notes that answer.

The file has lines of question, note and gain (optional), with tabs between; the note is a path
relative to the folder. A JSONL of ``{"question": …, "notes": [paths]}`` does as well.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.datasets.reading import read_jsonl, read_lines, take, take_list
from memory_palace.errors import UsageError


def load_notes(folder: Path, qrels: Path) -> Collection:
    """Return the folder as one collection. A note that is not there is a ``UsageError``."""
    documents = read_notes(folder)
    known = {document.id for document in documents}
    wanted = _read_jsonl(qrels) if qrels.suffix == ".jsonl" else _read_tsv(qrels)
    gold: dict[str, set[str]] = {}
    for number, question, note in wanted:
        if note not in known:
            raise UsageError(f"{qrels}:{number}: {folder} has no note {note}")
        gold.setdefault(question, set()).add(note)
    questions = (
        EvalQuestion(f"q{place}", text, frozenset(notes))
        for place, (text, notes) in enumerate(gold.items())
    )
    return Collection(folder.name, documents, tuple(questions))


def read_notes(folder: Path) -> tuple[EvalDocument, ...]:
    """Return the notes in and below a folder, by path; ``UsageError`` where it is none."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    return tuple(
        EvalDocument(path.relative_to(folder).as_posix(), path.read_text("utf-8", errors="replace"))
        for path in sorted(folder.rglob("*.md"))
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _read_jsonl(path: Path) -> list[tuple[int, str, str]]:
    return [
        (number, str(take(record, "question", f"{path}:{number}")), str(note))
        for number, record in read_jsonl(path)
        for note in take_list(record, "notes", f"{path}:{number}")
    ]


def _read_tsv(path: Path) -> list[tuple[int, str, str]]:
    found = []
    for number, line in read_lines(path):
        cells = line.split("\t")
        if len(cells) not in (2, 3):
            raise UsageError(f"{path}:{number}: a line is question, note and gain, tab between")
        if len(cells) == 2 or cells[2].strip() != "0":
            found.append((number, cells[0].strip(), cells[1].strip()))
    return found
