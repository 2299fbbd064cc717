"""Verify a response against memories of a palace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from memory_palace.embedding.base import find_token_reader
from memory_palace.embedding.registry import split_name
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.language.markers import drop_markers
from memory_palace.mnemonics.form import is_memory, read_form
from memory_palace.mnemonics.lint import Flaw, lint_tokens
from memory_palace.mnemonics.memories import MemoryNotes, read_memory_notes
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.nearness import EmbedTokens
from memory_palace.mnemonics.support import MEASURED_EMBEDDER
from memory_palace.mnemonics.verification import Verdict, Verification, verify_response
from memory_palace.notes.document import Document
from memory_palace.notes.excerpt import WITHHELD, excerpt, split_line_range

_LONGEST_SOURCE = 4_000
"""Characters; memories, on which the thresholds were chosen, have some hundred words."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A response that was checked, and what is wrong with the tokens it was checked for."""

    verification: Verification
    flaws: tuple[Flaw, ...]
    by_meaning: bool
    """Whether sentences were compared by vectors, and not by words alone."""

    @property
    def passes_strictly(self) -> bool:
        """Whether nothing is ungrounded, and no token is one that proves nothing."""
        return self.verification.outcome != Verdict.UNGROUNDED and not self.flaws


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
    embed_tokens = None if by_words else _reader_of(engine)
    verification = verify_response(
        response,
        [memory for _, memory in sources],
        require_all=require_all,
        embed_tokens=embed_tokens,
    )
    flaws = [
        flaw
        for document, _ in sources
        if document is not None
        for flaw in lint_tokens(read_form(document), notes.corpus, notes.forms)
    ]
    return Verified(verification, tuple(flaws), embed_tokens is not None)


def _read_source(notes: MemoryNotes, name: str) -> tuple[Document | None, Memory]:
    """Return the note of a memory and the memory, or ``None`` and the text of another source."""
    note, first, last = split_line_range(name)
    document = notes.find_any(note)
    if first is None:
        if is_memory(document):
            return document, notes.read(document)
        return None, _make_source(document.path, document.title, document.body)
    lines = excerpt(document.path, document.data, first_line=first, last_line=last)
    text = drop_markers(lines.text).replace(WITHHELD, "")
    where = f"{document.path}:{lines.first_line}-{lines.last_line}"
    return None, _make_source(where, document.title, text)


def _make_source(where: str, title: str, text: str) -> Memory:
    """Return a text as a memory without image and token.

    Raise ``UsageError`` for a long one: some sentence of it is near to anything.
    """
    if len(text) > _LONGEST_SOURCE:
        raise UsageError(
            f"{where} has {len(text):,} characters, and {_LONGEST_SOURCE:,} at most are compared; "
            f"name the lines that the answer rests on, such as {where.partition(':')[0]}:10-30"
        )
    return Memory(where, title, "", text)


def _reader_of(engine: Engine) -> EmbedTokens | None:
    has_index = engine.paths.commit.exists()
    if not has_index or MEASURED_EMBEDDER not in split_name(engine.snapshot().commit.embedder):
        return None
    reader = find_token_reader(engine.embedder())
    return None if reader is None else cache(reader)  # a memory is read once for all claims
