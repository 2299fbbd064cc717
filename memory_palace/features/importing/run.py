"""Import an export: what is new is written in batches, what is there already is left alone.

A log among the sources of truth (`imports.jsonl`) says what was imported and where it went: without
it a note that somebody deleted would come back. Notes and their lines in the log are one change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from memory_palace.changes.changing import WAIT_SECONDS, now
from memory_palace.changes.journal import apply_change, recover
from memory_palace.changes.operations import Create, Replace, grow
from memory_palace.config import PalacePaths
from memory_palace.engine import Engine
from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.importing.composing import (
    MOST_BYTES,
    WrittenTurn,
    add_origin,
    compose_part,
    digest_turns,
    join_turns,
    name_conversation,
    split_parts,
    title_of,
    write_turns,
)
from memory_palace.features.importing.detection import FORMATS, detect, find_reader
from memory_palace.features.importing.items import (
    Conversation,
    Fate,
    ImportedNote,
    ImportReport,
    Item,
    Sighted,
    Withheld,
)
from memory_palace.features.importing.placing import Places, check_foreign, choose_folder, safe_path
from memory_palace.language.visible import visible
from memory_palace.notes.withholding import withhold
from memory_palace.storage.logs import read_records

AUTO = "auto"
LOG = "imports.jsonl"
Progress: TypeAlias = Callable[[str, int, int], None]
_BATCH_NOTES, _BATCH_BYTES = 100, 4 << 20
_MOST_SHOWN = 10_000
"""Places that are kept for the report; past that they are counted."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A conversation or note as it was last imported."""

    source: str
    identity: str
    """Its id in the source."""
    path: str
    """Of its note, or of the last of its notes."""
    digest: str
    """Of what the export had."""
    written: str
    """SHA-256 of the note's bytes."""
    turns: int = 0
    part: int = 1


def read_imported(paths: PalacePaths) -> dict[tuple[str, str], Imported]:
    """Return what was imported, by source and id; the last line of each counts."""
    found: dict[tuple[str, str], Imported] = {}
    for record in read_records(paths.logs / LOG):
        with suppress(TypeError):  # a line of another shape
            one = Imported(**record)
            texts = (one.source, one.identity, one.path, one.digest, one.written)
            counts = (one.turns, one.part)
            if all(isinstance(t, str) for t in texts) and all(type(n) is int for n in counts):
                found[one.source, one.identity] = one
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """What one conversation or note comes to."""

    fate: Fate
    title: str
    path: str
    operations: Sequence[Create | Replace] = ()
    record: Imported | None = None
    turns: int = 0
    withheld: Sequence[Withheld] = field(default=())


def import_export(
    engine: Engine,
    path: Path,
    *,
    source: str = AUTO,
    room: str | None = None,
    folder: str | None = None,
    apply: bool = False,
    progress: Progress = lambda doing, done, total: None,
) -> ImportReport:
    """Import conversations and notes of another program; without ``apply`` only say what would be.

    ``path`` is a file, an archive or a folder. What is there from an earlier import is left, new
    turns are added below, and nothing that a person edited, moved, archived or deleted is written
    over or comes back. Raise ``UsageError`` for a format that cannot be told, and for the palace
    itself.
    """
    check_foreign(engine.paths, path)
    chosen = source if source != AUTO else detect(path)
    if chosen is None and path.is_dir() and next(path.rglob("*.md"), None):
        raise UsageError(
            f"{path} holds notes, which need no import: `palace init --here` there makes it a "
            "palace, or copy it into this one"
        )
    if chosen is None:
        raise UsageError(
            f"{path} is of no known shape; name its format with --from ({', '.join(FORMATS)})"
        )
    read = find_reader(chosen)
    if apply:
        with engine.writing(wait_seconds=WAIT_SECONDS):
            recover(engine.paths)
    into = choose_folder(engine.paths, chosen, room, folder)
    report = ImportReport(chosen, into, apply)
    importer = _Importer(engine, report)
    for count, item in enumerate(read(path, report.read), start=1):
        importer.take(item)
        progress("importing" if apply else "reading", count, count)
    importer.write()
    return report


