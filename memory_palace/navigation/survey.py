"""What a search can know at one moment: candidates, what else is open, and where it all is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memory_palace.embedding.base import embed_query
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Vector
from memory_palace.navigation.calibration import calibrate
from memory_palace.navigation.loci import Locus, read_loci
from memory_palace.navigation.loop import Retrieval
from memory_palace.navigation.node_ranking import (
    Narrowing,
    NodeCandidate,
    retrieve_candidates,
    score_threshold,
    search_shelf,
)
from memory_palace.navigation.proposer import Surroundings
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.shelves import NodeStore, shelve_loci, shelve_notes


@dataclass(frozen=True, slots=True)
class Survey:
    """The surroundings of a search, and the note behind every node in them."""

    retrieval: Retrieval
    around: Surroundings
    paths: Mapping[int, str]


def take_survey(engine: Engine, session: SearchSession, *, now: float) -> Survey:
    """Look at the palace as it is now; ``now`` is seconds since the epoch.

    Where the index has another embedder than before, the session gets that one's threshold.
    """
    _fit_threshold(engine, session)
    return (_survey_loci if session.kind == "loci" else _survey_notes)(engine, session, now)


def _fit_threshold(engine: Engine, session: SearchSession) -> None:
    fingerprint = engine.snapshot().commit.fingerprint
    if session.embedder != fingerprint:
        embedder = engine.embedder()
        session.null = calibrate(embedder) if embedder.dimension else None
        session.embedder = fingerprint


def _survey_notes(engine: Engine, session: SearchSession, now: float) -> Survey:
    """Take the best notes of a query, and say how sure each is on the scale of the threshold.

    A note gets a number when it is named first, and keeps it.
    """
    snapshot = engine.snapshot()
    place = {path: number for number, path in enumerate(snapshot.paths)}
    closed = {session.nodes[node] for node in session.closed}
    goal = session.belief["goal_text"]
    limit = session.k + len(closed)
    hits = engine.query(goal, limit=limit, neighbors=0, is_use=False).hits
    chosen = [place[hit.path] for hit in hits if hit.path not in closed][: session.k]
    shown = ~snapshot.private & ~snapshot.cold
    if len(chosen) < session.k:  # the search goes on over what has nothing of the goal
        chosen = [n for n in np.flatnonzero(shown).tolist() if snapshot.paths[n] not in closed]
    shelf = shelve_notes(snapshot, sorted(chosen))
    narrowing = Narrowing(half_life_days=session.half_life_days, now=now)
    found = search_shelf(goal, _vector(engine, session), shelf, session.k, narrowing=narrowing)
    numbers = {path: node for node, path in session.nodes.items()}
    candidates: list[NodeCandidate] = []
    for candidate in found:
        path = snapshot.paths[candidate["node_id"]]
        node = numbers.setdefault(path, len(numbers))
        candidates.append(NodeCandidate(node_id=node, score=candidate["score"]))
    paths = {node: path for path, node in numbers.items()}
    known = {
        node: place[path]
        for node, path in paths.items()
        if path in place and not snapshot.private[place[path]]
    }
    around = Surroundings(
        frozenset(known) - frozenset(session.closed),
        labels=_labels(snapshot, known, candidates),
        looked=frozenset(session.closed),
    )
    # The last is for dead rows.
    compared = int(np.count_nonzero(np.append(shown, False)[snapshot.row_note]))
    return Survey(_retrieval(session, candidates, compared), around, paths)


def _survey_loci(engine: Engine, session: SearchSession, now: float) -> Survey:
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
    paths = {locus.node.node_id: locus.path for locus in found.loci}
    return Survey(_retrieval(session, candidates, compared), around, paths)


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


def _retrieval(session: SearchSession, candidates: list[NodeCandidate], compared: int) -> Retrieval:
    threshold = score_threshold(session.null, compared, scoring=session.scoring)
    return Retrieval(candidates, threshold)


def _labels(
    snapshot: Snapshot, places: Mapping[int, int], candidates: list[NodeCandidate]
) -> dict[int, str]:
    found = {candidate["node_id"]: places[candidate["node_id"]] for candidate in candidates}
    return {node: f"{snapshot.titles[n]} ({snapshot.rooms[n]})" for node, n in found.items()}
