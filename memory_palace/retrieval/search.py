"""Search: rank the notes for a question, with contributions and a confidence for each hit."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.graph.resolve import NearLinks
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import NO_ROWS, UNSEEN, expect_mean
from memory_palace.language.words import STOPWORDS, TOKEN, is_english, tokenize
from memory_palace.models import Hit, NoteRecord, ParsedQuery, QueryResult, TimeReading
from memory_palace.notes.note import ASKED, find_disputes
from memory_palace.query import Query
from memory_palace.retrieval.evidence import Evidence, Places, gather, multiply
from memory_palace.retrieval.excerpts import choose_texts
from memory_palace.retrieval.question import LINKED, MISTYPED, OTHER, narrow
from memory_palace.retrieval.rank import (
    QuickScores,
    Scored,
    rank_guarded,
    rank_preferred,
    score_exactly,
    score_quickly,
)
from memory_palace.retrieval.signals import Profile, RankingPlan, get_profile, plan_ranking
from memory_palace.table import EVIDENCE

if TYPE_CHECKING:
    from memory_palace.embedding.registry import Embedder
    from memory_palace.index.commit import Commit

ANYTHING = Query()
"""A query with the default ranking options."""
_SAME = 1e-5
"""Bound on the difference between two computed cosines of equal vectors."""


class SearchResult(NamedTuple):
    """Hits in display order, by falling score and confidence, each followed by its neighbors."""

    hits: list[Hit]
    is_answered: bool
    """Whether a hit reaches the demanded confidence; of a listing, whether it has hits."""
    times: tuple[TimeReading, ...]


def answer(
    asked: Query,
    query: ParsedQuery,
    snapshot: Snapshot,
    config: Config,
    *,
    paths: PalacePaths,
    embedder: Callable[[Commit], Embedder],
    feature: Callable[[str], Any],
    shows_text: bool = True,
) -> QueryResult:
    """Return the result of a parsed query; without ``shows_text`` notes are read for quotes alone.

    ``embedder`` opens that of an index; ``feature`` returns a feature of ``table.EVIDENCE``.
    """
    query = narrow(query, snapshot, paths)
    query, plan = plan_ranking(asked, query, snapshot.commit, config, embedder)
    for signal, name in EVIDENCE.items():
        if query.text and signal in plan.profile.weights:
            query = ASKED.read(name, partial(feature(name).ask, query, snapshot), query)
    found = search(
        query,
        snapshot,
        asked,
        profile=plan.profile,
        half_life_days=config.half_life_days,
        paths=paths if shows_text else None,
        disputes=find_disputes(paths),
    )
    return report(asked, query, plan, found, snapshot)


def report(
    asked: Query, query: ParsedQuery, plan: RankingPlan, found: SearchResult, snapshot: Snapshot
) -> QueryResult:
    """Return a search result as a ``QueryResult``; its freshness is not set here."""
    return QueryResult(
        text=" ".join(asked.text.split()),
        profile=plan.profile.name,
        mode=plan.mode,
        embedder=None if plan.mode == "lexical" else snapshot.commit.embedder,
        hits=tuple(found.hits),
        is_answered=found.is_answered,
        awaiting=snapshot.commit.awaiting,
        anchors=query.anchors,
        languages=snapshot.languages,
        unmatched_quotes=query.unmatched,
        times=(*query.filters.when, *found.times),
        unread_by=plan.unread_by,
    )


def search(
    query: ParsedQuery,
    snapshot: Snapshot,
    asked: Query = ANYTHING,
    *,
    profile: str | Profile = "compound",
    half_life_days: float = 30.0,
    paths: PalacePaths | None = None,
    disputes: Mapping[str, tuple[str, ...]] | None = None,
) -> SearchResult:
    """Rank the notes that pass the filters of ``query``, one hit per note, as ``asked`` sets.

    Without a question the filters list notes, ordered by their metadata. With ``paths``,
    hits have their text. ``disputes`` maps a path to its open conflicts; ``None`` reads them
    from ``paths``.
    """
    if asked.limit < 1:
        message = f"a query returns at least 1 note, not {asked.limit}; see `palace query --help`"
        raise UsageError(message)
    if disputes is None:
        disputes = {} if paths is None else find_disputes(paths)
    chosen = profile if isinstance(profile, Profile) else get_profile(profile)
    chosen = chosen.share_out(query.vote)
    read = chosen.weights.keys() | {"called"}  # the confidence looks at names
    if snapshot.detail < chosen.needs:
        raise WrongEmbedderError(
            f"the profile {chosen.name} needs an index with structure; run `palace index "
            "--structure`"
        )
    evidence = gather(query, snapshot, signals=read, half_life_days=half_life_days)
    is_gated = asked.gate and not evidence.is_listing
    quick, judge = score_quickly(evidence, chosen, is_gated=is_gated), Confidence(evidence)
    if asked.rerank is not None:
        from memory_palace.retrieval.reranking import RERANKED, rank_again  # delayed

        depth = max(asked.limit, RERANKED)
        scored, best = rank_guarded(quick, limit=depth, per_note=asked.per_note)
        scored, best = rank_again(scored, best, asked.rerank, paths, limit=asked.limit)
        why: Mapping[int, str] = {}
    else:
        scored, best, why = rank_preferred(quick, asked.limit, asked.per_note, judge.of, disputes)
    counts = zip(best.tolist(), count_folded(scored, best), strict=True)
    hits = [scored.hit(at, judge.of, folded=n, preferred=why.get(at, "")) for at, n in counts]
    hits, is_answered = _demand(hits if evidence.is_listing else agree(hits), asked.min_confidence)
    if asked.neighbors:
        hits = list(add_neighbors(hits, quick, judge, limit=asked.neighbors))
    if paths is not None or snapshot.read_lines:
        shown = choose_texts(scored.evidence, hits, paths, max_bytes=asked.budget_bytes)
        hits = [replace(hit, disputed_in=disputes.get(hit.path, ())) for hit in shown]
    times = [
        TimeReading(item.text, window.first, window.last, item.certainty)
        for item in (evidence.question.times if "temporal" in chosen.weights else ())
        for window in item.windows
    ]
    return SearchResult(hits, is_answered, tuple(times))


def _demand(hits: list[Hit], min_confidence: float | None) -> tuple[list[Hit], bool]:
    """Return the hits that reach ``min_confidence``, else the first, and whether any reaches it.

    Without ``min_confidence`` all hits stay, and the threshold is ``ANSWERED``.
    """
    least = ANSWERED if min_confidence is None else min_confidence
    sure = [hit for hit in hits if hit.confidence is None or hit.confidence >= least]
    return hits if min_confidence is None else sure or hits[:1], bool(sure)


def count_folded(scored: Scored, shown: Places) -> list[int]:
    """Return for each hit the number of other candidate notes, no hits, that hold its passage."""
    evidence, rows = scored.evidence, scored.rows[shown]
    if evidence.is_listing or not len(shown):
        return [0] * len(shown)
    # Equal passages have equal vectors: most candidates cannot be copies of any hit.
    least = evidence.meaning.cosines[rows].min() - _SAME
    near = evidence.rows[evidence.meaning.cosines[evidence.rows] > least]
    digests = evidence.snapshot.row_digests
    near_digests, near_notes = digests[near], evidence.note_of[near]
    hits = set(evidence.note_of[rows].tolist())
    return [
        len(set(near_notes[(near_digests == digest).all(axis=1)].tolist()) - hits)
        for digest in digests[rows]
    ]


def add_neighbors(
    hits: Sequence[Hit], quick: QuickScores, judge: Confidence, *, limit: int
) -> Iterator[Hit]:
    """Yield every hit, and after it up to ``limit`` linked notes that are not shown elsewhere.

    Targets of the hit's links come before notes that link to it, each by falling score. Neighbors
    pass the query's filters, are never cold, and keep their own score.
    """
    snapshot = quick.evidence.snapshot
    links = NearLinks.from_snapshot(snapshot)
    linked = links.neighbors_of(hit.path for hit in hits)
    wanted = {path for near in linked.values() for side in near for path in side}
    numbers = [(bisect_left(snapshot.paths, path), path) for path in wanted]
    is_wanted = np.zeros(len(snapshot.paths), np.bool_)
    is_wanted[[at for at, path in numbers if snapshot.paths[at : at + 1] == [path]]] = True
    is_wanted &= ~snapshot.cold
    candidates = quick.evidence.note_of[quick.evidence.rows]
    scored = score_exactly(quick, np.flatnonzero(is_wanted[candidates]))
    notes = scored.notes.tolist()
    best: dict[str, tuple[int, int]] = {}
    """The rank of each note, and the place of its best passage."""
    for order, place in enumerate(scored.order().tolist()):
        best.setdefault(snapshot.paths[notes[place]], (order, place))
    shown = {hit.path for hit in hits}
    is_listing = quick.evidence.is_listing
    passages = {hit.chunk.digest for hit in hits if not is_listing}
    for hit in hits:
        yield hit
        places = [
            best[path]
            for side in linked[hit.path]
            for path in sorted(set(side) & best.keys(), key=lambda path: best[path][0])
        ]
        left = limit
        for _, place in places:
            path = snapshot.paths[notes[place]]
            if path in shown or not left:
                continue
            neighbor = scored.hit(place, judge.of, linked_from=hit.path)
            if neighbor.chunk.digest in passages:
                continue
            shown.add(path)
            left -= 1
            yield neighbor


# --- Confidence -----------------------------------------------------------------------------------

ANSWERED = 0.75
"""Least confidence at which a question counts as answered."""
LITERAL = 0.9
"""Least confidence in a literal match; see ``Grounds.is_literal``."""
LITTLE_ELSE = 0.6
"""Least share of time in a question that a note of that time answers."""
NAMED = 0.97
"""Least confidence in a note that the question names."""
MISQUOTED = 0.7
"""Factor of a confidence if no note holds some quote of the question: no note answers it to the
letter, but the nearest may be the one meant."""
_LEAST = 1e-4
"""Confidences are clipped to [this, 1 - this] before their log odds are taken."""
_FARTHEST = 8.0
"""Deviations at which ``Grounds.meaning`` is clipped, above and below."""


class Weights(NamedTuple):
    """Coefficients of the logistic function."""

    meaning: float
    words: float
    bias: float


WITH_VECTORS = Weights(1.45, 5.9, -6.3)
WORDS_ALONE = Weights(0.0, 8.5, -5.0)


class Grounds(NamedTuple):
    """Evidence from which the confidence in a note is computed."""

    meaning: float | None
    """Deviations of its nearest row above the best cosine by chance; ``None`` without vectors."""
    words: float
    """Idf-weighted share of the question's words in its passage, its names or a question it
    answers; in the whole note for a question that is a list of words, without stop words."""
    is_literal: bool
    """Whether it holds a quote, or every word of a question of at least half content words, or has
    a name within one edit of the question, or a date in the time that is most of the question."""
    is_named: bool
    """Whether the question matches one of its names without an edit."""


class Confidence:
    """Logistic regression of the confidence that notes of one snapshot answer one question.

    It has two features. The deviations of the note's nearest passage above the best cosine that
    questions of many kinds find in this palace, which answers hardly any of them
    (``index.chance``); and the idf-weighted share of the question's words in the passage or in
    names of the note. The slopes were fitted on public question sets, asked where they are answered
    and where they are not; the bias was set so that questions on the people of a palace that its
    notes do not answer seldom count as answered. See references/measurements.md and
    ``python -m benchmarks confidence``.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence, self._query, self._snapshot = evidence, evidence.query, evidence.snapshot
        written = TOKEN.findall(unicodedata.normalize("NFKC", self._query.text))
        plain = (word.casefold().replace("’", "'") for word in written)
        grammar = sum(word in STOPWORDS for word in plain)
        is_ours = self._query.text.isascii() or is_english(self._query.text)
        self._is_plain = bool(written) and not grammar and is_ours
        """Whether the question is a list of words, without stop words. False for non-ASCII text in
        other languages than English: their stop words are not known."""
        self._may_be_whole = bool(written) and 2 * grammar <= len(written)
        """Whether at most half of its words are stop words."""
        tokens = [tokenize(word, languages=self._snapshot.languages) for word in written]
        # The parts of a compound suffice: a note may have it in a longer compound.
        terms = dict.fromkeys(term for found in tokens for term in found[1:] or found)
        self._find = cache(self._look_up)
        self._needed = [(term, self._find(term)[1]) for term in terms]
        """Terms of a note that has every word of the question, each with the notes that hold it."""
        self._terms = [word.term for word in evidence.terms]
        weights = [math.log1p(evidence.count / max(w.having, UNSEEN)) for w in evidence.terms]
        self._weights = np.array(weights, np.float64)
        found = zip(*map(self._find, self._terms), strict=True)
        self._rows, self._noted, self._named = map(_Held.of, found if self._terms else [()] * 3)
        self._spans = self._list_spans()
        chance = self._snapshot.commit.calibration
        sample, self._shift = evidence.meaning.sample, 0.0
        """Shift of all cosines of this question, see ``find_best_null``."""
        if (shared := chance.get("best_shared", 0.0)) and len(sample):
            mean = float(sample.mean())
            self._shift = shared * expect_mean(mean, len(sample), chance["best_level"])

    def _look_up(self, term: str) -> tuple[Places, Places, Places]:
        """Return the rows with a term, the notes that have it, and those that have it in a name."""
        evidence = self._evidence
        rows = evidence.words_in.find_all(term)[0]
        named = evidence.note_of[evidence.names_in.find_all(term)[0]]
        return rows, np.concatenate([evidence.note_of[rows], named]), named

    def _list_spans(self) -> list[tuple[int, int]]:
        """Return the windows of the question as day ordinals, if time makes up most of it."""
        question = self._evidence.question
        if not question.times:
            return []
        from memory_palace.retrieval.times import share_of_time  # delayed: few name a time

        if share_of_time(question, self._evidence.words_in, unknown=1) < LITTLE_ELSE:
            return []
        windows = (window for asked in question.times for window in asked.windows)
        return [(window.first.toordinal(), window.last.toordinal()) for window in windows]

    def of(self, note: NoteRecord, place: int, row: int) -> float:
        """Return the confidence in the note at index ``place``, with ``row`` as its passage."""
        found = weigh(self.grounds(note, place, row))
        return round(found * MISQUOTED, 4) if self._query.unmatched else found

    def grounds(self, note: NoteRecord, place: int, row: int) -> Grounds:
        """Return the evidence for a note; parameters as in ``of``."""
        rows = np.flatnonzero(self._snapshot.row_owner == place)
        dated = _date_words(note)
        is_name = self._named.mark(place) | np.array([t in dated for t in self._terms], np.bool_)
        in_passage = self._noted.mark(place) if self._is_plain else self._rows.mark(row)
        held = sum(self._weights[is_name | in_passage].tolist())
        for question in rows[self._snapshot.row_note[rows] < 0]:
            held = max(held, sum(self._weights[self._rows.mark(question)].tolist()))
        whole = sum(self._weights.tolist())
        words = held / whole if whole else 0.0
        quoting, called = self._query.rows, self._evidence.called[place]
        is_quoted = quoting is not None and bool(np.isin(rows, quoting).any())
        is_whole = self._may_be_whole and all(
            place in notes or term in dated for term, notes in self._needed
        )
        return Grounds(
            self._meaning(rows),
            words,
            is_literal=is_quoted
            or called >= MISTYPED * OTHER
            or is_whole
            or self._is_from_then(place),
            is_named=bool(called >= LINKED),
        )

    def _is_from_then(self, place: int) -> bool:
        """Whether a date span of the note overlaps a time that makes up most of the question."""
        days = self._snapshot.days[place].tolist()
        return any(
            first and first <= end and begin <= last
            for first, last in (days[:2], days[2:])
            for begin, end in self._spans
        )

    def _meaning(self, rows: NDArray[np.int64]) -> float | None:
        chance, lacking = self._snapshot.commit.calibration, self._snapshot.lacking
        if lacking is not None:  # their cosines are estimated from words
            rows = rows[~lacking[rows]]
        if self._query.vector is None or "best_null" not in chance or not len(rows):
            return None
        nearest = float(multiply(self._evidence, rows).max())
        return (nearest - self._shift - chance["best_null"]) / chance["best_deviation"]


