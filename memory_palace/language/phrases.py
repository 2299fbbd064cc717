"""Noun phrases by a small pattern grammar, without a tagger.

A phrase is a run of modifiers and nouns that ends in a noun: its head. Function words, verbs and
punctuation end it. A word that can be verb or noun ("plan") is a noun after a determiner or an
adjective, and a verb elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from memory_palace.language.tagged_words import Part, Word
from memory_palace.language.tokens import stem_word
from memory_palace.language.vocabulary import AUXILIARIES, VAGUE, WORDS, word_set

_LONGEST = 4
_OPENERS = frozenset({Part.DETERMINER, Part.ADJECTIVE, Part.NUMBER, Part.POSSESSIVE})
_NOMINAL = frozenset({Part.NOUN, Part.ADJECTIVE})
_MODIFIERS = frozenset({Part.ADJECTIVE, Part.PARTICIPLE})
_OPEN_CLASS = frozenset({Part.NOUN, Part.VERB, Part.PARTICIPLE})
_SUBJECTS = WORDS["before a verb"]
"""What a verb follows, listed as one or not."""
_OBJECT_PRONOUNS = word_set("it them him us me this that these those all how what")
_SHORTEST_HEAD = 3
_MEMORY = 1 << 14


def find_phrases(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Return the noun phrases in order, each of at most four words, the last being its head."""
    return [phrase for run in _runs(words) if (phrase := _trim(run))]


def phrase_text(phrase: Sequence[Word]) -> str:
    """Return a phrase as it is shown: casefolded words."""
    return " ".join(word.key for word in phrase)


@lru_cache(maxsize=_MEMORY)
def phrase_keys(phrase: tuple[Word, ...]) -> tuple[str, ...]:
    """Return what a phrase is found by: itself, its last two words and its head, stemmed.

    So "a portable power bank" and "power banks" have keys in common.
    """
    stems = [stem_word(word.key) for word in phrase]
    keys = [" ".join(stems[start:]) for start in (0, -2, -1)]
    if phrase[-1].key in VAGUE:
        keys.pop()
    return tuple(dict.fromkeys(keys))


def _runs(words: Sequence[Word]) -> Iterator[list[Word]]:
    run: list[Word] = []
    before, previous = Part.BREAK, ""
    for place, word in enumerate(words):
        part = word.part
        if part in _OPEN_CLASS:
            part = _part_after(before, previous, word)
            if previous == "to" and part == Part.NOUN and _is_followed(words, place + 1):
                part = Part.VERB
        is_nominal = part in _NOMINAL
        if is_nominal:
            run.append(word)
        if run and (not is_nominal or word.is_possessive):
            yield run
            run = []
        before = Part.POSSESSIVE if word.is_possessive else part
        previous = word.key
    if run:
        yield run


def _part_after(before: int, previous: str, word: Word) -> int:
    """Return what a word is, given the part of speech and the key of the word before it."""
    part = word.part
    if part == Part.NOUN:
        is_verb = previous in _SUBJECTS or (word.key.endswith("ing") and previous in AUXILIARIES)
        return Part.VERB if is_verb and not word.is_capital else part
    if before in _OPENERS:
        if part == Part.PARTICIPLE:
            return Part.ADJECTIVE
        if part == Part.VERB:
            return Part.ADJECTIVE if word.key.endswith("ed") else Part.NOUN
    return part


def _is_followed(words: Sequence[Word], place: int) -> bool:
    """Say whether an object begins at ``place``, so that the word before it is a verb."""
    return place < len(words) and (
        words[place].part == Part.DETERMINER or words[place].key in _OBJECT_PRONOUNS
    )


def _trim(run: list[Word]) -> tuple[Word, ...]:
    end = len(run)
    while end and run[end - 1].part in _MODIFIERS:
        end -= 1
    phrase = run[max(0, end - _LONGEST) : end]
    if not phrase or len(phrase[-1].key) < _SHORTEST_HEAD:
        return ()
    if len(phrase) == 1 and phrase[0].key in VAGUE:
        return ()
    return tuple(phrase)
