"""Terms in notes, the keys that match them, and the choice of anchors among them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import log

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import SEVEN, Config, PalacePaths, Rooms
from memory_palace.embedding.registry import Embedder
from memory_palace.errors import RoomNotMappedError
from memory_palace.features.anchors.anchor_file import Anchor, Keys, TermKind, open_rows, row_keys
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import Progress
from memory_palace.language.tagged_words import find_names, name_text, split_words
from memory_palace.language.words import (
    STOP_STEMS,
    STOPWORDS,
    TIME_WORDS,
    plain_words,
    share_idf,
    stem_word,
)
from memory_palace.markdown.markup import strip_markup
from memory_palace.notes.note import Chunk, Fence, Note, NoteUnreadable, read_note, stem_of
from memory_palace.notes.parsing import parse_note

LONGEST = 6
"""Most words of an anchor, and of a run looked up in a question."""
LONGEST_UNSPACED = 14
"""Most characters of an anchor in a script without spaces."""
SHORTEST = 3
"""Least characters of an anchor, unless it is written in a script without spaces."""
PER_NOTE = 64
"""Most terms of one note: 10,000 bold words in one note must not be the vocabulary."""

_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SAYS_LITTLE = STOPWORDS | TIME_WORDS | frozenset("mon tue tues wed thu thur thurs fri sat".split())
_FEW_UNSPACED = 10
"""Names are looked for if less than one character in so many is of a script without spaces."""
_ORDINAL = re.compile(r"^\d+[_-]+")
_NO_NAME = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|pdf|mp[34]|mov|wav|zip|canvas|base)\b|[\[\]{}<>|\\$`=]|://"
    r"|\bwww\.|\w@\w|[0-9a-f]{8}-[0-9a-f]{4}|\b(?=\w*\d)[0-9a-f]{8,}\b",
    re.IGNORECASE,
)
"""Matches file names, markup, addresses and identifiers made by machines."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term found in a note or in the curated list."""

    kind: TermKind
    display: str
    key: str
    alias_of: str = ""
    """Key of the term that this one is an alias of; else empty."""


def clean_display(text: str) -> str:
    """Return a term for display: NFKC, one line, no invisible characters or outer marks."""
    text = unicodedata.normalize("NFKC", text)
    kept = (c for c in text if unicodedata.category(c) not in ("Cf", "Cc", "Co", "Cs") or c == "\t")
    return " ".join("".join(kept).replace("\n", " ").split()).strip(" :.,;*_#`\"'“”")


def words_of(text: str) -> list[str]:
    """Return the casefolded stems of a text, in order, to match anchors by.

    Unlike ``tokenize``, one stem per word keeps neighbours adjacent: compounds are split, a
    script without spaces gives one per character, invisible characters are dropped.
    """
    if not text.isascii():
        text = clean_display(text)
    words: list[str] = []
    for written in plain_words(text):
        word = written.removesuffix("'s")
        words += list(word) if _UNSPACED.search(word) else [stem_word(word)]
    return words


def match_key(text: str) -> str:
    """Return the match key of a term: its stems in order, so that number and case are ignored."""
    return " ".join(words_of(text))


