"""A palace of MemPalace: the drawers in its `chroma.sqlite3`, read with `sqlite3` alone.

Shape: MemPalace/mempalace 3 (2026) on Chroma 0.4 to 1.5: a row of `embeddings` for each drawer, and
in `embedding_metadata` its ``chroma:document`` and ``wing, room, source_file, chunk_index,
filed_at, date, hall``. The file is opened for reading only; a log beside it (`-wal`) is read too.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

from memory_palace.importing.formats.export_files import is_archive, report_broken
from memory_palace.importing.formats.fields import FOLDERS, moment_of, text_of
from memory_palace.importing.items import ImportedNote, ReadReport

_NAME = "chroma.sqlite3"
_TABLES = ("embeddings", "embedding_metadata", "segments", "collections")
_KEYS = ("chroma:document", "wing", "room", "source_file", "chunk_index", "filed_at", "date")
_DRAWERS_ONLY = (
    "WHERE e.segment_id NOT IN (SELECT s.id FROM segments s JOIN collections c "
    "ON c.id = s.collection WHERE c.name LIKE '%closets%')"
)
"""A closet holds pointers to drawers."""
_MOST_STEPS = 2_000_000_000
"""Steps of SQLite's machine for all drawers; a million of them takes a tenth of that."""
_STEPS_AT_ONCE = 1_000_000
_LIMIT_TEXT = 64 << 20
_LIMIT_NOTE = 1 << 20
_OVERLAP = 400


def read(path: Path, report: ReadReport) -> Iterator[ImportedNote]:
    """Give a note for each source file of each room, its drawers in order; else for each drawer."""
    found = sorted(path.rglob(_NAME)) if path.is_dir() else [path]
    files = [file for file in found if file == path or not file.is_symlink()]
    if not files or (path.is_file() and is_archive(path)):
        reason = f"holds no {_NAME} that can be read where it is; unpack the archive first"
        report_broken(report, path.name, "byte 0", reason)
        return
    for file in files:
        try:
            with TemporaryDirectory() as scratch, closing(_open(file, Path(scratch))) as connection:
                yield from _read_drawers(connection, report)
        except (sqlite3.Error, OSError, OverflowError) as error:
            report_broken(report, file.name, "byte 0", f"cannot be read on: {error}")


def _open(file: Path, scratch: Path) -> sqlite3.Connection:
    """Open a database that somebody else made: nothing in it is run, nothing is written.

    A log without its index (`-shm`) was left by a process that ended, or copied: SQLite would make
    the index beside it, so both are copied first.
    """
    log = file.with_name(f"{file.name}-wal")
    has_log = log.is_file() and log.stat().st_size > 0
    if has_log and not file.with_name(f"{file.name}-shm").exists():
        shutil.copyfile(log, scratch / log.name)
        file = Path(shutil.copyfile(file, scratch / file.name))
    uri = f"{file.absolute().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"
    connection = sqlite3.connect(uri, uri=True, timeout=5)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LIMIT_TEXT)
    steps = iter(range(0, _MOST_STEPS, _STEPS_AT_ONCE))
    connection.set_progress_handler(lambda: int(next(steps, None) is None), _STEPS_AT_ONCE)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    rows = connection.execute("SELECT type, name FROM sqlite_master").fetchmany(10_000)
    missing = [name for name in _TABLES if ("table", name) not in rows]
    if missing:
        connection.close()
        raise sqlite3.DatabaseError(f"it has no table {' or '.join(missing)}")
    return connection


def _read_drawers(connection: sqlite3.Connection, report: ReadReport) -> Iterator[ImportedNote]:
    value = "coalesce(m.string_value, m.int_value, m.float_value)"
    columns = ", ".join(f"max(CASE m.key WHEN '{key}' THEN {value} END)" for key in _KEYS)
    rows = connection.execute(
        f"SELECT e.embedding_id, {columns} FROM embeddings e "
        f"JOIN embedding_metadata m ON m.id = e.id {_DRAWERS_ONLY} GROUP BY e.id "
        "ORDER BY 3, 4, 5, 6, e.id"
    )
    for (wing, room, source), drawers in groupby(rows, lambda row: tuple(map(_shown, row[2:5]))):
        if source:
            yield from _join_drawers(wing, room, source, drawers, report)
            continue
        for drawer in drawers:
            yield from _make_note(wing, room, _shown(drawer[0]), [drawer], report)


def _join_drawers(
    wing: str, room: str, source: str, drawers: Iterator[Any], report: ReadReport
) -> Iterator[ImportedNote]:
    """Give the drawers of a source file as one note, or as several of about a megabyte."""
    name = (PureWindowsPath(source) if "\\" in source else PurePosixPath(source)).name or source
    part: list[Any] = []
    number, length = 1, 0
    for drawer in drawers:
        part.append(drawer)
        length += len(_shown(drawer[1]))
        if length > _LIMIT_NOTE:
            yield from _make_note(wing, room, f"{source} {number}", part, report, name, number)
            part, number, length = [], number + 1, 0
    yield from _make_note(wing, room, source, part, report, name, number if number > 1 else 0)


def _make_note(
    wing: str,
    room: str,
    identity: str,
    drawers: list[Any],
    report: ReadReport,
    name: str = "",
    number: int = 0,
) -> Iterator[ImportedNote]:
    text = ""
    for drawer in drawers:
        text = _join(text, text_of(_shown(drawer[1])).strip())
    if not text:
        report.dropped["empty"] += len(drawers)
        return
    title = (name or text.split("\n", 1)[0].lstrip("# ")[:80]) + (f" {number}" if number else "")
    parts = (wing, room, title.removesuffix(".md"))
    hint = "/".join(FOLDERS.sub("-", part) for part in parts if part)
    date = next((at for row in drawers if (at := moment_of(row[7]) or moment_of(row[6]))), None)
    fields = {key: value for key, value in (("wing", wing), ("room", room)) if value}
    source = "\t".join((wing, room, identity))
    yield ImportedNote(source, f"{hint}.md", title, f"{text}\n".encode(), date, fields)


def _join(text: str, more: str) -> str:
    """Add a drawer; what it repeats of the end of the one before stands once."""
    for length in range(min(_OVERLAP, len(more), len(text)), 19, -1):
        if text.endswith(more[:length]):
            return text + more[length:]
    return f"{text}\n\n{more}" if text and more else text or more


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