class _Importer:
    """Plans what each item comes to, and writes it batch by batch."""

    def __init__(self, engine: Engine, report: ImportReport) -> None:
        self._engine, self._report = engine, report
        self._known = read_imported(engine.paths)
        self._places = Places(engine)
        self._steps: list[_Step] = []
        self._written: str | None = None
        self._size = 0

    def take(self, item: Item) -> None:
        """Plan an item; write what is planned where it is enough for a batch."""
        if isinstance(item, Conversation):
            step = self._plan_conversation(item)
        else:
            step = self._plan_note(item)
        report, size = self._report, 0
        for operation in step.operations:
            data = operation.data if isinstance(operation, Create) else operation.after
            before = b"" if isinstance(operation, Create) else operation.before
            self._places.plan(operation.path, data)
            size += len(data) - len(before)
        report.fates[step.fate] += 1
        report.turns += step.turns
        report.written_bytes += size
        report.withheld_count += len(step.withheld)
        report.withheld += step.withheld[: _MOST_SHOWN - len(report.withheld)]
        if step.fate != "present" and len(report.seen) < _MOST_SHOWN:
            report.seen.append(Sighted(step.fate, step.title, step.path))
        if step.record is not None:
            self._known[step.record.source, step.record.identity] = step.record
        self._steps.append(step)
        self._size += size
        if len(self._steps) >= _BATCH_NOTES or self._size >= _BATCH_BYTES:
            self.write()

    def write(self) -> None:
        """Do what is planned, as one change, and record it."""
        steps, self._steps, self._size = self._steps, [], 0
        operations = [operation for step in steps for operation in step.operations]
        records = [step.record for step in steps if step.record is not None]
        if self._report.is_applied and records:
            with self._engine.writing(wait_seconds=WAIT_SECONDS):
                self._written = apply_change(
                    self._engine.paths,
                    [*operations, grow(self._engine.paths, LOG, map(asdict, records))],
                    command="import",
                    reason=f"import from {self._report.source}",
                    now=now(),
                    continues=self._written,
                    agent=self._engine.agent,
                    edited={operation.path for operation in operations},
                )
        if self._report.is_applied:
            self._places.forget()

    def _plan_conversation(self, item: Conversation) -> _Step:
        """Plan a conversation: new, or with turns since.

        They go below what stands there, or into a note of their own where somebody edited it.
        """
        turns, title, source = item.turns, title_of(item), self._report.source
        known = self._known.get((source, item.source_id))
        count, part, path, data, standing = 0, 0, "", b"", False
        if known is not None:
            count, part = known.turns, known.part
            found = self._places.find(known.path, item.source_id, known.written)
            if found is None:
                return _Step("gone", title, known.path)
            if len(turns) < count or digest_turns(turns[:count]) != known.digest:
                return _Step("changed", title, found)
            if len(turns) == count:
                return _Step("present", title, found)
            path, data = found, self._places.read(found) or b""
            standing = _digest(data) == known.written
        written, withheld = write_turns(turns[count:], title, first=count + 1)
        operations: list[Create | Replace] = []
        room = max(MOST_BYTES - len(data), 0) if standing else MOST_BYTES
        parts = list(split_parts(written, room))
        said = (turns[count - 1].at if count else None) or item.started
        if standing and (below := parts.pop(0)):
            whole = join_turns(below, said.date().isoformat() if said else "").encode()
            operations.append(Replace(path, data, data + whole))
            data += whole
        date = (turns[count].at or said) if known else (item.started or turns[0].at)
        for each in parts:
            part += 1
            path, data, made = self._plan_part(item, title, each, part, path, date)
            operations += made
        digest = digest_turns(turns)
        record = Imported(source, item.source_id, path, digest, _digest(data), len(turns), part)
        fate: Fate = "grown" if known else "new"
        return _Step(fate, title, path, operations, record, len(written), withheld)

    def _plan_part(
        self,
        item: Conversation,
        title: str,
        part: Sequence[WrittenTurn],
        number: int,
        before: str,
        date: datetime | None,
    ) -> tuple[str, bytes, list[Create]]:
        """Return the path and bytes of a part's note, and what makes it where it is not there."""
        day = next((turn.day for turn in part if turn.day), "")
        start = datetime.fromisoformat(day) if number > 1 and day else date
        source = self._report.source
        data = compose_part(
            item, title, part, source=source, date=start, part=number, before=before
        )
        year = f"{start.year}/" if start else ""
        name = f"{self._report.folder}/{year}{name_conversation(title, start, number)}"
        path, standing = self._places.choose(name, data, item.source_id)
        return (path, data, [Create(path, data)]) if standing is None else (path, standing, [])

    def _plan_note(self, item: ImportedNote) -> _Step:
        """Plan a note: new, or changed at its source and not here."""
        source, identity = self._report.source, item.source_id
        digest, known = _digest(item.data), self._known.get((source, identity))
        title = visible(item.title) or item.path_hint
        clean, problems = withhold(item.data.decode("utf-8", "replace"), "")
        if problems:
            item = replace(item, data=clean.encode())
        try:
            data = add_origin(item, source)
        except PalaceError:  # front matter that cannot be read is kept as it is
            data = item.data
        withheld = [Withheld(title, 0, p.line, p.message) for p in problems]
        if known is None:
            hint = f"{self._report.folder}/{safe_path(item.path_hint, title)}"
            path, standing = self._places.choose(hint, data, item.source_id)
            made = [Create(path, data)] if standing is None else []
            record = Imported(source, identity, path, digest, _digest(standing or data))
            return _Step("new", title, path, made, record, 0, withheld)
        found = self._places.find(known.path, item.source_id, known.written)
        before = self._places.read(found) if found else None
        if found is None or before is None:
            return _Step("gone", title, known.path)
        if digest == known.digest or before == data:
            return _Step("present", title, found)
        if _digest(before) != known.written:
            return _Step("edited", title, found)
        record = Imported(source, identity, found, digest, _digest(data))
        return _Step("grown", title, found, [Replace(found, before, data)], record, 0, withheld)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
