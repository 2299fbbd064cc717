"""Recall: the sentences of notes that an utterance refers to, without being asked; often none.

Only lines that are themselves related to the utterance are told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from memory_palace.config import PalacePaths
from memory_palace.embedding.registry import embed_question
from memory_palace.graph.naming import active_projects
from memory_palace.index.chance import SmallTalk
from memory_palace.index.snapshot import Snapshot, check_freshness
from memory_palace.language.words import plain_words
from memory_palace.models import Hit, ParsedQuery, Piece, Recollection
from memory_palace.notes.note import ASKED
from memory_palace.palace import Palace
from memory_palace.query import Moment, Query
from memory_palace.retrieval.excerpts import (
    NoteReader,
    drop_marks,
    is_sentence,
    plain_line,
    write_told,
)
from memory_palace.retrieval.question import match_notes
from memory_palace.retrieval.search import search
from memory_palace.retrieval.signals import RECALL

LOOKED_AT = 8
"""Notes whose sentences are read; lower-ranked notes contribute none of the lines told."""
SURE = 0.5
"""Minimum confidence for telling anything."""
_FARTHEST = 20.0
_NOTE, _LINE = 15.0, 1.0
"""In deviations: the penalty, times the relative score deficit of a line's note against the best
one, and the bonus of each line, which has to exceed the median of other talk."""
_TURNS, _FEW = 2, 4
_POINTING = frozenset("it its that this they them their these those there".split())
"""Pronouns that refer to something mentioned before, unlike "I" and "we"."""
MOST_CHARACTERS = 4_000
"""Maximum characters read of an utterance: its first and last half, since a log may be pasted in
between."""
_MOST = 3
"""Maximum number of lines told."""
_COMPARED = 16
"""Lines that are compared with the utterance: a model takes some milliseconds for each."""
_NAME = re.compile(r"[\s>*+-]*[!-~]*")
"""One word in ASCII, such as a file name."""


def recall(
    palace: Palace,
    text: str,
    *,
    context: Sequence[str] = (),
    budget_bytes: int = 1500,
    as_of: Moment | None = None,
    min_confidence: float | None = None,
) -> Recollection:
    """Return the sentences of notes that an utterance ``text`` refers to.

    Empty if it refers to none. ``context`` are the turns before, the latest last. ``budget_bytes``
    limits the text, in UTF-8 bytes. With ``as_of`` notes of a later date are left out.
    ``min_confidence`` replaces the palace's own minimum: with 0 anything found is told. Raise
    ``UsageError`` for an invalid value.
    """
    said = palace.parse(Query(text, as_of=as_of, budget_bytes=budget_bytes))
    return _Recaller(palace).recall(said, context, budget_bytes, min_confidence)


class _Recaller:
    """Recall in one generation of a palace."""

    def __init__(self, palace: Palace) -> None:
        self._snapshot, self._paths, self._config = palace.snapshot(), palace.paths, palace.config
        self._embedder = palace.embedder

    def recall(
        self,
        said: ParsedQuery,
        context: Sequence[str],
        budget_bytes: int,
        min_confidence: float | None,
    ) -> Recollection:
        freshness = check_freshness(self._paths, self._config, self._snapshot)
        has_vectors = bool(self._snapshot.commit.dimension)
        text, half = said.text, MOST_CHARACTERS // 2
        if len(text) > MOST_CHARACTERS:  # keep the first and last half
            text = f"{text[:half]} {text[-half:]}"
        confidence, told = 0.0, ""
        hits: tuple[Hit, ...] = ()
        if text:
            query = replace(said, text=text)
            query = embed_question(query, self._embedder()) if has_vectors else query
            points = ASKED.read("what was said", lambda: self._points(text), False)
            joined = self._join(query, self._list_turns(context) if points else [])
            confidence = ASKED.read("what was said", lambda: self._decide(query, joined), 0.0)
            least = SURE if min_confidence is None else min_confidence
            if confidence >= least:
                tell = partial(self._tell, joined, budget_bytes=budget_bytes, least=least)
                told, hits = ASKED.read("what to tell", tell, ("", ()))
        return Recollection(
            spoken=bool(told),
            confidence=confidence,
            text=told,
            hits=hits,
            mode="vector" if has_vectors else "lexical",
            freshness=freshness.state,
            behind=freshness.behind,
        )

    def _decide(self, query: ParsedQuery, joined: ParsedQuery) -> float:
        """Return the confidence that a text refers to a note, in [0, 1].

        It is the logistic of the smaller of two margins: of the text alone over small talk, and of
        the text joined with the turns it points at over unrelated talk.
        """
        talk, snapshot, nearness = self._talk, self._snapshot, 0.0
        if joined.vector is not None:
            rows = np.flatnonzero(snapshot.hot_rows)
            rows = rows[match_notes(snapshot, query.filters)[snapshot.row_note[rows]]]
            nearness = talk.find_nearness(snapshot.similarities(joined.vector)[rows])
        relation = talk.relate(talk.find_share(joined.text), nearness)
        return _squash(min(talk.weigh(query.text) - talk.bar, relation))

    def _points(self, text: str) -> bool:
        words = (part for word in plain_words(text) for part in word.split("'"))
        few = self._talk.count_telling(text).words < _FEW
        return few and not _POINTING.isdisjoint(words)

    def _list_turns(self, context: Sequence[str]) -> list[str]:
        """Return the referents of a pronoun: names of active projects, and the last turns."""
        names = [folder.strip("/").rpartition("/")[2] for folder in active_projects(self._snapshot)]
        turns = [" ".join(turn.split())[:MOST_CHARACTERS] for turn in context[-_TURNS:]]
        return [*(name.replace("-", " ") for name in names), *filter(None, turns)]

    def _join(self, query: ParsedQuery, turns: Sequence[str]) -> ParsedQuery:
        if not turns:
            return query
        text = " ".join([*turns, query.text]).strip()
        joined = replace(query, text=text)
        return joined if query.vector is None else embed_question(joined, self._embedder())

    def _tell(
        self, query: ParsedQuery, *, budget_bytes: int, least: float
    ) -> tuple[str, tuple[Hit, ...]]:
        found = search(query, self._snapshot, Query(limit=LOOKED_AT), profile=RECALL).hits
        parts = query.text, found, self._snapshot, self._paths, partial(self._judge, query)
        return tell(*parts, budget_bytes=budget_bytes, least=least)

    def _judge(self, query: ParsedQuery, lines: Sequence[tuple[Hit, Piece]]) -> list[float]:
        texts = [piece.text for _, piece in lines]
        shares, near = self._talk.find_shares(query.text, texts), [0.0] * len(lines)
        if query.vector is not None:
            near = (self._embedder().embed_passages(texts) @ query.vector).tolist()
        related = map(self._talk.relate, shares, near)
        best = max(hit.score for hit, _ in lines) or 1.0
        behind = (1 - hit.score / best for hit, _ in lines)
        return [_squash(own + _LINE - _NOTE * by) for own, by in zip(related, behind, strict=True)]

    @cached_property
    def _talk(self) -> SmallTalk:
        return SmallTalk(self._snapshot)


def _squash(above: float) -> float:
    return round(1 / (1 + math.exp(-max(min(above, _FARTHEST), -_FARTHEST))), 4)


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
    """Return the text of the related lines of hits, and the hits with these lines as pieces.

    The best line is told, and others to which ``judge`` gives at least ``least``, within the
    budget. No line is repeated or cut.
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
        yield from write_told(hit, pieces)


def _make_plain(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces that are sentences, without link addresses and HTML; code is unchanged."""
    for piece in pieces:
        text = piece.text
        if text.lstrip().startswith("|"):
            text = drop_marks(text)  # a table row, padded for alignment
        elif not piece.is_verbatim:
            text = plain_line(text)
        if is_sentence(piece.text) and not _NAME.fullmatch(text):
            yield replace(piece, text=text)
