"""From the words of a question to the passages its anchors lead to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.book import Book
from memory_palace.anchors.policy import source_of
from memory_palace.anchors.scope import Entries, linked_entries, project_entries
from memory_palace.anchors.terms import runs, words_of
from memory_palace.anchors.words import Coverage, cover
from memory_palace.models import Scores, Vector

Path = Literal["anchors", "pronoun", "dense"]
EPISODIC_NS = 24 * 3600 * 1_000_000_000
"""How long a passage counts as new: it is then admitted before others (source document 003)."""
POOL = 120
"""Passages that are compared with the question at most: 60 to 400 find the same on CORF dev."""
SEMANTIC_MOST = 5
"""Anchors that meaning alone may fire."""
SEMANTIC = 0.5
"""What the cosine of an anchor that meaning alone fired is multiplied by (chosen on CORF dev)."""
WORD = 0.9
"""Anchor score of a passage that holds all telling words of a question."""

_PRONOUNS = frozenset(
    "we our ours us my mine it its they them their this that these those i".split()
)


@dataclass(frozen=True, slots=True)
class Fired:
    """An anchor that a question touched, and how."""

    display: str
    how: Literal["lexical", "word", "semantic", "pronoun"]
    strength: float
    """Half the cosine where meaning fired it; else the share of its words in what all words of
    the question tell, so that "notes" in passing does not count like the subject."""
    place: int = -1
    """Its place in the book; -1 for a project that a pronoun stands for."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The passages of one lookup, best first."""

    rows: NDArray[np.int64]
    scores: Scores
    """Weighted sum of the two below."""
    anchor: Scores
    """Best score of any fired anchor, times the trust in the source."""
    query: Scores
    """Cosine with the question, 0 where it is negative."""
    fired: tuple[Fired, ...]
    path: Path
    """Which way answered; ``dense`` means that no anchor led anywhere: there are no rows."""


@dataclass(frozen=True, slots=True)
class Switches:
    """Parts of a lookup that a benchmark may turn off."""

    pronouns: bool = True
    rerank: bool = True
    episodic: bool = True
    semantic: bool = True
    words: bool = True


EVERYTHING = Switches()


def look_up(
    book: Book,
    text: str,
    vector: Vector | None,
    *,
    now_ns: int,
    projects: Sequence[str] | None = None,
    limit: int | None = None,
    notes: NDArray[np.bool_] | None = None,
    switches: Switches = EVERYTHING,
) -> Ranked:
    """Return the passages that the anchors of a question lead to, ``max_chunks`` at most.

    ``projects`` are the folders that pronouns stand for; without them the active ones do.
    ``notes`` says which notes may be found. Nothing here walks all passages or all terms, but
    for one product of the question with the matrix of anchors.
    """
    asked = text if switches.words else ""
    words = cover(
        book.snapshot, book.postings, asked, find_pair=book.rows_of_pair, is_denied=book.is_denied
    )
    fired = _lexical(book, text, words)
    is_named = any(book.names[anchor.place] for anchor in fired)
    if switches.semantic and vector is not None:
        fired += _semantic(book, vector, {anchor.place for anchor in fired})
    found = [_entries(book, anchor) for anchor in fired]
    found += [
        linked_entries(book, anchor.place, anchor.strength, words)
        for anchor in fired
        if anchor.how == "lexical"
    ]
    found.append(_blank(words.rows[book.is_open[words.rows]]))
    fired += [Fired(word, "word", round(share, 6)) for word, share in words.words]
    path: Path = "anchors"
    if switches.pronouns and not is_named and has_pronoun(text):
        folders = book.projects if projects is None else tuple(projects)
        inside = project_entries(book, folders, words)
        if len(inside.rows):
            path = "pronoun"
            found.append(inside)
            fired += [Fired(_name(folder), "pronoun", 1.0) for folder in folders]
    pool = _pool(book, found, words, notes, now_ns, switches)
    if not len(pool.rows):
        path = "dense"
    return _rank(book, pool, vector, tuple(fired), path, limit, switches)


def has_pronoun(text: str) -> bool:
    """Say whether a question points at something that it does not name."""
    words = text.casefold().replace("'", " ").replace("’", " ").split()
    return not _PRONOUNS.isdisjoint(word.strip('.,;:!?()"') for word in words)


def _lexical(book: Book, text: str, telling: Coverage) -> list[Fired]:
    """Find anchors whose words stand in a question; of two that overlap the longer counts.

    A hash join of the question's runs of words with the table of keys: its cost does not depend
    on the size of the vocabulary.
    """
    words = words_of(text)
    taken = [False] * len(words)
    places: dict[int, float] = {}
    for start, length, key in sorted(runs(words), key=lambda run: (-run[1], run[0])):
        if key in book.table and not all(taken[start : start + length]):
            taken[start : start + length] = [True] * length
            places |= dict.fromkeys(book.table[key], telling.weight(key))
    return [
        Fired(book.anchors[place].display, "lexical", round(weight, 6), place)
        for place, weight in places.items()
        if not book.denied[place]
    ]


