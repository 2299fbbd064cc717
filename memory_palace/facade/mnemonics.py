"""Memories: notes with an image, a content and a token that shows that they were read."""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.facade.verb import Feature, Verb
from memory_palace.mnemonics import domains, memories, memory_notes, reviewing, verify
from memory_palace.mnemonics.domains import AskDomain
from memory_palace.mnemonics.memory_notes import WrittenMemory
from memory_palace.mnemonics.memory_values import MemoryLink


class Memories(Feature):
    """Memories of a palace, in whichever room their notes are."""

    list = Verb(memories.list_memories)
    show = Verb(memories.show_memory)
    define = Verb(memories.define)
    tour = Verb(memories.tour)
    hierarchy = Verb(memories.open_hierarchy)
    guess_domain = Verb(domains.guess_domain)
    lint = Verb(memory_notes.lint_memories)
    score = Verb(memory_notes.score_memory)
    review = Verb(reviewing.record_review)
    due = Verb(reviewing.plan_reviews)
    verify = Verb(verify.verify)

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
        domain: str | None = None,
        room: str | None = None,
        tags: Sequence[str] = (),
        ask: AskDomain | None = None,
    ) -> WrittenMemory:
        """Write a memory from its parts, into the folder of a domain.

        ``text`` is Markdown with the sections of a memory; parts that are given replace them. A
        domain that is not named is guessed, unless a room is; an empty one is none. ``ask`` is
        asked where the guess is not sure.
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
        return memory_notes.new_memory(
            self.engine, memory, domain=domain, room=room, tags=tags, ask=ask
        )
