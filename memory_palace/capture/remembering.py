"""Keep what an agent says: written once, in one place, and found before the answer is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Unpack

from memory_palace.capture.enclosing import enclose
from memory_palace.capture.inbox import (
    InboxEntry,
    Placed,
    add_entry,
    begin_part,
    find_inbox,
    list_parts,
    name_part,
    raise_count,
    read_entries,
    write_heading,
)
from memory_palace.capture.memory import About, NewMemory, check_memory
from memory_palace.capture.statements import fold_case, reduce_statement
from memory_palace.changes.adding import index_note
from memory_palace.changes.composing import compose_note, edit_fields, place_note
from memory_palace.changes.journal import apply_change, create_unlocked, recover
from memory_palace.changes.operations import check_inside
from memory_palace.engine import Engine
from memory_palace.errors import IndexLockedError
from memory_palace.models import Problem
from memory_palace.notes.document import parse_document
from memory_palace.notes.excerpt import split_line_range

_SHORTEST_TELLING = 5
"""Letters of a word by which a note is passed by unread; shorter ones may stand in "don't"."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Where something remembered stands."""

    path: str
    line: int
    """Of its heading, 1-based."""
    last_line: int
    is_new: bool
    """Not where it stood there already, in the same words."""
    count: int
    """How often it was said."""
    is_indexed: bool
    remark: str = ""
    """Why it is not found yet, where it is not."""
    withheld: tuple[Problem, ...] = ()
    """What was not written: lines with secrets, private spans."""


def remember(
    engine: Engine, text: str, *, note: bool = False, wait_seconds: float, **about: Unpack[About]
) -> Remembered:
    """Append a text to the day's inbox note of an agent, or make it a note of its own.

    ``note``, a ``room`` or a ``type`` make a note. What the same agent's inbox has in the same
    words is counted there instead. Lines with secrets and private spans are not written. While
    another writer holds the lock for ``wait_seconds`` it goes into a file of its own. Raise
    ``UsageError`` for a text that is blank or too long, ``CheckFailedError`` where nothing of it
    may be written.
    """
    memory, withheld = check_memory(text, about)
    is_note = bool(note or memory.room or memory.type)
    try:
        with engine.writing(wait_seconds=wait_seconds):
            recover(engine.paths)
            placed = _place_note(engine, memory) if is_note else _place_entry(engine, memory)
            apply_change(
                engine.paths,
                [placed.operation],
                command="remember",
                reason=f"remember {placed.path}",
                now=memory.moment,
                agent=memory.agent,
                edited={placed.path},
            )
    except IndexLockedError as error:
        placed = _set_down(engine, memory, is_note=is_note)
        remark = f"it is kept, and not indexed yet: {error}"
    else:
        remark = index_note(engine, placed.path, wait_seconds=wait_seconds)
    source = split_line_range(memory.source)[0]
    has_index = engine.paths.commit.exists()
    if source.endswith(".md") and has_index and source in engine.snapshot().paths:
        engine.note_use("cited", source)
    return Remembered(
        placed.path,
        placed.line,
        placed.last_line,
        placed.count == 1,
        placed.count,
        not remark,
        remark,
        withheld,
    )


def _place_entry(engine: Engine, memory: NewMemory) -> Placed:
    """Return the change that puts an entry into the inbox, or counts one that says the same."""
    paths, agent, day = engine.paths, memory.agent, memory.day
    folder = find_inbox(paths, engine.config, agent)
    check_inside(paths, f"{folder}/{agent}.md")
    parts = list_parts(paths, folder, agent)
    found = _find_same(engine, parts, memory)
    if found is not None:
        return found
    entry = _write_entry(memory)
    today = [path for path in parts if f"/{agent}-{day}" in path]
    if today:
        placed = add_entry(today[-1], (paths.root / today[-1]).read_bytes(), entry)
        if placed is not None:
            return placed
    return _begin(engine, memory)


def _find_same(engine: Engine, parts: Sequence[str], memory: NewMemory) -> Placed | None:
    """Return the change that counts an entry of the inbox with the same words, the last one."""
    wanted = reduce_statement(_write_body(memory))
    telling = max((word for word in wanted if word.isalnum()), key=len, default="").casefold()
    for path in reversed(parts):
        data = (engine.paths.root / path).read_bytes()
        if len(telling) >= _SHORTEST_TELLING and telling not in fold_case(
            data.decode("utf-8", "replace")
        ):
            continue
        for entry in reversed(list(read_entries(path, data))):
            is_same = entry.title == memory.title and reduce_statement(entry.text) == wanted
            if is_same or _says_less(memory, entry):
                return raise_count(path, data, entry, memory.day)
    return None


