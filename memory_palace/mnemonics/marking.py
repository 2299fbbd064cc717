"""A model marks which of the twelve factors an image has. What a person marked stays."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from importlib.resources import files

from memory_palace.dialogue import Dialogue, ReplyError, read_choice, read_items, read_text
from memory_palace.language.markers import drop_markers
from memory_palace.mnemonics.memory_values import Factor, Mark, Memory

_SCHEMA = {
    "type": "object",
    "required": ["factors"],
    "properties": {
        "factors": {
            "type": "array",
            "minItems": len(Factor),
            "maxItems": len(Factor),
            "items": {
                "type": "object",
                "required": ["factor", "present", "reason"],
                "properties": {
                    "factor": {"enum": [factor.value for factor in Factor]},
                    "present": {"type": "boolean"},
                    "reason": {"type": "string"},
                },
            },
        }
    },
}
_MOST_REASON = 120
"""Characters of a reason: it is one item of a list in the note."""
_UNSAFE = re.compile(r"[()\[\]\s]+")
"""What would end the name of a model in a note."""


def mark_by_model(dialogue: Dialogue, memory: Memory) -> tuple[Mark, ...]:
    """Return what a model says of each factor, with its name; no token is shown to it.

    Raise ``CheckFailedError`` for replies that cannot be used.
    """
    data = {
        "subject": memory.subject,
        "content": drop_markers(memory.content).strip(),
        "image": drop_markers(memory.image).strip(),
    }
    name = _UNSAFE.sub(" ", dialogue.name).strip()
    prompt = files("memory_palace.mnemonics").joinpath("prompts", "marker.md").read_text("utf-8")

    def parse(reply: object) -> tuple[Mark, ...]:
        found = {}
        for item in read_items(reply, "factors", len(Factor)):
            mark = _read_mark(item, name)
            found[mark.factor] = mark
        if len(found) < len(Factor):
            raise ReplyError("it does not name every factor once")
        return tuple(found[factor] for factor in Factor)

    return asyncio.run(dialogue.ask("marker", prompt, data, parse, schema=_SCHEMA))


def _read_mark(item: Mapping[str, object], name: str) -> Mark:
    factor = Factor(read_choice(item, "factor", [factor.value for factor in Factor]))
    is_present = item.get("present")
    if not isinstance(is_present, bool):
        raise ReplyError("'present' is neither true nor false")
    reason = read_text(item, "reason", may_be_empty=True)
    return Mark(factor, is_present, _UNSAFE.sub(" ", reason)[:_MOST_REASON].strip(), name)
