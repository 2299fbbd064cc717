"""Store a text as an entry of the day's inbox note; a repeated text is counted instead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Self
from unicodedata import normalize

from memory_palace.changes.changing import index_note, now, today, write_file
from memory_palace.changes.composing import common_inbox, make_slug
from memory_palace.changes.journal import Create, Replace, check_inside, create_unlocked
from memory_palace.config import Config, PalacePaths
from memory_palace.errors import CheckFailedError, IndexLockedError, RoomNotMappedError, UsageError
from memory_palace.language.visible import fence_text, find_secrets
from memory_palace.markdown.markup import Markup, drop_comments
from memory_palace.notes.frontmatter import write_front_matter
from memory_palace.notes.note import (
    Unwritten,
    clean_text,
    leave_out,
    read_body,
    split_line_range,
    withhold,
)
from memory_palace.palace import Palace
from memory_palace.shown import ABSENT, Absent, Shown

MOST_CHARACTERS = 1 << 20
"""Maximum characters of a text; a longer one is a document."""
_DEMOTED_BY, _DEEPEST = 2, 6
_PROBE = "## probe"
_NOBODY = "inbox"
"""The agent's name in an inbox note if none is given."""
_NUMBERED = re.compile(r"\A\d+-")
_MOST_BYTES = 4 * 1024
"""Maximum size of an inbox note, after which the day gets another: an answer has a few lines of
each note, and a change stores the previous bytes. With 100 turns of LoCoMo on one day five hits
contain the right one for .83 of the questions; with 16 kB for .70."""
_TIMES = re.compile(r" \(said (\d+) times, last on (\d{4}-\d\d-\d\d)\)\Z")
_HEADING = re.compile(r"\A\d\d:\d\d UTC(?: (?P<title>.*))?\Z")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A text to remember, without secrets and private spans."""

    title: str
    body: str
    """Paragraphs of text, source and tags, which affect no other entry of the note."""
    agent: str
    day: str
    """UTC."""
    time: str

    @property
    def entry(self) -> str:
        title = _TIMES.sub("", self.title)
        return f"## {self.time} UTC{title and f' {title}'}\n\n{self.body}\n"


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """An entry of an inbox note, with its lines."""

    line: int
    """Of its heading, 1-based."""
    last_line: int
    title: str
    text: str
    count: int
    """How often it was said."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A change that adds an inbox entry, or counts an existing one once more."""

    operation: Create | Replace
    line: int
    last_line: int
    count: int = 1

    @property
    def path(self) -> str:
        return self.operation.path


def _check_line(given: str | None, what: str) -> str:
    return "" if given is None else _check_open(" ".join(clean_text(given, what).split()), what)


def _check_tag(tag: str) -> str:
    """Return a normalized tag without ``#``; raise ``UsageError`` if it is invalid."""
    name = _check_open(re.sub(r"[^\w/-]+", "-", tag.removeprefix("#")).strip("-/"), "a tag")
    if not name or not name[0].isalpha():
        raise UsageError(f"a tag begins with a letter, and {tag!r} does not")
    return name


def _check_open(text: str, what: str) -> str:
    """Return a title, tag or source; raise ``CheckFailedError`` if it contains a secret."""
    if find_secrets(text) or withhold(text, "")[1]:
        raise CheckFailedError(f"nothing was written: {what} holds a secret or is private")
    return text


def enclose(text: str) -> str:
    """Return a text that begins no section, and neither ends nor hides the ones around it.

    If necessary its headings are demoted; if that does not suffice, the text is fenced.
    """
    if is_enclosed(text):
        return text
    demoted = _demote(text)
    return demoted if is_enclosed(demoted) else fence_text(text, "text")


def is_enclosed(text: str) -> bool:
    """Whether a text leaves the headings around it intact, and contains no comment."""
    whole = f"{_PROBE}\n\n{text}\n\n{_PROBE}\n"
    sections = [h for h in Markup(whole).headings if h.level <= 2 and not h.is_nested]
    last = whole.count("\n") - 1
    is_whole = [heading.first for heading in sections] == [0, last]
    return is_whole and drop_comments(whole) == (whole, None)


def _demote(text: str) -> str:
    lines, kept, position = text.split("\n"), [], 0
    for heading in Markup(text).headings:
        if not heading.is_nested:
            marks = "#" * min(heading.level + _DEMOTED_BY, _DEEPEST)
            kept += [*lines[position : heading.first], f"{marks} {heading.text}"]
            position = heading.last + 1
    return "\n".join([*kept, *lines[position:]])


_BEFORE, _BEHIND = "\"'“„«(*", ".,;:!…\"'”»)*"
"""Characters ignored at the edges of a word. A question mark, a sign before a number and a dot
before a name are significant."""
_CURLY = str.maketrans("’‘", "''")
_OPENING = re.compile(
    r"\A(?:please\s+)?(?:remember(?:\s+that)?|note(?:\s+that)?|fyi|(?:just\s+)?so\s+you\s+know)"
    r"\b[,:]?\s+",
    re.IGNORECASE,
)


