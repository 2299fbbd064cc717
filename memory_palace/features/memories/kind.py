"""Memories as a kind of notes: the image is not cited, and a token proves that one was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from memory_palace.engine import Engine
from memory_palace.features.memories.form import blank_beside, is_memory, read_form
from memory_palace.features.memories.lint import lint_tokens
from memory_palace.features.memories.memories import MemoryNotes, read_memory_notes
from memory_palace.features.memories.verification import check_tokens, drop_token
from memory_palace.kinds import Flaw, TokenCheck
from memory_palace.notes.document import Document, Library


@dataclass(frozen=True, slots=True)
class MemoryProof:
    """The tokens of one memory."""

    path: str
    tokens: tuple[str, ...]
    flaws: Sequence[Flaw]

    def drop(self, text: str) -> str:
        return reduce(drop_token, self.tokens, text)

    def check(self, answer: str) -> TokenCheck:
        return TokenCheck(self.path, check_tokens(answer, self.tokens))


class MemoryKind:
    """The memories of a palace, as ``kinds.NoteKind`` asks for them."""

    def __init__(self, engine: Engine, library: Library | None = None) -> None:
        self._engine, self._library = engine, library

    @cached_property
    def _notes(self) -> MemoryNotes:
        return read_memory_notes(self._engine, self._library)

    def includes(self, document: Document) -> bool:
        return is_memory(document)

    def find(self, name: str) -> str | None:
        return self._notes.find_anchored(name)

    def blank(self, body: str) -> str:
        """Return the body of a memory without its image and what stands beside the content."""
        return blank_beside(body)

    def proof_of(self, document: Document) -> MemoryProof:
        form, notes = read_form(document), self._notes
        flaws = lint_tokens(form, notes.corpus, notes.forms)
        return MemoryProof(document.path, form.tokens, flaws)
