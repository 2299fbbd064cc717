"""Verify a response against memories of a palace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.checking.alignment import EmbedTokens
from memory_palace.checking.checker import MEASURED_EMBEDDER, check_answer
from memory_palace.checking.verdicts import AnswerCheck, Passage, Verdict
from memory_palace.embedding.base import find_token_reader
from memory_palace.embedding.registry import split_name
from memory_palace.engine import Engine
from memory_palace.mnemonics.form import is_memory, read_form
from memory_palace.mnemonics.lint import Flaw, lint_tokens
from memory_palace.mnemonics.memories import MemoryNotes, read_memory_notes
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.verification import (
    TokenCheck,
    TokenVerdict,
    check_memories,
    fold_tokens,
)
from memory_palace.notes.document import Document
from memory_palace.notes.excerpt import WITHHELD, excerpt, split_line_range


@dataclass(frozen=True, slots=True)
class Verified:
    """A response that was checked, and what is wrong with the tokens it was checked for."""

    tokens: tuple[TokenCheck, ...]
    """One for each memory, in the order given."""
    answer: AnswerCheck
    flaws: tuple[Flaw, ...]
    by_meaning: bool
    """Whether sentences were compared by vectors, and not by words alone."""

    @property
    def token_verdict(self) -> TokenVerdict:
        """All memories together."""
        return fold_tokens(self.tokens)

    @property
    def passes_strictly(self) -> bool:
        """Whether no token is missing or proves nothing, and no sentence is wrong or unfound."""
        is_refused = self.answer.verdict in (Verdict.CONTRADICTED, Verdict.NOT_FOUND)
        return not (is_refused or self.token_verdict == TokenVerdict.MISSING or self.flaws)


def verify(
    engine: Engine,
    response: str,
    names: Sequence[str],
    *,
    require_all: bool = False,
    by_words: bool = False,
) -> Verified:
    """Check a response against what is called ``names``: memories, other notes, or lines of them.

    Only a memory that is named whole has a token; of anything else (``note:10-20``) the text is all
    there is. Sentences are compared by meaning where the index has vectors of the embedder that
    the threshold was measured with.
    """
    notes = read_memory_notes(engine)
    sources = [_read_source(notes, name) for name in dict.fromkeys(names)]
    if not sources:
        raise ValueError("name at least one memory to verify against")
    embed_tokens = None if by_words else _reader_of(engine)
    memories = [memory for _, memory, _ in sources]
    answer = check_answer(
        response,
        [passage for _, _, passage in sources],
        tokens=[token for memory in memories for token in memory.verify_tokens],
        embed_tokens=embed_tokens,
    )
    flaws = [
        flaw
        for document, _, _ in sources
        if document is not None
        for flaw in lint_tokens(read_form(document), notes.corpus, notes.forms)
    ]
    checks = check_memories(response, memories, require_all=require_all)
    return Verified(checks, answer, tuple(flaws), embed_tokens is not None)


def _read_source(notes: MemoryNotes, name: str) -> tuple[Document | None, Memory, Passage]:
    """Return the note of a memory or ``None``, the memory, and what is compared."""
    note, first, last = split_line_range(name)
    document = notes.find_any(note)
    if first is None and is_memory(document):
        memory = notes.read(document)
        return document, memory, _locate(document, memory.content)
    lines = excerpt(
        document.path,
        document.data,
        first_line=document.body_first_line if first is None else first,
        last_line=last,
    )
    text = lines.text.replace(WITHHELD, "")
    where = document.path if first is None else f"{document.path}:{first}-{lines.last_line}"
    passage = Passage(document.path, lines.first_line, lines.last_line, text)
    return None, Memory(where, document.title, "", text), passage


def _locate(document: Document, content: str) -> Passage:
    """Return the content of a memory with its lines: its image says what is not so."""
    before, _, _ = document.body.partition(content)
    first = document.body_first_line + before.count("\n")
    return Passage(document.path, first, first + content.count("\n"), content)


def _reader_of(engine: Engine) -> EmbedTokens | None:
    has_index = engine.paths.commit.exists()
    if not has_index or MEASURED_EMBEDDER not in split_name(engine.snapshot().commit.embedder):
        return None
    return find_token_reader(engine.embedder())