def _says_less(memory: NewMemory, entry: InboxEntry) -> bool:
    """Whether an entry has the words of a text, and every tag, title and source it comes with."""
    *said, last = entry.text.split("\n\n")
    tags = last.split() if said and all(word.startswith("#") for word in last.split()) else []
    said = said if tags else [*said, last]
    source = said.pop() if said[1:] and said[-1].startswith("Source: ") else ""
    return (
        reduce_statement("\n\n".join(said)) == reduce_statement(enclose(memory.text))
        and {f"#{tag}" for tag in memory.tags} <= set(tags)
        and memory.source in ("", source.removeprefix("Source: "))
        and memory.title in ("", entry.title)
    )


def _write_entry(memory: NewMemory) -> str:
    heading = write_heading(memory.title, f"{memory.now:%H:%M}")
    return f"{heading}\n\n{_write_body(memory)}\n"


def _write_body(memory: NewMemory) -> str:
    """Return the text of an entry, with its source and tags on lines of their own."""
    source = enclose(f"Source: {memory.source}") if memory.source else ""
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    return "\n\n".join(part for part in (enclose(memory.text), source, tags) if part)


def _place_note(engine: Engine, memory: NewMemory) -> Placed:
    """Return the change that makes a note, or counts the note of that title that says the same."""
    for path, name in _name_notes(engine, memory):
        if _is_free(engine, path):
            return _compose(path, name, memory)
        same = _count_note(engine, path, memory)
        if same is not None:
            return same
    raise AssertionError  # pragma: no cover - names do not end


def _name_notes(engine: Engine, memory: NewMemory) -> Iterator[tuple[str, str]]:
    """Yield paths and titles that a note may have: its title, then with a number behind it."""
    title = memory.title or memory.first_words
    for number in count(1):
        name = title if number == 1 else f"{title} {number}"
        yield place_note(engine.paths, name, room=memory.room, folder=None), name


def _compose(path: str, title: str, memory: NewMemory) -> Placed:
    fields = {
        "title": title,
        "date": memory.day,
        "type": memory.type,
        "tags": list(memory.tags) or None,
        "source": memory.source or None,
        "agent": memory.agent,
        "origin": "agent",
    }
    note = compose_note(path, title, fields, lead=memory.text)
    return Placed(note, 1, note.data.count(b"\n"))


def _count_note(engine: Engine, path: str, memory: NewMemory) -> Placed | None:
    document = parse_document(path, (engine.paths.root / path).read_bytes())
    if document is None or document.text("origin") != "agent":
        return None
    said = document.body.partition("\n\n")[2]
    if reduce_statement(said) != reduce_statement(memory.text):
        return None
    times = document.fields.get("said", 1)
    number = times + 1 if isinstance(times, int) else 2
    change = edit_fields(document, {"said": number, "last_said": memory.day})
    return Placed(change, 1, change.after.count(b"\n"), number)


def _set_down(engine: Engine, memory: NewMemory, *, is_note: bool) -> Placed:
    """Write into a new file, which no other writer can be changing; nothing is counted."""
    while True:
        if not is_note:
            placed = _begin(engine, memory)
        else:
            path, name = next(p for p in _name_notes(engine, memory) if _is_free(engine, p[0]))
            placed = _compose(path, name, memory)
        own = {"command": "remember", "now": memory.moment, "agent": memory.agent}
        with suppress(FileExistsError):
            create_unlocked(engine.paths, placed.operation, **own)
            return placed


def _begin(engine: Engine, memory: NewMemory) -> Placed:
    folder = find_inbox(engine.paths, engine.config, memory.agent)
    numbers = (name_part(folder, memory.agent, memory.day, n) for n in count(1))
    path = next(path for path in numbers if _is_free(engine, path))
    return begin_part(path, memory.agent, memory.day, _write_entry(memory))


def _is_free(engine: Engine, path: str) -> bool:
    place = engine.paths.root / path
    return not place.exists() and not place.is_symlink()
