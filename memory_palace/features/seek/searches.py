"""Searches of a palace: start, step, record observations; each change is one commit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np

from memory_palace.changes.composing import make_safe
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.seek.belief import (
    FINAL,
    PATIENCE,
    change_goal,
    finish,
    new_belief,
    reach,
    see,
)
from memory_palace.features.seek.loci import add_locus, read_loci
from memory_palace.features.seek.loop import (
    Retrieval,
    RuleProposer,
    StepRecord,
    Surroundings,
    take_step,
    verify,
)
from memory_palace.features.seek.nodes import (
    NodeCandidate,
    NodePlace,
    Pose2D,
    calibrate,
    score_threshold,
    search_shelf,
    shelve_loci,
)
from memory_palace.features.seek.search_session import SearchSession, SearchSessions
from memory_palace.language.sentences import cut_text
from memory_palace.notes.note import NoteText
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.retrieval.search import ANSWERED

WAIT_SECONDS = 10.0
"""Longest wait for another process that changes the session."""


def start_search(palace: Palace, goal: str, *, on_loci: bool = False, k: int = 5) -> SearchSession:
    """Begin a search among all notes, or among loci, and return it.

    Each step names ``k`` candidates at most.
    """
    belief = new_belief(goal)
    sessions = sessions_of(palace)
    slug = "-".join(re.findall(r"\w+", belief["goal_text"].casefold()))[:40].strip("-")
    slug = make_safe(slug) or "search"
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
            "retrieval_threshold": take_survey(palace, session)[0].threshold,
        }
        sessions.save(session, record)
    return session


def step_search(
    palace: Palace, name: str | None = None, *, position: Pose2D | None = None
) -> tuple[SearchSession, StepRecord]:
    """Take one step: retrieve, propose, verify, believe.

    ``position`` is where the searcher is now, if it has moved since the last look.
    """
    with changing(palace, name) as (sessions, session):
        session.position = astuple(position) if position else session.position
        retrieval, around, places = take_survey(palace, session)
        session.belief, record = take_step(
            session.belief,
            retrieval,
            around,
            proposer=RuleProposer(),
            verifier=verify,
            step=session.step,
        )
        session.step += 1
        named = [candidate["node_id"] for candidate in session.belief["candidate_nodes"]]
        named += [] if (node := record["next_node_id"]) is None else [node]
        session.places = {
            node: places.get(node) or NodePlace(session.nodes[node], session.nodes[node])
            for node in named
        }
        session.nodes |= {node: place.path for node, place in session.places.items()}
        sessions.save(session, dict(record))
    return session, record


def change_search_goal(palace: Palace, name: str | None, goal: str) -> SearchSession:
    """Change the goal of a search; all closed nodes are open again."""
    with changing(palace, name, is_final_fine=True) as (sessions, session):
        change_goal(session.belief, goal)
        session.closed.clear()
        session.misses.clear()
        sessions.save(session, {"event": "goal", "goal_text": session.belief["goal_text"]})
    return session


def load_search(palace: Palace, name: str | None = None) -> SearchSession:
    """Return a committed session; for ``None`` the last changed one."""
    sessions = sessions_of(palace)
    return sessions.load(sessions.find(name))


def list_searches(palace: Palace) -> list[SearchSession]:
    """Return every search, the last changed one last."""
    sessions = sessions_of(palace)
    return [sessions.load(name) for name in sessions.names()]


def read_search_log(palace: Palace, name: str | None = None) -> list[dict[str, object]]:
    """Return the committed records of a search, in order."""
    return sessions_of(palace).log(load_search(palace, name))


def sessions_of(palace: Palace) -> SearchSessions:
    """Return the sessions of a palace."""
    return SearchSessions(palace.paths.sessions)


@contextmanager
def changing(
    palace: Palace, name: str | None, *, is_final_fine: bool = False
) -> Iterator[tuple[SearchSessions, SearchSession]]:
    """Lock a session and yield it as committed; raise ``UsageError`` if the search is over."""
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


Survey: TypeAlias = tuple[Retrieval, Surroundings, Mapping[int, NodePlace]]
"""Retrieved candidates, the surroundings of a search, and the place of each node in them."""


def take_survey(palace: Palace, session: SearchSession) -> Survey:
    """Return the survey of the palace as it is now."""
    return (_survey_loci if session.kind == "loci" else _survey_notes)(palace, session)


def _survey_notes(palace: Palace, session: SearchSession) -> Survey:
    """Return a survey of notes: hits in query order, scored by their confidence.

    A note gets a node id when it is first named, and keeps it.
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
        node = numbers.setdefault(hit.path, len(numbers))
        places[node] = NodePlace(hit.path, hit.title, None, hit.lines)
        candidates.append(NodeCandidate(node_id=node, score=hit.confidence or 0.0))
    open_nodes = frozenset(node for path, node in numbers.items() if path in open_paths)
    around = Surroundings(open_nodes, looked=frozenset(session.closed))
    return Retrieval(candidates, ANSWERED), around, places


def _survey_loci(palace: Palace, session: SearchSession) -> Survey:
    """Return a survey of loci; the threshold is calibrated once per embedder of the index."""
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
    return Retrieval(candidates, threshold), around, places


# --- What was found at a node ---

READ_BYTES = 1_500
"""Most bytes shown of a note, as in `palace recall`."""


