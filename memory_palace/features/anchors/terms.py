"""The terms that a note offers as anchors, and the keys under which terms are matched."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_palace.config import SEVEN, Rooms
from memory_palace.language.tagged_words import find_names, name_text, split_words
from memory_palace.language.words import STOP_STEMS, STOPWORDS, TIME_WORDS, plain_words, stem_word
from memory_palace.markdown.markup import strip_markup
from memory_palace.notes.note import Chunk, Note, stem_of

TermKind = Literal["curated", "project", "entity", "title", "link", "name"]
"""What a term can be, the surest sign of what matters first."""

LONGEST = 6
"""Words of an anchor at most. A question is looked up in runs of up to as many words."""
LONGEST_UNSPACED = 14
"""The same in characters of a script without spaces."""
SHORTEST = 3
"""Characters of an anchor at least, unless it is written in a script without spaces."""
PER_NOTE = 64
"""Terms that one note may offer: 10,000 bold words in one note must not be the vocabulary."""

_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SAYS_LITTLE = STOPWORDS | TIME_WORDS | frozenset("mon tue tues wed thu thur thurs fri sat".split())
_FEW_UNSPACED = 10
"""Among so many characters one without spaces is a quotation; of more no capital tells a name."""
_ORDINAL = re.compile(r"^\d+[_-]+")
_NO_NAME = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|pdf|mp[34]|mov|wav|zip|canvas|base)\b|[\[\]{}<>|\\$`=]|://"
    r"|\bwww\.|\w@\w|[0-9a-f]{8}-[0-9a-f]{4}|\b(?=\w*\d)[0-9a-f]{8,}\b",
    re.IGNORECASE,
)
"""Files, markup, addresses and numbers of machines."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term as one note offers it."""

    kind: TermKind
    display: str
    key: str
    alias_of: str = ""
    """Key of the term that this one is another name of."""


def clean_display(text: str) -> str:
    """Return a term as it is shown: NFKC, one line, nothing invisible."""
    text = unicodedata.normalize("NFKC", text)
    kept = (c for c in text if unicodedata.category(c) not in ("Cf", "Cc", "Co", "Cs") or c == "\t")
    return " ".join("".join(kept).replace("\n", " ").split()).strip(" :.,;*_#`\"'“”")


def words_of(text: str) -> list[str]:
    """Return the words of a text as anchors are matched by them: casefolded stems, in order.

    Unlike ``tokenize`` it gives each word once, so that neighbours are neighbours: compounds fall
    apart, a script without spaces gives one word per character, invisible characters are gone.
    """
    if not text.isascii():
        text = clean_display(text)
    words: list[str] = []
    for written in plain_words(text):
        word = written.removesuffix("'s")
        words += list(word) if _UNSPACED.search(word) else [stem_word(word)]
    return words


def match_key(text: str) -> str:
    """Return the key of a term: the stems of its words, so that number and case do not count."""
    return " ".join(words_of(text))


def runs(words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, length and key of every run of words that could be an anchor."""
    for start in range(len(words)):
        for length in range(1, min(_most_words(words[start]), len(words) - start) + 1):
            yield start, length, " ".join(words[start : start + length])


def _most_words(first: str) -> int:
    return LONGEST if first.isascii() or not _UNSPACED.match(first) else LONGEST_UNSPACED


def is_usable(display: str, key: str) -> bool:
    """Say whether a term may be an anchor at all.

    Stop words alone, numbers, sentences, files, markup and addresses may not.
    """
    words = key.split()
    if not words or len(words) > _most_words(words[0]) or len(display) > 80:
        return False
    if _NO_NAME.search(display):
        return False
    written = plain_words(display)
    if all(word in _SAYS_LITTLE or word.isdigit() for word in written) or all(
        word in STOP_STEMS for word in words
    ):
        return False
    return len(key) >= SHORTEST or bool(_UNSPACED.search(key))


def note_terms(note: Note, rooms: Rooms = SEVEN) -> list[Term]:
    """Return the terms that name a whole note: title, aliases, entities, its project or chamber."""
    found: list[Term] = []
    parts = rooms.place_of(note.path).split("/")
    if len(parts) > 2 and parts[0] in ("project_rooms", "chambers"):
        found.append(_term("project" if parts[0] == "project_rooms" else "entity", parts[1]))
    title = _term("title", note.title)
    found.append(title)
    found += (_term("title", alias, title.key) for alias in note.aliases)
    found += (_term("entity", entity) for entity in note.entities)
    return _usable(found)


def chunk_terms(chunk: Chunk, note: Note) -> list[Term]:
    """Return the terms that stand in a passage: link targets and names."""
    found: list[Term] = []
    for link in note.links:
        if chunk.first_line <= link.line <= chunk.last_line and link.target:
            found.append(_term("link", stem_of(link.target)))
    if len(_UNSPACED.findall(chunk.text)) * _FEW_UNSPACED < len(chunk.text):
        words = split_words(strip_markup(chunk.text))
        found += (_term("name", name_text(name)) for name in find_names(words))
    return _usable(found)


def _term(kind: TermKind, text: str, alias_of: str = "") -> Term:
    if kind in ("project", "entity"):
        text = _ORDINAL.sub("", text).replace("-", " ").replace("_", " ")
    display = clean_display(text)
    return Term(kind, display, match_key(display), alias_of)


def _usable(terms: list[Term]) -> list[Term]:
    return [term for term in terms if is_usable(term.display, term.key)]
