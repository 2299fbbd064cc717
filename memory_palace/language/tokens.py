"""Words of a text: ``tokenize`` for searching, ``plain_words`` for reading."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import TypeAlias

from Stemmer import Stemmer

from memory_palace.config import LANGUAGES

_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
"""Vowel signs and accents that belong to a word though Unicode calls them no letters."""
_WORD = rf"(?:[^\W_]|[{_MARKS}])++"
TOKEN = re.compile(rf"{_WORD}(?:(?:[.\-/:@'’+]|_++){_WORD})*+")
WORD_PART = re.compile(_WORD)
UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
UNSPACED_RUN = re.compile(f"{UNSPACED}+")
"""Scripts that are written without spaces between words, and Hangul, whose endings stick."""
_LETTER = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff]")
"""Kana and the letters of Thai, Lao, Burmese and Khmer: one of them alone is no word, as one of
Chinese or Korean is (Japanese pages by words alone: mrr .831 with single kana, .850 without)."""
PLAIN_WORD = re.compile(r"[^\W_]++(?:['’][^\W_]++)*+")
"""A word as people count them: letters and digits, with apostrophes inside."""
BETWEEN = "\0"
"""Stands between texts that are read as one; no text of an index holds it."""
_SIGNS = re.compile(r"[^\w\0]+")
"""Accents that were parted from their letters, and signs such as emoji."""
_ASCII_SIGNS = (string.punctuation + string.whitespace).encode()
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_POSSESSIVE = re.compile(r"'s?$")
_VERSION = re.compile(r"v\d")
Languages: TypeAlias = tuple[str, ...]
"""ISO 639-1 codes of the languages whose stemmers apply; empty for those of ``_BY_SCRIPT``."""
_BY_SCRIPT = ("en", "ru")
"""What stems words of a script that no language of the settings is written in. Stemming French or
Spanish by default gained nothing on pages in those languages, German .04 in reciprocal rank."""
_SCRIPTS = (
    ("Latin", "a", "\u024f"),
    ("Greek", "\u0370", "\u03ff"),
    ("Cyrillic", "\u0400", "\u052f"),
    ("Armenian", "\u0531", "\u058f"),
    ("Arabic", "\u0620", "\u06ff"),
    ("Devanagari", "\u0900", "\u097f"),
    ("Tamil", "\u0b80", "\u0bff"),
    ("Latin", "\u1e00", "\u1eff"),
)
_FLEETING = "(?<=[бвгджзйклмнпрстфхцчшщ])[ое](?=к$)"
"""A vowel that comes and goes with the case, and that Snowball keeps: заметка, заметок."""
_PLAIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
"""Letters of Latin that Unicode does not take apart."""
_SHORTEST_STEMMED = 3
"""Shorter words are left alone: the stemmers know that "was" and "bus" have no ending to lose, and
that "try" is "tries"."""
_LONGEST = 64
"""Characters of a token that count; base64 and the like are not words."""


def plain_words(text: str) -> list[str]:
    """Return the words of a text in order, casefolded, with straight apostrophes.

    For lists of words, where a contraction has to stay whole; a compound gives its parts alone.
    """
    return PLAIN_WORD.findall(text.casefold().replace("’", "'"))


def tokenize(text: str, *, stems: bool = True, languages: Languages = ()) -> list[str]:
    """Return what a text is searched by, in order, in NFKC and casefolded.

    The one tokenizer of notes and questions. Words become their stems, see ``stem_word``, where
    ``stems`` is set. A compound such as ``save_index``, ``1.0.21`` or ``peer-review`` gives itself
    and its parts; a text in a script without spaces gives its bigrams, and its characters where one
    can be a word.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    written = TOKEN.findall(text.replace("%20", " "))  # a blank in an address
    if not stems:
        return list(chain.from_iterable(map(_expand, written)))
    return list(chain.from_iterable(map(_expand_stemmed, written, repeat(languages))))


@lru_cache(maxsize=1 << 15)
def _expand_stemmed(written: str, languages: Languages) -> tuple[str, ...]:
    return tuple(stem_word(token, languages) for token in _expand(written))


@lru_cache(maxsize=1 << 12)
def _expand(written: str) -> tuple[str, ...]:
    """Return the tokens of one run of letters, digits and joints."""
    written = _POSSESSIVE.sub("", written.replace("’", "'"))
    whole = written.casefold()[:_LONGEST]
    if whole.endswith("n't"):
        return (whole,)  # its parts would be "won" and "don"
    parts = [
        token
        for part in WORD_PART.findall(written)
        for piece in _CAMEL.split(part)
        for token in _characters(piece.casefold()[:_LONGEST])
    ]
    if len(parts) < 2 or UNSPACED_RUN.search(written):
        return tuple(parts)
    version = (whole[1:],) if _VERSION.match(whole) else ()
    return (whole, *version, *(part for part in parts if len(part) > 1 or part.isdigit()))


