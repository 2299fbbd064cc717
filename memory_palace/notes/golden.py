"""The golden questions of a palace: a Markdown table that people write and commands add to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.system import read_file

_BAR = re.compile(r"(?<!\\)\|")


def split_cells(line: str) -> list[str]:
    """Return the cells of a line; a bar with a backslash before it is text."""
    cells = _BAR.split(line.strip().removeprefix("|"))
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace(r"\|", "|") for cell in cells]


def join_cells(*cells: str) -> str:
    """Return a Markdown table row of the cells, bars escaped."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return "".join(f"| {cell} " for cell in escaped) + "|"


def find_rows(text: str, *columns: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the 0-based line and the cells of each row of the tables that begin with ``columns``.

    The header, in any case, and the rule below it are not rows; a row has at least one cell for
    each of ``columns``. A table ends at a line without a bar.
    """
    is_inside = False
    for number, line in enumerate(text.split("\n")):
        if "|" not in line:
            is_inside = False
            continue
        cells = split_cells(line)
        if [cell.lower() for cell in cells[: len(columns)]] == [*columns]:
            is_inside = True
        elif is_inside and len(cells) >= len(columns) and set("".join(cells)) - set("-: "):
            yield number, cells


_COLUMNS = ("question", "note")
_TABLE = f"{join_cells(*_COLUMNS)}\n|---|---|\n"
_NEW = f"""# Golden questions

What this palace must go on answering: a question as somebody would ask it, and a note that answers
it. A question that stands in several rows is answered by the note of any of them.
`palace redqueen check` asks them all.

{_TABLE}"""
_LINK = re.compile(r"\[\[([^\[\]|#]*+)(?:[|#][^\[\]]*+)?+\]\]")


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question and its notes, each of which answers it."""

    question: str
    notes: tuple[str, ...]
    """Paths or other names of notes, as written in the table."""


def read_golden(paths: PalacePaths) -> list[GoldenQuestion]:
    """Return the golden questions of a palace in file order; empty without a golden file."""
    return parse_golden(read_golden_text(paths.golden))


def read_golden_text(path: Path) -> str:
    """Return the text of a golden file, empty if it is missing; invalid UTF-8 becomes surrogates.

    Raise ``UsageError`` for a symbolic link and for a file that cannot be read.
    """
    if path.is_symlink():
        raise UsageError(f"{path} is a link and is left alone; put the file itself there")
    try:
        return read_file(path).decode("utf-8", "surrogateescape")
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
    """Return the text with a row added below the last, if new; a missing table is created."""
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


def rename_notes(text: str, rename: Callable[[str], str | None]) -> str:
    """Return the text with notes renamed; ``rename`` returns ``None`` for a note to keep."""
    lines = text.split("\n")
    for number, cells in find_rows(text, *_COLUMNS):
        old = _named(cells[1])
        new = rename(old) if old else None
        if new is not None:
            cells[1] = cells[1].replace(old, new, 1)
            lines[number] = join_cells(*cells) + "\r" * lines[number].endswith("\r")
    return "\n".join(lines)


def _named(cell: str) -> str:
    """Return the note that a cell names, as plain text or as a wikilink."""
    link = _LINK.search(cell)
    return (link[1] if link else cell).strip()


def _fold(question: str) -> str:
    return " ".join(question.casefold().split())
