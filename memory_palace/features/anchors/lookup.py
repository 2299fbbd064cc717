"""Find the anchors in a text, and the passages they lead to.

The evidence is one signal of retrieval's ranking.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Config, Rooms
from memory_palace.embedding.registry import embed_question
from memory_palace.features.anchors.anchor_file import (
    AnchorFile,
    key_table,
    open_rows,
    row_keys,
    source_of,
    trust_per_note,
)
from memory_palace.features.anchors.vocabulary import match_key, runs, words_of
from memory_palace.graph.naming import active_projects
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import NO_ROWS
from memory_palace.language.words import plain_words
from memory_palace.models import AnchorEvidence, FiredAnchor, ParsedQuery, QueryResult
from memory_palace.notes.note import stem_of
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.retrieval.search import search
from memory_palace.shown import Shown, inner, plural

IN_SCOPE = 1.0
"""Anchor score of a passage in the project that a text points at."""
_NOUNS = "thing|things|project|projects|topic|subject|matter|plan|idea|issue|problem|task"
_POINTING = re.compile(
    rf"\b(?:(?:that|this|these|those|our|the same|the very)(?: same| whole| old)? (?:{_NOUNS})"
    r"|the project)\b"
)
"""Matches "that plan" and "the project", not "the plan" (of the house), "it" or "that" alone."""


class Book:
    """The anchors of one generation, with their passages as rows of a snapshot."""

    def __init__(self, file: AnchorFile | None, snapshot: Snapshot, config: Config) -> None:
        """Map entries from digests to rows, without the rows anchors may not lead to."""
        self.file, self.snapshot = file, snapshot
        self.settings, self.sources = config.anchors, config.sources
        self.anchors = file.anchors if file else ()
        self.table = key_table(self.anchors)
        self.open_rows = open_rows(snapshot, self.settings)
        """Rows anchors may lead to: of live notes, not private, not cold, allowed; ascending."""
        self.denied = frozenset(map(match_key, self.settings.deny))
        """Keys that the current settings deny, even if the build allowed them."""
        owners, rows, scores = NO_ROWS, NO_ROWS, np.zeros(0, np.float32)
        if file:
            owners, keys, scores = file.entries()
            known = row_keys(snapshot)[self.open_rows]
            by_key = np.argsort(known, kind="stable")
            first = np.searchsorted(known[by_key], keys, "left")
            counts = np.searchsorted(known[by_key], keys, "right") - first  # notes can share a text
            ends = np.cumsum(counts)
            places = np.arange(counts.sum()) - np.repeat(ends - counts - first, counts)
            rows = self.open_rows[by_key][places]
            owners, scores = np.repeat(owners, counts), np.repeat(scores, counts)
        self.starts = np.searchsorted(owners, np.arange(len(self.anchors) + 1))
        self.rows: NDArray[np.int64] = rows
        self.scores: NDArray[np.float32] = scores

    def entries_of(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the rows that an anchor leads to, and the score of each."""
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[part], self.scores[part]

    def notes_of(self, place: int) -> list[str]:
        """Return the paths of the notes that an anchor leads to, best score first."""
        rows, scores = self.entries_of(place)
        order = np.lexsort((rows, -scores))
        notes = dict.fromkeys(self.snapshot.row_note[rows[order]].tolist())
        return [self.snapshot.paths[note] for note in notes]

    def rows_below(self, folder: str) -> NDArray[np.int64]:
        paths = self.snapshot.paths
        first, last = bisect_left(paths, folder), bisect_left(paths, folder + "\U0010ffff")
        notes = self.snapshot.row_note[self.open_rows]
        return self.open_rows[(notes >= first) & (notes < last)]

    @cached_property
    def trust(self) -> NDArray[np.float32]:
        return trust_per_note(self.snapshot.paths, self.sources)

    @cached_property
    def capped(self) -> tuple[str, ...]:
        if not self.sources:
            return ()
        return tuple(
            "" if trust == 1 else source_of(path, self.sources, self.snapshot.room_map)
            for path, trust in zip(self.snapshot.paths, self.trust.tolist(), strict=True)
        )


def look_up(
    palace: Palace, text: str, *, limit: int | None = None, projects: Sequence[str] | None = None
) -> QueryResult:
    """Rank the passages that the anchors of ``text`` lead to; no hits if none matches.

    ``limit`` replaces ``max_chunks`` of the settings, ``projects`` the folders that "that project"
    stands for.
    """
    snapshot = palace.snapshot()
    has_vectors = bool(snapshot.commit.dimension)
    query = ParsedQuery(text, time.time())
    if has_vectors:
        query = embed_question(query, palace.embedder())
    query = palace.anchors.ask(query, snapshot, projects=projects)
    found, hits = query.anchors, []
    if found is not None and found.fired:
        rows = found.rows[found.scores > 0]
        most = limit or palace.config.anchors.max_chunks
        hits = search(
            replace(query, rows=rows if query.rows is None else np.intersect1d(rows, query.rows)),
            snapshot,
            Query(limit=most, per_note=False),
            profile="anchors",
            paths=palace.paths,
        ).hits
    return QueryResult(
        text=text,
        profile="anchors",
        mode="vector" if has_vectors else "lexical",
        embedder=snapshot.commit.embedder,
        hits=tuple(hits),
        anchors=found,
    )


