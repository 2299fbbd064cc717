"""The text of notes as a page may show it, and what a note claims of itself."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.engine import Engine
from memory_palace.features.view.values import TextAmount
from memory_palace.index.snapshot import Snapshot
from memory_palace.kinds import read_kinds
from memory_palace.markdown.prose import shown_text
from memory_palace.notes.parsing import read_body
from memory_palace.notes.reading import NoteUnreadable, read_named

MOST_TEXT_BYTES = 20_000_000
"""Of more text a page holds first paragraphs only."""
FIRST_CHARACTERS = 1_200
"""Of a note, at most, where the plan holds first paragraphs only."""
_BETWEEN = re.compile(r"(?<=\n)\n+")


@dataclass(frozen=True, slots=True)
class ShownText:
    """A note as it was read."""

    place: int
    """In the snapshot."""
    text: str
    confidence: float | None


def read_text(engine: Engine, path: str, *, include_cold: bool = False) -> str | None:
    """Return what a page shows of a note, read from the disk.

    That is its Markdown without front matter, comments, HTML and verification tokens; lines that
    are private or hold a secret are blank, as in the index. ``None`` for a note that is private,
    gone, unreadable or not in the index, and for a cold one without ``include_cold``.
    """
    snapshot = engine.snapshot(include_cold=include_cold)
    place = bisect_left(snapshot.paths, path)
    if snapshot.paths[place : place + 1] != [path] or snapshot.private[place]:
        return None
    data = _read_data(engine, path)
    return None if data is None else _show_text(path, data)


def read_texts(
    engine: Engine, snapshot: Snapshot, places: NDArray[np.int64]
) -> Iterator[ShownText]:
    """Yield what is shown of notes of a snapshot; those that are gone or now private are not."""
    kinds = read_kinds(engine)
    for place in places.tolist():
        path = snapshot.paths[place]
        data = _read_data(engine, path)
        text = None if data is None else _show_text(path, data)
        if data is not None and text is not None:
            told = (kind.confidence_of(path, data) for kind in kinds)
            yield ShownText(place, text, next((each for each in told if each is not None), None))


def shorten(shown: Iterable[ShownText]) -> tuple[TextAmount, list[ShownText]]:
    """Return texts whole, or their first paragraphs where all of them are too long for a page."""
    texts = list(shown)
    if sum(len(text.text.encode()) for text in texts) <= MOST_TEXT_BYTES:
        return "whole", texts
    cut = [replace(text, text=cut_first_paragraph(text.text)) for text in texts]
    return "first paragraphs", cut


def _read_data(engine: Engine, path: str) -> bytes | None:
    """Return the bytes of a note of the index; ``None`` where it is gone or cannot be read."""
    try:
        return read_named(engine.paths, path, limit_bytes=engine.config.max_note_bytes)
    except FileNotFoundError:
        return None
    except NoteUnreadable as error:
        engine.note_unread([error.problem])
        return None


def _show_text(path: str, data: bytes) -> str | None:
    """Return the text of a note that may be shown; ``None`` where it is private."""
    body = read_body(path, data)
    return None if body.is_private else shown_text(body.text, keep_links=True).strip("\n")


def cut_first_paragraph(text: str) -> str:
    """Return a text up to the end of its first paragraph of prose, headings included."""
    end = 0
    for block in _BETWEEN.split(text):
        end = text.index(block, end) + len(block)
        if block.strip() and not block.lstrip().startswith("#"):
            break
    kept = text[:end].rstrip()
    if len(kept) <= FIRST_CHARACTERS:
        return kept
    return kept[:FIRST_CHARACTERS].rpartition(" ")[0] or kept[:FIRST_CHARACTERS]
