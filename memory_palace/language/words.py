"""Tokens and stems, word lists, inverse document frequency, and the language of a text.

``tokenize`` returns search tokens, ``plain_words`` words as people count them. The word lists are
in ``words.txt``: common verbs and adjectives, and complete closed classes. An unlisted word counts
as a noun, which is right far more often than not and needs no model.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import Literal, TypeAlias

from Stemmer import Stemmer

from memory_palace.config import LANGUAGES

_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
"""Vowel signs and accents: parts of words, though not letters in Unicode."""
_WORD = rf"(?:[^\W_]|[{_MARKS}])++"
TOKEN = re.compile(rf"{_WORD}(?:(?:[.\-/:@'’+]|_++){_WORD})*+")
WORD_PART = re.compile(_WORD)
UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
UNSPACED_RUN = re.compile(f"{UNSPACED}+")
"""Runs of scripts without spaces between words, and of Hangul, whose endings are attached."""
_LETTER = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff]")
"""Kana and letters of Thai, Lao, Burmese and Khmer: a single one is not a word, unlike one of
Chinese or Korean (Japanese pages by words alone: mrr .831 with single kana, .850 without)."""
_JOINED = "{0}+(?:['’]{0}+)*"  # not possessive: Python 3.11.2 takes an apostrophe too many
PLAIN_WORD = re.compile(_JOINED.format(r"[^\W_]"))
"""A word: letters and digits, with apostrophes inside."""
SPACED_WORD = _JOINED.format(rf"(?:(?!{UNSPACED})[^\W_])")
BETWEEN = "\0"
"""Separator of texts that are processed as one; no text of an index contains it."""
_SIGNS = re.compile(r"[^\w\0]+")
"""Accents separated from their letters (NFKD), and signs such as emoji."""
_ASCII_SIGNS = (string.punctuation + string.whitespace).encode()
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_POSSESSIVE = re.compile(r"'s?$")
_VERSION = re.compile(r"v\d")
Languages: TypeAlias = tuple[str, ...]
"""ISO 639-1 codes of the languages whose stemmers apply; empty for those of ``_BY_SCRIPT``."""
_BY_SCRIPT = ("en", "ru")
"""Default stemmers, for scripts in which no configured language is written. Stemming French or
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
"""A fleeting vowel of Russian nouns, which Snowball does not drop: заметка, заметок."""
_PLAIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
"""Latin letters that NFKD does not decompose."""
_SHORTEST_STEMMED = 3
"""Fewest letters of a word to stem: from three on the stemmers know that "was" and "bus" have no
ending, and that "tries" is "try"."""
_LONGEST = 64
"""Most characters of a token; the rest is cut off, for base64 and the like are not words."""


def plain_words(text: str) -> list[str]:
    """Return the words of a text in order, casefolded, with straight apostrophes.

    For look-up in word lists: a contraction stays whole, a compound gives its parts alone.
    """
    return PLAIN_WORD.findall(text.casefold().replace("’", "'"))


def tokenize(text: str, *, stems: bool = True, languages: Languages = ()) -> list[str]:
    """Return the search tokens of a text in order, in NFKC and casefolded.

    The only tokenizer of notes and questions. With ``stems`` words are stemmed by ``stem_word``. A
    compound such as ``save_index``, ``1.0.21`` or ``peer-review`` gives itself and its parts; a
    text in a script without spaces gives its bigrams, and its characters where one can be a word.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    written = TOKEN.findall(text.replace("%20", " "))  # a blank in a URL
    if not stems:
        return list(chain.from_iterable(map(_expand, written)))
    return list(chain.from_iterable(map(_expand_stemmed, written, repeat(languages))))


@lru_cache(maxsize=1 << 15)
def _expand_stemmed(written: str, languages: Languages) -> tuple[str, ...]:
    return tuple(stem_word(token, languages) for token in _expand(written))


@lru_cache(maxsize=1 << 12)
def _expand(written: str) -> tuple[str, ...]:
    """Return the tokens of one run of letters, digits and joining signs."""
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
    """Return each name reduced to its letters and digits, casefolded, without accents."""
    text = BETWEEN.join(names)
    if text.count(BETWEEN) >= len(names):  # a name contains the separator
        text = BETWEEN.join(name.replace(BETWEEN, " ") for name in names)
    if not text.isascii():
        text = _SIGNS.sub("", unicodedata.normalize("NFKD", text))
    squeezed = text.casefold().encode(errors="replace").translate(None, _ASCII_SIGNS).decode()
    return squeezed.split(BETWEEN) if names else []


def _characters(word: str) -> list[str]:
    """Return the characters and bigrams of unspaced runs in a word; other parts stay whole."""
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

    By default Latin is stemmed as English and Cyrillic as Russian. Where several languages of one
    script apply, their stemmers run in turn, so that a word is one token in any text. Stemmers are
    those of Snowball (Porter 2 for English, through PyStemmer), after accents of Latin letters are
    dropped, and irregular forms and British spellings of English replaced. Words with a digit or a
    joining sign are not stemmed.
    """
    script = "Latin" if word.isascii() else _script_of(word)
    if script == "Latin" and not word.isascii():
        word = _drop_accents(word)
    has_letters_alone = word.isalpha() or (
        WORD_PART.fullmatch(word) is not None and not any(map(str.isdigit, word))
    )
    if len(word) < _SHORTEST_STEMMED or not has_letters_alone:
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


