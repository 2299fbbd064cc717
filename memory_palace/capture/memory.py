"""What is to be remembered, checked: nothing below here looks at what somebody typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypedDict

from memory_palace.capture.enclosing import check_open, is_enclosed
from memory_palace.capture.inbox import name_agent
from memory_palace.errors import UsageError
from memory_palace.models import Problem
from memory_palace.notes.insertion import clean_text
from memory_palace.notes.withholding import leave_out

MOST_CHARACTERS = 1 << 20
"""Of a text: what is longer is a document."""
_MOST_TITLE = 80


class About(TypedDict, total=False):
    """What may be said of a text besides; ``None`` says nothing."""

    title: str | None
    room: str | None
    type: str | None
    tags: Sequence[str]
    source: str | None
    agent: str | None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A text to remember, without what must not be written."""

    text: str
    title: str
    room: str | None
    type: str | None
    tags: tuple[str, ...]
    source: str
    agent: str
    now: datetime

    @property
    def day(self) -> str:
        """The day, UTC."""
        return self.now.date().isoformat()

    @property
    def moment(self) -> str:
        """The moment, UTC, as the log of changes has it."""
        return self.now.isoformat(timespec="milliseconds")

    @property
    def first_words(self) -> str:
        """The beginning of the text, as a title."""
        lines = (line.strip(" #>*-") for line in self.text.split("\n"))
        words = next((line for line in lines if line), "")
        return words if len(words) <= _MOST_TITLE else f"{words[:_MOST_TITLE].rpartition(' ')[0]} …"


def check_memory(text: str, about: About) -> tuple[NewMemory, tuple[Problem, ...]]:
    """Return what is to be written, and what of the text is not."""
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"the text has {len(text):,} characters, at most {MOST_CHARACTERS:,}; make a file of it"
        )
    clean, withheld = leave_out(clean_text(text))
    title = _check_line(about.get("title"), "the title")
    if not is_enclosed(f"### {title}"):
        raise UsageError(f"a heading cannot hold the title {title!r}; use plain words")
    memory = NewMemory(
        clean,
        title,
        about.get("room"),
        about.get("type"),
        tuple(dict.fromkeys(_check_tag(tag) for tag in about.get("tags", ()))),
        _check_line(about.get("source"), "the source"),
        name_agent(about.get("agent")),
        datetime.now(UTC),
    )
    return memory, withheld


def _check_line(given: str | None, what: str) -> str:
    return "" if given is None else check_open(" ".join(clean_text(given, what).split()), what)


def _check_tag(tag: str) -> str:
    """Return a tag as it stands in a text, behind a ``#``."""
    name = check_open(re.sub(r"[^\w/-]+", "-", tag.removeprefix("#")).strip("-/"), "a tag")
    if not name or not name[0].isalpha():
        raise UsageError(f"a tag begins with a letter, and {tag!r} does not")
    return name
