"""Memories: notes with an image, a content and a token that shows that they were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_palace.feature import Feature, Verb
from memory_palace.features.memories import memories, memory_notes
from memory_palace.features.memories.memory_notes import MEMORIES_ROOM, WrittenMemory
from memory_palace.features.memories.memory_values import MemoryLink
from memory_palace.table import load

if TYPE_CHECKING:
    from memory_palace.features.checking.verify import Verified


class Memories(Feature):
    """Memories of a palace, in whichever room their notes are."""

    list = Verb(memories.list_memories)
    show = Verb(memories.show_memory)
    tour = Verb(memories.tour)
    hierarchy = Verb(memories.open_hierarchy)
    lint = Verb(memory_notes.lint_memories)
    score = Verb(memory_notes.score_memory)
    review = Verb(memories.record_review)
    due = Verb(memories.plan_reviews)

    def verify(
        self,
        answer: str,
        against: Sequence[str] = (),
        *,
        require_all: bool = False,
        model: str | None = None,
    ) -> Verified:
        """Check every sentence of an answer, as ``palace verify`` does."""
        check = load("checking.verify:verify")
        done: Verified = check(self.engine, answer, against, require_all=require_all, model=model)
        return done

    def new(
        self,
        subject: str,
        *,
        image: str = "",
        content: str = "",
        tokens: Sequence[str] = (),
        anchors: Sequence[str] = (),
        locus: str = "",
        links: Sequence[MemoryLink] = (),
        text: str = "",
        domain: str = "",
        room: str = MEMORIES_ROOM,
        tags: Sequence[str] = (),
    ) -> WrittenMemory:
        """Write a memory from its parts, into the folder of a domain.

        ``text`` is Markdown with the sections of a memory; parts that are given replace them.
        """
        memory = memory_notes.draft_memory(
            subject,
            image=image,
            content=content,
            tokens=tokens,
            anchors=anchors,
            locus=locus,
            links=links,
            text=text,
        )
        return memory_notes.new_memory(self.engine, memory, domain=domain, room=room, tags=tags)
