"""Parse a question into tokens, times, tags, quotes and filters, and match it with note names.

Filters restrict the notes that can be found. They are exact and apply before ranking.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast, get_args

import numpy as np
from numpy.typing import NDArray

from memory_palace.config import ROOMS, SEVEN, Rooms
from memory_palace.errors import UsageError, did_you_mean
from memory_palace.graph.resolve import fold_name, fold_names, fold_target
from memory_palace.index.segment import PRIORITIES
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.time_words import drop_asking, may_name_time
from memory_palace.language.words import (
    STOP_STEMS,
    Languages,
    drop_stop_stems,
    squeeze_all,
    tokenize,
)
from memory_palace.models import Filters, ParsedQuery, Priority, Scores, TimeReading
from memory_palace.notes.discovery import fold_case
from memory_palace.notes.note import ASKED
from memory_palace.places import PALACE
from memory_palace.query import Names, Query, to_timestamp

if TYPE_CHECKING:
    from memory_palace.config import PalacePaths
    from memory_palace.language.time_spans import TimeExpression

OTHER = 0.8
"""Score of a match with an alias, or with the folder of an index note."""
LOOSE = 0.6
"""Factor of a match by letters and digits alone."""
LINKED = 0.4
"""Score of a match with a label of a link to the note."""
MISTYPED, DOUBTFUL = 0.25, 0.03
"""Factor of a name one edit away: insertion, deletion, transposition or substitution. The second if
passages or names hold every word of the question, so that a typo is unlikely."""
SHORTEST = 4
"""Least letters of a question to compare with typos: shorter names are often one edit apart."""
FOLDER_NOTES = frozenset({"index", "_index", "readme"})
"""Stems of notes that can also be found by the name of their folder."""

_TAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w/-]*)")
_NARROWING = frozenset('#"“„«「『＂')
_WHEN = "when:"
_SLASH = re.compile("/")

_Named = tuple[Sequence[int], Sequence[str], float]
"""Notes, a name of each, and the score of a match."""


@dataclass(frozen=True, slots=True, eq=False)
class AskedWords:
    """The words of a question, and the times it names."""

    text: str
    terms: tuple[str, ...]
    """Its distinct tokens, in order."""
    content_terms: tuple[str, ...]
    """Tokens without stop words; all tokens if nothing else is left."""
    times: tuple[TimeExpression, ...] = ()
    untimed_terms: tuple[str, ...] = ()
    """If it names a time: the distinct content tokens outside the time expressions."""


def parse_query(asked: Query, *, now: float, locale: str = "", rooms: Rooms = SEVEN) -> ParsedQuery:
    """Parse a query asked at ``now``: text, time and filters; raise ``UsageError`` if invalid.

    ``locale`` is that of the settings.
    """
    for name, least in (("limit", 1), ("neighbors", 0), ("budget_bytes", 1)):
        value = getattr(asked, name)
        if value is not None and value < least:
            raise UsageError(f"{name} must be at least {least}, not {value}")
    moment = now if asked.as_of is None else to_timestamp(asked.as_of, now=now, end_of_day=True)
    filters = read_filters(asked, now=now, moment=moment, locale=locale, rooms=rooms)
    return ParsedQuery(" ".join(asked.text.split()), moment, filters, locale=locale)


def read_question(query: ParsedQuery, snapshot: Snapshot | None = None) -> AskedWords:
    """Return tokens and times of a question asked at ``query.as_of`` (days are UTC days).

    Talks and entries are counted in ``snapshot``. The parser of times is slow to import, so it runs
    only on text that may name a time.
    """
    languages = snapshot.languages if snapshot else ()
    terms = tuple(dict.fromkeys(tokenize(query.text, languages=languages)))
    question = AskedWords(query.text, terms, drop_stop_stems(terms))
    if not may_name_time(query.text):
        return question
    from memory_palace.language.times import find_times  # delayed, see above

    text = unicodedata.normalize("NFKC", query.text)
    day = datetime.fromtimestamp(query.as_of, UTC).date()
    read = partial(find_times, text, day, locale=query.locale, languages=languages, counts=True)
    times = tuple(ASKED.read("times", read, ()))
    if snapshot and any(item.counted for item in times):
        from memory_palace.retrieval.times import count_sessions  # delayed: few questions need it

        times = tuple(count_sessions(times, snapshot, query.filters))
    if not times:
        return question
    for item in reversed(times):
        text = f"{text[: item.start]} {text[item.end :]}"
    rest = dict.fromkeys(tokenize(drop_asking(text), languages=languages))
    untimed = tuple(term for term in rest if term not in STOP_STEMS)
    return replace(question, times=times, untimed_terms=untimed)


def narrow(query: ParsedQuery, snapshot: Snapshot, paths: PalacePaths | None) -> ParsedQuery:
    """Return the query restricted to notes with its tags, times of ``when:…``, and quotes.

    A tag that no note has stays an ordinary word of the question, as does a quote that no note
    holds.
    """
    if _NARROWING.isdisjoint(query.text) and _WHEN not in query.text.casefold():
        return query
    from memory_palace.retrieval.quotes import find_quoted, match_quotes  # delayed: few need it

    query = take_times(query, snapshot.languages)
    query = take_tags(query, lambda tag: bool(bear_tag(snapshot, tag).any()))
    quotes = ASKED.read("quotes", lambda: find_quoted(query.text), ())
    if not quotes:
        return query
    allowed = match_notes(snapshot, query.filters)
    rows, unmatched = match_quotes(quotes, snapshot, paths, allowed)
    return replace(query, rows=rows, unmatched=unmatched)


def take_times(query: ParsedQuery, languages: Languages) -> ParsedQuery:
    """Return the query with each ``when:…`` of its text moved into the filters."""
    if _WHEN not in query.text.casefold():
        return query
    from memory_palace.retrieval.times import read_when, take_when  # delayed: few questions need it

    read = partial(read_when, as_of=query.as_of, locale=query.locale, languages=languages)
    rest, times = ASKED.read("when:", lambda: take_when(query.text, read), (query.text, ()))
    filters = replace(query.filters, when=(*query.filters.when, *times))
    return replace(query, text=rest, filters=filters)


def take_tags(query: ParsedQuery, is_known: Callable[[str], bool]) -> ParsedQuery:
    """Return the query with the tags that some note has moved from its text into the filters."""
    tags = [tag for tag in _TAG.findall(query.text) if is_known(tag)]
    if not tags:
        return query
    filters = replace(query.filters, tags=(*query.filters.tags, *tags))
    rest = _TAG.sub(lambda found: "" if found[1] in tags else found[0], query.text)
    return replace(query, text=" ".join(rest.split()), filters=filters)


def find_unknown_tags(text: str, is_known: Callable[[str], bool]) -> list[str]:
    """Return the tags of a question that no note has."""
    return [tag for tag in dict.fromkeys(_TAG.findall(text)) if not is_known(tag)]


def match_names(text: str, snapshot: Snapshot, *, is_known: bool) -> Scores:
    """Return each note's score, in [0, 1], for having the question as its name.

    ``is_known``: passages or names hold every word of the question, so a typo is unlikely.
    """
    scores: Scores = np.zeros(len(snapshot.paths), np.float32)
    (asked,), (loose,) = _fold([text.replace("\0", " ")])  # the separator of ``_fold``
    for names in (_read_names(snapshot), _Names(_linked(asked, snapshot))):
        for place, value in names.called(asked, loose, DOUBTFUL if is_known else MISTYPED):
            scores[place] = max(scores[place], value)
    return scores


def _fold(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return each name casefolded, and each by its letters and digits alone."""
    return fold_names(names), squeeze_all(names)


