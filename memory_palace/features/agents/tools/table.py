"""The six tools: what an agent is told of each, and what each takes.

All of it is paid for in every conversation, so each word says when to use a tool or how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memory_palace.features.agents.tools import asking, writing
from memory_palace.features.agents.tools.arguments import Properties

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_FLAG = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    about: str
    properties: Properties
    required: tuple[str, ...]
    run: Callable[..., str]
    writes: bool = False
    """It may be called by a client that allows nothing else where it does not. One that does adds
    something each time, and is told who asks, as ``agent``."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        needed = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": dict(self.properties)} | needed


def _text(about: str) -> Mapping[str, Any]:
    return {**_TEXT, "description": about}


def _number(low: int, high: int) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


_TABLE = (
    Tool(
        "search",
        "Find what the user's notes say, before you answer from memory or say you do not know. "
        "Hits: path:lines, confidence 0-1, date, title, passage; cite path:lines. "
        "Without query: notes that match the filters.",
        {
            "query": _text("Question, or words"),
            "limit": _number(1, 50),
            "folder": _TEXT,
            "tag": _TEXT,
            "since": _text("2026-03-01, 30d, 1y"),
            "until": _TEXT,
            "budget": {**_number(200, 100_000), "description": "bytes, 4000"},
            "cold": {**_FLAG, "description": "Archived notes too"},
        },
        (),
        asking.search,
    ),
    Tool(
        "read",
        "Read a note, or some lines of it, before you rely on a hit or quote it.",
        {"note": _text("path, path:10-20, title or alias"), "cold": _FLAG},
        ("note",),
        asking.read,
    ),
    Tool(
        "recall",
        "What the notes have on what the user just said without asking; often nothing. "
        "For questions use search.",
        {"text": _TEXT, "context": {**_TEXTS, "description": "Turns before it"}},
        ("text",),
        asking.recall,
    ),
    Tool(
        "remember",
        "Keep a decision, fact, preference or lesson for later conversations, in sentences that "
        "stand alone; in your inbox, or at the end of a note.",
        {
            "text": _TEXT,
            "title": _TEXT,
            "tags": _TEXTS,
            "source": _text("Where it is from"),
            "note": _text("Note to append to"),
            "under": _text("Heading in that note"),
        },
        ("text",),
        writing.remember,
        writes=True,
    ),
    Tool(
        "tasks",
        "Task cards: list them when work begins, tick checks as they are met, complete the card "
        "when all are. new needs title, project, goal, checks; block and reopen a reason.",
        {
            "action": {**_TEXT, "enum": list(writing.ACTIONS)},
            "card": _text("Path, title or id"),
            "number": {**_number(1, 1000), "description": "Check to tick or untick"},
            "reason": _TEXT,
            "title": _TEXT,
            "project": _TEXT,
            "goal": _text("What is true once done"),
            "checks": _TEXTS,
            "next": _text("First step"),
        },
        ("action",),
        writing.tasks,
        writes=True,
    ),
    Tool(
        "verify",
        "Check each sentence of an answer against notes before you send it.",
        {
            "answer": _TEXT,
            "notes": {
                **_TEXTS,
                "description": "path or path:10-20; else all",
            },
        },
        ("answer",),
        asking.verify,
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TABLE}
