"""Import an export: new items are written in batches, existing notes are left alone.

The log `imports.jsonl` records what was imported and its path: without it a deleted note would come
back. Notes and their lines in the log are one change.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from memory_palace.changes.changing import WAIT_SECONDS, now
from memory_palace.changes.composing import file_name, make_safe
from memory_palace.changes.journal import Create, Replace, apply_change, digest, grow
from memory_palace.config import PalacePaths
from memory_palace.errors import PalaceError, RoomNotMappedError, UsageError
from memory_palace.features.importing.composing import (
    ORIGIN,
    compose_part,
    digest_turns,
    join_turns,
    split_parts,
    title_of,
    write_turns,
)
from memory_palace.features.importing.formats import chat, chatgpt, claude, memory_json, transcripts
from memory_palace.features.importing.formats.files import READ_ERRORS, ExportFile, open_export
from memory_palace.features.importing.items import (
    Conversation,
    ExportReader,
    Fate,
    ImportedNote,
    ImportReport,
    Item,
    Sighted,
    Withheld,
)
from memory_palace.language.visible import visible
from memory_palace.notes.discovery import SUFFIXES, discover_notes, fold_case, fold_names
from memory_palace.notes.document import set_fields
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.note import is_cold_path, withhold
from memory_palace.palace import Palace
from memory_palace.storage import read_records
from memory_palace.system import may_block

FORMATS: Mapping[str, ExportReader] = {
    "claude": claude.read,
    "chatgpt": chatgpt.read,
    "claude-code": transcripts.read_claude_code,
    "codex": transcripts.read_codex,
    "openclaw": transcripts.read_openclaw,
    "memory-json": memory_json.read,
    "slack": chat.read_slack,
    "telegram": chat.read_telegram,
    "whatsapp": chat.read_whatsapp,
}
"""Readers by format; an export with files of several formats has the first one."""
_HEAD_BYTES = 1 << 18
_MOST_FILES = 200
"""Maximum number of files that are inspected."""
_KEYS = {
    "claude": rb'"(?:chat_messages|conversations_memory|prompt_template|memory_files|export_url'
    rb'|contentBlocks)"\s*:',
    "chatgpt": rb'"mapping"\s*:\s*\{',
    "claude-code": rb'"(?:leafUuid|parentUuid|isSidechain)"\s*:',
    "codex": rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"',
    "openclaw": rb'"type"\s*:\s*"session"\s*,\s*"version"\s*:|"parentId"\s*:',
    "memory-json": rb'"(?:entityType|relationType)"\s*:',
    "slack": rb'"ts"\s*:\s*"\d{10}\.\d{6}"',
    "telegram": rb'"(?:date_unixtime|from_id|actor_id|personal_information)"\s*:',
}
"""Patterns in the files of one format alone; quotes in the texts are escaped."""
_ANY_KEY = re.compile(b"|".join(b"(%b)" % key for key in _KEYS.values()))


def detect(path: Path) -> str | None:
    """Return the name of the format of an export; ``None`` if it is unknown.

    Raise ``OSError`` if nothing can be read.
    """
    with open_export(path) as files:
        told = [file for file in files if file.suffix in (".json", ".jsonl", ".md", ".txt")]
        told.sort(key=lambda file: file.suffix in (".md", ".txt"))
        found = set(map(_identify, told[:_MOST_FILES]))
    return next((name for name in FORMATS if name in found), None)


def describe(path: Path) -> str:
    """Return what an export holds: its kinds of files, and the first keys of its JSON."""
    with open_export(path) as files:
        kinds = Counter(file.suffix or "without a suffix" for file in files)
        heads = [_read_head(file) for file in files if file.suffix in (".json", ".jsonl")][:1]
    held = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common(4)) or "no file"
    keys = dict.fromkeys(re.findall(rb'"(\w{1,40})"\s*:', b"".join(heads)))
    shown = ", ".join(key.decode() for key in [*keys][:6])
    return visible(f"{held}, with the keys {shown}" if shown else held)


def _read_head(file: ExportFile) -> bytes:
    with suppress(*READ_ERRORS), file.open() as stream:
        return stream.read(_HEAD_BYTES)
    return b""


def _identify(file: ExportFile) -> str | None:
    """Return the format whose key comes first in the head of a file; ``None`` without a key."""
    if file.suffix == ".md":
        return "codex" if file.path.name in transcripts.CODEX_MEMORY else None
    head = _read_head(file)
    if file.suffix == ".txt":
        return "whatsapp" if chat.HEAD.search(head.decode("utf-8", "replace"), 0, 4096) else None
    key = _ANY_KEY.search(head)
    return [*_KEYS][(key.lastindex or 1) - 1] if key else None


AUTO = "auto"
LOG = "imports.jsonl"
Progress: TypeAlias = Callable[[str, int, int], None]
_BATCH_NOTES, _BATCH_BYTES = 100, 4 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """The last import of a conversation or note."""

    source: str
    identity: str
    """Its id in the source."""
    path: str
    """Path of its note, or of the last of its notes."""
    digest: str
    """Digest of the exported content."""
    written: str
    """SHA-256 of the note's bytes."""
    turns: int = 0
    part: int = 1


