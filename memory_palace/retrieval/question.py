"""A question: its words, the days it names, and its vectors, each read when first asked for.

What needs more grammar stands in ``analysis``: most questions are answered without importing it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import drop_stop_stems
from memory_palace.models import Query

if TYPE_CHECKING:
    from memory_palace.embedding.base import Embedder
    from memory_palace.language.calendars import Window


class ParsedQuestion:
    """What a query asks for, read once and used by every signal."""

    def __init__(self, text: str, *, as_of: float) -> None:
        """Take a question asked at ``as_of``, seconds since the epoch (days are UTC days)."""
        self.text = text
        self._as_of = as_of

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Its distinct tokens, in order."""
        return tuple(dict.fromkeys(tokenize(self.text)))

    @cached_property
    def content_terms(self) -> tuple[str, ...]:
        """Those that carry meaning; all of them where nothing else is left."""
        return drop_stop_stems(self.terms)

    @cached_property
    def dates(self) -> tuple[Window, ...]:
        """The windows of time it names, where it is English; most questions name none."""
        from memory_palace.language.dates import find_dates  # delayed: few questions need it
        from memory_palace.language.detect import is_english

        text = unicodedata.normalize("NFKC", self.text)
        if not is_english(text):
            return ()
        found = find_dates(text, datetime.fromtimestamp(self._as_of, UTC).date())
        return tuple(window for item in found for window in item.windows)


def embed_question(query: Query, embedder: Embedder, *, with_phrases: bool = False) -> Query:
    """Add the vector of a question, and of its noun phrases where they are compared."""
    query = replace(query, vector=embedder.embed_queries([query.text])[0])
    phrases = join_phrases(query.text) if with_phrases else ""
    return replace(query, phrases=embedder.embed_queries([phrases])[0]) if phrases else query


def join_phrases(text: str) -> str:
    """Return the noun phrases of an English question, separated by commas; empty without any."""
    from memory_palace.language.detect import is_english  # delayed: few profiles ask for it
    from memory_palace.language.phrases import find_phrases, phrase_text
    from memory_palace.language.tagged_words import split_words

    if not is_english(text):
        return ""
    return ", ".join(dict.fromkeys(map(phrase_text, find_phrases(split_words(text)))))
