"""What each chunk of a note is found by: its words, and the facts that profiles ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from memory_palace.facts.fact import FactKind
from memory_palace.index.recipes import Detail
from memory_palace.language.time_words import may_name_time
from memory_palace.language.tokens import tokenize
from memory_palace.models import Chunk, Derived, Note

_LABEL = re.compile(
    r"^(?:[-*+>] )?[*_]{0,2}([^\W\d_][\w.'’ -]{0,40}?)[*_]{0,2}:[*_]{0,2}(?=\s|$)", re.M
)
_MOST_WORDS = 3


def derive(note: Note, detail: Detail) -> Sequence[Derived]:
    """Return one value per chunk of a note, in order.

    The grammar that structure needs is imported only where an index keeps structure.
    """
    if detail >= Detail.STRUCTURED:
        from memory_palace.facts.structure import describe_chunks

        structures = describe_chunks(note)
    else:
        structures = [Derived()] * len(note.chunks)
    written = _day_of(note)
    return [
        Derived(
            words=tuple(tokenize(chunk.embed_text)),
            extras=structure.extras,
            facts=(*structure.facts, *_find_facts(chunk, written)),
            description=structure.description,
        )
        for chunk, structure in zip(note.chunks, structures, strict=True)
    ]


def find_speakers(text: str) -> Iterator[str]:
    """Yield each word of the labels that lines such as ``Anna: yes`` begin with, casefolded.

    Any short capitalised label counts, "Note:" too: it does no harm, for it is only looked for
    when a question names it.
    """
    for label in _LABEL.findall(text):
        words = label.split()
        if len(words) <= _MOST_WORDS and label[0].isupper():
            yield from (word.casefold() for word in words)


def _find_facts(chunk: Chunk, written: date | None) -> Iterator[tuple[str, str]]:
    for speaker in find_speakers(chunk.text):
        yield FactKind.SPEAKER.value, speaker
    if chunk.text.rstrip().endswith(("?", "？")):
        yield FactKind.FORM.value, "question"
    if may_name_time(chunk.text):
        from memory_palace.facts.dates import extract_dates  # delayed: few edits name a time

        for fact in extract_dates(chunk.text, written):
            yield fact.kind.value, fact.key


def _day_of(note: Note) -> date | None:
    """Return the day a note says it is from. That of git or a file's time can be anything."""
    return datetime.fromtimestamp(note.date.timestamp, UTC).date() if note.date else None