def runs(words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, length and key of every run of words short enough for an anchor."""
    for start in range(len(words)):
        for length in range(1, min(_most_words(words[start]), len(words) - start) + 1):
            yield start, length, " ".join(words[start : start + length])


def _most_words(first: str) -> int:
    return LONGEST if first.isascii() or not _UNSPACED.match(first) else LONGEST_UNSPACED


def is_usable(display: str, key: str) -> bool:
    """Return whether a term may be an anchor.

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
    """Return the terms in a passage: link targets and names."""
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


# --- Choosing ---

CURATED = "anchors.md"
"""One anchor a line, ``- term`` or ``- term: other name, other name``; never pruned."""
WEIGHTS: Mapping[str, float] = {
    "curated": 4.0,
    "project": 3.0,
    "entity": 3.0,
    "title": 2.0,
    "link": 2.0,
    "name": 1.5,
}
"""Weight of a term's kind in its salience; the best kind counts."""
PASSAGES_EACH = 8
"""Passages per anchor, which limits the vocabulary of a small palace."""
FEWEST = 24
"""Anchors allowed in any palace; with fewer candidates, names in one passage count too."""
NOTE_SHARE = 4
"""One anchor in so many may come from a single note alone."""
NAME_USES = 4
"""Passages holding a word, per passage that offers it as a term; above, it is a common word."""
TITLE_USES = 8
"""``NAME_USES`` for a note's title, which its own passages repeat."""
FEW_USES = 8
"""Passages that a one-word anchor may always stand in."""


@dataclass(frozen=True, slots=True)
class AnchorWork:
    """The inputs of an anchor build or update."""

    paths: PalacePaths
    config: Config
    embedder: Embedder
    now_ns: int
    progress: Progress = lambda doing, done, total: None


@dataclass(frozen=True, slots=True)
class TermedPassage:
    """A passage unchanged since it was indexed, with the terms and stems in it."""

    row: int
    note: int
    """Index of its note in the snapshot."""
    terms: tuple[Term, ...]
    words: tuple[str, ...]


@dataclass(slots=True)
class Candidate:
    """Counts of a term that may become an anchor."""

    kinds: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)
    notes: set[int] = field(default_factory=set)
    passages: int = 0
    salience: float = 0.0
    display: str = ""
    """The curated spelling, else the most frequent one."""
    displays: Counter[str] = field(default_factory=Counter)
    """Number of uses of each spelling."""


def distinct_rows(work: AnchorWork, snapshot: Snapshot) -> tuple[Keys, NDArray[np.int64]]:
    """Return the keys of all passages anchors may lead to, ascending, and one row of each.

    The list of curated anchors is left out: it names every anchor and describes none.
    """
    rows, listing = open_rows(snapshot, work.config.anchors), curated_path(work.paths)
    first, last = bisect_left(snapshot.paths, listing), bisect_right(snapshot.paths, listing)
    rows = rows[(snapshot.row_note[rows] < first) | (snapshot.row_note[rows] >= last)]
    keys, firsts = np.unique(row_keys(snapshot)[rows], return_index=True)
    return keys, rows[firsts]


def read_passages(
    work: AnchorWork, snapshot: Snapshot, rows: NDArray[np.int64]
) -> list[TermedPassage]:
    """Return the passages of the given rows, without those whose text has changed since."""
    keys = row_keys(snapshot)
    by_note: dict[int, dict[int, int]] = {}
    for row in rows.tolist():
        by_note.setdefault(int(snapshot.row_note[row]), {})[int(keys[row])] = row
    found: list[TermedPassage] = []
    for done, place in enumerate(sorted(by_note)):
        work.progress("reading notes", done, len(by_note))
        found += _read_note(work, snapshot.paths[place], place, by_note[place])
    return found


def _read_note(
    work: AnchorWork, path: str, place: int, wanted: Mapping[int, int]
) -> Iterator[TermedPassage]:
    data = _read(work, path)
    if data is None:
        return
    count, limit = work.embedder.count_tokens, work.embedder.token_limit
    note, fence = parse_note(path, data, count_tokens=count, token_limit=limit), Fence(path)
    offered = fence.read("anchors", partial(note_terms, note, work.paths.rooms), [])
    seen = {term.key for term in offered}
    for chunk in note.chunks:
        row = wanted.get(int.from_bytes(bytes.fromhex(chunk.digest)[:8], "little"))
        if row is None:
            continue
        terms = dict.fromkeys(offered[:PER_NOTE])
        for term in fence.read("anchors", partial(chunk_terms, chunk, note), (), chunk.first_line):
            if term.key in seen or len(seen) < PER_NOTE:
                seen.add(term.key)
                terms[term] = None
        yield TermedPassage(row, place, tuple(terms), tuple(words_of(chunk.embed_text)))


def curated_path(paths: PalacePaths) -> str:
    """Return the path of the curated list: in the grand hall, else in ``paths.own``."""
    try:
        return paths.rooms.path_of(f"grand_hall/{CURATED}")
    except RoomNotMappedError:
        return paths.shown(paths.own / CURATED)


def read_curated(work: AnchorWork) -> Iterator[Term]:
    """Yield the curated terms, each followed by its aliases."""
    data = _read(work, curated_path(work.paths)) or b""
    for line in map(str.lstrip, data.decode(errors="replace").splitlines()):
        if not line.startswith(("- ", "* ")):
            continue
        display, _, others = line[2:].partition(":")
        first = Term("curated", clean_display(display), match_key(display))
        if is_usable(first.display, first.key):
            yield first
            for name in filter(str.strip, others.split(",")):
                yield Term("curated", clean_display(name), match_key(name), first.key)


