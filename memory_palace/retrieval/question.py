"""Parse: the words of a question, the times and tags it names, its vector, and notes called so."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from memory_palace.config import SEVEN, Rooms
from memory_palace.errors import ASKED
from memory_palace.graph.resolve import fold_name, fold_target
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.moments import to_timestamp
from memory_palace.language.time_words import drop_asking, may_name_time
from memory_palace.language.words import (
    BETWEEN,
    STOP_STEMS,
    Languages,
    drop_stop_stems,
    squeeze_all,
    tokenize,
)
from memory_palace.models import ParsedQuery, Scores
from memory_palace.query import Query
from memory_palace.retrieval.filters import bear_tag, check_least, match_notes, read_filters

if TYPE_CHECKING:
    from memory_palace.config import PalacePaths
    from memory_palace.embedding.registry import Embedder
    from memory_palace.language.time_spans import TimeExpression

OTHER = 0.8
"""For another name than title and file name: an alias, or the folder that a note stands for."""
LOOSE = 0.6
"""What a name counts where letters and digits alone agree."""
LINKED = 0.4
"""For a name that only links give a note."""
MISTYPED, DOUBTFUL = 0.25, 0.03
"""For a name that is one letter away: inserted, left out, swapped or replaced. The second where
every word of the question is known to the palace, so that it need not be a typo."""
SHORTEST = 4
"""Letters of a question that may hold a typo: of shorter ones many are one letter apart."""
FOLDER_NOTES = frozenset({"index", "_index", "readme"})
"""Notes that stand for their folder, and are called like it."""

_TAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w/-]*)")
_NARROWING = frozenset('#"“„«「『＂')
_WHEN = "when:"

_Named = tuple[Sequence[int], Sequence[str], float]
"""Notes, a name of each, and what it counts."""


@dataclass(frozen=True, slots=True, eq=False)
class AskedWords:
    """The words of a question, and the times it names."""

    text: str
    terms: tuple[str, ...]
    """Its distinct tokens, in order."""
    content_terms: tuple[str, ...]
    """Those that carry meaning; all of them where nothing else is left."""
    times: tuple[TimeExpression, ...] = ()
    untimed_terms: tuple[str, ...] = ()
    """Where it names a time: its distinct tokens outside of that which carry meaning."""


def parse_query(asked: Query, *, now: float, locale: str = "", rooms: Rooms = SEVEN) -> ParsedQuery:
    """Return what is asked at a moment, with its filters; raise ``UsageError`` for what cannot be.

    ``locale`` is that of the settings.
    """
    check_least(
        limit=(asked.limit, 1), neighbors=(asked.neighbors, 0), budget_bytes=(asked.budget_bytes, 1)
    )
    moment = now if asked.as_of is None else to_timestamp(asked.as_of, now=now, end_of_day=True)
    filters = read_filters(asked, now=now, moment=moment, locale=locale, rooms=rooms)
    return ParsedQuery(" ".join(asked.text.split()), moment, filters, locale=locale)


def read_question(query: ParsedQuery, languages: Languages = ()) -> AskedWords:
    """Return words and times of a question asked at ``query.as_of`` (days are UTC days).

    ``languages`` are those that the words of the index were made with. Importing the reader of
    times takes time, so it is done for texts alone that may name one.
    """
    terms = tuple(dict.fromkeys(tokenize(query.text, languages=languages)))
    question = AskedWords(query.text, terms, drop_stop_stems(terms))
    if not may_name_time(query.text):
        return question
    from memory_palace.language.times import find_times  # delayed, see above

    text = unicodedata.normalize("NFKC", query.text)
    day = datetime.fromtimestamp(query.as_of, UTC).date()
    read = partial(find_times, text, day, locale=query.locale, languages=languages)
    times = tuple(ASKED.read("times", read, ()))
    if not times:
        return question
    for item in reversed(times):
        text = f"{text[: item.start]} {text[item.end :]}"
    rest = dict.fromkeys(tokenize(drop_asking(text), languages=languages))
    untimed = tuple(term for term in rest if term not in STOP_STEMS)
    return replace(question, times=times, untimed_terms=untimed)


def narrow(query: ParsedQuery, snapshot: Snapshot, paths: PalacePaths | None) -> ParsedQuery:
    """Leave those notes to be ranked that have the tags of a question, and what it quotes.

    So do those that are from the time of a ``when:…``. A tag that no note has is a word as any
    other, and so is what no note holds of the quotes.
    """
    from memory_palace.retrieval.quotes import find_quoted, match_quotes  # delayed: few need it

    query = take_times(query, snapshot.languages)
    query = take_tags(query, lambda tag: bool(bear_tag(snapshot, tag).any()))
    quotes = ASKED.read("quotes", lambda: find_quoted(query.text), ())
    if not quotes:
        return query
    found = match_quotes(quotes, snapshot, paths, match_notes(snapshot, query.filters))
    return replace(query, rows=found.rows, unmatched=found.unmatched)


def take_times(query: ParsedQuery, languages: Languages) -> ParsedQuery:
    """Make filters of each ``when:…`` of a question."""
    if _WHEN not in query.text.casefold():
        return query
    from memory_palace.retrieval.when import read_when, take_when  # delayed: few questions need it

    read = partial(read_when, as_of=query.as_of, locale=query.locale, languages=languages)
    rest, times = ASKED.read("when:", lambda: take_when(query.text, read), (query.text, ()))
    filters = replace(query.filters, when=(*query.filters.when, *times))
    return replace(query, text=rest, filters=filters)


def take_tags(query: ParsedQuery, is_known: Callable[[str], bool]) -> ParsedQuery:
    """Make filters of the tags of a question that some note has."""
    tags = [tag for tag in _TAG.findall(query.text) if is_known(tag)]
    if not tags:
        return query
    filters = replace(query.filters, tags=(*query.filters.tags, *tags))
    rest = _TAG.sub(lambda found: "" if found[1] in tags else found[0], query.text)
    return replace(query, text=" ".join(rest.split()), filters=filters)


def find_unknown_tags(text: str, is_known: Callable[[str], bool]) -> list[str]:
    """Return the tags of a question that no note has."""
    return [tag for tag in dict.fromkeys(_TAG.findall(text)) if not is_known(tag)]


def may_narrow(text: str) -> bool:
    """Say quickly whether a question may have a tag, a quote or a ``when:…``."""
    return not _NARROWING.isdisjoint(text) or _WHEN in text.casefold()


def embed_question(query: ParsedQuery, embedder: Embedder) -> ParsedQuery:
    """Add the vector of a question."""
    return replace(query, vector=embedder.embed_queries([query.text])[0])


def match_names(text: str, snapshot: Snapshot, *, is_known: bool) -> Scores:
    """Return for each note how surely a question is its name, in [0, 1].

    ``is_known`` says that passages or names hold every word of it.
    """
    scores: Scores = np.zeros(len(snapshot.paths), np.float32)
    asked, loose = fold_name(text), squeeze_all([text])[0]
    for place, value in _called(asked, loose, DOUBTFUL if is_known else MISTYPED, snapshot):
        scores[place] = max(scores[place], value)
    return scores


def _called(
    asked: str, loose: str, mistyped: float, snapshot: Snapshot
) -> Iterator[tuple[int, float]]:
    for names in (_read_names(snapshot), _Names(_linked(asked, snapshot))):
        yield from names.called(asked, loose, mistyped)


class _Names:
    """Names of notes, to be looked up."""

    def __init__(self, named: Iterable[_Named]) -> None:
        self._folded: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._loose: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for notes, names, value in named:
            for place, name in zip(notes, fold_names(names), strict=True):
                self._folded[name].append((place, value))
            for place, name in zip(notes, squeeze_all(names), strict=True):
                self._loose[name].append((place, value))
        for name in self._loose:
            self._by_length[len(name)].append(name)

    def called(self, asked: str, loose: str, mistyped: float) -> Iterator[tuple[int, float]]:
        """Yield the notes that are called like it, or nearly, and what that counts."""
        yield from self._folded.get(asked, ())
        if not loose:
            return
        yield from ((place, value * LOOSE) for place, value in self._loose.get(loose, ()))
        if len(loose) < SHORTEST:
            return
        for length in (len(loose) - 1, len(loose), len(loose) + 1):
            for name in self._by_length.get(length, ()):
                if name != loose and is_mistyped(loose, name):
                    yield from ((place, value * mistyped) for place, value in self._loose[name])


@lru_cache(maxsize=2)  # of the notes with and without the archive
def _read_names(snapshot: Snapshot) -> _Names:
    return _Names(_names_of(snapshot))


@lru_cache(maxsize=2)
def _read_link_names(snapshot: Snapshot) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return what links call notes, folded, each with the notes meant and the name as written."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pairs in snapshot.link_names():
        for pair in pairs:
            target, _, name = pair.partition("|")
            found[fold_name(name)].append((target, name))
    return found


def fold_names(names: Sequence[str]) -> list[str]:
    """Return every name as ``fold_name`` does, but for its suffix."""
    folded = unicodedata.normalize("NFC", BETWEEN.join(names).casefold())
    return [name.strip() for name in folded.split(BETWEEN)] if names else []


def is_mistyped(asked: str, name: str) -> bool:
    """Say whether two names differ in one letter, or in two that stand side by side.

    Another figure is another thing: 2026-10-14 is not a mistyped 2026-10-15.
    """
    if not _is_near(asked, name):
        return False
    return [*filter(str.isdigit, asked)] == [*filter(str.isdigit, name)]


def _is_near(asked: str, name: str) -> bool:
    longer, shorter = (asked, name) if len(asked) >= len(name) else (name, asked)
    if len(longer) - len(shorter) > 1:
        return False
    start, count = 0, len(shorter)
    while start < count and longer[start] == shorter[start]:
        start += 1
    if len(longer) > count:
        return longer[start + 1 :] == shorter[start:]
    if longer[start + 1 :] == shorter[start + 1 :]:
        return longer != shorter
    swapped = longer[start : start + 2][::-1]
    return swapped == shorter[start : start + 2] and longer[start + 2 :] == shorter[start + 2 :]


def _names_of(snapshot: Snapshot) -> Iterator[_Named]:
    everyone = range(len(snapshot.paths))
    yield everyone, snapshot.titles, 1.0
    leaves = [path.rpartition("/") for path in snapshot.paths]
    stems = [leaf.rpartition(".")[0] for _, _, leaf in leaves]
    yield everyone, stems, 1.0
    folders = [
        (place, leaves[place][0].rpartition("/")[2])
        for place, stem in enumerate(stems)
        if stem.casefold() in FOLDER_NOTES
    ]
    aliases = [(place, name) for place, names in enumerate(snapshot.aliases()) for name in names]
    pairs = [*folders, *aliases]
    yield [place for place, _ in pairs], [name for _, name in pairs], OTHER


def _linked(asked: str, snapshot: Snapshot) -> Iterator[_Named]:
    """Yield the notes that some link calls what is asked for."""
    targets = _read_link_names(snapshot).get(asked)
    if not targets:
        return
    stems: dict[str, list[int]] = {}
    for place, path in enumerate(snapshot.paths):
        stems.setdefault(fold_name(path.rpartition("/")[2]), []).append(place)
    for target, name in {fold_target(target): name for target, name in targets}.items():
        places = stems.get(target.rpartition("/")[2], [])
        yield places, [name] * len(places), LINKED
