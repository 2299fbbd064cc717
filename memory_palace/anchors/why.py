"""Why the anchors of a text brought what they brought, and why not more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_palace.anchors.book import Book
from memory_palace.anchors.corpus import AnchorWork, withheld_lines
from memory_palace.anchors.lookup import find_in, find_passages
from memory_palace.anchors.policy import allowed_notes
from memory_palace.index.postings import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.pointing import points_back
from memory_palace.language.tokens import tokenize
from memory_palace.models import AnchorEvidence

SHOWN = 5
"""Passages of an anchor that are listed."""


@dataclass(frozen=True, slots=True)
class BroughtPassage:
    """A passage that an anchor leads to."""

    path: str
    line: int
    last_line: int
    score: float
    """In [0, 1]: how surely."""


@dataclass(frozen=True, slots=True)
class FiredWhy:
    """An anchor that fired."""

    anchor: str
    kind: str
    state: str
    """Empty for a project that the text only points at."""
    count: int
    """Passages that it leads to."""
    passages: tuple[BroughtPassage, ...]
    """The surest of them."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a text would have brought otherwise."""

    anchor: str
    reason: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class AnchorsWhy:
    """What fired, what was left out, and why nothing fired."""

    fired: tuple[FiredWhy, ...]
    left_out: tuple[LeftOut, ...]
    silent: str
    """Empty where something fired."""


def explain(book: Book, text: str, whole: Snapshot, work: AnchorWork) -> AnchorsWhy:
    """Say which anchors of a text fired, what they lead to, and what was left out.

    ``whole`` is the snapshot with the cold zone. What a private note holds is in no index.
    """
    found = find_passages(book, text)
    places = find_in(book, text)
    open_places = [place for place in places if not book.denied[place]]
    fired = [_tell(book, place) for place in open_places] or _tell_scope(book, found)
    denied = (
        LeftOut(book.anchors[place].display, "denied by anchors.deny")
        for place in places
        if book.denied[place]
    )
    left = [out for place in open_places for out in _leave_out(book, place, whole, work)]
    silent = "" if fired else _say_why_silent(book, text, places)
    return AnchorsWhy(tuple(fired), (*denied, *left), silent)


def _tell(book: Book, place: int) -> FiredWhy:
    anchor, (rows, scores) = book.anchors[place], book.entries_of(place)
    scores = scores * book.trust[book.snapshot.row_note[rows]]
    best = np.lexsort((rows, -scores))[:SHOWN]
    passages = []
    for row, score in zip(rows[best].tolist(), scores[best].tolist(), strict=True):
        chunk = book.snapshot.chunk(row)
        where = chunk.path, chunk.first_line, chunk.last_line
        passages.append(BroughtPassage(*where, round(score, 4)))
    return FiredWhy(anchor.display, anchor.kind, anchor.state, len(rows), tuple(passages))


def _tell_scope(book: Book, found: AnchorEvidence) -> list[FiredWhy]:
    return [FiredWhy(a.display, a.kind, "", len(found.rows), ()) for a in found.fired]


def _leave_out(book: Book, place: int, whole: Snapshot, work: AnchorWork) -> list[LeftOut]:
    """Name the notes that hold an anchor's words and may not come to mind, each with the reason."""
    display = book.anchors[place].display
    lookup = PostingLookup(whole, "words")
    rows = np.flatnonzero(whole.row_note >= 0)
    for stem in tokenize(display, languages=whole.languages):
        rows = np.intersect1d(rows, lookup.find(stem)[0])
    allowed = allowed_notes(whole.paths, book.settings)
    left = []
    for note in np.unique(whole.row_note[rows]).tolist():
        path = whole.paths[note]
        if not allowed[note]:
            left.append(LeftOut(display, "outside of anchors.allow", path))
        elif whole.cold[note]:
            left.append(LeftOut(display, "archived", path))
        elif whole.has_problems[note] and (lines := withheld_lines(work, path)):
            left.append(LeftOut(display, f"private spans or secrets withheld: {lines}", path))
    return left


def _say_why_silent(book: Book, text: str, places: list[int]) -> str:
    if not book.anchors:
        return "there are no anchors; run `palace anchors build`"
    if places:
        return "the settings deny every anchor in it"
    if points_back(text):
        return "it points at a project, and none is active"
    return f"none of the {len(book.anchors)} anchors stands in it"
