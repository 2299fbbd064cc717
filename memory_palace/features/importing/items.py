"""Values of an import: the items of an export, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from memory_palace.shown import Shown, plural

Fate: TypeAlias = Literal["new", "grown", "present", "changed", "edited", "gone"]
"""Outcome for a conversation or note; these are left unchanged: "changed" at its source so that
turns would be lost, "edited" here while its source changed, "gone" from here."""
_FATES: Mapping[Fate, str] = {
    "new": "new",
    "grown": "with more",
    "present": "there already",
    "changed": "changed at its source, left",
    "edited": "edited here, left",
    "gone": "gone from here, left out",
}
_MOST_LISTED = 10
_MOST_BROKEN = 10_000


@dataclass(frozen=True, slots=True)
class Turn:
    """The text of one speaker at one time."""

    speaker: str
    """"user", "assistant", or the name of a person as exported."""
    text: str
    """As it was written, in Markdown or plain; not empty."""
    at: datetime | None = None
    """With a time zone, if the source has one."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, its turns in chronological order."""

    source_id: str
    """Permanent id in the source, the same in every later export of an account. Empty if the export
    has none: its first turn identifies it then."""
    title: str
    """Empty if the export has none."""
    started: datetime | None
    """Time of its start; ``None`` if only the turns have times."""
    turns: Sequence[Turn]
    url: str = ""


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A note of another program: a Markdown file, or text that the reader made."""

    source_id: str
    """Permanent id in its source; the path, if the source has no better one."""
    path_hint: str
    """Its POSIX path under the root of the source, with suffix. Not yet checked: it may hold `..`,
    unsafe characters, and differ from another by case alone."""
    data: bytes
    """The whole file, front matter included; UTF-8."""


Item: TypeAlias = Conversation | ImportedNote


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that could not be read, and was passed over."""

    file: str
    """Its name in the export."""
    position: str
    """"line 12", "entry 4", "byte 1024"."""
    reason: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """A part of a turn or note that is not written: a secret, or a private span."""

    title: str
    turn: int
    """From 1; 0 of a note."""
    line: int | None
    """In the turn."""
    why: str


@dataclass(frozen=True, slots=True)
class Sighted:
    """One conversation or note of an export, with its outcome."""

    fate: Fate
    title: str
    path: str
    """Where it is or will be; where it was, of what is gone."""


@dataclass(slots=True)
class ImportReport(Shown):
    """The result or preview of an import; it is filled in while the export is read."""

    format: str
    """The program that the export is of."""
    folder: str
    """Where new notes go, relative to the root."""
    is_applied: bool
    """Whether anything was written; else it is what would be."""
    counts: dict[Fate, int] = field(default_factory=lambda: dict.fromkeys(_FATES, 0))
    turns: int = 0
    """Of conversations, written or to be written."""
    bytes: int = 0
    notes: list[Sighted] = field(default_factory=list)
    """Those that are not there already as they are."""
    left_out: dict[str, int] = field(default_factory=Counter)
    """Entries that are no memory: "empty" where nothing was said, and "other" kinds."""
    withheld: list[Withheld] = field(default_factory=list)
    """Secrets and private passages."""
    broken: list[Broken] = field(default_factory=list)
    """Entries that could not be read."""
    remark: str | None = None
    """Why the index is behind the notes; else null."""

    def leave_out(self, kind: str) -> None:
        self.left_out[kind] += 1

    def refuse(self, file: str, position: str, reason: str) -> None:
        """Record an unreadable entry; beyond ten thousand they are only counted."""
        if len(self.broken) < _MOST_BROKEN:
            self.broken.append(Broken(file, position, reason))
        else:
            self.leave_out("broken")

    def lines(self) -> Iterator[str]:
        written = "written to" if self.is_applied else "would be written to"
        turns = f"{plural(self.turns, 'turn')}, " if self.turns else ""
        yield f"{self.format}: {turns}{self.bytes / 1e6:.1f} MB {written} {self.folder}/"
        counts = (f"{count:,} {_FATES[fate]}" for fate, count in self.counts.items() if count)
        yield "; ".join(counts) or "nothing to import"
        yield from (f"{_FATES[seen.fate]}: {seen.path}" for seen in self.notes[:_MOST_LISTED])
        if len(self.notes) > _MOST_LISTED:
            yield f"and {len(self.notes) - _MOST_LISTED:,} more"
        if self.left_out:
            kinds = (f"{count:,} {kind}" for kind, count in self.left_out.items())
            yield f"left out: {', '.join(kinds)}"
        if self.withheld:
            yield f"not to be indexed: {plural(len(self.withheld), 'secret or private passage')}"
        if self.broken:
            yield f"not read: {plural(len(self.broken), 'place')}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        for broken in self.broken[:_MOST_LISTED]:
            yield f"{broken.file}, {broken.position}: {broken.reason}"
        for one in self.withheld[:_MOST_LISTED]:
            turn = f", turn {one.turn}" if one.turn else ""
            line = f", line {one.line}" if one.line else ""
            yield f"“{one.title}”{turn}{line}: {one.why}"
        if self.remark:
            yield self.remark
        if not self.is_applied and (self.counts["new"] or self.counts["grown"]):
            yield "nothing was written; add --apply"


ExportReader: TypeAlias = Callable[[Path, ImportReport], Iterator[Item]]
"""Yields the items of an export (a file, its .zip, or its folder) one at a time, in the same order
for the same bytes; unreadable entries are recorded in the report."""