class _Held(NamedTuple):
    """Places that hold the words of a question, as pairs of a place and a word's number."""

    places: Places
    words: Places
    size: int

    @classmethod
    def of(cls, lists: Sequence[Places]) -> _Held:
        """Return the pairs of one list of places per word."""
        sizes = list(map(len, lists))
        words = np.repeat(np.arange(len(lists)), sizes)
        return cls(np.concatenate([NO_ROWS, *lists]), words, len(lists))

    def mark(self, place: int) -> NDArray[np.bool_]:
        """Return whether a place holds each word."""
        marked = np.zeros(self.size, np.bool_)
        marked[self.words[self.places == place]] = True
        return marked


def agree(hits: Sequence[Hit]) -> list[Hit]:
    """Return ranked hits with confidences that never rise with the rank.

    Hits with rising confidences get the mean of their log odds: isotonic regression by pooling
    adjacent violators (Ayer et al. 1955).
    """
    pools: list[tuple[float, int]] = []
    for hit in hits:
        sure = min(max(hit.confidence or 0.0, _LEAST), 1 - _LEAST)
        pools.append((math.log(sure / (1 - sure)), 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (below, few), (above, many) = pools.pop(), pools.pop()
            pools.append(((below * few + above * many) / (few + many), few + many))
    pooled = [1 / (1 + math.exp(-odds)) for odds, count in pools for _ in range(count)]
    return [replace(h, confidence=round(p, 4)) for h, p in zip(hits, pooled, strict=True)]


def weigh(grounds: Grounds) -> float:
    """Return the confidence by the logistic function and its floors, rounded to 4 decimals."""
    weights = WORDS_ALONE if grounds.meaning is None else WITH_VECTORS
    above = min(max(grounds.meaning or 0.0, -_FARTHEST), _FARTHEST)
    odds = weights.meaning * above + weights.words * grounds.words + weights.bias
    found = 1 / (1 + math.exp(-odds))
    least = NAMED if grounds.is_named else LITERAL if grounds.is_literal else 0.0
    return round(max(found, least), 4)


def _date_words(note: NoteRecord) -> frozenset[str]:
    """Return the tokens of the date that a note states; none for a date from git or mtime."""
    if note.date.source not in ("front matter", "file name"):
        return frozenset()
    day = datetime.fromtimestamp(note.date.timestamp, UTC)
    return frozenset(tokenize(f"{day.day} {day:%B %Y} {day:%Y-%m-%d}"))
