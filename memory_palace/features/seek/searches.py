"""Searches of a palace: start, step, report what was seen; each change is one commit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime

import numpy as np

from memory_palace.errors import UsageError
from memory_palace.features.seek.belief import FINAL, change_goal, new_belief
from memory_palace.features.seek.loci import read_loci
from memory_palace.features.seek.loop import (
    Retrieval,
    RuleProposer,
    StepRecord,
    Surroundings,
    take_step,
    verify,
)
from memory_palace.features.seek.node_ranking import (
    NodeCandidate,
    calibrate,
    score_threshold,
    search_shelf,
    shelve_loci,
)
from memory_palace.features.seek.nodes import NodePlace, Pose2D
from memory_palace.features.seek.search_session import SearchSession, SearchSessions
from memory_palace.palace import Palace
from memory_palace.retrieval.confidence import ANSWERED

WAIT_SECONDS = 10.0
"""How long a change of a session waits for another process that works on it."""


def start_search(palace: Palace, goal: str, *, on_loci: bool = False, k: int = 5) -> SearchSession:
    """Begin a search among all notes, or among loci, and return it.

    Each step names ``k`` candidates at most.
    """
    belief = new_belief(goal)
    sessions = sessions_of(palace)
    slug = "-".join(re.findall(r"\w+", belief["goal_text"].casefold()))[:40].strip("-") or "search"
    with sessions.writing(".new", wait_seconds=WAIT_SECONDS):  # two at once get two names
        session = SearchSession(
            sessions.free_name(slug),
            "loci" if on_loci else "notes",
            datetime.now(UTC).isoformat(timespec="seconds"),
            belief,
            "",
            k=k,
        )
        record = {
            "event": "start",
            "goal_text": belief["goal_text"],
            "kind": session.kind,
            "retrieval_threshold": take_survey(palace, session).retrieval.threshold,
        }
        sessions.save(session, record)
    return session


def step_search(
    palace: Palace,
    name: str | None = None,
    *,
    position: Pose2D | None = None,
) -> tuple[SearchSession, StepRecord]:
    """Take one step: retrieve, propose, verify, believe.

    ``position`` is where the searcher is now, if it has moved since the last look.
    """
    with changing(palace, name) as (sessions, session):
        session.position = astuple(position) if position else session.position
        survey = take_survey(palace, session)
        session.belief, record = take_step(
            session.belief,
            survey.retrieval,
            survey.around,
            proposer=RuleProposer(),
            verifier=verify,
            step=session.step,
        )
        session.step += 1
        named = [candidate["node_id"] for candidate in session.belief["candidate_nodes"]]
        named += [node for node in (record["next_node_id"],) if node is not None]
        session.places = {
            node: survey.places.get(node) or NodePlace(session.nodes[node], session.nodes[node])
            for node in named
        }
        session.nodes |= {node: place.path for node, place in session.places.items()}
        sessions.save(session, dict(record))
    return session, record


def change_search_goal(palace: Palace, name: str | None, goal: str) -> SearchSession:
    """Pursue another goal in the same session: what was closed is open again."""
    with changing(palace, name, is_final_fine=True) as (sessions, session):
        change_goal(session.belief, goal)
        session.closed.clear()
        session.misses.clear()
        sessions.save(session, {"event": "goal", "goal_text": session.belief["goal_text"]})
    return session


def load_search(palace: Palace, name: str | None = None) -> SearchSession:
    """Return a session as it is committed, the last changed one for ``None``."""
    sessions = sessions_of(palace)
    return sessions.load(sessions.find(name))


def list_searches(palace: Palace) -> list[SearchSession]:
    """Return every search, the one that was changed last at the end."""
    sessions = sessions_of(palace)
    return [sessions.load(name) for name in sessions.names()]


def read_search_log(palace: Palace, name: str | None = None) -> list[dict[str, object]]:
    """Return the committed records of a search, in order."""
    sessions = sessions_of(palace)
    return sessions.log(sessions.load(sessions.find(name)))


def sessions_of(palace: Palace) -> SearchSessions:
    """Return the sessions of a palace."""
    return SearchSessions(palace.paths.sessions)


@contextmanager
def changing(
    palace: Palace, name: str | None, *, is_final_fine: bool = False
) -> Iterator[tuple[SearchSessions, SearchSession]]:
    """Hold a session's lock and give what is committed of it."""
    sessions = sessions_of(palace)
    found = sessions.find(name)
    with sessions.writing(found, wait_seconds=WAIT_SECONDS):
        session = sessions.load(found)
        status = session.belief["target_status"]
        if status in FINAL and not is_final_fine:
            raise UsageError(
                f"the search {found} is over: {status}; start over with `palace seek step --goal`"
            )
        yield sessions, session