def _read(work: AnchorWork, path: str) -> bytes | None:
    try:
        return read_note(work.paths, path, limit_bytes=work.config.max_note_bytes)[0]
    except (FileNotFoundError, NoteUnreadable):
        return None  # the next index update reports and removes it


def choose_anchors(
    work: AnchorWork, snapshot: Snapshot, passages: Sequence[TermedPassage]
) -> tuple[Anchor, ...]:
    """Return the anchors of a build in order of keys: the most salient, and all curated ones."""
    settings = work.config.anchors
    denied = set(map(match_key, settings.deny))
    found = gather(work, snapshot, passages)
    limit = min(settings.vocabulary, max(len(passages) // PASSAGES_EACH, FEWEST))
    order = [key for key in bound_notes(found, limit // NOTE_SHARE) if key not in denied]
    curated = {key for key in order if "curated" in found[key].kinds}
    chosen = curated | set([key for key in order if key not in curated][:limit])
    terms = ((key, found[key]) for key in sorted(chosen))
    return tuple(
        Anchor(key, term.display, tuple(sorted(term.kinds)), tuple(sorted(term.aliases)))
        for key, term in terms
    )


def gather(
    work: AnchorWork, snapshot: Snapshot, passages: Sequence[TermedPassage]
) -> dict[str, Candidate]:
    """Return every candidate by its key, with its salience.

    Salience is the weight of the best kind, times the logarithm of the passages that offer the
    term, times idf over notes, times engagement: 1 + ln(1 + links) / 4.
    """
    found: dict[str, Candidate] = {}
    for passage in passages:
        for term in passage.terms:
            _count(found, term, passage.note)
    for term in read_curated(work):
        _count(found, term, None)
    held = Counter(word for passage in passages for word in found.keys() & set(passage.words))
    kept = {
        key: term for key, term in found.items() if term.kinds and not _says_little(term, held[key])
    }
    often = {key: term for key, term in kept.items() if term.passages > 1 or term.kinds != {"name"}}
    kept = often if len(often) >= FEWEST else kept
    linked = (target for targets in snapshot.link_targets for target in targets)
    links = Counter(match_key(stem_of(target)) for target in linked)
    notes = max(len({passage.note for passage in passages}), 1)
    for key, one in kept.items():
        one.display = one.display or max(one.displays, key=lambda d: (one.displays[d], d))
        weight = max(WEIGHTS[kind] for kind in one.kinds)
        idf = share_idf(max(len(one.notes), 1), notes) / log(1 + notes)
        engagement = 1 + log(1 + links[key]) / 4
        one.salience = round(weight * log(1 + max(one.passages, 1)) * idf * engagement, 6)
    return kept


def _count(found: dict[str, Candidate], term: Term, note: int | None) -> None:
    candidate = found.setdefault(term.alias_of or term.key, Candidate())
    if term.alias_of and term.alias_of != term.key:
        candidate.aliases.add(term.key)
        return
    candidate.kinds.add(term.kind)
    if term.kind == "curated":
        candidate.display = term.display
    candidate.displays[term.display] += 1
    candidate.passages += 1
    if note is not None:
        candidate.notes.add(note)


def _says_little(candidate: Candidate, held: int) -> bool:
    """Whether a term is a common word, in far more passages than offer it as a term.

    "Time" may be the title of a note, but few passages with the word are about that note.
    """
    if candidate.kinds & {"curated", "project", "entity"}:
        return False
    most = TITLE_USES if "title" in candidate.kinds else NAME_USES
    return held > max(most * candidate.passages, FEW_USES)


def bound_notes(found: Mapping[str, Candidate], most: int) -> Iterator[str]:
    """Yield keys by salience; of terms that stand in one note alone, ``most`` per note.

    A note stuffed with names must not fill the vocabulary. Curated terms, projects, entities and
    titles are exempt.
    """
    counts: Counter[int] = Counter()
    for key, term in sorted(found.items(), key=lambda item: (-item[1].salience, item[0])):
        if len(term.notes) == 1 and not term.kinds & {"curated", "project", "entity", "title"}:
            counts[min(term.notes)] += 1
            if counts[min(term.notes)] > most:
                continue
        yield key