def reduce_statement(text: str) -> tuple[str, ...]:
    """Return the normalized words of a text, which are equal for two texts that say the same.

    White space, case, the punctuation at the edges of words and an opening such as "remember that"
    are ignored. Signs, digits, units, names, the order of words, question marks and every letter
    are significant. Text with code is only split at white space.
    """
    if "`" in text:
        return tuple(text.split())
    given = normalize("NFC", _OPENING.sub("", text.strip())).translate(_CURLY).split()
    return tuple(" ".join(map(_trim, given)).casefold().split() or given)


def _trim(word: str) -> str:
    """Return a word without punctuation at its edges; "No, more" is not "No more"."""
    bare = word.lstrip(_BEFORE).rstrip(_BEHIND)
    return f"{bare}," if bare.casefold() == "no" and not word.endswith(bare) else bare


@dataclass(frozen=True, slots=True)
class Remembered(Shown):
    """A text that was remembered, or added to a note."""

    path: str
    line: int
    """Of its heading, 1-based; of its first line where it was added to a note."""
    last_line: int
    is_new: bool
    """Not where it stood there already, in the same words."""
    count: int
    """How often it was said."""
    made: str | Absent | None
    """The heading that was made for it; only where it was added to a note."""
    is_indexed: bool
    remark: str | None
    """Why it is not found yet; null where it is."""
    withheld: tuple[Unwritten, ...]
    """Lines with secrets, private spans: they were not written."""

    @classmethod
    def of(
        cls,
        place: tuple[str, int, int],
        remark: str,
        withheld: tuple[Unwritten, ...],
        *,
        count: int = 1,
        made: str | Absent | None = ABSENT,
    ) -> Self:
        return cls(*place, count == 1, count, made, not remark, remark or None, withheld)

    def lines(self) -> Iterable[str]:
        return [f"{self.path}:{self.line}"]

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if isinstance(self.made, str):
            yield f"there was no heading {self.made!r}; it was made"
        yield from map(str, self.withheld)
        if self.remark:
            yield self.remark


def keep(
    palace: Palace,
    text: str,
    *,
    note: str | None,
    under: str | None,
    title: str | None,
    tags: Sequence[str],
    source: str | None,
    agent: str | None,
) -> Remembered:
    """Store a text in the inbox, or append it to a note or to its section ``under``."""
    if note is None and under is not None:
        raise UsageError("a section is one of a note: name the note as well")
    if note is None:
        return palace.remember(text, title=title, tags=tags, source=source, agent=agent)
    if title or tags or source:
        raise UsageError("a note takes the text alone: leave out title, tags and source")
    done = palace.append(note, text, under=under)
    place = (done.path, done.line, done.last_line)
    return Remembered.of(place, done.remark, done.withheld, made=done.made)


def remember(
    palace: Palace,
    text: str,
    *,
    title: str | None = None,
    tags: Sequence[str] = (),
    source: str | None = None,
    agent: str | None = None,
    wait_seconds: float = 10.0,
) -> Remembered:
    """Append a text to the day's inbox note of an agent, index it, and return its place.

    A text that the agent's inbox already has in the same words is counted there instead. Lines with
    secrets and private spans are left out. If another writer holds the lock for ``wait_seconds``,
    the text goes into a new file. Raise ``UsageError`` for a text that is blank or too long,
    ``CheckFailedError`` if nothing of it may be written.
    """
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"the text has {len(text):,} characters, at most {MOST_CHARACTERS:,}; make a file of it"
        )
    clean, withheld = leave_out(clean_text(text))
    heading = _check_line(title, "the title")
    if not is_enclosed(f"### {heading}"):
        raise UsageError(f"a heading cannot hold the title {heading!r}; use plain words")
    named = " ".join(f"#{tag}" for tag in dict.fromkeys(map(_check_tag, tags)))
    origin = _check_line(source, "the source")
    said = (enclose(clean), enclose(f"Source: {origin}") if origin else "", named)
    body, moment = "\n\n".join(filter(None, said)), datetime.now(UTC)
    memory = NewMemory(heading, body, name_agent(agent), today(), f"{moment:%H:%M}")
    placed: list[Placed] = []

    def write() -> Create | Replace:
        placed.append(_place_entry(palace, memory))
        return placed[-1].operation

    try:
        write_file(palace, write, command="remember", agent=memory.agent, wait_seconds=wait_seconds)
    except IndexLockedError as error:
        placed.append(_set_down(palace, memory))
        remark = f"it is kept, and not indexed yet: {error}"
    else:
        remark = index_note(palace, placed[-1].path, wait_seconds=wait_seconds)
    if origin and palace.paths.commit.exists():
        cited = split_line_range(origin)[0]
        if cited in palace.snapshot().paths:
            palace.note_use("cited", cited)
    done = placed[-1]
    place = (done.path, done.line, done.last_line)
    return Remembered.of(place, remark, withheld, count=done.count)