def _drop_accents(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.translate(_PLAIN_LETTERS))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@cache
def _algorithms(languages: Languages) -> Mapping[str, Sequence[str]]:
    """Return the names of the stemmers for each script, English first."""
    found: dict[str, list[str]] = {}
    for code in sorted(languages, key=lambda code: (code != "en", code)):
        script, algorithm = LANGUAGES[code]
        found.setdefault(script, []).extend(filter(None, [algorithm]))
    for script, algorithm in map(LANGUAGES.__getitem__, _BY_SCRIPT):
        found.setdefault(script, [algorithm])
    return found


_stemmer = cache(Stemmer)


def _spell_as_american(word: str) -> str:
    """Return an English word in American spelling, unchanged if no rule applies.

    Rules may misspell a word ("contor" for "contour") without harm, because notes and questions are
    changed alike. ``re`` compiles a pattern when a word first needs it.
    """
    for spelling, place, pattern, replacement in _BRITISH:
        if word.find(spelling, place) >= 0:
            word = re.sub(pattern, replacement, word)
    return word


def read_lines(name: str) -> list[str]:
    """Return the lines of a file in this folder, without empty lines and comments.

    The file is found by path, because importing ``importlib.resources`` takes 30 ms.
    """
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def read_table(name: str) -> dict[str, str]:
    """Return the entries of a file in this folder in order, one ``key: text`` per line.

    A line that begins with a space continues the entry before it; ``#`` begins a comment.
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


_LEMMAS = {
    form: lemma
    for lemma, _, forms in (line.partition(": ") for line in read_lines("lemmas.txt"))
    for form in forms.split()
}
"""The lemma of each irregular form, from the lines ``lemma: forms`` of ``lemmas.txt``."""
_BRITISH = [
    (letters, int(place), pattern, meant)
    for letters, place, pattern, meant in (line.split("  ") for line in read_lines("spellings.txt"))
]

WORDS = {name: frozenset(words.split()) for name, words in read_table("words.txt").items()}
"""The lists of ``words.txt``, by name."""
DETERMINERS = WORDS["determiners"]
"""Articles and other determiners, which no verb can follow."""
AUXILIARIES = WORDS["auxiliaries"]
"""Auxiliaries, which a participle may follow: "was running" is not a noun phrase."""
FUNCTION_WORDS = WORDS["function words"]
STOPWORDS = WORDS["stop words"]
"""Articles, pronouns, prepositions, conjunctions, auxiliaries and question words. Fewer than
``FUNCTION_WORDS``, which has every word that is not a noun in a phrase: "today", "Monday" and
"please" are among those, and are worth searching for."""
STOP_STEMS = frozenset(tokenize(" ".join(sorted(STOPWORDS))))
"""The tokens of the stop words, as ``tokenize`` returns them."""
NEGATIONS = WORDS["negations"]
TIME_WORDS = WORDS["time words"]
"""English words of time, which say little of what a text is about."""
PSEUDO_TEXTS = 4
_ASKED = {"how long": WORDS["answers to how long"]}
_ASKED |= dict.fromkeys(
    ("when", "what date", "what day", "what month", "what year"), WORDS["answers to when"]
)
_ASKED |= dict.fromkeys(
    ("how many", "how much", "how often", "how old"),
    WORDS["answers to how many"] | set(map(str, range(1, 101))),
)
_ASKING = re.compile(rf"\b(?:{'|'.join(_ASKED)})\b", re.I)
_MANY = re.compile(
    r"\b(?:how (?:many|often)|both|(?:what|which)(?: \w+){0,2} (?!(?:is|was|does|has|his|this)\b)"
    r"\w+[^\Wsui]s)\b",
    re.I,
)


def drop_stop_stems(stems: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct stems without stop words, in order; all of them if none is left."""
    distinct = tuple(dict.fromkeys(stems))
    return tuple(stem for stem in distinct if stem not in STOP_STEMS) or distinct


