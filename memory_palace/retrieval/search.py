"""A question in, ranked notes out, with the reason for every rank."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memory_palace.config import Config, PalacePaths
from memory_palace.errors import ASKED, UsageError, WrongEmbedderError
from memory_palace.graph.resolve import NearLinks
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Hit, ParsedQuery, QueryResult, TimeReading
from memory_palace.notes.note import find_disputes
from memory_palace.query import Query
from memory_palace.retrieval.confidence import ANSWERED, Confidence, agree
from memory_palace.retrieval.evidence import Places, gather
from memory_palace.retrieval.excerpts import choose_texts
from memory_palace.retrieval.question import embed_question, narrow
from memory_palace.retrieval.rank import (
    LOOKED_AT,
    QuickScores,
    Scored,
    prefer,
    rank_guarded,
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
        query = embed_question(query, embedder(snapshot.commit))
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
    """Rank the notes that pass the filters of ``query``, one hit per note; ``asked`` says how.

    Without a question the filters list notes, ordered by their metadata. ``paths`` lead to the
    notes, whose text is then given. ``disputes`` are the open conflicts of each note, which are
    read where they are not given.
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
        scored, best, why = _rank_preferred(quick, asked, judge, disputes)
    counts = zip(best.tolist(), count_folded(scored, best), strict=True)
    hits = [make_hit(scored, *each, judge, preferred=why.get(each[0], "")) for each in counts]
    hits, is_answered = _demand(hits if evidence.is_listing else agree(hits), asked.min_confidence)
    if asked.neighbors:
        hits = list(add_neighbors(hits, quick, judge, limit=asked.neighbors))
    if paths is not None or snapshot.read_lines:
        near, most = scored.evidence.meaning.above, asked.budget_bytes
        shown = choose_texts(query.text, hits, snapshot, paths, max_bytes=most, near=near)
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


def _rank_preferred(
    quick: QuickScores, asked: Query, judge: Confidence, disputes: Mapping[str, Sequence[str]]
) -> tuple[Scored, Places, Mapping[int, str]]:
    """Rank, and put first, of what says about the same, what is to be believed.

    More hits are compared than are asked for, unless sources are capped: a share of more is more.
    """
    prefers = quick.is_gated and quick.profile.prefers
    found, limit = quick.evidence.query.anchors, asked.limit
    is_capped = found is not None and found.capped
    depth = max(limit, LOOKED_AT) if prefers and not is_capped else limit
    scored, best = rank_guarded(quick, limit=depth, per_note=asked.per_note)
    if not prefers or len(best) < 2:
        return scored, best[:limit], {}
    scored, best, why = prefer(scored, best, judge, disputes)
    return scored, best[:limit], why


def make_hit(
    scored: Scored,
    place: int,
    folded: int,
    judge: Confidence,
    *,
    preferred: str = "",
    linked_from: str | None = None,
) -> Hit:
    """Read what is shown of a candidate. One that is linked from a hit is its neighbor."""
    snapshot, row = scored.evidence.snapshot, int(scored.rows[place])
    note_place = int(snapshot.row_note[row])
    note, chunk = snapshot.note(note_place), snapshot.chunk(row)
    return Hit(
        path=note.path,
        title=note.title,
        score=scored.score(place),
        contributions=scored.contributions(place),
        chunk=chunk,
        snippet=chunk.preview,
        note=note,
        role="core" if linked_from is None else "neighbor",
        linked_from=linked_from,
        folded=folded,
        preferred=preferred,
        confidence=None if scored.evidence.is_listing else judge.of(note, note_place, row),
    )


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
            neighbor = make_hit(scored, place, 0, judge, linked_from=hit.path)
            if neighbor.chunk.digest in passages:
                continue
            shown.add(path)
            left -= 1
            yield neighbor
