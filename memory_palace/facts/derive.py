"""What each chunk of a note is found by: its words, words that describe it, and the facts in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from memory_palace.facts.enrich import enrich_passage
from memory_palace.facts.extract import extract_facts
from memory_palace.facts.fact import Fact, FactKind
from memory_palace.facts.nlp import choose_reader
from memory_palace.facts.reading import Reader
from memory_palace.facts.speakers import find_speakers
from memory_palace.language.tokens import tokenize
from memory_palace.models import Chunk, Derived, Note

_DESCRIBING = frozenset(
    {FactKind.ENTITY, FactKind.PHRASE, FactKind.PREFERENCE, FactKind.TAG, FactKind.LINK}
)


def derive(note: Note) -> Sequence[Derived]:
    """Return one value per chunk of a note, in order."""
    written, read = _written(note), choose_reader()
    return [_derive(note, chunk, written, read) for chunk in note.chunks]


def _derive(note: Note, chunk: Chunk, written: date | None, read: Reader) -> Derived:
    links = (link for link in note.links if chunk.first_line <= link.line <= chunk.last_line)
    facts = extract_facts(
        chunk.text,
        title=note.title,
        headings=chunk.heading_path,
        tags=note.tags,
        links=[link.target for link in links if link.target],
        entities=note.entities,
        written=written,
        read=read,
    )
    return Derived(
        words=tuple(tokenize(chunk.embed_text)),
        extras=tuple(_extras(note, chunk, facts)),
        facts=(*((fact.kind.value, fact.key) for fact in facts), *_forms(chunk)),
        description=enrich_passage(facts),
    )


def _extras(note: Note, chunk: Chunk, facts: Sequence[Fact]) -> Iterator[str]:
    """Yield the tokens of what names or describes the chunk, itself left out."""
    for text in (note.title, *note.aliases, *chunk.heading_path):
        yield from tokenize(text)
    for fact in facts:
        if fact.kind in _DESCRIBING and fact.display:
            yield from tokenize(fact.display)


def _forms(chunk: Chunk) -> Iterator[tuple[str, str]]:
    for speaker in find_speakers(chunk.text):
        yield "speaker", speaker
    if chunk.text.rstrip().endswith(("?", "？")):
        yield "form", "question"


def _written(note: Note) -> date | None:
    """Return the day a note says it is from. That of git or a file's time can be anything."""
    return datetime.fromtimestamp(note.date.timestamp, UTC).date() if note.date else None