def _semantic(book: Book, vector: Vector, known: set[int]) -> list[Fired]:
    """Find the anchors nearest in meaning to a question, at least ``sem_theta``."""
    cosines = book.matrix @ vector
    near = np.flatnonzero((cosines >= book.sem_theta) & ~book.denied)
    near = near[np.lexsort((near, -cosines[near]))]
    return [
        Fired(
            book.anchors[place].display,
            "semantic",
            round(SEMANTIC * max(float(cosines[place]), 0.0), 6),
            place,
        )
        for place in near[:SEMANTIC_MOST].tolist()
        if place not in known
    ]


def _entries(book: Book, anchor: Fired) -> Entries:
    part = slice(int(book.starts[anchor.place]), int(book.starts[anchor.place + 1]))
    strength = np.float32(anchor.strength)
    return Entries(book.rows[part], book.scores[part] * strength, book.added_ns[part])


def _blank(rows: NDArray[np.int64]) -> Entries:
    """Return rows that only words lead to; words are counted for all rows alike, later."""
    return Entries(rows, np.zeros(len(rows), np.float32), np.zeros(len(rows), np.int64))


def _name(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2]


def _pool(
    book: Book,
    found: Sequence[Entries],
    words: Coverage,
    notes: NDArray[np.bool_] | None,
    now_ns: int,
    switches: Switches,
) -> Entries:
    """Merge lists by the best score of each row; new rows are admitted before others.

    Words add to it as independent evidence does: 1 - (1 - list) * (1 - WORD * share).
    """
    rows = np.concatenate([np.zeros(0, np.int64), *(entry.rows for entry in found)])
    scores = np.concatenate([np.zeros(0, np.float32), *(entry.scores for entry in found)])
    added = np.concatenate([np.zeros(0, np.int64), *(entry.added_ns for entry in found)])
    note_of = book.snapshot.row_note[rows]
    scores = 1 - (1 - scores) * (1 - np.float32(WORD) * words.of(rows))
    scores = scores * book.trust[note_of]
    is_kept = np.ones(len(rows), np.bool_) if notes is None else notes[note_of]
    if not switches.episodic:
        is_kept &= added == 0
    rows, scores, added = rows[is_kept], scores[is_kept], added[is_kept]
    order = np.lexsort((-scores, rows))
    order = order[np.append(True, np.diff(rows[order]) != 0)[: len(order)]]
    is_new = (added[order] > 0) & (now_ns - added[order] < EPISODIC_NS)
    order = order[np.lexsort((rows[order], -scores[order], ~is_new))][:POOL]
    return Entries(rows[order], scores[order], added[order])


def _rank(
    book: Book,
    pool: Entries,
    vector: Vector | None,
    fired: tuple[Fired, ...],
    path: Path,
    limit: int | None,
    switches: Switches,
) -> Ranked:
    """Re-rank against the whole passages' vectors, not against previews of them."""
    settings, rows = book.settings, pool.rows
    query: Scores = np.zeros(len(rows), np.float32)
    if vector is not None and switches.rerank and len(rows):
        vectors = book.snapshot.rows_of(rows)
        query = np.clip(vectors @ vector, 0, 1)
    weights = np.float32(settings.anchor_weight), np.float32(settings.query_weight)
    totals = np.round(weights[0] * pool.scores + weights[1] * query, 6).astype(np.float32)
    lines = book.snapshot.row_lines[rows, 0]
    order = np.lexsort((rows, lines, book.snapshot.row_note[rows], -totals))
    order = _capped(book, rows, order, settings.max_chunks if limit is None else limit)
    return Ranked(rows[order], totals[order], pool.scores[order], query[order], fired, path)


def _capped(
    book: Book, rows: NDArray[np.int64], order: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """Keep the first ``limit``, of each source that is not trusted only its share."""
    if not book.sources:
        return order[:limit]
    most = max(int(book.settings.source_cap * limit), 1)
    counts: Counter[str] = Counter()
    kept: list[int] = []
    for place in order.tolist():
        note = int(book.snapshot.row_note[rows[place]])
        source = source_of(book.snapshot.paths[note], book.sources)
        if book.trust[note] < 1 and counts[source] >= most:
            continue
        counts[source] += 1
        kept.append(place)
        if len(kept) == limit:
            break
    return np.array(kept, np.int64)