@dataclass(frozen=True, slots=True)
class Survey:
    """The surroundings of a search, and where every node in them is."""

    retrieval: Retrieval
    around: Surroundings
    places: Mapping[int, NodePlace]


def take_survey(palace: Palace, session: SearchSession) -> Survey:
    """Look at the palace as it is now."""
    return (_survey_loci if session.kind == "loci" else _survey_notes)(palace, session)


def _survey_notes(palace: Palace, session: SearchSession) -> Survey:
    """Take the hits of a query as they are ordered, each with the confidence in it.

    A note gets a number when it is named first, and keeps it.
    """
    snapshot = palace.snapshot()
    shown = np.flatnonzero(~snapshot.private & ~snapshot.cold).tolist()
    closed = {session.nodes[node] for node in session.closed}
    open_paths = {snapshot.paths[note] for note in shown} - closed
    limit = session.k + len(session.closed)
    asked = palace.query(session.belief["goal_text"], limit=limit, neighbors=0)
    numbers = {path: node for node, path in session.nodes.items()}
    places: dict[int, NodePlace] = {}
    candidates: list[NodeCandidate] = []
    for hit in [hit for hit in asked.hits if hit.path in open_paths][: session.k]:
        lines = hit.text_lines  # of the excerpt that bears on the goal, else of the passage
        if lines is None and hit.chunk is not None:
            lines = hit.chunk.first_line, hit.chunk.last_line
        node = numbers.setdefault(hit.path, len(numbers))
        places[node] = NodePlace(hit.path, hit.title, None, lines)
        candidates.append(NodeCandidate(node_id=node, score=hit.confidence or 0.0))
    open_nodes = frozenset(node for path, node in numbers.items() if path in open_paths)
    around = Surroundings(open_nodes, looked=frozenset(session.closed))
    return Survey(Retrieval(candidates, ANSWERED), around, places)


def _survey_loci(palace: Palace, session: SearchSession) -> Survey:
    """Rank the loci; the threshold is that of the index's embedder, measured once."""
    found, snapshot, goal = read_loci(palace), palace.snapshot(), session.belief["goal_text"]
    if not found.loci:
        raise UsageError("there are no loci; make one with `palace seek locus add`")
    embedder = palace.embedder() if snapshot.commit.dimension else None
    if session.embedder != snapshot.commit.fingerprint:
        session.threshold_null = calibrate(embedder) if embedder else None
        session.embedder = snapshot.commit.fingerprint
    shelf = shelve_loci(snapshot, {locus.path: locus.node_id for locus in found.loci})
    vector = embedder.embed_queries([goal])[0] if embedder else None
    candidates = search_shelf(goal, vector, shelf, session.k, exclude=session.closed)
    loci = {locus.node_id: locus for locus in found.loci}
    around = Surroundings(
        frozenset(loci.keys() - session.closed.keys()),
        {node: locus.pose for node, locus in loci.items()},
        session.pose,
        frozenset(session.closed),
    )
    places = {node: NodePlace(locus.path, locus.title, locus.pose) for node, locus in loci.items()}
    threshold = score_threshold(session.threshold_null, shelf.compared)
    return Survey(Retrieval(candidates, threshold), around, places)
