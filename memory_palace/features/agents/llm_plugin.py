"""Plug-in of the ``llm`` library: a fragment loader and three tools.

``llm`` imports this module at every run, so that it imports the package only when used. ``llm``
reports errors that are raised here: for a fragment to the user, for a tool to the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import llm

if TYPE_CHECKING:
    from memory_palace.palace import Palace

FOUND_BYTES = 8_000
"""Maximum UTF-8 bytes of hits, some 2,000 tokens."""


def register_fragment_loaders(register: Callable[..., None]) -> None:
    """Make ``palace:QUESTION`` a fragment."""
    register("palace", load_fragment)


def register_tools(register: Callable[..., None]) -> None:
    """Register the tools; a user selects those that a model may call."""
    for tool in (palace_search, palace_read, palace_remember):
        register(tool)


def load_fragment(question: str) -> Any:
    """Passages of the user's notes that answer a question, each with its place and date."""
    palace = _open()
    text = _search(palace, question)
    if not text:
        raise LookupError(f"nothing in {palace.paths.root} is about it")
    fragment: Any = llm.Fragment  # typed in some versions only
    return fragment(text, source=f"palace:{question}")


def palace_search(query: str, limit: int = 5) -> str:
    """Find what the user's notes say; a hit is path:lines, confidence, date, title, passage.

    Use it before answering about earlier work, decisions, people, dates or plans. Cite path:lines.
    """
    return _search(_open(), query, limit=max(limit, 1)) or "nothing found"


def palace_read(note: str) -> str:
    """Read a note of the user, or some lines of it, as PATH:10-20, before relying on a hit."""
    from memory_palace.features.agents.tools import read

    return read(_open(), note)


def palace_remember(text: str) -> str:
    """Keep a decision, fact or wish for later conversations, in whole sentences that stand alone.

    Never passwords or keys. The answer is where it stands, as path:line.
    """
    kept = _open().remember(text, agent="llm")
    return f"{kept.path}:{kept.line}-{kept.last_line}"


def _search(palace: Palace, question: str, *, limit: int = 5) -> str:
    """Return hits in the format for agents; empty without any."""
    from memory_palace.features.agents.fencing import show_hits

    found = palace.query(question, limit=limit, neighbors=0, budget_bytes=FOUND_BYTES)
    generation = palace.snapshot().commit.generation
    shown = show_hits(found, generation=generation, budget_bytes=FOUND_BYTES)
    return shown if found.hits else ""


def _open() -> Palace:
    """Open the palace as a command does: PALACE_ROOT, else the nearest, else the default."""
    from memory_palace.cli.group import find_palace, locate

    place = os.environ.get("PALACE_ROOT")
    return find_palace(locate(place) if place else None)


for _hook in (register_fragment_loaders, register_tools):
    llm.hookimpl(_hook)  # marks the function; as a decorator it would make it untyped
