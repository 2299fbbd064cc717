"""Phrase search: find the passages that hold quoted words in order, by reading the notes.

Posting lists have no positions of words. So the notes that hold the words are read and compared
word by word, ignoring case, accents, punctuation, markup and line ends.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import PalacePaths
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import PostingLookup
from memory_palace.language.words import tokenize
from memory_palace.markdown.markup import strip_markup
from memory_palace.notes.note import NoteUnreadable, read_body, read_note, stem_of

_QUOTED = re.compile(
    r'"([^"]{1,500}+)"|“([^“”„]{1,500}+)”|„([^“”„]{1,500}+)[“”]|«([^«»]{1,500}+)»'
    r"|「([^「」]{1,500}+)」|『([^『』]{1,500}+)』|＂([^＂]{1,500}+)＂"
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
"""A run of letters and digits, or one character of a script without spaces."""
_LINK_END = re.compile(r"\]\([^()\s]{0,500}+(?:\([^()\s]{0,100}+\)[^()\s]{0,500}+)?\)")
_WIKI_TARGET = re.compile(r"\[\[[^\[\]|\n]{0,500}+\|")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,500}+>")
_MOST_READ = 400
"""Most notes read for one quote in the second pass, if none with all its words holds it."""
_MOST_BYTES = 1 << 31
"""Limit per note: the size was checked when the note was indexed."""
_ENOUGH = 0.6
"""Share of a quote's words that a note needs in the second pass: others may differ in accents."""


def find_quoted(text: str) -> list[str]:
    """Return the distinct texts in double quotation marks, in order."""
    found = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    return list(dict.fromkeys(quote for quote in found if quote))


def match_quotes(
    quotes: Sequence[str], snapshot: Snapshot, paths: PalacePaths | None, allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    """Return the rows of allowed notes that hold the quotes, and the quotes that none holds.

    If no note holds all matched quotes, rows with one of them count; ``None`` if no quote matches.
    Unreadable notes hold none. ``paths`` are unused if the snapshot has ``read_lines``.
    """
    holding = {quote: _holders(quote, snapshot, paths, allowed) for quote in quotes}
    unmatched = tuple(quote for quote, held in holding.items() if not held)
    held = [rows for rows in holding.values() if rows]
    if not held:
        return None, unmatched
    notes = set.intersection(*({int(snapshot.row_note[row]) for row in rows} for rows in held))
    rows = sorted({row for rows in held for row in rows})
    if notes:
        rows = [row for row in rows if int(snapshot.row_note[row]) in notes]
    return np.array(rows, np.int64), unmatched


def _holders(
    quote: str, snapshot: Snapshot, paths: PalacePaths | None, allowed: NDArray[np.bool_]
) -> list[int]:
    wanted = _spell(quote)
    if not wanted:
        return []
    terms = list(dict.fromkeys(tokenize(quote, languages=snapshot.languages)))
    having = count_terms(terms, snapshot)
    having[~allowed] = 0
    for least, most in ((len(terms), len(having)), (_ENOUGH * len(terms), _MOST_READ)):
        notes = np.flatnonzero(having >= max(least, 1))
        order = np.argsort(-having[notes], kind="stable")[:most]
        held = [
            row for note in notes[order] for row in _rows_of(int(note), wanted, snapshot, paths)
        ]
        if held:
            return held
    return []


def count_terms(terms: Iterable[str], snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the number of the terms in the text or names of each note."""
    fields = [PostingLookup(snapshot, field) for field in ("words", "names")]
    counts = np.zeros(len(snapshot.paths), np.int64)
    for term in terms:
        has = np.zeros(len(counts), np.bool_)
        for field in fields:
            has[snapshot.row_note[field.rows(term)]] = True
        counts += has
    return counts


def _rows_of(
    note: int, wanted: str, snapshot: Snapshot, paths: PalacePaths | None
) -> Iterator[int]:
    """Yield the rows of a note that hold a phrase; its first row if a name does."""
    path = snapshot.paths[note]
    rows = np.flatnonzero(snapshot.row_note == note)
    try:
        found = read_body(path, _read(path, snapshot, paths))
    except (NoteUnreadable, OSError):
        return
    if found.is_private or not len(rows):
        return
    starts, ends = snapshot.row_lines[rows, 0].tolist(), snapshot.row_lines[rows, 1].tolist()
    lines = list(_lines_of(wanted, found.text, found.first_line))
    places = {
        place
        for line in lines
        if (place := bisect_right(starts, line) - 1) >= 0 and line <= ends[place]
    }
    if not places:
        record = snapshot.note(note)
        names = (record.title, stem_of(path), *record.aliases)
        places = {0} if lines or any(wanted in _spell(name) for name in names) else set()
    yield from (int(rows[place]) for place in sorted(places))


def _read(path: str, snapshot: Snapshot, paths: PalacePaths | None) -> bytes:
    """Return the bytes of a note, by the snapshot's ``read_lines`` if set, else from disk."""
    if snapshot.read_lines:
        return "\n".join(snapshot.read_lines(path)).encode()
    return read_note(paths, path, limit_bytes=_MOST_BYTES)[0] if paths else b""


def _lines_of(wanted: str, body: str, first_line: int) -> Iterator[int]:
    """Yield the lines where a phrase begins, in the raw text or without links, tags or markup."""
    shown = _TAG.sub("", _WIKI_TARGET.sub("[[", _LINK_END.sub("]", body)))
    for text in (body, shown, strip_markup(body)):
        words = list(_WORD.finditer(text))
        spelled = [_fold(match[0]) for match in words]
        joined = f" {' '.join(spelled)} "
        begins = joined.find(wanted)
        while begins >= 0:
            start = words[joined.count(" ", 0, begins + 1) - 1].start()
            yield first_line + text.count("\n", 0, start)
            begins = joined.find(wanted, begins + 1)


def _spell(text: str) -> str:
    """Return the folded words of a text with a space around each; empty if it has no words."""
    words = [_fold(word) for word in _WORD.findall(text)]
    return f" {' '.join(words)} " if words else ""


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
