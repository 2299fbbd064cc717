"""Import an export: what is new is written in batches, what is there already is left alone.

Notes and their lines in the log of imports are one change, of which a batch is a part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from memory_palace.changes.changing import WAIT_SECONDS, now
from memory_palace.changes.journal import apply_change, recover
from memory_palace.changes.operations import Create, Replace, grow
from memory_palace.engine import Engine
from memory_palace.errors import PalaceError, UsageError
from memory_palace.importing.composing import (
    MOST_BYTES,
    Withheld,
    WrittenTurn,
    add_origin,
    compose_part,
    digest_turns,
    join_turns,
    name_conversation,
    split_parts,
    title_of,
    utc,
    write_turns,
)
from memory_palace.importing.formats.detection import describe, detect
from memory_palace.importing.formats.registry import find_reader
from memory_palace.importing.items import Conversation, ImportedNote, Item, Turn
from memory_palace.importing.outcome import Fate, ImportReport, Sighted
from memory_palace.importing.placing import Places, check_foreign, choose_folder, safe_path
from memory_palace.importing.record import LOG, Imported, read_imported
from memory_palace.language.visible import visible
from memory_palace.notes.withholding import withhold

AUTO = "auto"
Progress: TypeAlias = Callable[[str, int, int], None]
_BATCH_NOTES, _BATCH_BYTES = 100, 4 << 20
_FILES = frozenset(("obsidian", "basic-memory"))
"""Formats whose paths are ids: two vaults may share one."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What one conversation or note comes to."""

    seen: Sighted
    operations: tuple[Create | Replace, ...] = ()
    record: Imported | None = None
    turns: int = 0
    withheld: tuple[Withheld, ...] = ()


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
    if chosen is None:
        raise UsageError(f"{path} holds {describe(path)}; name its format with --from")
    read = find_reader(chosen)
    if apply:
        with engine.writing(wait_seconds=WAIT_SECONDS):
            recover(engine.paths)
    into = choose_folder(engine.paths, chosen, room, folder)
    if chosen in _FILES:
        into = f"{into}/{safe_path(path.resolve().name.removesuffix('.zip'), 'notes')}"
        into = into.removesuffix(".md")
    report = ImportReport(chosen, into, apply)
    importer = _Importer(engine, report)
    for item in read(path, report.read):
        importer.take(item)
        count = sum(report.fates.values())
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
            turns = list(item.turns)
            if not turns:
                self._report.read.dropped["empty"] += 1
                return
            step = self._plan_conversation(item, turns)
        else:
            step = self._plan_note(item)
        self._report.count(step.seen, step.operations, step.turns, step.withheld)
        for operation in step.operations:
            data = operation.data if isinstance(operation, Create) else operation.after
            self._places.plan(operation.path, data)
            self._size += len(data)
        if step.record is not None:
            self._known[step.record.key] = step.record
        self._steps.append(step)
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

    def _plan_conversation(self, item: Conversation, turns: list[Turn]) -> _Step:
        title, date = title_of(item, turns), utc(item.started) or utc(turns[0].at)
        day = date.date().isoformat() if date else ""
        known = self._known.get((self._report.source, item.source_id))
        if known is None:
            return self._begin(item, turns, title, date)
        old, new = turns[: known.turns], turns[known.turns :]
        found = self._places.find(known.path, item.source_id, known.written)
        fate: Fate = "present"
        if found is None:
            fate = "gone"
        elif len(old) < known.turns or digest_turns(old) != known.digest:
            fate = "changed"
        elif new:
            return self._continue(item, turns, title, known, found)
        return _Step(Sighted(fate, title, found or known.path, day))

    def _begin(
        self, item: Conversation, turns: list[Turn], title: str, date: datetime | None
    ) -> _Step:
        """Plan the notes of a conversation that was not imported yet."""
        written, withheld = _write(turns, title, first=1)
        parts = list(split_parts(written))
        operations, last, data = self._parts(item, title, parts, 1, "", date)
        digest, count = digest_turns(turns), len(parts)
        record = self._record(item.source_id, last, digest, data, len(turns), count)
        day = date.date().isoformat() if date else ""
        seen = Sighted("new", title, last, day)
        return _Step(seen, operations, record, len(turns), withheld)

    def _continue(
        self, item: Conversation, turns: list[Turn], title: str, known: Imported, path: str
    ) -> _Step:
        """Plan what was said since: below what stands there, or in a note of its own.

        A note that somebody edited gets no line of ours.
        """
        before, after = turns[known.turns - 1], turns[known.turns :]
        written, withheld = _write(after, title, first=known.turns + 1)
        data = self._places.read(path) or b""
        said = utc(before.at) or utc(item.started)
        last_day = said.date().isoformat() if said else ""
        operations: tuple[Create | Replace, ...] = ()
        part, parts = known.part, list(split_parts(written, max(MOST_BYTES - len(data), 0)))
        whole = join_turns(parts[0], last_day).encode()
        if parts[0] and _digest(data) == known.written:
            operations = (Replace(path, data, data + whole),)
            data += whole
        else:
            parts = [[], *split_parts(written)]
        date = utc(after[0].at) or said
        more, last, last_data = self._parts(item, title, parts[1:], part + 1, path, date)
        path, data = (last, last_data) if parts[1:] else (path, data)
        record = self._record(
            item.source_id, path, digest_turns(turns), data, len(turns), part + len(parts) - 1
        )
        day = date.date().isoformat() if date else ""
        seen = Sighted("grown", title, path, day)
        return _Step(seen, operations + more, record, len(after), withheld)

    def _parts(
        self,
        item: Conversation,
        title: str,
        parts: list[list[WrittenTurn]],
        first: int,
        before: str,
        date: datetime | None,
    ) -> tuple[tuple[Create, ...], str, bytes]:
        """Return the new notes, and the path and bytes of the last one, new or not."""
        operations: list[Create] = []
        path, data = before, b""
        for number, part in enumerate(parts, start=first):
            day = next((turn.day for turn in part if turn.day), "")
            start = datetime.fromisoformat(day) if number > 1 and day else date
            year = f"{start.year}/" if start else ""
            data = compose_part(
                item,
                title,
                part,
                source=self._report.source,
                date=start,
                part=number,
                before=path,
            )
            name = f"{self._report.folder}/{year}{name_conversation(title, start, number)}"
            path, standing = self._places.choose(name, data, item.source_id)
            if standing is None:
                operations.append(Create(path, data))
            else:
                data = standing
        return tuple(operations), path, data

    def _plan_note(self, item: ImportedNote) -> _Step:
        """Plan a note: new, or changed at its source and not here."""
        identity = item.source_id
        if self._report.source in _FILES:
            identity = f"{self._report.folder}: {identity}"
        digest, known = _digest(item.data), self._known.get((self._report.source, identity))
        day = item.date.date().isoformat() if item.date else ""
        title = visible(item.title) or item.path_hint
        clean, problems = withhold(item.data.decode("utf-8", "replace"), "")
        if problems:
            item = replace(item, data=clean.encode())
        try:
            data = add_origin(item, self._report.source)
        except PalaceError:  # front matter that cannot be read is kept as it is
            data = item.data
        withheld = tuple(Withheld(title, 0, p.line, p.message) for p in problems)
        if known is None:
            hint = f"{self._report.folder}/{safe_path(item.path_hint, title)}"
            path, standing = self._places.choose(hint, data, item.source_id)
            operations = (Create(path, data),) if standing is None else ()
            record = self._record(identity, path, digest, standing or data)
            return _Step(Sighted("new", title, path, day), operations, record, 0, withheld)
        found = self._places.find(known.path, item.source_id, known.written)
        before = self._places.read(found) if found else None
        if found is None or before is None:
            return _Step(Sighted("gone", title, known.path, day))
        if digest == known.digest or before == data:
            return _Step(Sighted("present", title, found, day))
        if _digest(before) != known.written:
            return _Step(Sighted("edited", title, found, day))
        record = self._record(identity, found, digest, data)
        change = (Replace(found, before, data),)
        return _Step(Sighted("grown", title, found, day), change, record, 0, withheld)

    def _record(
        self, identity: str, path: str, digest: str, data: bytes, turns: int = 0, part: int = 1
    ) -> Imported:
        source = self._report.source
        return Imported(source, identity, path, digest, _digest(data), turns, part)


def _write(
    turns: list[Turn], title: str, *, first: int
) -> tuple[list[WrittenTurn], tuple[Withheld, ...]]:
    found = list(write_turns(turns, title, first=first))
    return [text for text, _ in found], tuple(w for _, withheld in found for w in withheld)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
