"""From the words of a question to the passages its anchors lead to, each with one score.

What comes first among them is retrieval's to say.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.book import Book
from memory_palace.anchors.policy import source_of
from memory_palace.anchors.terms import runs, words_of
from memory_palace.anchors.words import WordMatch, match_words
from memory_palace.index.postings import NO_ROWS
from memory_palace.language.tokens import plain_words
from memory_palace.language.word_lists import POINTERS
from memory_palace.models import AnchorEvidence, FiredAnchor, Scores, Vector
from memory_palace.notes.rooms import stem_of

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

SCOPE_LEAST = 0.4
"""Anchor score of a passage in scope that holds none of the words."""
SCOPE_MOST = 0.9
"""Anchor score of those that hold most of them; both chosen on CORF dev (.797 for .774 with .6
for all of a project, .806 with the links)."""
NAMED_POWER = 0.25
"""Power of the share of a named note in what the question tells: 0 would take any title's word for
its subject, 1 leaves a note of one common word without links (CORF dev, depth: .73, .89, .89)."""


class _Entries(NamedTuple):
    """Passages that something leads to."""

    rows: NDArray[np.int64]
    scores: Scores
    added_ns: NDArray[np.int64] | int = 0
    """When each came since the nightly build, 0 for what that build covers."""


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

    ``notes`` says which notes may be found. ``projects`` are the folders that pronouns stand for,
    instead of the active ones; ``limit`` is how many passages answer, instead of ``max_chunks``.
    Nothing here walks all passages or all terms, but for one product with the matrix of anchors.
    """
    words = match_words(book, text)
    lexical = _fire_by_words(book, text, words)
    semantic = {} if vector is None else _fire_by_meaning(book, vector, lexical)
    found = [_listed(book, place, by) for place, by in (lexical | semantic).items()]
    found += [_linked(book, place, by, words) for place, by in lexical.items()]
    open_rows = words.rows[book.is_open[words.rows]]
    found.append(_Entries(open_rows, np.zeros(len(open_rows), np.float32)))
    fired = [FiredAnchor(book.anchors[at].display, "lexical", by) for at, by in lexical.items()]
    fired += [FiredAnchor(book.anchors[at].display, "semantic", by) for at, by in semantic.items()]
    fired += [FiredAnchor(word, "word", round(part, 6)) for word, part in words.parts().items()]
    is_vague = has_pronoun(text) and not any(book.is_name[place] for place in lexical)
    meant = () if not is_vague else book.projects if projects is None else projects
    inside = np.concatenate([NO_ROWS, *(book.rows_below(folder) for folder in meant)])
    if len(inside):
        found.append(_Entries(inside, _scale(words.shares_of(inside))))
        fired += [FiredAnchor(stem_of(f.rstrip("/")), "pronoun", 1.0) for f in meant]
    rows, scores = _merge(book, found, words, notes, now_ns)
    limit = book.settings.max_chunks if limit is None else limit
    return AnchorEvidence(
        rows=rows,
        scores=scores,
        answered_by="dense" if not len(rows) else "pronoun" if len(inside) else "anchors",
        fired=tuple(fired),
        weights=(book.settings.anchor_weight, book.settings.query_weight),
        limit=limit,
        capped=_capped_sources(book, rows),
        cap=max(int(book.settings.source_cap * limit), 1),
    )


def has_pronoun(text: str) -> bool:
    """Say whether a question points at something that it does not name."""
    words = (part for word in plain_words(text) for part in word.split("'"))
    return not POINTERS.isdisjoint(words)


def _fire_by_words(book: Book, text: str, match: WordMatch) -> dict[int, float]:
    """Find anchors whose words stand in a question; of two that overlap the longer counts.

    Each has the share of its words in what all words of the question tell, so that "notes" in
    passing does not count like the subject. A hash join of the question's runs of words with the
    table of keys: its cost does not depend on the size of the vocabulary.
    """
    words = words_of(text)
    taken = [False] * len(words)
    places: dict[int, float] = {}
    for start, length, key in sorted(runs(words), key=lambda run: (-run[1], run[0])):
        if key in book.table and not all(taken[start : start + length]):
            taken[start : start + length] = [True] * length
            places |= dict.fromkeys(book.table[key], round(match.weigh(key), 6))
    return {place: by for place, by in places.items() if not book.denied[place]}


def _fire_by_meaning(book: Book, vector: Vector, known: Container[int]) -> dict[int, float]:
    """Find the anchors nearest in meaning to a question, at least ``sem_theta``."""
    cosines = book.matrix @ vector
    near = np.flatnonzero((cosines >= book.sem_theta) & ~book.denied)
    near = near[np.lexsort((near, -cosines[near]))]
    return {
        place: round(SEMANTIC * max(float(cosines[place]), 0.0), 6)
        for place in near[:SEMANTIC_MOST].tolist()
        if place not in known
    }


def _listed(book: Book, place: int, by: float) -> _Entries:
    """Return the list of an anchor."""
    part = slice(int(book.starts[place]), int(book.starts[place + 1]))
    return _Entries(book.rows[part], book.scores[part] * np.float32(by), book.added_ns[part])


def _linked(book: Book, place: int, by: float, words: WordMatch) -> _Entries:
    """Return what stands one link away from the notes an anchor names, and holds other words."""
    rows = book.rows_linked(place)
    gains = words.beyond(rows, book.anchors[place].key)
    rows, gains = rows[gains > 0], gains[gains > 0]
    return _Entries(rows, _scale(gains) * np.float32(by**NAMED_POWER))


def _scale(shares: Scores) -> Scores:
    """Return the scores of passages in a scope: words that none of them holds say nothing."""
    best = shares.max(initial=0) or np.float32(1)
    scores: Scores = (SCOPE_LEAST + (SCOPE_MOST - SCOPE_LEAST) * shares / best).astype(np.float32)
    return scores


def _merge(
    book: Book,
    found: Sequence[_Entries],
    words: WordMatch,
    notes: NDArray[np.bool_],
    now_ns: int,
) -> tuple[NDArray[np.int64], Scores]:
    """Merge lists by the best score of each row; new rows are admitted before others.

    Words add to it as independent evidence does: 1 - (1 - list) * (1 - WORD * share). Rows ascend.
    """
    rows, scores = (np.concatenate(column) for column in ([e[i] for e in found] for i in (0, 1)))
    added = np.concatenate([np.broadcast_to(e.added_ns, len(e.rows)) for e in found])
    note_of = book.snapshot.row_note[rows]
    scores = 1 - (1 - scores) * (1 - np.float32(WORD) * words.shares_of(rows))
    scores = scores * book.trust[note_of]
    kept = notes[note_of]
    rows, scores, added = rows[kept], scores[kept], added[kept]
    order = np.lexsort((-scores, rows))
    order = order[np.append(True, np.diff(rows[order]) != 0)[: len(order)]]
    is_new = (added[order] > 0) & (now_ns - added[order] < EPISODIC_NS)
    order = order[np.lexsort((rows[order], -scores[order], ~is_new))][:POOL]
    order = order[np.argsort(rows[order])]
    return rows[order], scores[order]


def _capped_sources(book: Book, rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the source of each row that may fill only part of an answer, else nothing."""
    if not book.sources:
        return ("",) * len(rows)
    notes = book.snapshot.row_note[rows].tolist()
    paths = book.snapshot.paths
    rooms = book.snapshot.room_map
    return tuple(
        "" if book.trust[n] == 1 else source_of(paths[n], book.sources, rooms) for n in notes
    )
