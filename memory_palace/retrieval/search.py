"""A question in, ranked notes out, with the reason for every rank, and how sure each is."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.graph.resolve import NearLinks
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import UNSEEN, expect_mean
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
"""What says nothing of how to rank."""
_SAME = 1e-5
"""Cosines of equal vectors differ by less, whichever way they were computed."""


class SearchResult(NamedTuple):
    """The hits in the order to show them: that of their scores, and of their confidences too."""

    hits: list[Hit]
    is_answered: bool
    """Whether a hit is as sure as demanded; of a listing, whether it has any."""
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
    """Answer a parsed question; without ``shows_text`` no note is read but for what is quoted.

    ``embedder`` opens that of an index; ``feature`` gives those that ``table.EVIDENCE`` names.
    """
    query = narrow(query, snapshot, paths)
    plan = plan_ranking(asked, query.text, snapshot.commit, config)
    if plan.mode == "vector":
        model = embedder(snapshot.commit)
        query = replace(query, vector=model.embed_queries([query.text])[0])
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
    """Return what was found as the answer to what was asked; how fresh it is is not known here."""
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
        scored, best = _rank_twice(quick, asked, asked.rerank, paths)
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
    """Return the hits that are as sure as demanded, else the first alone, and whether any is.

    Where nothing is demanded all stay, and ``ANSWERED`` decides.
    """
    least = ANSWERED if min_confidence is None else min_confidence
    sure = [hit for hit in hits if hit.confidence is None or hit.confidence >= least]
    return hits if min_confidence is None else sure or hits[:1], bool(sure)


def _rank_twice(
    quick: QuickScores, asked: Query, model: str, paths: PalacePaths | None
) -> tuple[Scored, Places]:
    """Rank, and let a cross-encoder, by its name or folder, order what is best before it is cut."""
    from memory_palace.retrieval.reranking import RERANKED, rank_again  # delayed

    depth = max(asked.limit, RERANKED)
    scored, best = rank_guarded(quick, limit=depth, per_note=asked.per_note)
    return rank_again(scored, best, model, paths, limit=asked.limit)


def count_folded(scored: Scored, shown: Places) -> list[int]:
    """Count for each hit the other candidate notes that hold its passage and are no hits."""
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

    What a hit links to comes before what links to it, and of either the better score comes
    first. Neighbors pass the query's filters, are never cold, and keep their own score.
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


# --- How sure it is -------------------------------------------------------------------------------

ANSWERED = 0.75
"""From this confidence on a question counts as answered."""
LITERAL = 0.9
"""Least confidence in a note that has what was asked for to the letter; see ``Grounds``."""
LITTLE_ELSE = 0.6
"""From this share of time on a question is answered by a note of that time."""
NAMED = 0.97
"""Least confidence of a note of which the question is the name."""
MISQUOTED = 0.7
"""What is left of a confidence where something is quoted that no note holds: who quotes asks to the
letter, and nothing answers that; the nearest may still be what was meant."""
_LEAST = 1e-4
"""The log odds of a confidence are those of one between this and 1 less this."""
_FARTHEST = 8.0
"""Deviations: farther off nothing becomes surer."""


class Weights(NamedTuple):
    """Coefficients of the logistic function."""

    meaning: float
    words: float
    bias: float


WITH_VECTORS = Weights(1.45, 5.9, -6.3)
WORDS_ALONE = Weights(0.0, 8.5, -5.0)


class Grounds(NamedTuple):
    """What speaks for a note."""

    meaning: float | None
    """Deviations by which its nearest passage is above the best that chance gives; ``None`` without
    vectors."""
    words: float
    """Share of the question's words that its passage holds, or a question that it says it answers,
    by weight; all of it for a question that has no stop words, which is a list and no sentence."""
    is_literal: bool
    """Whether it has what was quoted, or every word of a question that is no sentence, or is called
    like the question but for a letter, or is from the time that the question is little but."""
    is_named: bool
    """Whether the question is one of its names."""


class Confidence:
    """How sure it is that notes of one snapshot answer one question.

    Two things are looked at. How far the note's nearest passage stands above the best that a
    hundred questions of ours find in this very palace, which answers nearly none of them
    (``index.chance``); and how much of the question's words, rare ones counting more, stand in the
    passage or name the note. A logistic function joins them. Its slopes were fitted on questions of
    other people asked where they are answered and where they are not; its bias is such that
    questions on the people of a palace which its notes do not answer seldom count as answered. See
    references/measurements.md and ``python -m benchmarks confidence``.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence, self._query, self._snapshot = evidence, evidence.query, evidence.snapshot
        written = TOKEN.findall(unicodedata.normalize("NFKC", self._query.text))
        plain = (word.casefold().replace("’", "'") for word in written)
        grammar = sum(word in STOPWORDS for word in plain)
        is_ours = self._query.text.isascii() or is_english(self._query.text)
        self._is_plain = bool(written) and not grammar and is_ours
        """Whether the question is a list of words, without those that only grammar needs: of a
        sentence in another language no word is known as one."""
        self._may_be_whole = bool(written) and 2 * grammar <= len(written)
        """Whether half of its words carry meaning."""
        tokens = [tokenize(word, languages=self._snapshot.languages) for word in written]
        # Of a compound its parts are enough: a note may have it joined to more.
        terms = dict.fromkeys(term for found in tokens for term in found[1:] or found)
        self._needed = [(term, self._find(term)[1]) for term in terms]
        """The terms that a note with every word of the question has, and the notes with each."""
        self._words = [self._look_up(term) for term in evidence.question.content_terms]
        self._spans = self._list_spans()
        chance = self._snapshot.commit.calibration
        sample, self._shift = evidence.meaning.sample, 0.0
        """By how much all cosines of the question are higher, see ``find_best_null``."""
        if (shared := chance.get("best_shared", 0.0)) and len(sample):
            mean = float(sample.mean())
            self._shift = shared * expect_mean(mean, len(sample), chance["best_level"])

    def _find(self, term: str) -> tuple[Places, Places, Places]:
        """Return the rows with a term, the notes that have it, and those that have it in a name."""
        evidence = self._evidence
        rows = evidence.words_in.find_all(term)[0]
        named = evidence.note_of[evidence.names_in.find_all(term)[0]]
        return rows, np.concatenate([evidence.note_of[rows], named]), named

    def _look_up(self, term: str) -> _Word:
        having = max(self._evidence.words_in.document_frequency(term), UNSEEN)
        return _Word(term, math.log1p(self._evidence.count / having), *self._find(term))

    def _list_spans(self) -> list[tuple[int, int]]:
        """Return the spans of days that a question asks for and for little else, by ordinals."""
        question = self._evidence.question
        if not question.times:
            return []
        from memory_palace.retrieval.times import share_of_time  # delayed: few name a time

        if share_of_time(question, self._evidence.words_in, unknown=1) < LITTLE_ELSE:
            return []
        windows = (window for asked in question.times for window in asked.windows)
        return [(window.first.toordinal(), window.last.toordinal()) for window in windows]

    def of(self, note: NoteRecord, place: int, row: int) -> float:
        """Return the confidence in a note, the one at ``place``, with ``row`` as its passage."""
        found = weigh(self.grounds(note, place, row))
        return round(found * MISQUOTED, 4) if self._query.unmatched else found

    def grounds(self, note: NoteRecord, place: int, row: int) -> Grounds:
        """Return what speaks for a note; see ``of``."""
        rows = np.flatnonzero(self._snapshot.row_owner == place)
        dated = _date_words(note)
        held = 0.0
        for word in self._words:
            is_name = place in word.named or word.term in dated
            in_note = is_name or place in word.notes
            if is_name or (in_note if self._is_plain else row in word.rows):
                held += word.weight
        for question in rows[self._snapshot.row_note[rows] < 0]:
            held = max(held, sum(word.weight for word in self._words if question in word.rows))
        whole = sum(word.weight for word in self._words)
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
        """Say whether a question asks for little but a time that the note says it is from."""
        days = self._snapshot.days[place].tolist()
        return any(
            first and first <= end and begin <= last
            for first, last in (days[:2], days[2:])
            for begin, end in self._spans
        )

    def _meaning(self, rows: NDArray[np.int64]) -> float | None:
        chance, lacking = self._snapshot.commit.calibration, self._snapshot.lacking
        if lacking is not None:  # what words make likely is no evidence of meaning
            rows = rows[~lacking[rows]]
        if self._query.vector is None or "best_null" not in chance or not len(rows):
            return None
        nearest = float(multiply(self._evidence, rows).max())
        return (nearest - self._shift - chance["best_null"]) / chance["best_deviation"]


