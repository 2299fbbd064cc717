"""Whether a text points at something that it does not name."""

from __future__ import annotations

import re

from memory_palace.language.tokens import plain_words

_POINTERS = frozenset("it its they them their that this these those".split())
"""They point at what was said just before, and at nothing where nothing was."""
_NOUNS = "thing|things|project|projects|topic|subject|matter|plan|idea|issue|problem|task"
_POINTING = re.compile(
    rf"\b(?:(?:that|this|these|those|our|the same|the very)(?: same| whole| old)? (?:{_NOUNS})"
    r"|the project)\b"
)
"""Not "the plan": of the house, people say then. "The project" alone is that of the moment."""


def points_back(text: str, *, has_context: bool = False) -> bool:
    """Say whether an English text points at something: "that thing", "the same project".

    "I", "my", "that" and "it" alone stand in most of what people say. They point at nothing, but
    ``has_context`` says that there are turns before, which "it" and "that" may mean.
    """
    words = plain_words(text)
    if has_context and not _POINTERS.isdisjoint(part for word in words for part in word.split("'")):
        return True
    return bool(_POINTING.search(" ".join(words)))
