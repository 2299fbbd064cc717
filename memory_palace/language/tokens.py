"""Words of a text: ``tokenize`` for searching, ``plain_words`` for reading."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from Stemmer import Stemmer

_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
"""Vowel signs and accents that belong to a word though Unicode calls them no letters."""
_WORD = rf"(?:[^\W_]|[{_MARKS}])++"
TOKEN = re.compile(rf"{_WORD}(?:(?:[.\-/:@'’+]|_++){_WORD})*+")
WORD_PART = re.compile(_WORD)
UNSPACED_RUN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts that are written without spaces between words, and Hangul, whose endings stick."""
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
_ENGLISH, _RUSSIAN = Stemmer("english"), Stemmer("russian")
_CYRILLIC = re.compile("[\u0400-\u04ff]+")
_SHORTEST_STEMMED = 3
"""Shorter words are left alone: the stemmers know that "was" and "bus" have no ending to lose, and
that "try" is "tries"."""
_NO_ISE = (
    "adv|advert|appra|bra|bru|ca|cha|chast|comp|comprom|conc|cr|cru|dem|desp|dev|disfranch|disgu|"
    "enfranch|enterpr|exc|exerc|expert|franch|improv|inc|ka|lia|merchand|moonr|parad|porpo|pra|"
    "prec|prem|prom|rema|repr|rev|sunr|superv|surm|surpr|telev|tra|treat|turquo|upr"
)
_OUR = r"^(.{3,}o)ur((?:s|ed|ing|ites?|able|ably|al|ers?|ful|less|hoods?|ly|y)?)$"
_RE = r"^(.+[btv])re(s?)$"
_LYSE = "^(ana|cata|dia|electro|hydro|para)ly[sz](?:e[ds]?|ing)$"
_ISE = rf"^(?!(?:{_NO_ISE})is)(.{{3,}}i)s(e[drs]?|ers|ing|able|ations?)$"
_AE = "(?:(?<=arch)|(?<=gyn)|(?<=p)(?=aed)|(?<=[cf])(?=aec)|(?=aem|aesth|aetiol))ae"
_OE = "(?:(?<=rrh)|(?<=pn)|(?<=hom)|(?<=f)(?=oet)|(?=oedem|oesoph|oestr|oeuv))oe"
_BRITISH = (
    ("ae", 0, _AE, "e"),
    ("oe", 0, _OE, "e"),
    ("our", 3, _OUR, r"\1r\2"),
    ("tre", 2, _RE, r"\1er\2"),
    ("bre", 2, _RE, r"\1er\2"),
    ("vre", 2, _RE, r"\1er\2"),
    ("ogue", 3, r"^(.{3,}og)ue(s?)$", r"\1\2"),
    ("lys", 3, _LYSE, r"\1lysis"),
    ("lyz", 3, _LYSE, r"\1lysis"),
    ("is", 3, _ISE, r"\1z\2"),
)
"""Letters, the least place they stand at in a word, the pattern of the words meant, and what is
written in America: favourite, centre, catalogue, analyse, organise, anaemia."""
_LONGEST = 64
"""Characters of a token that count; base64 and the like are not words."""


def plain_words(text: str) -> list[str]:
    """Return the words of a text in order, casefolded, with straight apostrophes.

    For lists of words, where a contraction has to stay whole; a compound gives its parts alone.
    """
    return PLAIN_WORD.findall(text.casefold().replace("’", "'"))


def tokenize(text: str, *, stems: bool = True) -> list[str]:
    """Return what a text is searched by, in order, in NFKC and casefolded.

    The one tokenizer of notes and questions. Words become their stems, see ``stem_word``, where
    ``stems`` is set. A compound such as ``save_index``, ``1.0.21`` or ``peer-review`` gives itself
    and its parts; a text in a script without spaces gives its characters and their bigrams.
    """
    expand = _expand_stemmed if stems else _expand
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return list(chain.from_iterable(map(expand, TOKEN.findall(text))))


@lru_cache(maxsize=1 << 15)
def _expand_stemmed(written: str) -> tuple[str, ...]:
    return tuple(stem_word(token) for token in _expand(written))


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
        tokens += characters
        tokens += [characters[i : i + 2] for i in range(len(characters) - 1)]
        position = run.end()
    return [*tokens, word[position:]] if position < len(word) else tokens


@lru_cache(maxsize=1 << 15)
def stem_word(word: str) -> str:
    """Return the stem of a casefolded word, by its script: Latin as English, Cyrillic as Russian.

    Words that hold anything but letters stay as they are, and so do Latin ones with accents. The
    stems are those of Snowball (Porter 2 for English, through PyStemmer), once irregular forms and
    British spellings are replaced.
    """
    if len(word) < _SHORTEST_STEMMED or not word.isalpha():
        return word
    if word.isascii():
        return str(_ENGLISH.stemWord(_LEMMAS.get(word) or _spell_as_american(word)))
    return str(_RUSSIAN.stemWord(word)) if _CYRILLIC.fullmatch(word) else word


def _spell_as_american(word: str) -> str:
    """Return an English word in American spelling; what no rule is for, as it is.

    The rules need not know words: "contour" may become "contor" where no word is spelled so, for
    notes and questions are read alike. Patterns are compiled by ``re`` when a word first needs one.
    """
    for spelling, place, pattern, replacement in _BRITISH:
        if word.find(spelling, place) >= 0:
            word = re.sub(pattern, replacement, word)
    return word


def _read_lemmas() -> dict[str, str]:
    """Return what stands for each irregular form, from ``lemmas.txt``: ``lemma: forms`` a line."""
    text = Path(__file__).with_name("lemmas.txt").read_text("utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if line[:1] != "#")
    return {form: lemma for lemma, _, forms in lines for form in forms.split()}


_LEMMAS = _read_lemmas()