def _place_entry(palace: Palace, memory: NewMemory) -> Placed:
    """Return the change that adds an entry to the inbox, or counts one with the same words."""
    paths, agent, day = palace.paths, memory.agent, memory.day
    folder = find_inbox(paths, palace.config, agent)
    check_inside(paths, f"{folder}/{agent}.md")
    parts = list_parts(paths, folder, agent)
    if found := _find_same(palace, parts, memory):
        return found
    of_today = [path for path in parts if f"/{agent}-{day}" in path]
    for path in of_today[-1:]:
        if placed := add_entry(path, (paths.root / path).read_bytes(), memory.entry):
            return placed
    return _begin(palace, memory)


def _find_same(palace: Palace, parts: Sequence[str], memory: NewMemory) -> Placed | None:
    """Return the change that counts the latest entry with the same words; ``None`` without one."""
    wanted = reduce_statement(memory.body)
    telling = max((word for word in wanted if word.isalnum()), key=len, default="")
    for path in reversed(parts):
        data = (palace.paths.root / path).read_bytes()
        folded = normalize("NFC", data.decode("utf-8", "replace")).casefold()
        if telling not in folded:
            continue
        for entry in reversed(list(read_entries(path, data))):
            if entry.title == memory.title and reduce_statement(entry.text) == wanted:
                return raise_count(path, data, entry, memory.day)
    return None


def _set_down(palace: Palace, memory: NewMemory) -> Placed:
    """Write an entry into a new file, without the lock; repetitions are not counted."""
    while True:
        placed = _begin(palace, memory)
        with suppress(FileExistsError):
            own = {"command": "remember", "now": now(), "agent": memory.agent}
            create_unlocked(palace.paths, placed.operation, **own)
            return placed


def _begin(palace: Palace, memory: NewMemory) -> Placed:
    """Return the change that creates an inbox note with its first entry."""
    agent, day, entry = memory.agent, memory.day, memory.entry
    folder = find_inbox(palace.paths, palace.config, agent)
    numbers = (f"-{number}" if number > 1 else "" for number in count(1))
    paths = (f"{folder}/{agent}-{day}{number}.md" for number in numbers)
    path = next(path for path in paths if not os.path.lexists(palace.paths.root / path))
    fields = {"title": f"{agent}, {day}", "date": day, "type": "inbox", "agent": agent}
    head = write_front_matter({**fields, "origin": "agent"})
    line = head.count("\n") + 2
    data = f"{head}\n{entry}".encode()
    return Placed(Create(path, data), line, line + entry.count("\n") - 1)


def name_agent(agent: str | None) -> str:
    """Return the name of an agent as a slug; ``inbox`` if nothing of it is left.

    The client gives the name, so that only lower-case letters, digits and hyphens are kept.
    """
    try:
        return make_slug(agent or _NOBODY)
    except UsageError:
        return _NOBODY


def find_inbox(paths: PalacePaths, config: Config, agent: str) -> str:
    """Return the folder of an agent's inbox, relative to the root.

    It is the one of the settings, else it is in the agent's chamber, else it is ``Inbox`` if no
    folder is mapped to the chambers. A chamber has the name of its agent; a number before it is
    ignored.
    """
    common = common_inbox(paths, config)
    try:
        chambers = paths.rooms.folder_of("chambers")
    except RoomNotMappedError:
        return common
    if agent == _NOBODY or config.inbox is not None:
        return common
    above = paths.root / chambers
    found = sorted(path.name for path in above.iterdir() if path.is_dir()) if above.exists() else []
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


def add_entry(path: str, data: bytes, entry: str) -> Placed | None:
    """Return the change that adds an entry to an inbox note.

    ``None`` if the note is full, not UTF-8, or was edited so that it would hide the entry.
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
    """Return the change that increments the count of an entry; no line of the note moves."""
    lines = data.split(b"\n")
    heading = lines[entry.line - 1].decode()
    count = entry.count + 1
    heading = f"{_TIMES.sub('', heading.rstrip())} (said {count} times, last on {day})"
    lines[entry.line - 1] = heading.encode()
    after = b"\n".join(lines)
    return Placed(Replace(path, data, after), entry.line, entry.last_line, count)


def read_entries(path: str, data: bytes) -> Iterator[InboxEntry]:
    """Yield the entries of an inbox note in order; sections that people added are skipped."""
    body = read_body(path, data)
    markup = Markup(body.text)
    tops = [h for h in markup.headings if h.level <= 2 and not h.is_nested]
    lines = body.text.split("\n")
    ends = [*(heading.first for heading in tops[1:]), len(lines)]
    for heading, end in zip(tops, ends, strict=False):  # one is left without headings
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