def read_imported(paths: PalacePaths) -> dict[tuple[str, str], Imported]:
    """Return the imported items by source and id; the last line of the log for each counts."""
    found: dict[tuple[str, str], Imported] = {}
    for record in read_records(paths.logs / LOG):
        with suppress(TypeError):  # a line with other keys
            one = Imported(**record)
            found[one.source, one.identity] = one
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """The planned outcome of one conversation or note."""

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
    """Import conversations and notes of another program; without ``apply`` only report.

    ``path`` is an export's file, .zip or folder; ``source`` its format, or ``auto``. ``folder`` is
    the destination, by default among the chambers, or ``Imports``. Notes of an earlier import are
    kept and new turns are added to them; a note that a person edited, moved, archived or deleted is
    neither overwritten nor restored. Nothing is indexed. Raise ``UsageError`` for an unknown format
    and for the palace itself, ``OSError`` for a file that cannot be read.
    """
    path = Path(path)
    check_foreign(palace.paths, path)
    chosen = detect(path) if source == AUTO else source
    if chosen is None or chosen not in FORMATS:
        raise UsageError(
            f"{path} is of no known format: it holds {describe(path)}; --from names one of "
            f"{', '.join(FORMATS)}. A folder of notes needs no import: `palace init --here` there "
            "makes it a palace"
        )
    if apply:
        with palace.writing(wait_seconds=WAIT_SECONDS):
            pass  # what another command left half done is taken back before notes are read
    report = ImportReport(chosen, choose_folder(palace.paths, chosen, folder), apply)
    importer = _Importer(palace, report)
    for count, item in enumerate(FORMATS[chosen](path, report), start=1):
        importer.take(item)
        progress("importing" if apply else "reading", count, count)
    importer.write()
    return report


