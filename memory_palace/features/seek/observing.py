"""What was found at a node: a note read, confirmed or rejected, a sighting at a locus."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import astuple

from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.seek.belief import PATIENCE, finish, reach, see
from memory_palace.features.seek.loci import read_loci
from memory_palace.features.seek.search_session import SearchSession, SearchSessions
from memory_palace.features.seek.searches import changing
from memory_palace.language.sentences import cut_text
from memory_palace.notes.excerpt import NoteText
from memory_palace.palace import Palace

READ_BYTES = 1_500
"""As much as `palace recall` says."""


def read_around(palace: Palace, path: str, lines: tuple[int, int] | None) -> NoteText:
    """Return a note, or of a longer one the lines around some of it, up to ``READ_BYTES``."""
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
    """Read the note of a node, by default the one the last step leads to; it counts as read."""
    with changing(palace, name) as (sessions, session):
        number = _node(sessions, session, node)
        place = session.places.get(number)
        reading = read_around(palace, session.nodes[number], place.lines if place else None)
        see(session.belief, number, is_hit=False, step=session.step)
        session.closed.setdefault(number, "read")
        sessions.save(session, _observed(session, number, "read"))
    return session, reading


def confirm_node(palace: Palace, name: str | None, node: int | None, quote: str) -> SearchSession:
    """Finish a search with a note that says ``quote``.

    Raise ``CheckFailedError`` where the note, read again, does not have the words in their order;
    nothing is believed then.
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
    """Close a node that is not it, and remember why."""
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
    """Take in what was seen at a locus; ``distance_metres`` is how near an approach came.

    The locus is closed by the third look that misses the target, sightings starting the count anew.
    """
    with changing(palace, name) as (sessions, session):
        if session.kind != "loci":
            raise UsageError(
                "a search among notes takes --found or --reject, not --seen or --not-seen"
            )
        loci = {locus.node_id: locus for locus in read_loci(palace).loci}
        if node in loci:  # a place may be passed that no step has led to
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
    """Return the words of a text, whatever their case, spaces, hyphens and marks."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", said).casefold()))


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
        **{key: value for key, value in more.items() if value is not None},
    }
