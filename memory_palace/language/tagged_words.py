"""Split a text into words with parts of speech, and find the names among them.

Names are capitalised words, and known entities. A capital at the start of a sentence is no evidence
(SPEC R4): that word is a name only if it is known, is capitalised inside a sentence of the same
text, or begins a run of capitalised words and is not an ordinary word itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Container, Iterator, Sequence, Sized
from functools import lru_cache
from itertools import dropwhile, groupby
from typing import Final, NamedTuple

from memory_palace.language.words import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, WORDS


class Part:
    """Parts of speech in a noun phrase, as plain integers. Unlisted words are nouns."""

    BREAK: Final = 0
    FUNCTION: Final = 1
    DETERMINER: Final = 2
    VERB: Final = 3
    PARTICIPLE: Final = 4
    ADJECTIVE: Final = 5
    NUMBER: Final = 6
    NOUN: Final = 7
    POSSESSIVE: Final = 8


class Word(NamedTuple):
    """One word or one break. Equal spellings share one value."""

    written: str
    key: str
    """Casefolded, with straight apostrophes, without a possessive ending; empty for a break."""
    part: int
    """One of ``Part``."""
    is_capital: bool
    is_possessive: bool


END = Word("\n", "", Part.BREAK, False, False)
"""The break at the end of a paragraph."""
SENTENCE_ENDS = frozenset('.!?:…\n"“”|;—*•')
"""Breaks after which a capital letter is no evidence of a name."""

_BREAKS = r"[.!?:;,()\[\]{}\"“”«»…—–|<>=\\•]"
_TOKEN = re.compile(
    r"(?:Dr|Mrs?|Ms|Prof|St)\.(?=\s)|[^\W_](?:[\w'’]*[^\W_])?(?:[-.&+/@][^\W_](?:[\w'’]*[^\W_])?)*+"
    rf"|{_BREAKS}|\n(?=[^\S\n]*(?:[-*+>#|\n]|\d+[.)]\s))|(?<=\s)[-*/](?=\s)"
)
_MEMORY = 1 << 14


def split_words(text: str) -> list[Word]:
    """Return the words of a text and the breaks between them, in order.

    For grammar: a compound or a contraction is one word, a possessive ending is a flag of its word.
    A line feed is a break only where a paragraph, list item, quote, heading or table row ends.
    """
    return [_look_up(token) for token in _TOKEN.findall(text)]


@lru_cache(maxsize=_MEMORY)
def _look_up(token: str) -> Word:
    first = token[0]
    if not first.isalnum():
        return Word(token, "", Part.BREAK, False, False)
    key = token.casefold().replace("’", "'").rstrip(".")
    is_possessive = key.endswith(("'s", "s'")) and key not in AUXILIARIES
    if key == "let's":
        is_possessive = False
    if is_possessive:
        key = key[:-2] if key.endswith("'s") else key[:-1]
    return Word(token, key, _part_of(key), first.isupper(), is_possessive)


def _part_of(key: str) -> int:
    if key[0].isdigit():
        return Part.NUMBER
    for words, part in _LISTS:
        if key in words:
            return part
    if "'" in key or (key.endswith("ly") and len(key) > 4):
        return Part.FUNCTION
    if key.endswith("ed") and len(key) > 4 and not key.endswith("eed"):
        return Part.PARTICIPLE
    if key.endswith(("ful", "ous", "able", "ible", "less", "ish")) and len(key) > 6:
        return Part.ADJECTIVE
    return Part.NOUN


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


_GERUNDS = WORDS["gerunds"]
"""Gerunds that more often name an activity than they are verbs."""
_REGULAR = frozenset(form for verb in WORDS["regular verbs"] for form in _inflect(verb))
_LISTS = (
    (DETERMINERS, Part.DETERMINER),
    (WORDS["other adverbs"], Part.FUNCTION),
    (WORDS["modifying participles"], Part.PARTICIPLE),
    (AUXILIARIES, Part.FUNCTION),
    (WORDS["adjectives"], Part.ADJECTIVE),
    (FUNCTION_WORDS, Part.FUNCTION),
    ((_REGULAR | WORDS["forms of irregular verbs"]) - _GERUNDS, Part.VERB),
    (WORDS["no adverbs"], Part.NOUN),
)
"""Word lists and their part of speech, in order of precedence."""

_JOINTS = frozenset("of the de van von del der la le di da al bin and & for".split())
_MOST_JOINTS = 2
_LONGEST = 5
_ORDINARY = frozenset({Part.FUNCTION, Part.DETERMINER, Part.VERB, Part.PARTICIPLE, Part.NUMBER})
_NO_NAMES = FUNCTION_WORDS | frozenset("march may i'm i'll ok mr mrs ms dr prof english".split())
_CONTENT = frozenset({Part.VERB, Part.PARTICIPLE, Part.ADJECTIVE, Part.NOUN})
_PLAIN = frozenset({Part.FUNCTION, Part.DETERMINER, Part.VERB, Part.ADJECTIVE})
_NEVER_FIRST = frozenset({Part.BREAK, Part.FUNCTION, Part.DETERMINER})
_TITLE_WORDS = 4

Name = tuple[Word, ...]


def name_key(text: str) -> str:
    """Return the key of a name: NFKC, casefolded, single spaces, no possessive ending."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = " ".join(text.casefold().replace("’", "'").split())
    return text.removesuffix("'s")


