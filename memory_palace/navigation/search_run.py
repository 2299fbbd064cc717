"""A search that steps and observes by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator

from memory_palace.engine import Engine
from memory_palace.navigation.belief import FINAL, STREAK
from memory_palace.navigation.loci import read_loci
from memory_palace.navigation.loop import StepRecord
from memory_palace.navigation.perception import NoisyPerception, contains_quote
from memory_palace.navigation.rehearsal import PATIENCE
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.searches import (
    confirm_node,
    load_search,
    read_node,
    sight_node,
    step_search,
)


def run_search(
    engine: Engine,
    name: str | None = None,
    *,
    steps: int = 20,
    seed: int = 42,
    expect: str = "",
    target: int | None = None,
) -> Iterator[StepRecord]:
    """Step and observe by itself, ``steps`` times or until the search is over.

    In notes, one that says ``expect`` is the target. Among loci eyes that err are simulated,
    the target being ``target`` or one that ``seed`` chooses.
    """
    session = load_search(engine, name)
    name = session.id
    if session.kind == "loci":
        ids = [locus.node.node_id for locus in read_loci(engine).loci]
        target = random.Random(seed).choice(ids) if target is None and ids else target
    for _ in range(steps):
        if load_search(engine, name).belief["target_status"] in FINAL:
            return
        session, record = step_search(engine, name)
        node = record["next_node_id"]
        if node is not None and session.kind == "loci":
            source = random.Random(f"{seed}:{session.step}")
            _look(engine, session, node, NoisyPerception(target or 0, source), record)
        elif node is not None:
            _, text = read_node(engine, name, node)
            if expect and contains_quote(text.text, expect):
                confirm_node(engine, name, node, expect)
        yield record


def _look(
    engine: Engine, session: SearchSession, node: int, eyes: NoisyPerception, record: StepRecord
) -> None:
    """Look or approach several times, for eyes err; after a sighting look again."""
    if record["next_action"] == "approach":
        approaches = (eyes.approach(node).distance_metres for _ in range(PATIENCE))
        metres = next((distance for distance in approaches if distance is not None), None)
        sight_node(engine, session.id, node, is_hit=metres is not None, distance_metres=metres)
        return
    for _ in range(STREAK):
        is_hit = any(eyes.look(node).is_hit for _ in range(PATIENCE))
        sight_node(engine, session.id, node, is_hit=is_hit)
        if not is_hit:
            return
