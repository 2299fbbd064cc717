"""A search that goes on by itself: notes are read, and looks at loci are simulated."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memory_palace.engine import Engine
from memory_palace.navigation.belief import FINAL
from memory_palace.navigation.loci import read_loci
from memory_palace.navigation.loop import StepRecord
from memory_palace.navigation.observing import confirm_node, read_node, sight_node
from memory_palace.navigation.perception import NoisyPerception, contains_quote
from memory_palace.navigation.reading import READ_BYTES, NoteReading
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.searches import load_search, step_search

Stop: TypeAlias = Literal[
    "likely found",
    "found",
    "reached",
    "nothing left",
    "leads nowhere",
    "unreachable",
    "budget",
    "steps",
]
RUN_BYTES = 4_000
"""Of all notes that one run reads."""
_NOTE_BYTES = 600
"""Of a note that is not likely to answer."""
_LEAST_BYTES = 100
"""With less left nothing more is read."""


@dataclass(frozen=True, slots=True)
class RunStep:
    """One step of a run, and what it looked at."""

    record: StepRecord
    reading: NoteReading | None = None
    """Among notes, unless the step leads nowhere."""
    stop: Stop | None = None
    """Why the run ends with this step."""


def run_search(
    engine: Engine,
    name: str | None = None,
    *,
    steps: int = 20,
    seed: int = 42,
    expect: str = "",
    target: int | None = None,
    budget_bytes: int = RUN_BYTES,
) -> Iterator[RunStep]:
    """Step and observe, ``steps`` times or until there is a reason to stop.

    Notes are read in the order of the candidates. With ``expect`` the one that says these words is
    the target, and confirmed; without, the first that answers with the confidence of the threshold
    is likely found, which only ``confirm_node`` makes sure. Among loci eyes that err are
    simulated, the target being ``target`` or one that ``seed`` chooses.
    """
    session = load_search(engine, name)
    look = _LookAtLoci(engine, seed, target) if session.kind == "loci" else None
    left = budget_bytes
    for number in range(steps):
        if load_search(engine, session.id).belief["target_status"] in FINAL:
            return
        session, record = step_search(engine, session.id)
        if look is not None:
            taken = RunStep(record, stop=look(session, record))
        else:
            taken = _read_next(engine, session, record, expect, left)
        if taken.reading is not None:
            left -= taken.reading.bytes
        stop = taken.stop or ("budget" if left < _LEAST_BYTES else None)
        stop = stop or ("steps" if number == steps - 1 else None)
        yield RunStep(record, taken.reading, stop)
        if stop:
            return


def _read_next(
    engine: Engine, session: SearchSession, record: StepRecord, expect: str, left: int
) -> RunStep:
    """Read the note that a step leads to, where anything speaks for it."""
    node = record["next_node_id"]
    if node is None:
        return RunStep(record, stop=_no_way_on(record))
    scores = {found["node_id"]: found["score"] for found in record["retrieval_topk"]}
    score = scores.get(node, 0.0)
    if not score and not expect:
        return RunStep(record, stop="nothing left")
    is_likely = score >= record["retrieval_threshold"]
    most = min(left, READ_BYTES if is_likely else _NOTE_BYTES)
    _, reading = read_node(engine, session.id, node, budget_bytes=most)
    if expect and contains_quote(reading.note.text, expect):
        confirm_node(engine, session.id, node, expect)
        return RunStep(record, reading, "found")
    return RunStep(record, reading, "likely found" if is_likely and not expect else None)


def _no_way_on(record: StepRecord) -> Stop:
    return "unreachable" if record["target_status"] in FINAL else "leads nowhere"


class _LookAtLoci:
    """Eyes that err, and a target that nobody has to look for really."""

    def __init__(self, engine: Engine, seed: int, target: int | None) -> None:
        ids = [locus.node.node_id for locus in read_loci(engine).loci]
        self._engine, self._seed = engine, seed
        self._target = random.Random(seed).choice(ids) if target is None and ids else target or 0

    def __call__(self, session: SearchSession, record: StepRecord) -> Stop | None:
        """Look once where a step leads; say whether it is over."""
        node = record["next_node_id"]
        if node is None:
            return _no_way_on(record)
        eyes = NoisyPerception(self._target, random.Random(f"{self._seed}:{session.step}"))
        sighting = eyes.look(node, is_near=record["next_action"] == "approach")
        after = sight_node(
            self._engine,
            session.id,
            node,
            is_hit=sighting.is_hit,
            distance_metres=sighting.distance_metres,
            is_simulated=True,
        )
        return "reached" if after.belief["target_status"] in FINAL else None
