"""What a reader of an export gives, and what it reports."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said at one time."""

    speaker: str
    """"user", "assistant", or a name that the export gives."""
    text: str
    """As it was written, in Markdown or plain; not empty."""
    at: datetime | None = None
    """With its zone where the export gives one."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, its turns in the order of time."""

    source_id: str
    """Names it in its export for good: the same in every later export of the same account."""
    title: str
    """Empty where the export has none."""
    started: datetime | None
    turns: Iterable[Turn]
    """Read once, before the next item is asked for."""
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
    """Front matter that the source gives beside the text, such as `url`, `type` or `tags`. Empty
    where `data` is a file that keeps its bytes."""


Item = Conversation | ImportedNote


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
    """What a reader leaves out, counted while it reads."""

    dropped: Counter[str] = field(default_factory=Counter)
    """Parts by kind: "tool", "thinking", "hidden", "attachment", "system", "branch", "empty"."""
    broken: list[Broken] = field(default_factory=list)


class ExportReader(Protocol):
    """Read an export: a file, its .zip, or its folder.

    It holds one item in memory at a time, and gives them in the same order for the same bytes.
    """

    def __call__(self, path: Path, report: ReadReport) -> Iterator[Item]:
        """Give each conversation or note of the export; count in `report` what is left out."""
        ...
