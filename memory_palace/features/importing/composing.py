"""What a conversation of another program looks like as notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from memory_palace.changes.composing import file_name
from memory_palace.errors import CheckFailedError
from memory_palace.features.importing.items import Conversation, Turn, Withheld
from memory_palace.features.importing.quoting import is_block, quote_text
from memory_palace.language.visible import visible
from memory_palace.notes.frontmatter import write_front_matter
from memory_palace.notes.note import leave_out, withhold
from memory_palace.tools import shorten

ORIGIN = "import"
"""What the front matter of all that was imported says: it is not trusted as one's own notes are."""
MOST_BYTES = 48 * 1024
"""Of the turns in one note; a longer conversation gets several. One turn is never divided."""
_MOST_TITLE, _MOST_BEGINNING = 80, 60
_PRIVATE = re.compile(r"<(?=/?private\b)", re.IGNORECASE)
_WITHHELD = "(left out here: a secret, or private)"


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
        if words := shorten(_plain(text[: 8 * most]), most):
            return words
    return "Untitled conversation"


def write_turns(
    turns: Sequence[Turn], title: str, *, first: int
) -> tuple[list[Turn], list[Withheld]]:
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
        gap = "\n\n" if is_block(text) else " "
        written.append(replace(turn, text=f"**{turn.speaker.title()}:**{gap}{text}\n"))
    return written, withheld


def compose_part(
    conversation: Conversation,
    title: str,
    written: Sequence[Turn],
    *,
    source: str,
    part: int,
    before: str,
    said: datetime | None,
) -> tuple[str, bytes]:
    """Return the path, below the folder of the source, and the bytes of a note of some turns.

    ``before`` is the path of the part before, and ``said`` the moment of the turn before.
    """
    dated = (turn.at for turn in written if turn.at)
    moment = said if part == 1 else next(dated, said)
    day = moment.date().isoformat() if moment else None
    fields: dict[str, object] = {
        "title": title if part == 1 else f"{title} ({part})",
        "date": day,
        "type": "conversation",
        "origin": ORIGIN,
        "source": source,
        "source_id": _line(conversation.source_id),
        "url": _line(conversation.url) or None,
        "started": conversation.started.isoformat() if conversation.started else None,
        "continues": before or None,
    }
    number = f" ({part})" if part > 1 else ""
    name = file_name(f"{day or 'undated'} {title.rstrip(' …')}{number}")
    year = f"{day[:4]}/" if day else ""
    return f"{year}{name}", (write_front_matter(fields) + join_turns(written, moment)).encode()


def join_turns(written: Sequence[Turn], said: datetime | None) -> str:
    """Return turns one below the other, as they follow what was said at a moment.

    A day other than that of the turn before gets a heading, with the time.
    """
    day, parts = said.date() if said else None, []
    for turn in written:
        if turn.at and turn.at.date() != day:
            day = turn.at.date()
            parts.append(f"\n## {day} {turn.at:%H:%M %Z}\n")
        parts.append(f"\n{turn.text}")
    return "".join(parts)


def split_parts(written: Sequence[Turn], *, filled: int) -> list[list[Turn]]:
    """Divide turns into those of one note each, the first of which has bytes already."""
    parts: list[list[Turn]] = [[]]
    size = filled
    for turn in written:
        length = len(turn.text.encode())
        if size and size + length > MOST_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(turn)
        size += length
    return parts


def _line(text: str) -> str:
    return " ".join(_plain(text).split())


def _plain(text: str) -> str:
    """Return a text of which front matter takes nothing for a private span, and with no secret."""
    clean = withhold(_PRIVATE.sub("&lt;", text.encode("utf-8", "replace").decode()), "")[0]
    return visible(clean)
