"""The inbox: a note a day for each agent, an entry below a heading for each thing remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_palace.changes.composing import make_slug
from memory_palace.changes.operations import Create, Replace
from memory_palace.config import Config, PalacePaths
from memory_palace.errors import RoomNotMappedError, UsageError
from memory_palace.markdown.markup import Markup
from memory_palace.notes.frontmatter import write_front_matter
from memory_palace.notes.parsing import read_body
from memory_palace.tools import common_inbox

_NOBODY = "inbox"
"""The name in an inbox note where nobody said who remembers."""
_NUMBERED = re.compile(r"\A\d+-")
_MOST_BYTES = 4 * 1024
"""Of an inbox note, after which the day gets another: an answer has a few lines of each note, and a
change keeps the bytes before it. With a hundred turns of LoCoMo said on one day five hits show the
right one to .83 of the questions; with 16 kB .70."""
_TIMES = re.compile(r" \(said (\d+) times, last on (\d{4}-\d\d-\d\d)\)\Z")
_HEADING = re.compile(r"\A\d\d:\d\d UTC(?: (?P<title>.*))?\Z")


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """Something remembered, where it stands in an inbox note."""

    line: int
    """Of its heading, 1-based."""
    last_line: int
    title: str
    text: str
    count: int
    """How often it was said."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A change that puts an entry into the inbox, or raises the count of one that is there."""

    operation: Create | Replace
    line: int
    last_line: int
    count: int = 1

    @property
    def path(self) -> str:
        """Of the note."""
        return self.operation.path

    @property
    def data(self) -> bytes:
        """The bytes of the note after the change."""
        change = self.operation
        return change.data if isinstance(change, Create) else change.after


def name_agent(agent: str | None) -> str:
    """Return the name of an agent as a file may have it; that of nobody where there is none.

    It comes from whoever connects: small letters, digits and hyphens of it are kept.
    """
    try:
        return make_slug(agent or _NOBODY)
    except UsageError:
        return _NOBODY


def find_inbox(paths: PalacePaths, config: Config, agent: str) -> str:
    """Return the folder of an agent's inbox, relative to the root.

    The settings name it, else it is in the agent's chamber; where no folder is that room, as in
    notes taken as they stand, it is ``Inbox``. An agent's chamber is called as the agent, a number
    before it left out.
    """
    common = common_inbox(paths, config)
    try:
        chambers = paths.rooms.folder_of("chambers")
    except RoomNotMappedError:
        return common
    if agent == _NOBODY or config.inbox is not None:
        return common
    try:
        found = sorted(path.name for path in (paths.root / chambers).iterdir() if path.is_dir())
    except FileNotFoundError:
        found = []
    named = {name_agent(name): name for name in reversed(found)}
    named |= {_NUMBERED.sub("", slug): name for slug, name in named.items() if slug not in found}
    return f"{chambers}/{named.get(agent, agent)}/inbox"


def list_parts(paths: PalacePaths, folder: str, agent: str) -> list[str]:
    """Return the inbox notes of an agent, oldest first."""
    pattern = re.compile(rf"{re.escape(agent)}-(\d{{4}}-\d\d-\d\d)(?:-(\d+))?\.md")
    place = paths.root / folder
    files = (path for path in place.iterdir() if not path.is_symlink()) if place.is_dir() else ()
    names = [path.name for path in files]
    found = [(m[1], int(m[2] or 1), name) for name in names if (m := pattern.fullmatch(name))]
    return [f"{folder}/{name}" for _, _, name in sorted(found)]


def name_part(folder: str, agent: str, day: str, number: int) -> str:
    """Return the path of the n-th inbox note of a day."""
    return f"{folder}/{agent}-{day}{f'-{number}' if number > 1 else ''}.md"


def begin_part(path: str, agent: str, day: str, entry: str) -> Placed:
    """Return the change that makes an inbox note with its first entry."""
    fields = {"title": f"{agent}, {day}", "date": day, "type": "inbox", "agent": agent}
    head = write_front_matter({**fields, "origin": "agent"})
    line = head.count("\n") + 2
    data = f"{head}\n{entry}".encode()
    return Placed(Create(path, data), line, line + entry.count("\n") - 1)


def add_entry(path: str, data: bytes, entry: str) -> Placed | None:
    """Return the change that adds an entry to an inbox note.

    ``None`` where the note is full, or what stands in it would hide the entry: people edit it.
    """
    end = b"" if data.endswith(b"\n") else b"\n"
    after = data + end + b"\n" + entry.encode()
    if len(after) > _MOST_BYTES:
        return None
    line = (data + end).count(b"\n") + 2
    place = Placed(Replace(path, data, after), line, line + entry.count("\n") - 1)
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    found = list(read_entries(path, after))
    return place if found and found[-1].line == line else None


def raise_count(path: str, data: bytes, entry: InboxEntry, day: str) -> Placed:
    """Return the change that counts an entry once more; no line of the note moves."""
    lines = data.split(b"\n")
    heading = lines[entry.line - 1].decode()
    count = entry.count + 1
    heading = f"{_TIMES.sub('', heading.rstrip())} (said {count} times, last on {day})"
    lines[entry.line - 1] = heading.encode()
    after = b"\n".join(lines)
    return Placed(Replace(path, data, after), entry.line, entry.last_line, count)


def read_entries(path: str, data: bytes) -> Iterator[InboxEntry]:
    """Yield the entries of an inbox note that are found, in order; people may have edited it."""
    body = read_body(path, data)
    markup = Markup(body.text)
    tops = [h for h in markup.headings if h.level <= 2 and not h.is_nested]
    lines = body.text.split("\n")
    for heading, end in zip(tops, [*(h.first for h in tops[1:]), len(lines)], strict=True):
        found = _HEADING.match(_TIMES.sub("", heading.text)) if heading.level == 2 else None
        if found is None:
            continue
        text = "\n".join(lines[heading.last + 1 : end]).rstrip()
        times = _TIMES.search(heading.text)
        last = heading.last + 1 + text.count("\n")
        yield InboxEntry(
            body.first_line + heading.first,
            body.first_line + last,
            found["title"] or "",
            text.strip("\n"),
            int(times[1]) if times else 1,
        )


def write_heading(title: str, time: str) -> str:
    """Return the heading of an entry: when it was said, and its title."""
    plain = _TIMES.sub("", title)
    return f"## {time} UTC{f' {plain}' if plain else ''}"
