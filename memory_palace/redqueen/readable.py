"""Whether a text reads as words of a person: what does not is never shown as a question."""

from __future__ import annotations

import re

from memory_palace.language.markers import drop_markers
from memory_palace.language.tagged_words import Part, split_words
from memory_palace.language.tokens import tokenize
from memory_palace.language.vocabulary import DETERMINERS, VAGUE, WORDS
from memory_palace.language.word_lists import STOPWORDS
from memory_palace.markdown.prose import strip_markup

QUESTION_WORDS = 3
"""A question has at least as many words; fewer are a name."""
_LONGEST_WORDS = 30
_NAME_WORDS = 2
_JOINING = frozenset(
    "of for in on and the a an to with from von der die das und de la le du des".split()
)
"""What a name may have between its words."""
_COMMON = STOPWORDS | WORDS["elsewhere"]
"""What sentences of English, and of some thirty other languages, are built of."""
_WORD = re.compile(r"[^\W\d_]{2,}+")
_DEBRIS = re.compile(
    r"[\[\]{}|<>`\\$^=%#~@]|://|::|www\.|\w/\w+/|\w_\w|\.\w{2,4}\b|&\w+;|\s\.\s|\b\w+\(\)|\.\.\."
)
"""Markup, code, addresses and paths, and what ``strip_markup`` leaves where they stood."""
_QUOTES = str.maketrans("", "", '"“”„«»*')
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]")
_LEAST_UNSPACED = 6
"""Characters of a script without spaces that make as much as three words."""


def read_question(text: str, *, least_words: int = QUESTION_WORDS) -> str:
    """Return a text as one readable line, or nothing where it is not one.

    Left out are texts with fewer words, endless ones, such as hold code, addresses or figures
    for the most part, and those without a word that says something.
    """
    line = " ".join(strip_markup(drop_markers(text), keep_spans=True).split())
    line = line.translate(_QUOTES).strip(" -–—:;,.>•")
    if _DEBRIS.search(line):
        return ""
    words, written = _WORD.findall(line), line.split()
    if len(_UNSPACED.findall(line)) >= _LEAST_UNSPACED * least_words / QUESTION_WORDS:
        return line if len(line) <= 5 * _LONGEST_WORDS else ""
    if not least_words <= len(words) or len(written) > _LONGEST_WORDS:
        return ""
    if len(words) < 0.7 * len(written) or not any(w.casefold() not in STOPWORDS for w in words):
        return ""
    return line if tokenize(line) else ""


def read_name(text: str) -> str:
    """Return a text as one readable line where it can be the name of something, or nothing.

    A name is of two words or more, none of which a sentence is built of ("how we think"), does not
    begin with a verb ("learn more"), and does not end in a word that alone says nothing.
    """
    line = read_question(text, least_words=_NAME_WORDS)
    words = split_words(line)
    if words and words[0].key in DETERMINERS:
        words = words[1:]
    if not words or words[0].part == Part.VERB or words[-1].key in VAGUE:
        return ""
    inner = [word.key for word in words if word.key not in _JOINING]
    is_name = len(inner) >= _NAME_WORDS and not any(word in _COMMON for word in inner)
    return line if is_name and words[-1].key not in _JOINING else ""
