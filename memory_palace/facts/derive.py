"""What each chunk of a note is found by: its words, and the facts in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_palace.facts.speakers import find_speakers
from memory_palace.language.tokens import tokenize
from memory_palace.models import Chunk, Derived, Note


def derive(note: Note) -> Sequence[Derived]:
    """Return one value per chunk of a note, in order."""
    return [
        Derived(words=tuple(tokenize(chunk.embed_text)), facts=tuple(_facts(chunk)))
        for chunk in note.chunks
    ]


def _facts(chunk: Chunk) -> Iterator[tuple[str, str]]:
    for speaker in find_speakers(chunk.text):
        yield "speaker", speaker
    if chunk.text.rstrip().endswith(("?", "？")):
        yield "form", "question"