class _Names:
    """Look-up of note names: casefolded, by letters and digits alone, and one edit away."""

    def __init__(self, named: Iterable[_Named]) -> None:
        self._folded: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._loose: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for notes, names, value in named:
            for place, folded, loose in zip(notes, *_fold(names), strict=True):
                self._folded[folded].append((place, value))
                self._loose[loose].append((place, value))
        for name in self._loose:
            self._by_length[len(name)].append(name)

    def called(self, asked: str, loose: str, mistyped: float) -> Iterator[tuple[int, float]]:
        """Yield the notes with this name, or nearly, each with the score of the match."""
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
    """Return the folded labels of links, each with its link targets and the label as written."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pairs in snapshot.link_names:
        for pair in pairs:
            target, _, name = pair.partition("|")
            found[fold_name(name)].append((target, name))
    return found


def is_mistyped(asked: str, name: str) -> bool:
    """Whether two names differ by one edit: one letter, or two adjacent ones swapped.

    Names with different digits do not match: 2026-10-14 is not a mistyped 2026-10-15.
    """
    return _is_near(asked, name) and [*filter(str.isdigit, asked)] == [*filter(str.isdigit, name)]


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
    aliases = [(place, name) for place, names in enumerate(snapshot.aliases) for name in names]
    pairs = [*folders, *aliases]
    yield [place for place, _ in pairs], [name for _, name in pairs], OTHER


def _linked(asked: str, snapshot: Snapshot) -> Iterator[_Named]:
    """Yield the notes that have the question as a label in some link."""
    targets = _read_link_names(snapshot).get(asked)
    if not targets:
        return
    stems: dict[str, list[int]] = {}
    for place, path in enumerate(snapshot.paths):
        stems.setdefault(fold_name(path.rpartition("/")[2]), []).append(place)
    for target, name in {fold_target(target): name for target, name in targets}.items():
        places = stems.get(target.rpartition("/")[2], [])
        yield places, [name] * len(places), LINKED


# --- Filters --------------------------------------------------------------------------------------


def read_filters(
    asked: Query, *, now: float, moment: float, locale: str = "", rooms: Rooms = SEVEN
) -> Filters:
    """Parse the filters of a query; relative dates such as ``30d`` count back from ``now``.

    ``moment`` is the time of the question. Raise ``UsageError`` for an unknown priority, a room
    that is none of the seven or has no folder here, and text that is not a date. Folders and tags
    are checked against an index, in ``match_notes``.
    """
    since, until, room = asked.since, asked.until, asked.room
    when: tuple[TimeReading, ...] = ()
    if asked.when is not None:
        from memory_palace.retrieval.times import read_when  # delayed: few questions need it

        when = read_when(asked.when, moment, locale=locale)
    if room is not None:
        check_room(room)
        rooms.folder_of(room.casefold())
    return Filters(
        type=asked.type,
        priority=None if asked.priority is None else check_priority(asked.priority),
        room=room,
        since=None if since is None else to_timestamp(since, now=now),
        until=None if until is None else to_timestamp(until, now=now, end_of_day=True),
        folder=tuple(_strip_folder(name) for name in _listed(asked.folder)),
        tags=tuple(_strip_tag(name) for name in _listed(asked.tags)),
        when=when,
        written_by=None if asked.as_of is None else moment,
    )


def check_priority(name: str) -> Priority:
    """Return a priority in lower case; raise ``UsageError`` for an unknown name."""
    level = name.lower()
    if level not in get_args(Priority):
        raise UsageError(f"a priority is high, medium or low, not {name!r}")
    return cast(Priority, level)


def check_room(name: str) -> None:
    """Raise ``UsageError`` where ``name`` is none of the seven rooms."""
    if name.casefold() not in ROOMS:
        hint = did_you_mean(name.casefold(), ROOMS, ".")
        rooms = ", ".join(ROOMS)
        raise UsageError(
            f"there is no room {name!r}{hint} The rooms are {rooms}; "
            "for any other folder use --in FOLDER."
        )


def match_notes(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Return a mask of the notes that pass every filter; private notes never do.

    Types and rooms are compared without regard to case; ``since`` and ``until`` are inclusive.
    Raise ``UsageError`` for a folder or tag that no note of the index has.
    """
    passes: NDArray[np.bool_] = ~snapshot.private
    if filters.type is not None:
        passes &= _are(snapshot.types, filters.type)
    if filters.room is not None:
        check_room(filters.room)
        passes &= _are(snapshot.rooms, filters.room)
    if filters.priority is not None:
        passes &= snapshot.priorities == PRIORITIES.index(filters.priority)
    if (filters.since, filters.until, filters.written_by) != (None, None, None):
        passes &= _match_dates(snapshot, filters)
    if filters.folder:
        passes &= _are_in(snapshot, filters.folder)
    for tag in filters.tags:
        passes &= (has := bear_tag(snapshot, tag))
        if not has.any():
            written = {name for note in snapshot.shown_tags for name in note}
            raise UsageError(describe_unknown("no note of the index has the tag", tag, written))
    if filters.when:
        naming = snapshot.row_note[match_times(snapshot, filters)]
        passes &= np.isin(np.arange(len(passes)), naming)
    return passes


