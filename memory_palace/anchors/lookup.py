"""From the words of a question to the passages its anchors lead to, each with one score.

What comes first among them is retrieval's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.book import Book
from memory_palace.anchors.policy import source_of
from memory_palace.anchors.scope import Entries, linked_entries, project_entries
from memory_palace.anchors.terms import runs, words_of
from memory_palace.anchors.words import Coverage, cover
from memory_palace.models import AnchorEvidence, FiredAnchor, Vector

EPISODIC_NS = 24 * 3600 * 1_000_000_000
"""How long a passage counts as new: it is then admitted before others (source document 003)."""
POOL = 120
"""Passages that are ranked at most: 60 to 400 find the same on CORF dev."""
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
class _Fired:
    """An anchor of the book that a question touched."""

    place: int
    strength: float
    """Half the cosine where meaning fired it; else the share of its words in what all words of
    the question tell, so that "notes" in passing does not count like the subject."""


def find_passages(
    book: Book,
    text: str,
    vector: Vector | None,
    notes: NDArray[np.bool_],
    *,
    now_ns: int,
    projects: Sequence[str] | None = None,
    limit: int | None = None,
) -> AnchorEvidence:
    """Return the passages that the anchors of a question lead to, and how the answer is bounded.

    ``projects`` are the folders that pronouns stand for; without them the active ones do.
    ``notes`` says which notes may be found; ``limit`` is how many passages answer, ``max_chunks``
    of the settings without it. Nothing here walks all passages or all terms, but for one product
    of the question with the matrix of anchors.
    """
    words = cover(
        book.snapshot, book.postings, text, find_pair=book.rows_of_pair, is_denied=book.is_denied
    )
    lexical = _fire_by_words(book, text, words)
    semantic = [] if vector is None else _fire_by_meaning(book, vector, {a.place for a in lexical})
    found = [_entries(book, anchor) for anchor in (*lexical, *semantic)]
    found += [linked_entries(book, anchor.place, anchor.strength, words) for anchor in lexical]
    found.append(_unscored(words.rows[book.is_open[words.rows]]))
    fired = [FiredAnchor(book.anchors[a.place].display, "lexical", a.strength) for a in lexical]
    fired += [FiredAnchor(book.anchors[a.place].display, "semantic", a.strength) for a in semantic]
    fired += [FiredAnchor(word, "word", round(share, 6)) for word, share in words.words]
    is_pronoun = has_pronoun(text) and not any(book.names[anchor.place] for anchor in lexical)
    if is_pronoun:
        folders = book.projects if projects is None else tuple(projects)
        found.append(project_entries(book, folders, words))
        is_pronoun = len(found[-1].rows) > 0
    if is_pronoun:
        fired += [
            FiredAnchor(folder.rstrip("/").rpartition("/")[2], "pronoun", 1.0) for folder in folders
        ]
    pool = _merge(book, found, words, notes, now_ns)
    limit = book.settings.max_chunks if limit is None else limit
    return AnchorEvidence(
        rows=pool.rows,
        scores=pool.scores,
        answered_by="dense" if not len(pool.rows) else "pronoun" if is_pronoun else "anchors",
        fired=tuple(fired),
        weights=(book.settings.anchor_weight, book.settings.query_weight),
        limit=limit,
        capped=_capped_sources(book, pool.rows),
        cap=max(int(book.settings.source_cap * limit), 1),
    )


def has_pronoun(text: str) -> bool:
    """Say whether a question points at something that it does not name."""
    words = text.casefold().replace("'", " ").replace("’", " ").split()
    return not _PRONOUNS.isdisjoint(word.strip('.,;:!?()"') for word in words)


def _fire_by_words(book: Book, text: str, telling: Coverage) -> list[_Fired]:
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
        _Fired(place, round(weight, 6))
        for place, weight in places.items()
        if not book.denied[place]
    ]


def _fire_by_meaning(book: Book, vector: Vector, known: set[int]) -> list[_Fired]:
    """Find the anchors nearest in meaning to a question, at least ``sem_theta``."""
    cosines = book.matrix @ vector
    near = np.flatnonzero((cosines >= book.sem_theta) & ~book.denied)
    near = near[np.lexsort((near, -cosines[near]))]
    return [
        _Fired(place, round(SEMANTIC * max(float(cosines[place]), 0.0), 6))
        for place in near[:SEMANTIC_MOST].tolist()
        if place not in known
    ]


def _entries(book: Book, anchor: _Fired) -> Entries:
    part = slice(int(book.starts[anchor.place]), int(book.starts[anchor.place + 1]))
    strength = np.float32(anchor.strength)
    return Entries(book.rows[part], book.scores[part] * strength, book.added_ns[part])


def _unscored(rows: NDArray[np.int64]) -> Entries:
    """Return rows that only words lead to; words are counted for all rows alike, later."""
    return Entries(rows, np.zeros(len(rows), np.float32), np.zeros(len(rows), np.int64))


def _merge(
    book: Book,
    found: Sequence[Entries],
    words: Coverage,
    notes: NDArray[np.bool_],
    now_ns: int,
) -> Entries:
    """Merge lists by the best score of each row; new rows are admitted before others.

    Words add to it as independent evidence does: 1 - (1 - list) * (1 - WORD * share). Rows ascend.
    """
    rows, scores, added = (np.concatenate(column) for column in zip(*found, strict=True))
    note_of = book.snapshot.row_note[rows]
    scores = 1 - (1 - scores) * (1 - np.float32(WORD) * words.of(rows))
    scores = scores * book.trust[note_of]
    kept = notes[note_of]
    rows, scores, added = rows[kept], scores[kept], added[kept]
    order = np.lexsort((-scores, rows))
    order = order[np.append(True, np.diff(rows[order]) != 0)[: len(order)]]
    is_new = (added[order] > 0) & (now_ns - added[order] < EPISODIC_NS)
    order = order[np.lexsort((rows[order], -scores[order], ~is_new))][:POOL]
    order = order[np.argsort(rows[order])]
    return Entries(rows[order], scores[order], added[order])


def _capped_sources(book: Book, rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the source of each row that may fill only part of an answer, else nothing."""
    if not book.sources:
        return ("",) * len(rows)
    notes = book.snapshot.row_note[rows].tolist()
    paths = book.snapshot.paths
    return tuple("" if book.trust[n] == 1 else source_of(paths[n], book.sources) for n in notes)
