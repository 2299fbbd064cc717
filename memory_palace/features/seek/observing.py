"""What was found at a node: a note read, confirmed or rejected, a sighting at a locus."""

from __future__ import annotations

import re
import shlex
import time
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass

import numpy as np

from memory_palace.engine import Engine
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.seek.belief import PATIENCE, finish, reach, see
from memory_palace.features.seek.loci import read_loci
from memory_palace.features.seek.nodes import write_lines
from memory_palace.features.seek.search_session import SearchSession, SearchSessions
from memory_palace.features.seek.searches import changing
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.visible import visible_line
from memory_palace.models import ChunkRecord, ParsedQuery
from memory_palace.notes.excerpt import NoteText
from memory_palace.ranking import DEFAULT_PROFILE
from memory_palace.retrieval.excerpts import NoteReader
from memory_palace.retrieval.question import embed_question
from memory_palace.retrieval.search import search
from memory_palace.shown import inner

READ_BYTES = 1_500
"""As much as `palace recall` says."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """Lines of a note, or the part of them that there is room for."""

    lines: tuple[int, int]
    """First and last, 1-based."""
    text: str


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note, and the part of it that is shown: all of it, or the passage nearest the goal."""

    path: str
    total_lines: int
    is_whole: bool
    """Whether nothing is left out."""
    passages: tuple[ReadPassage, ...]
    left_out: tuple[tuple[int, int], ...]
    """Lines above and below the passages, first and last."""
    note: NoteText = inner()

    def lines(self) -> Iterator[str]:
        """Yield the text, below its place where it is not the whole note."""
        for passage in self.passages:
            if not self.is_whole:
                yield visible_line(write_lines(self.path, *passage.lines))
            yield passage.text

    def say_left_out(self) -> str:
        """Return the remark on what was not shown, and how to see it."""
        spans = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in self.left_out)
        left = f"; lines {spans} are left out" if spans else ""
        name = write_lines(self.path, *self.left_out[0]) if self.left_out else self.path
        name = shlex.quote(f"./{name}" if name[0] == "-" else name)
        told = sum(_size(passage.text) for passage in self.passages)
        return f"{told:,} of {_size(self.note.text):,} bytes{left}: palace show {name}"


def read_passages(
    engine: Engine, path: str, goal: str, *, budget_bytes: int = READ_BYTES
) -> NoteReading:
    """Read a note whole where it is no longer than the budget, else the passage nearest the goal.

    A passage that is too long is cut where it has most of the goal, and so is a note that has
    changed since it was indexed.
    """
    note = engine.read(path)
    if _size(note.text) <= budget_bytes:
        whole = ReadPassage((1, note.total_lines), note.text)
        return NoteReading(note.path, note.total_lines, True, (whole,), (), note)
    snapshot = engine.snapshot()
    reader = NoteReader(snapshot, engine.paths, goal)
    chunk = _best_passage(engine, snapshot, path, goal)
    text = reader.read(path, chunk.first_line, chunk.last_line) if chunk else ""
    above = chunk.first_line - 1 if chunk and text else 0
    text = text or note.text
    shown = text if _size(text) <= budget_bytes else reader.cut(text, budget_bytes, measure=_size)
    core = shown.strip("… \n")
    first = above + 1 + text.count("\n", 0, max(text.find(core), 0))
    last = first + core.count("\n")
    left = [(a, b) for a, b in ((1, first - 1), (last + 1, note.total_lines)) if a <= b]
    passage = ReadPassage((first, last), shown)
    return NoteReading(note.path, note.total_lines, False, (passage,), tuple(left), note)


def _best_passage(engine: Engine, snapshot: Snapshot, path: str, goal: str) -> ChunkRecord | None:
    place = bisect_left(snapshot.paths, path)
    is_known = snapshot.paths[place : place + 1] == [path]
    rows = np.flatnonzero(snapshot.row_note == place) if is_known else np.zeros(0, np.int64)
    if not len(rows):
        return None
    query = ParsedQuery(goal, time.time(), rows=rows)
    if snapshot.commit.dimension:
        query = embed_question(query, engine.embedder())
    hits = search(query, snapshot, profile=DEFAULT_PROFILE, limit=1, per_note=False).hits
    return hits[0].chunk if hits else None


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def read_node(
    engine: Engine, name: str | None = None, node: int | None = None
) -> tuple[SearchSession, NoteReading]:
    """Read the note of a node, by default the one the last step leads to; it counts as read."""
    with changing(engine, name) as (sessions, session):
        number = _node(sessions, session, node)
        reading = read_passages(engine, session.nodes[number], session.belief["goal_text"])
        see(session.belief, number, is_hit=False, step=session.step)
        session.closed.setdefault(number, "read")
        sessions.save(session, _observed(session, number, "read"))
    return session, reading


def confirm_node(engine: Engine, name: str | None, node: int | None, quote: str) -> SearchSession:
    """Finish a search with a note that says ``quote``.

    Raise ``CheckFailedError`` where the note, read again, does not have the words in their order;
    nothing is believed then.
    """
    with changing(engine, name) as (sessions, session):
        number = _node(sessions, session, node)
        path = session.nodes[number]
        said = _words(quote)
        if not said or f" {said} " not in f" {_words(engine.read(path).text)} ":
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
) -> SearchSession:
    """Take in what was seen at a locus; ``distance_metres`` is how near an approach came.

    The locus is closed by the third look that misses the target, sightings starting the count anew.
    """
    with changing(engine, name) as (sessions, session):
        if session.kind != "loci":
            raise UsageError(
                "a search among notes takes --found or --reject, not --seen or --not-seen"
            )
        loci = {locus.node_id: locus for locus in read_loci(engine).loci}
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
