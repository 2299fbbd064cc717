"""What a palace has to say where a harness asks it: when a session starts, and at each prompt."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache

from memory_palace.errors import CheckFailedError
from memory_palace.features.agents.hook_log import log_call
from memory_palace.features.agents.hook_message import HookMessage, present
from memory_palace.features.agents.hook_page import compose_page
from memory_palace.features.agents.hook_state import (
    SessionState,
    mark_piece,
    mark_text,
    read_state,
    write_state,
)
from memory_palace.features.agents.hook_transcript import read_typed
from memory_palace.language.sentences import split_sentences
from memory_palace.language.word_lists import read_table
from memory_palace.models import Hit, Recollection
from memory_palace.notes.withholding import withhold
from memory_palace.palace import Palace
from memory_palace.retrieval.excerpts import write_told

_KEPT = "kept"
"""The state that has the marks of all that was kept: a session that is resumed repeats itself."""
_MOST_BYTES = 2_000
"""Of what is kept at a time, in UTF-8."""
_SHORTEST, _LONGEST = 12, 400
_BULLET = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+")


def keep_said(palace: Palace, message: HookMessage, *, agent: str) -> int:
    """Keep what was said in a session since the last time; return how many sentences.

    Nothing while the agent goes on because a hook told it to: the next stop comes. Raise what
    ``Palace.remember`` raises.
    """
    if message.stop_hook_active or not message.transcript_path:
        return 0
    index, transcript = palace.paths.index, mark_text(message.transcript_path)
    before = read_state(index, transcript).offset
    typed, offset = read_typed(message.transcript_path, before)
    state = read_state(index, _KEPT)
    chosen = _choose(typed, set(state.told))
    if chosen:
        text = "\n".join(f"- {sentence}" for sentence in chosen.values())
        try:
            palace.remember(text, agent=agent, source=f"said to {agent}")
        except CheckFailedError:  # nothing of it may be written, now or later
            chosen = {}
    if chosen:
        write_state(index, _KEPT, replace(state, told=(*state.told, *chosen)))
    if offset != before:
        write_state(index, transcript, SessionState(offset=offset))
    return len(chosen)


def _choose(typed: list[str], kept: set[str]) -> dict[str, str]:
    """Return the sentences to keep by their marks, in order; of too many the first."""
    chosen: dict[str, str] = {}
    size = 0
    for sentence in (sentence for text in typed for sentence in find_statements(text)):
        mark = mark_text(" ".join(sentence.casefold().split()))
        size += len(sentence.encode("utf-8", "replace")) + 3
        if size > _MOST_BYTES:
            break
        if mark not in kept:
            chosen[mark] = sentence
    return chosen


def find_statements(text: str) -> Iterator[str]:
    """Yield the sentences of what a user said that are worth keeping, in order."""
    open_text, _ = withhold(text, "")
    for line in open_text.split("\n"):
        for sentence in split_sentences(_BULLET.sub("", line).strip()):
            if _SHORTEST <= len(sentence) <= _LONGEST and says_to_keep(sentence):
                yield sentence


def says_to_keep(sentence: str) -> bool:
    """Whether a sentence states a decision, a rule or a preference, or asks to be remembered."""
    plain = sentence.replace("’", "'")
    return not plain.rstrip("\"') ").endswith("?") and any(cue.search(plain) for cue in _cues())


@cache
def _cues() -> tuple[re.Pattern[str], ...]:
    table = read_table("keeping.txt")
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in table.values())


BUDGET_BYTES = 1_500


def answer_prompt(palace: Palace, message: HookMessage) -> tuple[str, Recollection]:
    """Return what is told of the notes, mostly nothing, and what came to mind."""
    found = palace.recall(message.prompt, budget_bytes=BUDGET_BYTES)
    state = read_state(palace.paths.index, message.session)
    hits, marks = leave_told(found.hits, frozenset(state.told))
    if not hits:
        return "", found
    lines = [line for hit in hits for line in write_told(hit, hit.pieces)]
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


_FORGETS = ("compact", "clear")
"""Sources of a session whose context is gone: what it was told may be told again."""


def answer_hook(
    palace: Palace, event: str, message: HookMessage, *, harness: str, captures: bool
) -> str:
    """Return what goes into the agent's context, mostly nothing, and log that it was asked.

    ``captures`` is whether the user lets hooks keep what was said. Raise what opening an index and
    writing a note raise.
    """
    started = time.monotonic()
    found: dict[str, object] = {}
    text = ""
    agent = os.environ.get("PALACE_AGENT") or harness
    if event == "session-start":
        text = _start_session(palace, message, agent)
    elif event == "prompt":
        text, recollection = answer_prompt(palace, message)
        found = {"mode": recollection.mode, "confidence": recollection.confidence}
    elif captures:
        found = {"kept": keep_said(palace, message, agent=agent)}
    log_call(
        palace.paths.index,
        event,
        harness,
        result="told" if text else "kept" if found.get("kept") else "silent",
        session=message.session,
        bytes=len(text.encode()),
        ms=round((time.monotonic() - started) * 1000),
        **found,
    )
    return text


def _start_session(palace: Palace, message: HookMessage, agent: str) -> str:
    if message.source in _FORGETS:
        state = read_state(palace.paths.index, message.session)
        if state.told:
            write_state(palace.paths.index, message.session, replace(state, told=()))
    return compose_page(palace, message, agent=agent)
