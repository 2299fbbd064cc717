"""What a palace has to say where a harness asks it: when a session starts, and at each prompt."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from memory_palace.agents.hook_capture import keep_said
from memory_palace.agents.hook_log import log_call
from memory_palace.agents.hook_message import HookMessage
from memory_palace.agents.hook_page import compose_page
from memory_palace.agents.hook_prompt import answer_prompt
from memory_palace.agents.hook_state import read_state, write_state
from memory_palace.palace import Palace

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
