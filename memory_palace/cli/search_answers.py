"""What is shown of a search and of a step: one JSON object, or lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_palace.cli.printing import say
from memory_palace.navigation.loop import StepRecord
from memory_palace.navigation.search_session import SearchSession


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


def _where(session: SearchSession, node: int) -> str:
    """Return the path of a node, with the lines that bear on the goal as `palace show` takes it."""
    place = session.places.get(node)
    if place is None or place.lines is None:
        return session.nodes[node]
    first, last = place.lines
    return f"{place.path}:{first}" + (f"-{last}" if last > first else "")


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
    if belief["target_status"] == "done":
        place = belief["current_node_id"]
        yield f"  found at {place} {session.nodes[place] if place is not None else ''}"


def step_lines(record: StepRecord, session: SearchSession) -> Iterator[str]:
    """Yield what a step came to, and a question where a model asks one."""
    node = record["next_node_id"]
    where = f" {node} {_where(session, node)}" if node is not None else ""
    yield f"step {record['step']}: {record['target_status']}; {record['next_action']}{where}"
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
