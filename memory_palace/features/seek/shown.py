"""What is shown of a search and of a step: one JSON object, or lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_palace.features.agents.fencing import show_command
from memory_palace.features.seek.belief import PATIENCE
from memory_palace.features.seek.loop import StepRecord
from memory_palace.features.seek.observing import NoteReading, ReadPassage
from memory_palace.features.seek.search_session import SearchSession
from memory_palace.language.visible import visible_line
from memory_palace.shown import say


def session_record(session: SearchSession) -> dict[str, Any]:
    """Return a session as it is kept, without the number of its file format."""
    return {key: value for key, value in session.to_json().items() if key != "schema"}


def step_record(record: StepRecord, session: SearchSession) -> dict[str, Any]:
    """Return a step as it is logged, and where its candidates and the next node are."""
    node = record["next_node_id"]
    return {
        **record,
        "next": _place(session, node) if node is not None else None,
        "candidates": [
            {**_place(session, found["node_id"]), "score": found["score"]}
            for found in record["retrieval_topk"]
        ],
    }


def reading_record(reading: NoteReading) -> dict[str, Any]:
    """Return what was read of a note, the passages that bear on the goal first."""
    return {
        "path": reading.note.path,
        "total_lines": reading.note.total_lines,
        "whole": reading.is_whole,
        "passages": [
            {"lines": [passage.first_line, passage.last_line], "text": passage.text}
            for passage in reading.passages
        ],
        "left_out": [list(span) for span in reading.left_out()],
    }


def reading_lines(reading: NoteReading) -> Iterator[str]:
    """Yield what was read of a note: the text, where it is not whole under its place."""
    for number, passage in enumerate(reading.passages):
        if not reading.is_whole:
            yield from [""] * bool(number)
            yield visible_line(_place_of(reading, passage))
        yield passage.text


def say_left_out(reading: NoteReading) -> None:
    """Say on stderr what of a note was not shown, and how to see it."""
    if reading.is_whole:
        return
    whole = len(reading.note.text.encode("utf-8", "replace"))
    spans = reading.left_out()
    left = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in spans)
    lines = f"; lines {left} are left out" if spans else ""
    name = reading.note.path + (f":{spans[0][0]}-{spans[0][1]}" if spans else "")
    say(f"{reading.bytes:,} of {whole:,} bytes{lines}: {show_command(name)}")


def _place_of(reading: NoteReading, passage: ReadPassage) -> str:
    return _with_lines(reading.note.path, passage.first_line, passage.last_line)


def _with_lines(path: str, first: int, last: int) -> str:
    return f"{path}:{first}" + (f"-{last}" if last > first else "")


def _where(session: SearchSession, node: int) -> str:
    """Return the path of a node, with the lines that bear on the goal as `palace show` takes it."""
    place = session.places.get(node)
    if place is None or place.lines is None:
        return session.nodes[node]
    return _with_lines(place.path, *place.lines)


def _place(session: SearchSession, node: int) -> dict[str, Any]:
    return {"node_id": node, **session.places[node].to_json()}


def headline(session: SearchSession) -> str:
    """Return the line that a list has of a search."""
    return f"{session.id}  {session.belief['target_status']}  {session.belief['goal_text']}"


def session_lines(session: SearchSession) -> Iterator[str]:
    """Yield the state of a search: candidates, closed nodes, what was found."""
    belief = session.belief
    yield headline(session)
    for candidate in belief["candidate_nodes"]:
        node = candidate["node_id"]
        yield f"  {candidate['score']:.3f}  {node:<4} {_where(session, node)}"
    for node, why in sorted(session.closed.items()):
        yield f"  closed {node:<4} {session.nodes[node]}  {why}"
    for node, count in sorted(session.misses.items()):
        if count and node not in session.closed:
            yield f"  open {node:<6} {session.nodes[node]}  not seen, {count} of {PATIENCE} looks"
    if belief["target_status"] == "done":
        place = belief["current_node_id"]
        yield f"  found at {place} {session.nodes[place] if place is not None else ''}"


def step_lines(record: StepRecord, session: SearchSession) -> Iterator[str]:
    """Yield what a step came to."""
    node = record["next_node_id"]
    where = f" {node} {_where(session, node)}" if node is not None else ""
    yield f"step {record['step']}: {record['target_status']}; {record['next_action']}{where}"


def remark(record: StepRecord) -> None:
    """Say on stderr how sure the best candidate is, and why a proposal was refused."""
    best = record["retrieval_best_score"]
    if best is not None:
        verb = "reaches" if record["retrieval_threshold_pass"] else "is below"
        say(f"best score {best:.3f} {verb} the threshold {record['retrieval_threshold']:.3f}")
    if record["rejection_reason"]:
        say(f"the proposal was refused: {record['rejection_reason']}")
