"""What the user decided, asked to remember or prefers, out of what was said: kept in the inbox.

Which sentences is told by a few words alone; most of what is said is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from memory_palace.agents.hook_message import HookMessage
from memory_palace.agents.hook_state import SessionState, mark_text, read_state, write_state
from memory_palace.agents.hook_transcript import read_typed
from memory_palace.errors import CheckFailedError
from memory_palace.language.sentences import split_sentences
from memory_palace.language.word_lists import read_table
from memory_palace.notes.withholding import withhold
from memory_palace.palace import Palace

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
