"""The words of a note that could name a group of notes, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memory_palace.language.tokens import stem_word
from memory_palace.language.vocabulary import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, WORDS
from memory_palace.language.word_lists import STOPWORDS, TIME_WORDS

_LITTLE = (
    STOPWORDS
    | TIME_WORDS
    | FUNCTION_WORDS
    | AUXILIARIES
    | DETERMINERS
    | WORDS["vague"]
    | WORDS["elsewhere"]
    | WORDS["foreign"]
)
"""What says little, in English and some thirty languages."""
_GRAMMAR = frozenset(
    "的了是在和有我你他她它们這这那不就都也很会要说到与及或而等以从被把对于之其中个為"
)
"""Characters of Chinese that are grammar."""
_BREAK = re.compile(r"[^\w'’ -]+")
"""What parts two words that are none together."""
_LINE_NOISE = re.compile(r"https?://\S+|\]\([^()\n]*\)|</?[a-zA-Z][^<>\n]*>|\[\[[^\[\]|\n]*\|")
_RUN = re.compile(
    "(?P<han>[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)|(?P<kana>[\u30a1-\u30fa\u30fc]{2,})"
    "|(?P<hangul>[\uac00-\ud7af]{2,})"
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SHORTEST, _LONGEST = 3, 24
_LONGEST_HAN = 6


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word that says something as a key, which its other forms share, and as written.

    Two such words in a row are a word as well. Of Chinese every two to six characters in a row
    are one, of Japanese what is written in kanji or katakana, of Korean words without an ending.
    """
    if "<" in text or "](" in text or "://" in text or "[[" in text:
        text = _LINE_NOISE.sub(" ", text)
    for piece in _BREAK.split(text.replace("\n", " ")):
        before: tuple[str, str] | None = None
        for written in piece.split():
            if not written.isascii() and _UNSPACED.search(written):
                yield from _find_unspaced(written)
                before = None
                continue
            word = _read_word(written)
            if word is not None:
                yield word
                if before is not None:
                    yield f"{before[0]} {word[0]}", f"{before[1]} {word[1]}"
            before = word


@lru_cache(maxsize=1 << 16)
def _read_word(written: str) -> tuple[str, str] | None:
    """Return what forms of a word have in common, and the word; ``None`` for one of no weight."""
    bare = written.strip("'’-_")
    folded = bare.casefold().replace("’", "'").removesuffix("'s")
    is_word = _SHORTEST <= len(folded) <= _LONGEST and folded[0].isalpha()
    return (stem_word(folded, ()), bare) if is_word and folded not in _LITTLE else None


def _find_unspaced(written: str) -> Iterator[tuple[str, str]]:
    for run in _RUN.finditer(written):
        if run["kana"]:
            yield run[0], run[0]
        elif run["hangul"]:
            for length in range(2, len(run[0]) + 1):
                yield run[0][:length], run[0][:length]
        else:
            for start in range(len(run[0]) - 1):
                for stop in range(start + 2, min(start + _LONGEST_HAN, len(run[0])) + 1):
                    part = run[0][start:stop]
                    if _GRAMMAR.isdisjoint(part):
                        yield part, part


def is_part(key: str, other: str) -> bool:
    """Whether a word is one of the two of a phrase, or the beginning or end of a Chinese word."""
    return key in other.split() or (_HAN.fullmatch(key) is not None and key in other)


def do_overlap(one: str, other: str) -> bool:
    """Whether two words share a word, or two characters where there are no spaces."""
    if not {*one.split()}.isdisjoint(other.split()):
        return True
    if not (_UNSPACED.match(one) and _UNSPACED.match(other)):
        return False
    pairs = {one[i : i + 2] for i in range(len(one) - 1)}
    return any(other[i : i + 2] in pairs for i in range(len(other) - 1))
