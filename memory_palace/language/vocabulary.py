"""English words by part of speech: closed classes whole, of verbs and adjectives the common ones.

What is listed nowhere counts as a noun. That is right far more often than not once the frequent
words are listed, and needs no model.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory_palace.language.word_lists import read_table


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that spaces divide."""
    return frozenset(text.split())


WORDS = {name: word_set(words) for name, words in read_table("words.txt").items()}
"""The lists of ``words.txt``, by name."""

DETERMINERS = WORDS["determiners"]
"""Articles and the like, which no verb can follow."""

AUXILIARIES = WORDS["auxiliaries"]
"""What a present participle follows: "was running" is no noun phrase."""

FUNCTION_WORDS = WORDS["function words"]

ADVERBS_IN_OTHER_SHAPES = WORDS["other adverbs"]
NOT_ADVERBS = WORDS["no adverbs"]

ADJECTIVES = WORDS["adjectives"]

VAGUE = WORDS["vague"]
"""Nouns that alone say nothing of what a text is about."""


def _inflect(verb: str) -> Iterator[str]:
    yield verb
    if verb.endswith("e"):
        yield from (verb + "s", verb + "d", verb[:-1] + "ing")
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        yield from (verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing")
    elif verb.endswith(("s", "sh", "ch", "x", "z")):
        yield from (verb + "es", verb + "ed", verb + "ing")
    else:
        yield from (verb + "s", verb + "ed", verb + "ing")
        yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")


GERUNDS = WORDS["gerunds"]
"""Forms of verbs that more often name an activity."""

_ALL_FORMS = frozenset(form for verb in WORDS["regular verbs"] for form in _inflect(verb))
VERBS = (_ALL_FORMS | WORDS["forms of irregular verbs"]) - GERUNDS
"""Every form of the common verbs, but for those gerunds."""

MODIFYING_PARTICIPLES = WORDS["modifying participles"]
"""Participles that stand before nouns as adjectives do."""
