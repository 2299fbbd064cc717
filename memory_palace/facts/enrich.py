"""A passage in other words: what it is about, gathered into one text of its own.

Source document 001 found such synthetic documents to be worth most of all structure: a question
meets "portable power bank" without the sentences around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_palace.facts.fact import Fact, FactKind
from memory_palace.notes.rooms import stem_of

MOST_WORDS = 60
_LEADS = (
    (FactKind.ENTITY, "Mentions"),
    (FactKind.PREFERENCE, "States"),
    (FactKind.PHRASE, "About"),
    (FactKind.TAG, "Tagged"),
    (FactKind.LINK, "Linked to"),
)
"""In the order of how much each tells; the last ones are cut first."""
_NAMING = frozenset({FactKind.ENTITY, FactKind.PHRASE})
"""A name is a phrase as well; it is said once."""


def enrich_passage(facts: Sequence[Fact]) -> str:
    """Return at most 60 words about a passage: its entities, preferences, phrases, tags, links.

    The same facts give the same text. Empty where there is nothing to say.
    """
    sentences, left = [], MOST_WORDS
    named: list[str] = []
    for kind, lead in _LEADS:
        seen = named if kind in _NAMING else []
        left -= len(lead.split())
        kept = list(_fitting(_shown(facts, kind, seen), left))
        left = left - sum(len(text.split()) for text in kept) if kept else left + len(lead.split())
        if kept:
            sentences.append(f"{lead} {', '.join(kept)}.")
    return " ".join(sentences)


def _shown(facts: Sequence[Fact], kind: FactKind, seen: list[str]) -> Iterator[str]:
    """Yield what is shown of one kind: nothing that is part of what was ``seen`` before."""
    for fact in facts:
        shown = stem_of(fact.display)
        key = shown.casefold()
        if fact.kind == kind and shown and not any(key in other for other in seen):
            seen.append(key)
            yield shown


def _fitting(texts: Iterator[str], most_words: int) -> Iterator[str]:
    for text in texts:
        most_words -= len(text.split())
        if most_words < 0:
            return
        yield text