class _Importer:
    """Plans the outcome of each item and writes in batches."""

    def __init__(self, palace: Palace, report: ImportReport) -> None:
        self._palace, self._report = palace, report
        self._known = read_imported(palace.paths)
        self._places = Places(palace)
        self._steps: list[_Step] = []
        self._size = 0
        self._written: str | None = None

    def take(self, item: Item) -> None:
        """Plan an item; write the planned steps if they fill a batch."""
        step = self._plan_talk(item) if isinstance(item, Conversation) else self._plan_note(item)
        report, size = self._report, 0
        for operation in step.operations:
            size += len(operation.after) - len(operation.before or b"")
            self._places.plan(operation.path, operation.after)
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
        """Apply and log the planned steps as one change."""
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
        """Plan a conversation: new, grown, changed, present or gone."""
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

        They are appended to its last note, or go into another if that was edited or is full.
        """
        turns, path, part = item.turns, known.path, known.part
        data = self._places.read(path) or b""
        is_untouched = digest(data) == known.written
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
        done = path, digest_turns(turns), digest(data), len(turns), part
        record = Imported(known.source, known.identity, *done)
        return _Step(fate, title, path, operations, record, len(written), withheld)

    def _plan_note(self, item: ImportedNote) -> _Step:
        """Plan a note: new, grown, edited, present or gone."""
        source, identity = self._report.format, item.source_id
        given, known = digest(item.data), self._known.get((source, identity))
        title = visible(PurePosixPath(item.path_hint).stem)
        clean, problems = withhold(item.data.decode("utf-8", "replace"), "")
        data = clean.encode() if problems else item.data
        with suppress(PalaceError):  # keep invalid front matter
            data = set_fields(item.path_hint, data, {"origin": ORIGIN})
        withheld = [Withheld(title, 0, p.line, p.message) for p in problems]
        if known is None:
            hint = f"{self._report.folder}/{safe_path(item.path_hint)}"
            path, standing = self._places.choose(hint, data, identity)
            made = [Create(path, data)] if standing is None else []
            record = Imported(source, identity, path, given, digest(standing or data))
            return _Step("new", title, path, made, record, 0, withheld)
        found = self._places.find(known.path, identity, known.written)
        before = self._places.read(found) if found else None
        if found is None or before is None:
            return _Step("gone", title, known.path)
        if given == known.digest or before == data:
            return _Step("present", title, found)
        if digest(before) != known.written:
            return _Step("edited", title, found)
        record = Imported(source, identity, found, given, digest(data))
        return _Step("grown", title, found, [Replace(found, before, data)], record, 0, withheld)


CHAMBER, FOLDER = "chambers/imports", "Imports"
_MATTER_BYTES = 4096


def choose_folder(paths: PalacePaths, source: str, folder: str | None) -> str:
    """Return the folder for notes of a source, relative to the root.

    It is below ``folder``, else below ``imports`` among the chambers, or below ``Imports`` if no
    folder is mapped to the chambers.
    """
    if folder is not None:
        inside = folder.removeprefix(paths.prefix).strip("/")
        return f"{paths.prefix}{inside}/{source}" if inside else f"{paths.prefix}{source}"
    try:
        return f"{paths.rooms.path_of(CHAMBER)}/{source}"
    except RoomNotMappedError:
        return f"{paths.prefix}{FOLDER}/{source}"


def check_foreign(paths: PalacePaths, path: Path) -> None:
    """Raise ``UsageError`` for this palace, or a pipe, ``OSError`` for a missing path."""
    if may_block(path):
        raise UsageError(
            f"{path} is not a regular file, and is read twice; save it as a file first"
        )
    here, home = os.path.realpath(path), os.path.realpath(paths.notes)
    if path.is_dir() and os.path.commonpath((here, home)) in (here, home):
        raise UsageError(f"{path} is this palace, or a part of it; its notes are here already")


class Places:
    """The files of a palace, including those that are planned."""

    def __init__(self, palace: Palace) -> None:
        self._palace, self._paths = palace, palace.paths
        self._taken: dict[str, dict[str, str]] = {}
        self._planned: dict[str, bytes] = {}

    def plan(self, path: str, data: bytes) -> None:
        """Reserve a path for bytes that will be written."""
        self._names(path.rpartition("/")[0])[fold_case(path.rpartition("/")[2])] = path
        self._planned[path] = data

    def forget(self) -> None:
        """Drop the planned files, since they are written."""
        self._planned.clear()

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, planned or existing; ``None`` if there is none."""
        if path in self._planned:
            return self._planned[path]
        file = self._paths.root / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    def choose(self, path: str, data: bytes, identity: str) -> tuple[str, bytes | None]:
        """Return the path for a note of an id, and the bytes there if it is the same note.

        If the name belongs to another note, a digest of the id is added to it.
        """
        folder, _, name = path.rpartition("/")
        mark = digest(identity.encode("utf-8", "replace"))
        stem = name.removesuffix(".md")
        for chosen in (name, file_name(f"{stem} {mark[:8]}"), file_name(f"{stem} {mark}")):
            taken = self._names(folder).get(fold_case(chosen))
            if taken is None:
                return f"{folder}/{chosen}", None
            standing = self.read(taken)
            if standing is not None and (standing == data or source_id_of(standing) == identity):
                return taken, standing
        raise UsageError(f"{path} and other names for it are taken; move some of them")

    def find(self, path: str, identity: str, written: str) -> str | None:
        """Return the current path of a note that was written to a path; ``None`` if it is gone.

        A moved or renamed one is found by its ``source_id``; an archived one counts as gone.
        """
        found = path if self.read(path) is not None else None
        if found is None:
            moved = self._by_source.get(identity, [])
            same = [place for place in moved if digest(self.read(place) or b"") == written]
            found = [*moved, *same][-1] if moved else None
        return None if found is None or is_cold_path(self._paths, found) else found

    @cached_property
    def _by_source(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for file in discover_notes(self._paths, ignore=self._palace.config.ignore).files:
            with self._paths.file_of(file.path).open("rb") as opened:
                identity = source_id_of(opened.read(_MATTER_BYTES))
            if identity:
                found.setdefault(identity, []).append(file.path)
        return found

    def _names(self, folder: str) -> dict[str, str]:
        """Return the case-folded names in a folder, each with its path."""
        if folder not in self._taken:
            names = fold_names(self._paths.root / folder)
            self._taken[folder] = {key: f"{folder}/{name}" for key, name in names.items()}
        return self._taken[folder]


def safe_path(hint: str) -> str:
    """Return the path of another program with every component made a safe file name."""
    parts = PurePosixPath(hint.replace("\\", "/")).parts
    *folders, file = [part for part in parts if part not in ("/", "..")] or ["untitled"]
    stem, suffix = os.path.splitext(file)  # noqa: PTH122
    suffix = suffix if suffix.lower() in SUFFIXES else ".md"
    safe = (
        make_safe(name) or f"untitled {digest(name.encode('utf-8', 'replace'))[:8]}"
        for name in (*folders, stem)
    )
    return "/".join(safe) + suffix


def source_id_of(data: bytes) -> str:
    """Return the ``source_id`` in a note's front matter, or empty."""
    if not data.startswith(b"---"):
        return ""
    text = data[:_MATTER_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")
    value = split_front_matter(text).values.get("source_id")
    return "" if value is None else str(value)