def name_text(name: Sequence[Word]) -> str:
    """Return the words of a name as written, without a possessive ending."""
    *first, last = (word.written for word in name)
    return " ".join([*first, last[: len(name[-1].key)]])


def find_names(words: Sequence[Word], known: Container[str] = ()) -> list[Name]:
    """Return the capitalised names, then the other known ones; ``known`` holds ``name_key`` keys.

    Known names are found in any spelling.
    """
    sentences = [sentence for sentence in _sentences(words) if not _is_title(sentence)]
    inside = {word.key for sentence in sentences for word in sentence[1:] if word.is_capital}
    found = [name for part in sentences for name in _capitalised(part, inside, known)]
    keys = {" ".join(word.key for word in name) for name in found}
    found += (n for n in _find_known(words, known) if " ".join(w.key for w in n) not in keys)
    return found


def _find_known(words: Sequence[Word], known: Container[str]) -> Iterator[Name]:
    """Yield the known names among the words, in any spelling, the longest at each place.

    An ordinary word alone is not a name: "new" occurs in "New York", and Will is also "will".
    """
    if isinstance(known, Sized) and not len(known):
        return
    behind = 0
    for place, first in enumerate(words):
        if place < behind or first.part in _NEVER_FIRST:
            continue
        for length in range(min(_LONGEST, len(words) - place), 0, -1):
            span = words[place : place + length]
            is_noun = first.part == Part.NOUN and first.key not in _NO_NAMES
            can_be = span[-1].part not in _NEVER_FIRST and (length > 1 or is_noun)
            if can_be and " ".join([word.key for word in span]) in known:
                yield tuple(span)
                behind = place + length
                break


def _sentences(words: Sequence[Word]) -> Iterator[list[Word]]:
    for is_end, run in groupby(words, key=lambda word: word.written in SENTENCE_ENDS):
        if not is_end and (sentence := list(dropwhile(lambda word: not word.key, run))):
            yield sentence


def _is_title(sentence: Sequence[Word]) -> bool:
    """Whether a sentence is in title case, so that its capitals are no evidence of names.

    No content word of it is in lower case, and an ordinary word after the first is capitalised.
    """
    if len(sentence) < _TITLE_WORDS:
        return False
    if any(not word.is_capital and word.part in _CONTENT for word in sentence):
        return False
    return any(word.is_capital and word.part in _PLAIN and word.key != "i" for word in sentence[1:])


def _capitalised(
    sentence: Sequence[Word], inside: Collection[str], known: Container[str]
) -> Iterator[Name]:
    for start, run in _runs(sentence):
        name = run
        if start == 0 and not _is_name_at_start(run, inside, known):
            name = run[1:]
        while name and _is_ordinary(name[0]):
            name = name[1:]
        while name and (_is_ordinary(name[-1]) or name[-1].key in _JOINTS):
            name = name[:-1]
        if name and name[0].is_capital and len(name[0].key) > 1:
            yield tuple(name[:_LONGEST])


def _runs(sentence: Sequence[Word]) -> Iterator[tuple[int, list[Word]]]:
    """Yield the start and the words of capitalised runs, with at most two joints in a row."""
    run: list[Word] = []
    joints = start = 0
    for place, word in enumerate(sentence):
        is_joint = word.key in _JOINTS and not word.is_capital
        if word.is_capital:
            start = place if not run else start
            run.append(word)
            joints = 0
            if not word.is_possessive:
                continue
        elif run and is_joint and joints < _MOST_JOINTS and word.key not in ("and", "for"):
            run.append(word)
            joints += 1
            continue
        if run:
            yield start, run[: len(run) - joints]
        run, joints = [], 0
    if run:
        yield start, run[: len(run) - joints]


def _is_name_at_start(run: Sequence[Word], inside: Collection[str], known: Container[str]) -> bool:
    first = run[0]
    if first.key in inside or first.key in known:
        return True
    return len(run) > 1 and run[1].is_capital and first.part not in _ORDINARY


def _is_ordinary(word: Word) -> bool:
    return word.key in _NO_NAMES or word.part == Part.NUMBER or "'" in word.key