def answer_stems(question: str) -> frozenset[str]:
    """Return stems, one of which an answer has, for an English question for a time or number.

    Spans of time count as times. Empty for any other question: places and persons have no words of
    their own.
    """
    asked = _ASKING.search(question)
    return frozenset(tokenize(" ".join(_ASKED[asked[0].casefold()]))) if asked else frozenset()


def asks_for_many(question: str) -> bool:
    """Whether an English question asks how many, or for several things: "which books", "both"."""
    return _MANY.search(question) is not None


def is_negation(word: str) -> bool:
    """Whether a word of ``plain_words`` is an English negation."""
    return word in NEGATIONS or word.endswith("n't")


def bm25_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + (N - df + .5) / (df + .5))`` (Robertson and Spärck Jones 1976, as Lucene).

    It is near 0 for a word in most texts, which must not decide a ranking.
    """
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def expect_idf(stem: str, having: int, texts: int) -> float:
    """Return ``bm25_idf`` smoothed with pseudo-counts, for a small number of texts.

    ``PSEUDO_TEXTS`` are added; half of them have every stop word, none has another word.
    """
    usual = PSEUDO_TEXTS // 2 if stem in STOP_STEMS else 0
    return bm25_idf(having + usual, texts + PSEUDO_TEXTS)


def share_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + N / df)``, which is at least ln 2; ``having`` is above 0.

    For weights that divide a whole among the words of a question: each known word keeps a part.
    """
    return math.log1p(texts / having)


Tongue: TypeAlias = Literal["english", "other", "unclear"]

_LETTERS = re.compile(r"[^\W\d_]+")
_MOST_CHARACTERS = 2000

_ENGLISH = STOPWORDS | FUNCTION_WORDS | DETERMINERS | AUXILIARIES
_ELSEWHERE = WORDS["elsewhere"] - _ENGLISH
"""Common words of some thirty languages in Latin script, without those of English."""
_NO_PROSE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z]{2,9}://\S+|\[\[[^\[\]|\n]*\||\]\([^()\n]*\)"
    r"|</?[a-zA-Z][^<>\n]*>",
    re.DOTALL,
)
_DENSE = "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
"""Chinese, Japanese and Korean; compiled where a text needs it, for that takes 6 ms."""
_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_DENSE_LETTERS = 3
"""Weight of a Chinese, Japanese or Korean character, in Latin letters."""
_OTHER_SCRIPT = 0.3
"""Least share of other scripts in a text not in English: Japanese has many English names."""
_LEAST_LETTERS = 3
_LEAST_WORDS = 2
"""Fewest common words, English or not, by which prose can be told from names or code."""
_FIRST_WORDS = 200


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """Number of texts that are not English, of those with enough prose to decide."""

    other: int = 0
    told: int = 0

    @property
    def not_english(self) -> float | None:
        """The share of texts that are not English; ``None`` if no text could be decided."""
        return self.other / self.told if self.told else None


def tell_tongue(text: str) -> Tongue:
    """Return whether the prose of a text is English; ``unclear`` if there is too little of it.

    Code, URLs and link targets are left out. A text with many letters of another script is not
    English; else common English words are counted against those of other languages, for which each
    other word with a letter outside ASCII counts half.
    """
    text = _NO_PROSE.sub(" ", text[: 2 * _MOST_CHARACTERS])[:_MOST_CHARACTERS]
    if not text.isascii() and _is_other_script(text):
        return "other"
    words = [word.casefold() for word in _LETTERS.findall(text)][:_FIRST_WORDS]
    english = sum(map(_ENGLISH.__contains__, words))
    other = float(sum(map(_ELSEWHERE.__contains__, words)))
    if not text.isascii():
        other += 0.5 * sum(not word.isascii() and word not in _ELSEWHERE for word in words)
    if english + other < _LEAST_WORDS or english == other:
        return "unclear"
    return "english" if english > other else "other"


def is_foreign(question: str) -> bool:
    """Whether a question is clearly not English; a repeated word (IL-6, IL-10) counts once."""
    words = _LETTERS.findall(_NO_PROSE.sub(" ", question).casefold())
    return tell_tongue(" ".join(dict.fromkeys(words))) == "other"


def _is_other_script(text: str) -> bool:
    letters = "".join(filter(str.isalpha, text))
    dense, latin = len(re.findall(_DENSE, letters)), len(_LATIN.findall(letters))
    other = len(letters) - latin + (_DENSE_LETTERS - 1) * dense
    return other >= max(_LEAST_LETTERS, _OTHER_SCRIPT * (other + latin))


def is_english(text: str) -> bool:
    """Whether English patterns apply to a text: it is English, or its language is unclear."""
    return tell_tongue(text) != "other"
