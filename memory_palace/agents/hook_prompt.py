"""What the notes have to say to a prompt, and was not said in this session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memory_palace.agents.hook_message import HookMessage
from memory_palace.agents.hook_state import mark_piece, read_state, write_state
from memory_palace.agents.hook_text import present
from memory_palace.models import Hit, Recollection
from memory_palace.palace import Palace
from memory_palace.retrieval.recall_text import write_hit

BUDGET_BYTES = 1_500


def answer_prompt(palace: Palace, message: HookMessage) -> tuple[str, Recollection]:
    """Return what is told of the notes, mostly nothing, and what came to mind."""
    found = palace.recall(message.prompt, budget_bytes=BUDGET_BYTES)
    state = read_state(palace.paths.index, message.session)
    hits, marks = leave_told(found.hits, frozenset(state.told))
    if not hits:
        return "", found
    lines = [line for hit in hits for line in write_hit(hit, hit.pieces)]
    write_state(palace.paths.index, message.session, replace(state, told=(*state.told, *marks)))
    return present("From the notes of this palace, on what was just said", lines), found


def leave_told(hits: Sequence[Hit], told: Collection[str]) -> tuple[list[Hit], list[str]]:
    """Return the hits with the sentences that were not told yet, and the marks of these.

    Nothing takes the place of what was told: what ranks lower is no better for having waited.
    """
    left: list[Hit] = []
    marks: list[str] = []
    for hit in hits:
        new = {mark_piece(hit, piece): piece for piece in hit.pieces}
        new = {mark: piece for mark, piece in new.items() if mark not in told}
        if new:
            left.append(replace(hit, pieces=tuple(new.values())))
            marks += new
    return left, marks
