"""Searches of a palace: start, step, report what was seen; each change is one commit."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.navigation.belief import FINAL, BeliefState, change_goal, new_belief
from memory_palace.navigation.loop import StepRecord, take_step
from memory_palace.navigation.node_ranking import Scoring
from memory_palace.navigation.nodes import NodePlace, Pose2D
from memory_palace.navigation.proposer import (
    LlmProposer,
    Proposer,
    RuleProposer,
    RuleVerifier,
    check_constraints,
)
from memory_palace.navigation.search_session import SearchSession, SearchSessions
from memory_palace.navigation.survey import take_survey

WAIT_SECONDS = 10.0
"""How long a change of a session waits for another process that works on it."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a search is to go about it."""

    on_loci: bool = False
    """Among loci instead of all notes."""
    k: int = 5
    scoring: Scoring = "calibrated"
    proposer: str = "rules"
    constraints: Sequence[str] = ()
    position: Pose2D | None = None
    within_metres: float | None = None
    """Of the position; only there is searched."""
    half_life_days: float | None = None


def start_search(engine: Engine, goal: str, plan: SearchPlan = SearchPlan()) -> SearchSession:
    """Begin a search and return it; raise ``UsageError`` for a plan that contradicts itself."""
    belief = new_belief(goal, check_constraints(plan.constraints))
    _check_plan(engine, plan)
    sessions = sessions_of(engine)
    while True:
        name = sessions.free_name(_slug(belief["goal_text"]))
        with sessions.writing(name, wait_seconds=WAIT_SECONDS):
            if sessions.free_name(name) == name:  # nobody has taken it meanwhile
                session = _new_session(name, belief, plan)
                survey = take_survey(engine, session, now=time.time())
                record = {
                    "event": "start",
                    "goal_text": belief["goal_text"],
                    "kind": session.kind,
                    "retrieval_threshold": survey.retrieval.threshold,
                }
                sessions.save(session, record)
                return session


def _new_session(name: str, belief: BeliefState, plan: SearchPlan) -> SearchSession:
    near = plan.position if plan.within_metres is not None else None
    return SearchSession(
        name,
        "loci" if plan.on_loci else "notes",
        datetime.now(UTC).isoformat(timespec="seconds"),
        belief,
        "",
        k=plan.k,
        scoring=plan.scoring,
        proposer=plan.proposer,
        position=plan.position,
        near=(near.x, near.y) if near else None,
        within_metres=plan.within_metres,
        half_life_days=plan.half_life_days,
    )


def step_search(
    engine: Engine,
    name: str | None = None,
    *,
    images: Sequence[str] = (),
    position: Pose2D | None = None,
) -> tuple[SearchSession, StepRecord]:
    """Take one step: retrieve, propose, verify, believe. A model is shown the image files.

    ``position`` is where the searcher is now, if it has moved since the last look.
    """
    with changing(engine, name) as (sessions, session):
        session.position = position or session.position
        survey = take_survey(engine, session, now=time.time())
        session.belief, record = take_step(
            session.belief,
            survey.retrieval,
            survey.around,
            proposer=_proposer(session, images),
            verifier=RuleVerifier(),
            step=session.step,
            is_simulated=session.simulated,
        )
        session.step += 1
        named = [candidate["node_id"] for candidate in session.belief["candidate_nodes"]]
        named += [node for node in (record["next_node_id"],) if node is not None]
        session.places = {
            node: survey.places.get(node) or _gone(session.nodes[node]) for node in named
        }
        session.nodes |= {node: place.path for node, place in session.places.items()}
        sessions.save(session, dict(record))
    return session, record


def change_search_goal(engine: Engine, name: str | None, goal: str) -> SearchSession:
    """Pursue another goal in the same session: what was closed is open again."""
    with changing(engine, name, is_final_fine=True) as (sessions, session):
        change_goal(session.belief, goal)
        session.closed.clear()
        session.misses.clear()
        session.simulated = False
        sessions.save(session, {"event": "goal", "goal_text": session.belief["goal_text"]})
    return session


def load_search(engine: Engine, name: str | None = None) -> SearchSession:
    """Return a session as it is committed, the last changed one for ``None``."""
    sessions = sessions_of(engine)
    return sessions.load(sessions.find(name))


def list_searches(engine: Engine) -> list[SearchSession]:
    """Return every search, the one that was changed last at the end."""
    sessions = sessions_of(engine)
    return [sessions.load(name) for name in sessions.names()]


def read_search_log(engine: Engine, name: str | None = None) -> list[dict[str, object]]:
    """Return the committed records of a search, in order."""
    sessions = sessions_of(engine)
    return sessions.log(sessions.load(sessions.find(name)))


def sessions_of(engine: Engine) -> SearchSessions:
    """Return the sessions of a palace."""
    return SearchSessions(engine.paths.sessions)


@contextmanager
def changing(
    engine: Engine, name: str | None, *, is_final_fine: bool = False
) -> Iterator[tuple[SearchSessions, SearchSession]]:
    """Hold a session's lock and give what is committed of it."""
    sessions = sessions_of(engine)
    found = sessions.find(name)
    with sessions.writing(found, wait_seconds=WAIT_SECONDS):
        session = sessions.load(found)
        status = session.belief["target_status"]
        if status in FINAL and not is_final_fine:
            raise UsageError(
                f"the search {found} is over: {status}; start over with `palace seek goal`"
            )
        yield sessions, session


def _gone(path: str) -> NodePlace:
    """Return the place of a node whose note has been removed since it was seen there."""
    return NodePlace(path, path)


def _check_plan(engine: Engine, plan: SearchPlan) -> None:
    if plan.within_metres is not None and (plan.position is None or not plan.on_loci):
        raise UsageError("--within needs --from and --loci, because only loci have a place")
    if plan.scoring != "calibrated" and not plan.on_loci:
        raise UsageError("--literal compares summaries of loci; add --loci")
    if plan.scoring != "calibrated" and not engine.snapshot().commit.dimension:
        raise UsageError("--literal needs vectors; build the index with an embedder")
    if plan.proposer != "rules" and not plan.proposer.startswith("llm:"):
        raise UsageError(f"the proposer must be `rules` or `llm:MODEL`, not {plan.proposer!r}")


def _proposer(session: SearchSession, images: Sequence[str]) -> Proposer:
    if session.proposer == "rules":
        if images:
            raise UsageError("the rules ignore images; start the search with --proposer llm:MODEL")
        return RuleProposer()
    return LlmProposer(session.proposer.removeprefix("llm:"), images=tuple(images))


def _slug(goal: str) -> str:
    return "-".join(re.findall(r"\w+", goal.casefold()))[:40].strip("-") or "search"