def find_passages(
    book: Book, text: str, *, projects: Sequence[str] | None = None
) -> AnchorEvidence:
    """Return the anchors in a text, and the rows they lead to, scored by trust.

    ``projects`` are the folders that "that project" stands for, instead of the active ones. The
    cost depends on the words of the text, not on the size of the palace.
    """
    places = match_anchors(book, text)
    fired = [FiredAnchor(book.anchors[at].display, book.anchors[at].kind) for at in places]
    parts = [(NO_ROWS, np.zeros(0, np.float32))]
    parts += (book.entries_of(place) for place in places)
    if not places and _POINTING.search(" ".join(plain_words(text))):
        for folder in active_projects(book.snapshot) if projects is None else projects:
            rows = book.rows_below(folder)
            if len(rows):
                parts.append((rows, np.full(len(rows), IN_SCOPE, np.float32)))
                fired.append(FiredAnchor(stem_of(folder.rstrip("/")), "pronoun"))
    rows, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    scores = scores * book.trust[book.snapshot.row_note[rows]]
    distinct, owners = np.unique(rows, return_inverse=True)
    best = np.zeros(len(distinct), np.float32)
    np.maximum.at(best, owners, scores)
    return AnchorEvidence(distinct, best, tuple(fired), book.capped, book.settings.source_cap)


def match_anchors(book: Book, text: str) -> list[int]:
    """Return the anchors that a text contains, in its order, without denied ones.

    An anchor wholly inside longer ones is skipped. Runs of words are looked up in the key table, so
    the cost does not depend on the size of the vocabulary.
    """
    words = words_of(text)
    taken = [False] * len(words)
    found: dict[int, int] = {}
    for start, length, key in sorted(runs(words), key=lambda run: (-run[1], run[0])):
        if key in book.table and not all(taken[start : start + length]):
            taken[start : start + length] = [True] * length
            for place in book.table[key]:
                found.setdefault(place, start)
    places = sorted(found, key=lambda place: (found[place], place))
    return [place for place in places if book.anchors[place].key not in book.denied]


# --- Shown ---


@dataclass(frozen=True, slots=True)
class AnchorBuild(Shown):
    """The result of an anchor build."""

    anchors: int
    entries: int
    empty: int
    """Anchors without any passage: they stay in the vocabulary, aligned with their vectors."""
    theta: float
    passages: int
    seconds: float

    def lines(self) -> Iterable[str]:
        yield f"anchors     {self.anchors}"
        without = f"{self.empty} anchors without any"
        yield f"passages    {self.passages}, {self.entries} entries, {without}"
        yield f"threshold   {self.theta:.4f}"


@dataclass(frozen=True, slots=True)
class Written(Shown):
    """Written files; text output only, no JSON."""

    files: Sequence[Path] = inner()

    def lines(self) -> Iterable[str]:
        return map(str, self.files)


@dataclass(frozen=True, slots=True)
class PassageShown:
    """A passage that anchors lead to."""

    path: str
    line: int
    last_line: int
    headings: Sequence[str]
    source: str
    score: float
    confidence: float | None
    anchor: float
    """The part of the score that is the anchors'."""
    snippet: str


@dataclass(frozen=True, slots=True)
class LookUpShown(Shown):
    """The anchors of a text, and the passages they lead to."""

    answered_by: str
    anchors: Sequence[FiredAnchor]
    passages: Sequence[PassageShown]

    @classmethod
    def of(cls, result: QueryResult, sources: Mapping[str, str], rooms: Rooms) -> LookUpShown:
        passages = [
            PassageShown(
                path=hit.path,
                line=hit.chunk.first_line,
                last_line=hit.chunk.last_line,
                headings=hit.chunk.heading_path,
                source=source_of(hit.path, sources, rooms),
                score=hit.score,
                confidence=hit.confidence,
                anchor=sum(part.value for part in hit.contributions if part.signal == "anchor"),
                snippet=hit.snippet,
            )
            for hit in result
        ]
        found = result.anchors
        by, fired = ("nothing", ()) if found is None else (found.answered_by, found.fired)
        return cls(by, fired, passages)

    def lines(self) -> Iterable[str]:
        for one in self.passages:
            why = f"(anchor {one.anchor:.2f}, source {one.source})"
            yield f"{one.path}:{one.line}  {one.score:.6f}  {why}\n  {one.snippet}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if self.anchors and not as_json:
            yield f"answered by {self.answered_by}: {', '.join(map(str, self.anchors))}"
        elif not as_json:
            yield "no anchor matches; `palace graph anchors list` shows them"


@dataclass(frozen=True, slots=True)
class AnchorShown:
    """An anchor, and the notes it leads to."""

    anchor: str
    kind: str
    other_names: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class AnchorsShown(Shown):
    """All anchors, by kind and name."""

    threshold: float | None
    """The least cosine of an anchor and a passage; null where there are no anchors yet."""
    anchors: Sequence[AnchorShown]

    def lines(self) -> Iterable[str]:
        width = min(max((len(one.anchor) for one in self.anchors), default=0), 40)
        for one in self.anchors:
            yield f"{one.anchor:<{width}}  {one.kind}, {plural(len(one.notes), 'note')}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if self.threshold is None and not as_json:
            yield "there are no anchors; run `palace graph anchors build`"
