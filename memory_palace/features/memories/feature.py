"""Memories: notes with an image, a content and a token that shows that they were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_palace.feature import Feature, Verb
from memory_palace.features.memories import memories
from memory_palace.table import load

if TYPE_CHECKING:
    from memory_palace.features.checking.verify import Verified


class Memories(Feature):
    """Memories of a palace, in whichever room their notes are."""

    list = Verb(memories.list_memories)
    show = Verb(memories.show_memory)
    tour = Verb(memories.tour)
    hierarchy = Verb(memories.open_hierarchy)
    lint = Verb(memories.lint_memories)
    score = Verb(memories.score_memory)
    new = Verb(memories.new_memory)
    review = Verb(memories.record_review)
    due = Verb(memories.plan_reviews)

    def verify(self, answer: str, against: Sequence[str] = ()) -> Verified:
        """Check every sentence of an answer, as ``palace verify`` does."""
        done: Verified = load("checking.verify:verify")(self.engine, answer, against)
        return done