def read_around(palace: Palace, path: str, lines: tuple[int, int] | None) -> NoteText:
    """Return a note; of a long one at most ``READ_BYTES`` around ``lines``, else its start."""
    note = palace.read(path)
    text = note.text.split("\n")
    first, last = (min(line, len(text)) for line in lines or (1, 1))
    while (first, last) != (1, len(text)):
        above, below = max(first - 1, 1), min(last + 1, len(text))
        if len("\n".join(text[above - 1 : below]).encode("utf-8", "replace")) > READ_BYTES:
            break
        first, last = above, below
    shown = cut_text("\n".join(text[first - 1 : last]), {}, READ_BYTES)
    return NoteText(note.path, first, last, note.total_lines, shown)


def read_node(
    palace: Palace, name: str | None = None, node: int | None = None
) -> tuple[SearchSession, NoteText]:
    """Return the note of a node, by default of the last step's, and close the node as read."""
    with changing(palace, name) as (sessions, session):
        number = _node(sessions, session, node)
        place = session.places.get(number)
        reading = read_around(palace, session.nodes[number], place.lines if place else None)
        see(session.belief, number, is_hit=False, step=session.step)
        session.closed.setdefault(number, "read")
        sessions.save(session, _observed(session, number, "read"))
    return session, reading


def confirm_node(palace: Palace, name: str | None, node: int | None, quote: str) -> SearchSession:
    """Finish a search at a note that contains ``quote``.

    Raise ``CheckFailedError`` if the note, read again, lacks these words in this order; the belief
    is then unchanged.
    """
    with changing(palace, name) as (sessions, session):
        number = _node(sessions, session, node)
        path = session.nodes[number]
        said = _words(quote)
        if not said or f" {said} " not in f" {_words(palace.read(path).text)} ":
            raise CheckFailedError(f"{path} does not say {quote!r}; nothing is confirmed")
        see(session.belief, number, is_hit=True, step=session.step)
        finish(session.belief)
        sessions.save(session, _observed(session, number, "confirmed", quote=quote))
    return session


def reject_node(palace: Palace, name: str | None, node: int | None, reason: str) -> SearchSession:
    """Close a node as not the target, with the reason."""
    with changing(palace, name) as (sessions, session):
        number = _node(sessions, session, node)
        see(session.belief, number, is_hit=False, step=session.step)
        session.closed[number] = f"rejected: {reason}" if reason else "rejected"
        sessions.save(session, _observed(session, number, session.closed[number]))
    return session


def sight_node(
    palace: Palace,
    name: str | None,
    node: int | None,
    *,
    is_hit: bool,
    distance_metres: float | None = None,
) -> SearchSession:
    """Record a look at a locus; ``distance_metres`` is the distance reached by an approach.

    ``PATIENCE`` consecutive looks without a sighting close the locus; a sighting opens it again.
    """
    with changing(palace, name) as (sessions, session):
        if session.kind != "loci":
            raise UsageError(
                "a search among notes takes --found or --reject, not --seen or --not-seen"
            )
        loci = {locus.node_id: locus for locus in read_loci(palace).loci}
        if node in loci:  # a locus may be seen that no step has led to
            session.nodes[node] = loci[node].path
        number = _node(sessions, session, node)
        if number in loci:
            session.position = astuple(loci[number].pose)
        see(session.belief, number, is_hit=is_hit, step=session.step)
        metres = -1.0 if distance_metres is None else distance_metres
        result = "seen" if is_hit else "not seen"
        session.misses[number] = 0 if is_hit else session.misses.get(number, 0) + 1
        if session.misses[number] >= PATIENCE:
            session.closed[number] = result
        elif is_hit and not reach(session.belief, distance_metres=metres, step=session.step):
            session.closed.pop(number, None)
        sessions.save(session, _observed(session, number, result, metres=distance_metres))
    return session


def _words(said: str) -> str:
    """Return the casefolded words of a text, joined by spaces, without punctuation."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", said).casefold()))


def _node(sessions: SearchSessions, session: SearchSession, asked: int | None) -> int:
    """Return the node asked for, else the last step's; raise ``UsageError`` if there is none."""
    if asked is not None:
        if asked not in session.nodes:
            raise UsageError(f"the search has not named node {asked}; see `palace seek status`")
        return asked
    steps = [record for record in sessions.log(session) if record["event"] == "step"]
    if not isinstance(node := steps[-1]["next_node_id"] if steps else None, int):
        raise UsageError("the last step leads nowhere; run `palace seek step`, or give --node")
    return node


def _observed(
    session: SearchSession, node: int, result: str, **more: str | float | None
) -> Mapping[str, object]:
    return {
        "event": "observe",
        "step": session.step,
        "node_id": node,
        "result": result,
        "target_status": session.belief["target_status"],
        **{key: value for key, value in more.items() if value is not None},
    }


class Loci(Feature):
    """Loci: notes with a pose in the plane."""

    read = Verb(read_loci)
    add = Verb(add_locus)


class Searches(Feature):
    """Searches over several commands, stored beside the index."""

    start = Verb(start_search)
    step = Verb(step_search)
    read = Verb(read_node)
    confirm = Verb(confirm_node)
    reject = Verb(reject_node)
    sight = Verb(sight_node)
    change_goal = Verb(change_search_goal)
    show = Verb(load_search)
    list = Verb(list_searches)
    log = Verb(read_search_log)
