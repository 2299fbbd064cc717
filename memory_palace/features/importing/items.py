"""Values of an import: what a reader of an export gives, and what was done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

Fate: TypeAlias = Literal["new", "grown", "present", "changed", "edited", "gone"]
"""What becomes of a conversation or note: "changed" at its source where no turn may be lost,
"edited" here while its source changed, "gone" from here: these are left as they are."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said at one time."""

    speaker: str
    """"user", "assistant", or a name that the export gives."""
    text: str
    """As it was written, in Markdown or plain; not empty."""
    at: datetime | None = None
    """With its zone."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, its turns in the order of time."""

    source_id: str
    """Names it in its export for good: the same in every later export of the same account."""
    title: str
    """Empty where the export has none."""
    started: datetime | None
    turns: Sequence[Turn]
    url: str = ""


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A note of another program: a Markdown file, an entity, a drawer."""

    source_id: str
    """Names it in its source for good; the path, where a source has no better name."""
    path_hint: str
    """Its POSIX path under the root of the source, with suffix; empty where it has none. Not yet
    checked: it may hold `..`, unsafe characters, and differ from another by case alone."""
    title: str
    data: bytes
    """The whole file, front matter included, or text that the reader made; UTF-8."""
    date: datetime | None = None
    """When it was written, where the source knows."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Front matter that the source gives beside the text. Empty where `data` is a file that keeps
    its bytes."""


Item: TypeAlias = Conversation | ImportedNote


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that could not be read, and was passed over."""

    file: str
    """Its name in the export."""
    position: str
    """"line 12", "entry 4", "byte 1024"."""
    reason: str


@dataclass(slots=True)
class ReadReport:
    """What a reader left out."""

    dropped: Counter[str] = field(default_factory=Counter)
    """Parts by kind, as the export names them, beside "branch", "empty", "hidden" and others."""
    broken: list[Broken] = field(default_factory=list)


ExportReader: TypeAlias = Callable[[Path, ReadReport], Iterator[Item]]
"""Gives each conversation or note of an export (a file, its .zip, or its folder), one in memory at
a time, in the same order for the same bytes; what is left out is counted in the report."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A part of a turn or note that is not written: a secret, or private."""

    title: str
    turn: int
    """From 1; 0 of a note."""
    line: int | None
    """In the turn."""
    why: str


@dataclass(frozen=True, slots=True)
class Sighted:
    """One conversation or note of an export, and what becomes of it."""

    fate: Fate
    title: str
    path: str
    """Where it is or will be; where it was, of what is gone."""


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do."""

    source: str
    folder: str
    """Into which new notes go, relative to the root."""
    is_applied: bool
    fates: Counter[Fate] = field(default_factory=Counter)
    turns: int = 0
    """Written, or to be written."""
    written_bytes: int = 0
    seen: list[Sighted] = field(default_factory=list)
    """What is not there already as it is; the first ten thousand."""
    withheld: list[Withheld] = field(default_factory=list)
    withheld_count: int = 0
    read: ReadReport = field(default_factory=ReadReport)
