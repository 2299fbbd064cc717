"""What is shown of a search and of a step: one JSON object, or lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_palace.agents.fencing import show_command
from memory_palace.cli.printing import plural, say
from memory_palace.language.visible import visible_line
from memory_palace.navigation.belief import PATIENCE
from memory_palace.navigation.loop import StepRecord
from memory_palace.navigation.reading import NoteReading, ReadPassage
from memory_palace.navigation.search_run import RunStep, Stop
from memory_palace.navigation.search_session import SearchSession

_MOST_SPANS = 3
"""Of what a reading leaves out that are named."""
_STOPS: Mapping[Stop, str] = {
    "likely found": "likely found in {}; `palace seek observe --found WORDS` confirms it",
    "found": "found: {} says these words",
    "reached": "reached in a simulation; nobody has looked",
    "nothing left": "no other note has anything of the goal",
    "leads nowhere": "the last step leads nowhere; see `palace seek step`",
    "unreachable": "everything has been looked at",
    "budget": "as much was read as --budget allows; another `palace seek run` goes on",
    "steps": "as many steps were taken as --steps allows; another `palace seek run` goes on",
}


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


def run_record(taken: Sequence[tuple[RunStep, SearchSession]], last: SearchSession) -> Any:
    """Return the steps of a run with what was read, why it ended, and the session after it."""
    steps = [
        {
            **step_record(run.record, session),
            "reading": reading_record(run.reading) if run.reading else None,
        }
        for run, session in taken
    ]
    stop = taken[-1][0].stop if taken else None
    return {
        "steps": steps,
        "stop": stop,
        "stopped_because": _tell_stop(taken[-1][0], last) if taken else _tell_over(last),
        "session": session_record(last),
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
    spans = list(reading.left_out())
    left = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in spans[:_MOST_SPANS])
    more = f" and {plural(len(spans) - _MOST_SPANS, 'more gap')}" if spans[_MOST_SPANS:] else ""
    lines = f"; lines {left}{more} are left out" if spans else ""
    name = reading.note.path + (f":{spans[0][0]}-{spans[0][1]}" if spans else "")
    say(f"{reading.bytes:,} of {whole:,} bytes{lines}: {show_command(name)}")


def run_lines(run: RunStep, session: SearchSession) -> Iterator[str]:
    """Yield one step of a run, with what was read."""
    yield from step_lines(run.record, session)
    if run.reading is not None:
        for passage in run.reading.passages:
            yield visible_line(f"  {_place_of(run.reading, passage)}")
            yield from (f"    {line}" for line in passage.text.split("\n") if line.strip())


def say_stop(taken: Sequence[RunStep], session: SearchSession) -> None:
    """Say on stderr why a run has ended."""
    if session.simulated:
        say("looks at loci were simulated; what `palace seek run` finds there, nobody has seen")
    say(f"stopped: {_tell_stop(taken[-1], session) if taken else _tell_over(session)}")


def _tell_stop(last: RunStep, session: SearchSession) -> str:
    node = last.record["next_node_id"]
    return _STOPS[last.stop or "steps"].format(_where(session, node) if node is not None else "")


def _tell_over(session: SearchSession) -> str:
    return f"the search is over: {session.belief['target_status']}; see `palace seek goal`"


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
    status = _status(session.belief["target_status"], session.simulated)
    return f"{session.id}  {status}  {session.belief['goal_text']}"


def _status(status: str, is_simulated: bool) -> str:
    return f"{status} (simulated)" if is_simulated else status


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
        simulated = " (simulated)" if session.simulated else ""
        yield f"  found{simulated} at {place} {session.nodes[place] if place is not None else ''}"


def step_lines(record: StepRecord, session: SearchSession) -> Iterator[str]:
    """Yield what a step came to, and a question where a model asks one."""
    node = record["next_node_id"]
    where = f" {node} {_where(session, node)}" if node is not None else ""
    status = _status(record["target_status"], record["simulated"])
    yield f"step {record['step']}: {status}; {record['next_action']}{where}"
    hypothesis = session.belief["last_vlm_hypothesis"]
    if record["next_action"] == "ask_clarification" and hypothesis is not None:
        yield f"  {hypothesis['question']}"


def remark(record: StepRecord) -> None:
    """Say on stderr how sure the best candidate is, and why a proposal was refused."""
    best = record["retrieval_best_score"]
    if best is not None:
        verb = "reaches" if record["retrieval_threshold_pass"] else "is below"
        say(f"best score {best:.3f} {verb} the threshold {record['retrieval_threshold']:.3f}")
    if record["rejection_reason"]:
        say(f"the proposal was refused: {record['rejection_reason']}")