def squeeze_all(names: Sequence[str]) -> list[str]:
    """Return letters and digits of each name, without case and accents."""
    text = BETWEEN.join(names)
    if text.count(BETWEEN) >= len(names):  # a name holds one itself
        text = BETWEEN.join(name.replace(BETWEEN, " ") for name in names)
    if not text.isascii():
        text = _SIGNS.sub("", unicodedata.normalize("NFKD", text))
    squeezed = text.casefold().encode(errors="replace").translate(None, _ASCII_SIGNS).decode()
    return squeezed.split(BETWEEN) if names else []


def _characters(word: str) -> list[str]:
    """Split what is written without spaces into characters and bigrams; keep other words."""
    if not UNSPACED_RUN.search(word):
        return [word]
    tokens, position = [], 0
    for run in UNSPACED_RUN.finditer(word):
        if run.start() > position:
            tokens.append(word[position : run.start()])
        characters = run.group()
        is_alone = len(characters) == 1
        tokens += [one for one in characters if is_alone or not _LETTER.match(one)]
        tokens += [characters[i : i + 2] for i in range(len(characters) - 1)]
        position = run.end()
    return [*tokens, word[position:]] if position < len(word) else tokens


@lru_cache(maxsize=1 << 15)
def stem_word(word: str, languages: Languages = ()) -> str:
    """Return the stem of a casefolded word, by its script and the languages that apply.

    By default Latin is stemmed as English and Cyrillic as Russian; where several languages of one
    script apply, their stemmers do one after the other, so that a word is one token in any text.
    The stems are those of Snowball (Porter 2 for English, through PyStemmer), once accents of Latin
    letters are dropped and irregular forms and British spellings of English replaced. Words that
    hold a digit or a joint stay as they are, accents aside.
    """
    script = "Latin" if word.isascii() else _script_of(word)
    if script == "Latin" and not word.isascii():
        word = _drop_accents(word)
    if len(word) < _SHORTEST_STEMMED or not _is_of_letters(word):
        return word
    for algorithm in _algorithms(languages).get(script, ()):
        if algorithm == "english":
            word = _LEMMAS.get(word) or _spell_as_american(word)
        word = _stemmer(algorithm).stemWord(word)
        if algorithm == "russian":
            word = re.sub(_FLEETING, "", word)
    return word


def _script_of(word: str) -> str:
    first = next(filter(str.isalpha, word), "")
    return next((script for script, least, most in _SCRIPTS if least <= first <= most), "")


def _is_of_letters(word: str) -> bool:
    return word.isalpha() or (
        WORD_PART.fullmatch(word) is not None and not any(map(str.isdigit, word))
    )


def _drop_accents(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.translate(_PLAIN_LETTERS))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@cache
def _algorithms(languages: Languages) -> Mapping[str, Sequence[str]]:
    """Return the stemmers that apply to words of each script; English first, with its forms."""
    found: dict[str, list[str]] = {}
    for code in sorted(languages, key=lambda code: (code != "en", code)):
        script, algorithm = LANGUAGES[code]
        found.setdefault(script, []).extend(filter(None, [algorithm]))
    for script, algorithm in map(LANGUAGES.__getitem__, _BY_SCRIPT):
        found.setdefault(script, [algorithm])
    return found


@cache
def _stemmer(algorithm: str) -> Stemmer:
    return Stemmer(algorithm)


def _spell_as_american(word: str) -> str:
    """Return an English word in American spelling; what no rule is for, as it is.

    The rules need not know words: "contour" may become "contor" where no word is spelled so, for
    notes and questions are read alike. Patterns are compiled by ``re`` when a word first needs one.
    """
    for spelling, place, pattern, replacement in _BRITISH:
        if word.find(spelling, place) >= 0:
            word = re.sub(pattern, replacement, word)
    return word


def read_lines(name: str) -> list[str]:
    """Return the lines of a file in this folder but for empty ones and comments.

    It is found by its path, because importing ``importlib.resources`` takes 30 ms.
    """
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


_LEMMAS = {
    form: lemma
    for lemma, _, forms in (line.partition(": ") for line in read_lines("lemmas.txt"))
    for form in forms.split()
}
"""What stands for each irregular form, from ``lemmas.txt``: ``lemma: forms`` a line."""
_BRITISH = [
    (letters, int(place), pattern, meant)
    for letters, place, pattern, meant in (line.split("  ") for line in read_lines("spellings.txt"))
]
