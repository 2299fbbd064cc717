"""Lists of words by what they say, and how telling a word is by its rarity.

The lists stand in ``words.txt``. Verbs and adjectives are the common ones, closed classes are
whole; what is listed nowhere counts as a noun, which is right far more often than not and needs no
model. ``bm25_idf`` falls to almost nothing for a word that most texts have: right where texts are
ranked and common words must not decide. ``share_idf`` stays above ln 2: right where the words of a
question share out a whole among themselves and each that is known must keep a part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from memory_palace.language.tokens import read_lines, tokenize


def read_table(name: str) -> dict[str, str]:
    """Return the entries of a file in this folder, in order: ``key: text`` a line.

    A line that begins with a space goes on with the entry before it; ``#`` begins a comment.
    """
    table: dict[str, str] = {}
    key = ""
    for line in read_lines(name):
        if line.startswith(" "):
            table[key] += f" {line.strip()}"
        else:
            key, _, text = line.partition(":")
            table[key] = text.strip()
    return table


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

STOPWORDS = WORDS["stop words"]
"""Articles, pronouns, prepositions, conjunctions, auxiliaries and question words.

Shorter than ``FUNCTION_WORDS``, which lists whatever is no noun in a phrase: "today", "Monday" and
"please" are among those, and are worth searching for."""
STOP_STEMS = frozenset(tokenize(" ".join(sorted(STOPWORDS))))
"""The same as ``tokenize`` gives them."""
PSEUDO_TEXTS = 4
NEGATIONS = WORDS["negations"]
FOREIGN_NEGATIONS = WORDS["foreign negations"]
"""German, French and Spanish ones. Apart, because "sin" and "pas" are words of English too."""
TIME_WORDS = WORDS["time words"]
"""English words of time, which say little of what a text is about."""
_ASKED = {"how long": WORDS["answers to how long"]}
_ASKED |= dict.fromkeys(
    ("when", "what date", "what day", "what month", "what year"), WORDS["answers to when"]
)
_ASKED |= dict.fromkeys(
    ("how many", "how much", "how often", "how old"),
    WORDS["answers to how many"] | set(map(str, range(1, 101))),
)
_ASKING = re.compile(rf"\b(?:{'|'.join(_ASKED)})\b", re.I)


def drop_stop_stems(stems: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct stems that carry meaning, in order; all where none does."""
    distinct = tuple(dict.fromkeys(stems))
    return tuple(stem for stem in distinct if stem not in STOP_STEMS) or distinct


def answer_stems(question: str) -> frozenset[str]:
    """Return stems of which an answer has one, where an English question asks for a kind of thing.

    A time, a span of time, or a number; none where it asks for anything else. A place and a person
    have no words of their own.
    """
    asked = _ASKING.search(question)
    return frozenset(tokenize(" ".join(_ASKED[asked[0].casefold()]))) if asked else frozenset()


def is_negation(word: str) -> bool:
    """Say whether a word of ``plain_words`` denies in English."""
    return word in NEGATIONS or word.endswith("n't")


def bm25_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + (N - df + .5) / (df + .5))`` (Robertson and Spärck Jones 1976, as Lucene)."""
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def expect_idf(stem: str, having: int, texts: int) -> float:
    """Return ``bm25_idf`` with pseudo-counts: what a word says where there are few texts.

    ``PSEUDO_TEXTS`` stand beside them, half of which have every stop word, and none another word.
    """
    usual = PSEUDO_TEXTS // 2 if stem in STOP_STEMS else 0
    return bm25_idf(having + usual, texts + PSEUDO_TEXTS)


def share_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + N / df)``, at least ln 2 for a word of any text; ``having`` is above 0."""
    return math.log1p(texts / having)
