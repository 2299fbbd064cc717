"""What was found at a node: a note read, confirmed or rejected, a sighting at a locus."""

from __future__ import annotations

from collections.abc import Mapping

from memory_palace.engine import Engine
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.navigation.belief import PATIENCE, finish, reach, see
from memory_palace.navigation.loci import read_loci
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.perception import contains_quote
from memory_palace.navigation.reading import READ_BYTES, NoteReading, read_passages
from memory_palace.navigation.search_session import SearchSession, SearchSessions
from memory_palace.navigation.searches import changing


def read_node(
    engine: Engine,
    name: str | None = None,
    node: int | None = None,
    *,
    budget_bytes: int = READ_BYTES,
) -> tuple[SearchSession, NoteReading]:
    """Read the note of a node, by default the one the last step leads to; it counts as read.

    What bears on the goal comes first, within ``budget_bytes`` of UTF-8.
    """
    with changing(engine, name) as (sessions, session):
        number = _node(sessions, session, node)
        goal = session.belief["goal_text"]
        reading = read_passages(engine, session.nodes[number], goal, budget_bytes=budget_bytes)
        see(session.belief, number, is_hit=False, step=session.step)
        session.closed.setdefault(number, "read")
        sessions.save(session, _observed(session, number, "read"))
    return session, reading


def confirm_node(engine: Engine, name: str | None, node: int | None, quote: str) -> SearchSession:
    """Finish a search with a note that says ``quote``.

    Raise ``CheckFailedError`` where the note, read again, does not; nothing is believed then.
    """
    with changing(engine, name) as (sessions, session):
        number = _node(sessions, session, node)
        path = session.nodes[number]
        if not contains_quote(engine.read(path).text, quote):
            raise CheckFailedError(f"{path} does not say {quote!r}; nothing is confirmed")
        see(session.belief, number, is_hit=True, step=session.step)
        finish(session.belief)
        sessions.save(session, _observed(session, number, "confirmed", quote=quote))
    return session


def reject_node(engine: Engine, name: str | None, node: int | None, reason: str) -> SearchSession:
    """Close a node that is not it, and remember why."""
    with changing(engine, name) as (sessions, session):
        number = _node(sessions, session, node)
        see(session.belief, number, is_hit=False, step=session.step)
        session.closed[number] = f"rejected: {reason}" if reason else "rejected"
        sessions.save(session, _observed(session, number, session.closed[number]))
    return session


def sight_node(
    engine: Engine,
    name: str | None,
    node: int | None,
    *,
    is_hit: bool,
    distance_metres: float | None = None,
    position: Pose2D | None = None,
    is_simulated: bool = False,
) -> SearchSession:
    """Take in what was seen at a locus; ``distance_metres`` is how near an approach came.

    The locus is closed by the third look that misses the target, sightings starting the count anew.
    ``position`` is where it was seen from, by default the place of the locus.
    A search that a simulated look is part of is simulated, until it gets another goal.
    """
    with changing(engine, name) as (sessions, session):
        if session.kind != "loci":
            raise UsageError(
                "a search among notes takes --found or --reject, not --seen or --not-seen"
            )
        loci = {locus.node.node_id: locus for locus in read_loci(engine).loci}
        if node in loci:  # a place may be passed that no step has led to
            session.nodes[node] = loci[node].path
        number = _node(sessions, session, node)
        there = loci[number].node.pose if number in loci else session.position
        session.position = position or there
        see(session.belief, number, is_hit=is_hit, step=session.step)
        metres = -1.0 if distance_metres is None else distance_metres
        session.simulated |= is_simulated
        result = ("seen" if is_hit else "not seen") + (" (simulated)" if is_simulated else "")
        session.misses[number] = 0 if is_hit else session.misses.get(number, 0) + 1
        if session.misses[number] >= PATIENCE:
            session.closed[number] = result
        elif is_hit and not reach(session.belief, distance_metres=metres, step=session.step):
            session.closed.pop(number, None)
        sessions.save(session, _observed(session, number, result, metres=distance_metres))
    return session


def _node(sessions: SearchSessions, session: SearchSession, asked: int | None) -> int:
    """Return the node that is meant: the one asked for, or where the last step leads."""
    if asked is not None:
        if asked not in session.nodes:
            raise UsageError(f"the search has not named node {asked}; see `palace seek status`")
        return asked
    steps = [record for record in sessions.log(session) if record["event"] == "step"]
    node = steps[-1]["next_node_id"] if steps else None
    if not isinstance(node, int):
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
        "simulated": session.simulated,
        **{key: value for key, value in more.items() if value is not None},
    }