def match_times(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    """Return a mask of the rows whose note is from a time of the filters, or that name one."""
    from memory_palace.retrieval.times import match_when  # delayed: few questions need it

    return match_when(snapshot, filters.when)


def _match_dates(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_]:
    dates = snapshot.told_dates
    passes: NDArray[np.bool_] = np.ones(len(dates), np.bool_)
    if filters.since is not None:
        passes &= dates >= filters.since
    if filters.until is not None:
        passes &= (dates <= filters.until) & (dates != 0)
    if filters.written_by is not None:
        # Decided by the earliest day that a note states, not by its last change.
        firsts, day = snapshot.days[:, [0, 2]], datetime.fromtimestamp(filters.written_by, UTC)
        is_later = (firsts > day.toordinal()) | (firsts == 0)
        passes &= ~(is_later.all(axis=1) & firsts.any(axis=1))
    return passes


def _are(values: list[str], wanted: str) -> NDArray[np.bool_]:
    wanted = wanted.casefold()
    matches = (value.casefold() == wanted for value in values)
    return np.fromiter(matches, np.bool_, len(values))


def _are_in(snapshot: Snapshot, folders: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the paths in or below one of the folders, ignoring case.

    A folder is relative to the root, else to ``palace/``; ``UsageError`` if it holds no note.
    """
    parents = [fold_case(path[: path.rfind("/") + 1]) for path in snapshot.paths]
    distinct, passing = set(parents), set[str]()
    for folder in folders:
        for place in (folder, f"{PALACE}/{folder}"):
            top = fold_case(place and f"{place}/")
            inside = {parent for parent in distinct if parent.startswith(top)}
            passing |= inside
            if inside or not top:
                break
        else:
            ends = ((path, end.start()) for path in snapshot.paths for end in _SLASH.finditer(path))
            written = {path[:end] for path, end in ends}
            what = "no note of the index is in the folder"
            raise UsageError(describe_unknown(what, folder, written))
    return np.fromiter((parent in passing for parent in parents), np.bool_, len(parents))


def bear_tag(snapshot: Snapshot, tag: str) -> NDArray[np.bool_]:
    """Return a mask of the notes with a tag or one nested below it, ignoring case."""
    key = fold_case(tag)
    found = (
        any(own == key or own.startswith(f"{key}/") for own in map(fold_case, tags))
        for tags in snapshot.shown_tags
    )
    return np.fromiter(found, np.bool_, len(snapshot.paths))


def describe_unknown(what: str, name: str, known: Collection[str]) -> str:
    """Return a message that a name is unknown, with the nearest known names."""
    from memory_palace.graph.naming import find_nearest  # delayed: only a wrong name needs it

    folded = {entry: fold_case(entry) for entry in known if entry}
    names = {entry: {key, key.rpartition("/")[2]} for entry, key in folded.items()}
    near = [repr(entry) for entry in find_nearest(fold_case(name), names)] if names else []
    return f"{what} {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _listed(names: Names) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names or ()


def _strip_folder(name: str) -> str:
    parts = (part for part in name.split("/") if part not in ("", "."))
    return "/".join(parts)


def _strip_tag(name: str) -> str:
    tag = name.strip().removeprefix("#").strip("/")
    if not tag:
        raise UsageError(f"a tag is a word such as #project, not {name!r}")
    return tag
