"""What a search can know at one moment: candidates, what else is open, and where it all is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memory_palace.embedding.base import embed_query
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.models import Hit, Vector
from memory_palace.navigation.calibration import calibrate
from memory_palace.navigation.loci import Locus, read_loci
from memory_palace.navigation.loop import Retrieval
from memory_palace.navigation.node_ranking import (
    Narrowing,
    NodeCandidate,
    decay,
    retrieve_candidates,
    score_threshold,
    search_shelf,
)
from memory_palace.navigation.nodes import NodePlace
from memory_palace.navigation.proposer import Surroundings
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.shelves import NodeStore, shelve_loci
from memory_palace.retrieval.confidence import ANSWERED

_FADING_DEPTH = 4
"""Times the candidates asked for: how deep is looked where old notes fade."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The surroundings of a search, and where every node in them is."""

    retrieval: Retrieval
    around: Surroundings
    places: Mapping[int, NodePlace]


def take_survey(engine: Engine, session: SearchSession, *, now: float) -> Survey:
    """Look at the palace as it is now; ``now`` is seconds since the epoch.

    Among loci the session gets the threshold of the index's embedder where that is another than
    before; among notes confidence is calibrated already.
    """
    return (_survey_loci if session.kind == "loci" else _survey_notes)(engine, session, now)


def _fit_threshold(engine: Engine, session: SearchSession) -> None:
    fingerprint = engine.snapshot().commit.fingerprint
    if session.embedder != fingerprint:
        embedder = engine.embedder()
        session.null = calibrate(embedder) if embedder.dimension else None
        session.embedder = fingerprint


def _survey_notes(engine: Engine, session: SearchSession, now: float) -> Survey:
    """Take the hits of a query as they are ordered, each with the confidence in it.

    A note gets a number when it is named first, and keeps it. Where there are too few the search
    goes on over what has nothing of the goal.
    """
    snapshot = engine.snapshot()
    shown = ~snapshot.private & ~snapshot.cold
    titles = {snapshot.paths[n]: snapshot.titles[n] for n in np.flatnonzero(shown).tolist()}
    open_paths = titles.keys() - {session.nodes[node] for node in session.closed}
    found = _find_notes(engine, session, open_paths, now)
    told = {place.path for place, _, _ in found}
    for path in sorted(open_paths - told)[: session.k - len(found)]:
        found.append((NodePlace(path, titles[path]), titles[path], 0.0))
    places = {n: NodePlace(path, titles.get(path, path)) for n, path in session.nodes.items()}
    numbers = {path: node for node, path in session.nodes.items()}
    labels: dict[int, str] = {}
    candidates: list[NodeCandidate] = []
    for place, label, score in found:
        node = numbers.setdefault(place.path, len(numbers))
        places[node], labels[node] = place, label
        candidates.append(NodeCandidate(node_id=node, score=score))
    around = Surroundings(
        frozenset(node for node, place in places.items() if place.path in open_paths),
        labels=labels,
        looked=frozenset(session.closed),
    )
    return Survey(Retrieval(candidates, ANSWERED), around, places)


def _find_notes(
    engine: Engine, session: SearchSession, open_paths: set[str], now: float
) -> list[tuple[NodePlace, str, float]]:
    """Return what a query finds among the notes that were not looked at, and how sure it is.

    Each with a line about it. There may be fewer than asked for: the others have nothing of the
    goal.
    """
    days = session.half_life_days
    limit = session.k * (1 if days is None else _FADING_DEPTH) + len(session.closed)
    asked = engine.query(session.belief["goal_text"], limit=limit, neighbors=0)
    hits = [hit for hit in asked.hits if hit.path in open_paths]
    scores = np.array([hit.confidence or 0.0 for hit in hits], np.float64)
    if days is not None:
        dates = np.array([hit.note.date.timestamp for hit in hits], np.float64)
        scores = decay(scores, dates, days, now)
        order = np.argsort(-scores, kind="stable")
        hits, scores = [hits[n] for n in order.tolist()], scores[order]
    return [
        (NodePlace(hit.path, hit.title, None, _lines_of(hit)), f"{hit.title}: {hit.snippet}", score)
        for hit, score in list(zip(hits, scores.tolist(), strict=True))[: session.k]
    ]


def _lines_of(hit: Hit) -> tuple[int, int] | None:
    """Return the lines that bear on the goal: those of the excerpt, else of the passage."""
    if hit.text_lines is not None or hit.chunk is None:
        return hit.text_lines
    return hit.chunk.first_line, hit.chunk.last_line


def _survey_loci(engine: Engine, session: SearchSession, now: float) -> Survey:
    _fit_threshold(engine, session)
    found = read_loci(engine)
    if not found.loci:
        raise UsageError("there are no loci; make one with `palace locus add`")
    narrowing = session.narrowing(now=now)
    goal = session.belief["goal_text"]
    if session.scoring == "calibrated":
        shelf = shelve_loci(engine.snapshot(), found.nodes())
        compared = shelf.compared
        vector = _vector(engine, session)
        candidates = search_shelf(goal, vector, shelf, session.k, narrowing=narrowing)
    else:
        store = NodeStore(locus.node for locus in found.loci)
        compared = len(store.nodes)
        candidates = retrieve_candidates(
            goal, store, engine.embedder(), session.k, scoring=session.scoring, narrowing=narrowing
        )
    poses = {locus.node.node_id: locus.node.pose for locus in found.loci}
    around = Surroundings(
        frozenset(locus.node.node_id for locus in found.loci if _is_open(locus, narrowing)),
        poses,
        session.position,
        {locus.node.node_id: f"{locus.title}: {locus.node.text}" for locus in found.loci},
        frozenset(session.closed),
    )
    places = {
        locus.node.node_id: NodePlace(locus.path, locus.title, locus.node.pose)
        for locus in found.loci
    }
    threshold = score_threshold(session.null, compared, scoring=session.scoring)
    return Survey(Retrieval(candidates, threshold), around, places)


def _is_open(locus: Locus, narrowing: Narrowing) -> bool:
    if locus.node.node_id in narrowing.exclude:
        return False
    if narrowing.near is None or narrowing.within_metres is None:
        return True
    return narrowing.near.distance_to(locus.node.pose) <= narrowing.within_metres


def _vector(engine: Engine, session: SearchSession) -> Vector | None:
    """Return the goal's vector; ``None`` where the index has none."""
    if not engine.snapshot().commit.dimension:
        return None
    return embed_query(engine.embedder(), session.belief["goal_text"])
