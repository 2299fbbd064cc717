"""Import an export: what is new is written in batches, what is there already is left alone.

A log among the sources of truth (`imports.jsonl`) says what was imported and where it went: without
it a note that somebody deleted would come back. Notes and their lines in the log are one change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from memory_palace.changes.changing import WAIT_SECONDS, now
from memory_palace.changes.journal import Create, Replace, apply_change, grow, recover
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.importing.composing import (
    ORIGIN,
    compose_part,
    digest_turns,
    join_turns,
    split_parts,
    title_of,
    write_turns,
)
from memory_palace.features.importing.detection import FORMATS, detect
from memory_palace.features.importing.items import (
    Conversation,
    Fate,
    ImportedNote,
    ImportReport,
    Item,
    Sighted,
    Withheld,
)
from memory_palace.features.importing.placing import (
    Places,
    check_foreign,
    choose_folder,
    digest_of,
    safe_path,
)
from memory_palace.language.visible import visible
from memory_palace.notes.document import set_fields
from memory_palace.notes.note import withhold
from memory_palace.palace import Palace
from memory_palace.storage import read_records

AUTO = "auto"
LOG = "imports.jsonl"
Progress: TypeAlias = Callable[[str, int, int], None]
_BATCH_NOTES, _BATCH_BYTES = 100, 4 << 20


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
    palace: Palace,
    path: str | Path,
    *,
    source: str = AUTO,
    folder: str | None = None,
    apply: bool = False,
    progress: Progress = lambda doing, done, total: None,
) -> ImportReport:
    """Import conversations and notes of another program; without ``apply`` only say what would be.

    ``path`` is an export's file, .zip or folder; ``source`` its format, or ``auto``. ``folder``
    says where the notes go, else among the chambers, or to ``Imports``. What is there from an
    earlier import is left, new turns are added below, and nothing that a person edited, moved,
    archived or deleted is written over or comes back. Nothing is indexed. Raise ``UsageError`` for
    a format that cannot be told, and for the palace itself, ``OSError`` for a file that cannot be
    read.
    """
    path = Path(path)
    check_foreign(palace.paths, path)
    chosen = detect(path) if source == AUTO else source
    if chosen is None or chosen not in FORMATS:
        raise UsageError(
            f"{path} is of no known format; --from names one of {', '.join(FORMATS)}. A folder of "
            "notes needs no import: `palace init --here` there makes it a palace"
        )
    if apply:
        with palace.writing(wait_seconds=WAIT_SECONDS):
            recover(palace.paths)
    report = ImportReport(chosen, choose_folder(palace.paths, chosen, folder), apply)
    importer = _Importer(palace, report)
    for count, item in enumerate(FORMATS[chosen](path, report), start=1):
        importer.take(item)
        progress("importing" if apply else "reading", count, count)
    importer.write()
    return report


class _Importer:
    """Plans what each item comes to, and writes it batch by batch."""

    def __init__(self, palace: Palace, report: ImportReport) -> None:
        self._palace, self._report = palace, report
        self._known = read_imported(palace.paths)
        self._places = Places(palace)
        self._steps: list[_Step] = []
        self._size = 0
        self._written: str | None = None

    def take(self, item: Item) -> None:
        """Plan an item; write what is planned where it is enough for a batch."""
        step = self._plan_talk(item) if isinstance(item, Conversation) else self._plan_note(item)
        report, size = self._report, 0
        for operation in step.operations:
            match operation:
                case Create(path, data):
                    size += len(data)
                case Replace(path, before, data):
                    size += len(data) - len(before)
            self._places.plan(path, data)
        report.counts[step.fate] += 1
        report.turns += step.turns
        report.bytes += size
        report.withheld += step.withheld
        if step.fate != "present":
            report.notes.append(Sighted(step.fate, step.title, step.path))
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
            with self._palace.writing(wait_seconds=WAIT_SECONDS):
                self._written = apply_change(
                    self._palace.paths,
                    [*operations, grow(self._palace.paths, LOG, map(asdict, records))],
                    command="import",
                    reason=f"import from {self._report.format}",
                    now=now(),
                    continues=self._written,
                    agent=self._palace.agent,
                    edited={operation.path for operation in operations},
                )
        if self._report.is_applied:
            self._places.forget()

    def _plan_talk(self, item: Conversation) -> _Step:
        """Plan a conversation: new, or with turns since."""
        title, turns, source = title_of(item), item.turns, self._report.format
        begun = min((turn.at for turn in turns if turn.at), default=None)
        identity = item.source_id or digest_turns(turns[:1])
        item = replace(item, source_id=identity, started=item.started or begun)
        known = self._known.get((source, identity))
        if known is None:
            nothing = Imported(source, identity, path="", digest="", written="", part=0)
            return self._plan_turns("new", title, item, nothing)
        found = self._places.find(known.path, identity, known.written)
        if found is None:
            return _Step("gone", title, known.path)
        if len(turns) < known.turns or digest_turns(turns[: known.turns]) != known.digest:
            return _Step("changed", title, found)
        if len(turns) == known.turns:
            return _Step("present", title, found)
        return self._plan_turns("grown", title, item, replace(known, path=found))

    def _plan_turns(self, fate: Fate, title: str, item: Conversation, known: Imported) -> _Step:
        """Plan the turns of a conversation that are not written yet.

        They go below what stands there, or into a note of their own where somebody edited it.
        """
        turns, path, part = item.turns, known.path, known.part
        data = self._places.read(path) or b""
        is_untouched = digest_of(data) == known.written
        said = (turns[known.turns - 1].at if known.turns else None) or item.started
        written, withheld = write_turns(turns[known.turns :], title, first=known.turns + 1)
        parts = split_parts(written, filled=len(data) if is_untouched else 0)
        operations: list[Create | Replace] = []
        if is_untouched and (below := parts.pop(0)):
            after = data + join_turns(below, said).encode()
            operations.append(Replace(path, data, after))
            data = after
        for turns_of_part in parts:
            part += 1
            name, made = compose_part(
                item, title, turns_of_part, source=known.source, part=part, before=path, said=said
            )
            hint = f"{self._report.folder}/{name}"
            path, standing = self._places.choose(hint, made, known.identity)
            operations += [Create(path, made)] if standing is None else []
            data = standing or made
        digest, written_digest = digest_turns(turns), digest_of(data)
        record = Imported(
            known.source, known.identity, path, digest, written_digest, len(turns), part
        )
        return _Step(fate, title, path, operations, record, len(written), withheld)

    def _plan_note(self, item: ImportedNote) -> _Step:
        """Plan a note: new, or changed at its source and not here."""
        source, identity = self._report.format, item.source_id
        digest, known = digest_of(item.data), self._known.get((source, identity))
        title = visible(PurePosixPath(item.path_hint).stem)
        clean, problems = withhold(item.data.decode("utf-8", "replace"), "")
        data = clean.encode() if problems else item.data
        with suppress(PalaceError):  # front matter that cannot be read is kept as it is
            data = set_fields(item.path_hint, data, {"origin": ORIGIN})
        withheld = [Withheld(title, 0, p.line, p.message) for p in problems]
        if known is None:
            hint = f"{self._report.folder}/{safe_path(item.path_hint)}"
            path, standing = self._places.choose(hint, data, identity)
            made = [Create(path, data)] if standing is None else []
            record = Imported(source, identity, path, digest, digest_of(standing or data))
            return _Step("new", title, path, made, record, 0, withheld)
        found = self._places.find(known.path, identity, known.written)
        before = self._places.read(found) if found else None
        if found is None or before is None:
            return _Step("gone", title, known.path)
        if digest == known.digest or before == data:
            return _Step("present", title, found)
        if digest_of(before) != known.written:
            return _Step("edited", title, found)
        record = Imported(source, identity, found, digest, digest_of(data))
        return _Step("grown", title, found, [Replace(found, before, data)], record, 0, withheld)
