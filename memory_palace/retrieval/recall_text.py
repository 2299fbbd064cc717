"""What is told of the notes that come to mind: whole sentences of many, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_palace.config import PalacePaths
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.visible import visible, visible_line
from memory_palace.models import Hit, Piece
from memory_palace.retrieval.excerpts import NoteReader
from memory_palace.retrieval.shortening import drop_marks, plain_line

_SHORT = 20
"""Characters: less is a label such as "Requirements:"."""


def tell(
    text: str,
    hits: Sequence[Hit],
    snapshot: Snapshot,
    paths: PalacePaths,
    *,
    budget_bytes: int,
) -> tuple[str, tuple[Hit, ...]]:
    """Return what is said of the hits on ``text``, and those that are told.

    As many notes as there is room for, each with its best whole sentence; then more sentences of
    them, the best first; then a line for each note that has none. A sentence is never cut.
    """
    reader = NoteReader(snapshot, paths, text)
    told = _Told(budget_bytes)
    rest: list[tuple[Hit, Piece]] = []
    for rank, hit in enumerate(hits):
        pieces = sorted(_make_plain(reader.find_pieces(hit, rank)), key=_order)
        best = next((place for place, piece in enumerate(pieces) if told.add(hit, piece)), None)
        rest += [(hit, piece) for piece in pieces[best + 1 :]] if best is not None else []
    for hit, piece in sorted(rest, key=lambda entry: -entry[1].value):
        told.add(hit, piece)
    for hit in hits:
        told.name(hit)
    shown = tuple(replace(hit, snippet="", pieces=pieces) for hit, pieces in told.notes.values())
    return "\n".join(line for hit in shown for line in write_hit(hit, hit.pieces)), shown


def _make_plain(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield pieces without the addresses of links, and without HTML; code stays as it is."""
    for piece in pieces:
        text = piece.text
        if text.lstrip().startswith("|"):
            text = drop_marks(text)  # a row of a table, padded to look well
        elif not piece.is_verbatim:
            text = plain_line(text)
        if any(map(str.isalnum, text)):
            yield replace(piece, text=text)


def _order(piece: Piece) -> tuple[bool, float]:
    """Put the best first, and what is too short to tell anything last."""
    return len(piece.text.strip()) < _SHORT, -piece.value


class _Told:
    """What is told so far, and how many bytes are left."""

    def __init__(self, budget_bytes: int) -> None:
        self.notes: dict[str, tuple[Hit, tuple[Piece, ...]]] = {}
        self._left = budget_bytes
        self._sentences: set[str] = set()

    def add(self, hit: Hit, piece: Piece) -> bool:
        """Tell a sentence of a note where there is room and nobody told it; say whether."""
        _, pieces = self.notes.get(hit.path, (hit, ()))
        more = tuple(sorted([*pieces, piece], key=lambda piece: piece.place))
        size = _size(write_hit(hit, more)) - (_size(write_hit(hit, pieces)) if pieces else 0)
        words = " ".join(piece.text.split())
        if size > self._left or words in self._sentences:
            return False
        self._sentences.add(words)
        self._left -= size
        self.notes[hit.path] = hit, more
        return True

    def name(self, hit: Hit) -> None:
        """Tell where a note is that has no sentence here, if there is room."""
        size = _size(write_hit(hit, ()))
        if hit.path not in self.notes and size <= self._left:
            self._left -= size
            self.notes[hit.path] = hit, ()


def write_hit(hit: Hit, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the lines of one note: where it is, its day and, without a sentence, its title."""
    line = pieces[0].first_line if pieces else hit.chunk.first_line if hit.chunk else 1
    parts = (f"{hit.path}:{line}", hit.note.date.day, "" if pieces else hit.title)
    yield visible_line("  ".join(filter(None, parts)))
    for row in replace(hit, pieces=tuple(pieces)).text.split("\n") if pieces else ():
        if row.strip():
            yield visible(f"  {row.rstrip()}")


def _size(lines: Iterator[str] | Sequence[str]) -> int:
    """Return the UTF-8 bytes of lines as they are printed, each with its line feed."""
    return sum(len(line.encode()) + 1 for line in lines)
