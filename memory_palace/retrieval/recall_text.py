"""What is told of the notes that come to mind: the few lines that are related themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from memory_palace.config import PalacePaths
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.visible import visible, visible_line
from memory_palace.models import Hit, Piece
from memory_palace.retrieval.excerpts import NoteReader, is_sentence
from memory_palace.retrieval.shortening import drop_marks, plain_line

_MOST = 3
"""Lines that are told."""
_COMPARED = 16
"""Lines that are compared with what was said: a model takes some milliseconds for each."""
_NAME = re.compile(r"[\s>*+-]*[!-~]*")
"""Of a file, say: one word in ASCII, of whatever parts."""


def tell(
    text: str,
    hits: Sequence[Hit],
    snapshot: Snapshot,
    paths: PalacePaths,
    judge: Callable[[Sequence[tuple[Hit, Piece]]], Sequence[float]],
    *,
    budget_bytes: int,
    least: float,
) -> tuple[str, tuple[Hit, ...]]:
    """Return what is said of the hits on ``text``, and those that are told.

    That is the best line, and others where ``judge`` says that they are as related as ``least``.
    None is told twice, and none is cut.
    """
    reader = NoteReader(snapshot, paths, text)
    found: dict[str, tuple[Hit, Piece]] = {}
    for rank, hit in enumerate(hits):
        for piece in _make_plain(reader.find_pieces(hit, rank)):
            found.setdefault(" ".join(piece.text.split()), (hit, piece))
    lines = sorted(found.values(), key=lambda line: -line[1].value)[:_COMPARED]
    sure = judge(lines) if lines else ()
    best = sorted(zip(sure, lines, strict=True), key=lambda pair: -pair[0])[:_MOST]
    told: dict[str, tuple[Hit, tuple[Piece, ...]]] = {}
    for place, (value, (hit, piece)) in enumerate(best):
        if place and value < least:
            break
        pieces = sorted((*told.get(hit.path, (hit, ()))[1], piece), key=lambda each: each.place)
        more = told | {hit.path: (hit, tuple(pieces))}
        if len("\n".join(_write(more)).encode()) < budget_bytes:
            told = more
    shown = tuple(replace(hit, snippet="", pieces=pieces) for hit, pieces in told.values())
    return "\n".join(_write(told)), shown


def _write(told: Mapping[str, tuple[Hit, Sequence[Piece]]]) -> Iterator[str]:
    for hit, pieces in told.values():
        yield from write_hit(hit, pieces)


def _make_plain(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the sentences of pieces, without addresses of links and HTML; code stays as it is."""
    for piece in pieces:
        text = piece.text
        if text.lstrip().startswith("|"):
            text = drop_marks(text)  # a row of a table, padded to look well
        elif not piece.is_verbatim:
            text = plain_line(text)
        if is_sentence(piece.text) and not _NAME.fullmatch(text):
            yield replace(piece, text=text)


def write_hit(hit: Hit, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the lines of one note: where it is, its day and, without a sentence, its title."""
    line = pieces[0].first_line if pieces else hit.chunk.first_line if hit.chunk else 1
    parts = (f"{hit.path}:{line}", hit.note.date.day, "" if pieces else hit.title)
    yield visible_line("  ".join(filter(None, parts)))
    for row in replace(hit, pieces=tuple(pieces)).text.split("\n") if pieces else ():
        if row.strip():
            yield visible(f"  {row.rstrip()}")
