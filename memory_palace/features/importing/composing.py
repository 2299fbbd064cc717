"""What a conversation of another program looks like as notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from memory_palace.changes.composing import file_name
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.importing.items import Conversation, ImportedNote, Turn, Withheld
from memory_palace.features.importing.quoting import is_block, quote_text
from memory_palace.language.visible import visible
from memory_palace.notes.frontmatter import set_fields, write_front_matter
from memory_palace.notes.withholding import leave_out, withhold

ORIGIN = "import"
"""What the front matter of all that was imported says: it is not trusted as one's own notes are."""
MOST_BYTES = 48 * 1024
"""Of the turns in one note; a longer conversation gets several. One turn is never divided."""
_MOST_TITLE, _MOST_BEGINNING = 120, 60
_MOST_NAME = 80
_NAME = re.compile(r"[^\w.'’ -]+")
_PRIVATE = re.compile(r"<(?=/?private\b)", re.IGNORECASE)
_WITHHELD = "(left out here: a secret, or private)"


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """A turn as it stands in a note."""

    text: str
    day: str
    """On which it was said, or nothing."""
    time: str = ""
    """Of that day, and its zone."""


def digest_turns(turns: Sequence[Turn]) -> str:
    """Return what names these turns as the export has them: 32 hex digits of SHA-256."""
    digest = sha256()
    for turn in turns:
        said = turn.at.isoformat() if turn.at else ""
        for part in (turn.speaker, said, turn.text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:32]


def title_of(conversation: Conversation) -> str:
    """Return the title of a conversation on one line, else how it begins."""
    first = conversation.turns[0].text
    for text, most in ((conversation.title, _MOST_TITLE), (first, _MOST_BEGINNING)):
        words = " ".join(_plain(text[: 8 * most]).split())
        if len(words) > most:
            return f"{words[:most].rpartition(' ')[0] or words[:most]} …"
        if words:
            return words
    return "Untitled conversation"


def write_turns(
    turns: Sequence[Turn], title: str, *, first: int
) -> tuple[list[WrittenTurn], list[Withheld]]:
    """Return turns as Markdown that opens nothing, and what of them is not written.

    ``first`` is the number of the first turn in the conversation, from 1.
    """
    written, withheld = [], []
    for number, turn in enumerate(turns, start=first):
        try:
            clean, problems = leave_out(turn.text)
        except CheckFailedError as error:
            clean = _WITHHELD
            withheld.append(Withheld(title, number, None, str(error)))
        else:
            withheld += [Withheld(title, number, p.line, p.message) for p in problems]
        text = quote_text(clean, is_bold=turn.speaker != "user")
        day = turn.at.date().isoformat() if turn.at else ""
        time = f"{turn.at:%H:%M} {turn.at:%Z}".rstrip() if turn.at else ""
        gap = "\n\n" if is_block(text) else " "
        written.append(WrittenTurn(f"**{_name(turn.speaker)}:**{gap}{text}\n", day, time))
    return written, withheld


def compose_part(
    conversation: Conversation,
    title: str,
    written: Sequence[WrittenTurn],
    *,
    source: str,
    date: datetime | None,
    part: int,
    before: str,
) -> bytes:
    """Return the note of some turns of a conversation; ``before`` is the path of the part before.

    A day other than that of the turn before gets a heading, with the time.
    """
    fields: dict[str, object] = {
        "title": title if part == 1 else f"{title} ({part})",
        "date": date.date().isoformat() if date else None,
        "type": "conversation",
        "origin": ORIGIN,
        "source": source,
        "source_id": _line(conversation.source_id),
        "url": _line(conversation.url) or None,
        "started": conversation.started.isoformat() if conversation.started else None,
        "continues": before or None,
    }
    day = date.date().isoformat() if date else ""
    return (write_front_matter(fields) + join_turns(written, day)).encode()


def join_turns(written: Sequence[WrittenTurn], day: str) -> str:
    """Return turns one below the other, as they follow what was said on ``day``."""
    parts = []
    for turn in written:
        if turn.day and turn.day != day:
            day = turn.day
            parts.append(f"\n## {day} {turn.time}".rstrip() + "\n")
        parts.append(f"\n{turn.text}")
    return "".join(parts)


def split_parts(
    written: Sequence[WrittenTurn], room: int = MOST_BYTES
) -> Iterator[list[WrittenTurn]]:
    """Divide turns into those of one note each; ``room`` is left in the first."""
    part: list[WrittenTurn] = []
    size = MOST_BYTES - room
    for turn in written:
        length = len(turn.text.encode())
        if (part or room < MOST_BYTES) and size + length > MOST_BYTES:
            yield part
            part, size = [], 0
        part.append(turn)
        size += length
    yield part


def name_conversation(title: str, date: datetime | None, part: int) -> str:
    """Return the file name: day, title, and the number of the part from 2."""
    day = f"{date.date().isoformat()} " if date else ""
    number = f" ({part})" if part > 1 else ""
    shown = title if len(title) <= _MOST_NAME else title[:_MOST_NAME].rsplit(" ", 1)[0]
    shown = shown.rstrip(" …")
    try:
        return file_name(f"{day}{shown}{number}")
    except UsageError:
        return file_name(f"{day}conversation{number}")


def add_origin(note: ImportedNote, source: str) -> bytes:
    """Return a note with where it is from in its front matter.

    A file that has front matter keeps its lines; raise ``PalaceError`` where that cannot be read.
    """
    fields: dict[str, object] = {key: _line(value) for key, value in note.fields.items()}
    if note.fields:
        fields = {"title": _line(note.title), **fields}
        if note.date:
            fields.setdefault("date", note.date.date().isoformat())
        fields |= {"source": source, "source_id": _line(note.source_id)}
    return set_fields(note.path_hint or note.title, note.data, {**fields, "origin": ORIGIN})


def _name(speaker: str) -> str:
    """Return who speaks as a label has it."""
    words = " ".join(_NAME.sub(" ", speaker).split()[:3])[:40].strip(" .'-")
    return words[:1].upper() + words[1:] if words[:1].isalpha() else "Someone"


def _line(text: str) -> str:
    return " ".join(_plain(text).split())


def _plain(text: str) -> str:
    """Return a text of which front matter takes nothing for a private span, and with no secret."""
    clean = withhold(_PRIVATE.sub("&lt;", text.encode("utf-8", "replace").decode()), "")[0]
    return visible(clean)
