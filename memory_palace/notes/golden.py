"""The golden questions of a palace: a Markdown table that people write and commands add to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.markdown.tables import find_rows, join_cells

_COLUMNS = ("question", "note")
_TABLE = f"{join_cells(*_COLUMNS)}\n|---|---|\n"
_NEW = f"""# Golden questions

What this palace must go on answering: a question as somebody would ask it, and a note that answers
it. A question that stands in several rows is answered by the note of any of them.
`palace golden check` asks them all.

{_TABLE}"""
_LINK = re.compile(r"\[\[([^\[\]|#]*+)(?:[|#][^\[\]]*+)?+\]\]")


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question, and the notes each of which answers it."""

    question: str
    notes: tuple[str, ...]
    """As they are written: paths, or whatever a command finds a note by."""


def read_golden(paths: PalacePaths) -> list[GoldenQuestion]:
    """Return the golden questions of a palace in the order of the file; none without one."""
    return parse_golden(read_golden_text(paths.golden))


def read_golden_text(path: Path) -> str:
    """Return the text of a golden file, empty where there is none; bytes are kept as they are.

    Raise ``UsageError`` for a link, and where it cannot be read.
    """
    if path.is_symlink():
        raise UsageError(f"{path} is a link and is left alone; put the file itself there")
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or '').lower()}") from error


def parse_golden(text: str) -> list[GoldenQuestion]:
    """Return the questions of every table whose first columns are ``question`` and ``note``."""
    notes: dict[str, dict[str, None]] = {}
    questions: dict[str, str] = {}
    for _, (question, note, *_) in find_rows(text, *_COLUMNS):
        if question and note:
            key = _fold(question)
            questions.setdefault(key, " ".join(question.split()))
            notes.setdefault(key, {})[_named(note)] = None
    return [GoldenQuestion(question, tuple(notes[key])) for key, question in questions.items()]


def add_row(text: str, question: str, note: str) -> str:
    """Return the text with one more row below the last; a file or table that is missing is made."""
    known = {_fold(golden.question): golden.notes for golden in parse_golden(text)}
    if note in known.get(_fold(question), ()):
        return text
    lines = text.split("\n")
    rows = [number for number, _ in find_rows(text, *_COLUMNS)]
    end = "\r" if "\r\n" in text else ""
    if rows:
        lines.insert(rows[-1] + 1, f"{join_cells(question, note)}{end}")
        return "\n".join(lines)
    opening = f"{text.rstrip()}\n\n{_TABLE}" if text.strip() else _NEW
    return f"{opening}{join_cells(question, note)}\n"


def drop_rows(text: str, question: str) -> str:
    """Return the text without a question's rows; raise ``UsageError`` where it has none."""
    rows = {n for n, cells in find_rows(text, *_COLUMNS) if _fold(cells[0]) == _fold(question)}
    if not rows:
        known = [golden.question for golden in parse_golden(text)]
        near = [one for one in known if _fold(question) and _fold(question) in _fold(one)]
        near = near or get_close_matches(question, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; `palace golden list` prints them"
        raise UsageError(f"{question!r} is no golden question{hint}")
    return "\n".join(line for n, line in enumerate(text.split("\n")) if n not in rows)


def rename_notes(text: str, rename: Callable[[str], str | None]) -> str:
    """Return the text with other names in its rows, where ``rename`` has one."""
    lines = text.split("\n")
    for number, cells in find_rows(text, *_COLUMNS):
        old = _named(cells[1])
        new = rename(old) if old else None
        if new is not None:
            cells[1] = cells[1].replace(old, new, 1)
            lines[number] = join_cells(*cells) + "\r" * lines[number].endswith("\r")
    return "\n".join(lines)


def _named(cell: str) -> str:
    """Return the note that a cell names, which may be a link to it."""
    link = _LINK.search(cell)
    return (link[1] if link else cell).strip()


def _fold(question: str) -> str:
    return " ".join(question.casefold().split())
