"""Verify a response against memories of a palace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from memory_palace.embedding.base import find_token_reader
from memory_palace.embedding.registry import split_name
from memory_palace.engine import Engine
from memory_palace.mnemonics.form import read_form
from memory_palace.mnemonics.lint import Flaw, lint_tokens
from memory_palace.mnemonics.memories import read_memory_notes
from memory_palace.mnemonics.nearness import EmbedTokens
from memory_palace.mnemonics.support import MEASURED_EMBEDDER
from memory_palace.mnemonics.verification import Verdict, Verification, verify_response


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
    """Check a response against the memories called ``names``.

    Raise ``UsageError`` for a note that is no memory. Sentences are compared by meaning where the
    index has vectors of the embedder that the threshold was measured with.
    """
    notes = read_memory_notes(engine)
    documents = [notes.find(name) for name in dict.fromkeys(names)]
    embed_tokens = None if by_words else _reader_of(engine)
    verification = verify_response(
        response,
        [notes.read(document) for document in documents],
        require_all=require_all,
        embed_tokens=embed_tokens,
    )
    flaws = [
        flaw
        for document in documents
        for flaw in lint_tokens(read_form(document), notes.corpus, notes.forms)
    ]
    return Verified(verification, tuple(flaws), embed_tokens is not None)


def _reader_of(engine: Engine) -> EmbedTokens | None:
    has_index = engine.paths.commit.exists()
    if not has_index or MEASURED_EMBEDDER not in split_name(engine.snapshot().commit.embedder):
        return None
    reader = find_token_reader(engine.embedder())
    return None if reader is None else cache(reader)  # a memory is read once for all claims