class _Word(NamedTuple):
    """A word of the question, and where it is."""

    term: str
    weight: float
    rows: Places
    """Passages, and questions of notes, that hold it."""
    notes: Places
    named: Places
    """Notes that it is a name of, or a part of one."""


def agree(hits: Sequence[Hit]) -> list[Hit]:
    """Return ranked hits with confidences that fall with the rank.

    Where a hit is surer than one ranked above it, all from there to there get the mean of their log
    odds: isotonic regression by pooling adjacent violators (Ayer et al. 1955).
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
    """Return the confidence that grounds give, rounded to 4 decimals."""
    weights = WORDS_ALONE if grounds.meaning is None else WITH_VECTORS
    above = min(max(grounds.meaning or 0.0, -_FARTHEST), _FARTHEST)
    odds = weights.meaning * above + weights.words * grounds.words + weights.bias
    found = 1 / (1 + math.exp(-odds))
    least = NAMED if grounds.is_named else LITERAL if grounds.is_literal else 0.0
    return round(max(found, least), 4)


def _date_words(note: NoteRecord) -> frozenset[str]:
    """Return the words of the day that a note says it is from."""
    if note.date.source not in ("front matter", "file name"):
        return frozenset()
    day = datetime.fromtimestamp(note.date.timestamp, UTC)
    return frozenset(tokenize(f"{day.day} {day:%B %Y} {day:%Y-%m-%d}"))
