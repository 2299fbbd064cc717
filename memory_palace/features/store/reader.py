"""A question answered by a store as the files answer it, without the notes and without an index.

The database says which notes may answer: those that hold its words, by posting lists, and those
that are near in meaning, by pgvector. They are read with all of their passages, and ranked by the
code that ranks files, which is told the figures of all notes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from psycopg import IsolationLevel

from memory_palace.address import Address
from memory_palace.config import USERS_ONLY, Config
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import IndexMissingError, UsageError, WrongEmbedderError
from memory_palace.facts.fact import FactKind
from memory_palace.features.store import writing
from memory_palace.features.store.access import find_palace
from memory_palace.features.store.connecting import asking, connect
from memory_palace.features.store.generation import (
    Generation,
    damaged,
    read_generation,
    read_kept,
)
from memory_palace.features.store.lists import list_link_ends, list_own_ends, split_list
from memory_palace.features.store.notes import PAYLOAD, read_text, unpack_note
from memory_palace.features.store.outline import Outline, ToldStatistics
from memory_palace.features.store.schema import check_schema
from memory_palace.features.store.statements import Statements
from memory_palace.index.arrays import fact_term
from memory_palace.index.commit import Detail, describe_mismatch, fits_recipe, read_detail
from memory_palace.index.segment import NoteRow, Segment, list_members
from memory_palace.index.snapshot import Snapshot, fold_segments
from memory_palace.language.tokens import squeeze_all, tokenize
from memory_palace.models import Filters, ParsedQuery, QueryResult, Scores, Vector
from memory_palace.query import Query, by_fields
from memory_palace.ranking import SIGNALS
from memory_palace.retrieval.evidence import Evidence, gather
from memory_palace.retrieval.excerpts import show_whole
from memory_palace.retrieval.filters import bear_tag, match_notes
from memory_palace.retrieval.profiles import (
    HYBRID,
    Profile,
    check_detail,
    choose_mode,
    choose_profile,
    find_unread,
)
from memory_palace.retrieval.question import (
    SHORTEST,
    embed_question,
    find_unknown_tags,
    may_narrow,
    narrow,
    parse_query,
    read_question,
    take_tags,
    take_times,
)
from memory_palace.retrieval.quotes import count_terms, find_quoted
from memory_palace.retrieval.rank import ScoringRule, score_quickly
from memory_palace.retrieval.search import SearchResult, search
from memory_palace.retrieval.signals.table import measure
from memory_palace.retrieval.signals.time import is_sure, weigh_keys
from memory_palace.retrieval.when import list_keys

if TYPE_CHECKING:
    from memory_palace.embedding.base import Embedder

BY_ALL = 150
"""Notes that are read, the best by all that an outline tells of them."""
BY_EACH = 30
"""Notes that are read for one signal alone."""
BY_LIMIT = 4
"""Times as many are read as hits are asked for, at least, and half as many for each signal."""
BY_VECTORS = 400
"""Passages that are looked at for their meaning."""
BY_INDEX = 1000
"""Passages that an index proposes, and looks at for it, which is as many as pgvector allows."""
BY_QUOTE = 400
"""Notes that are read for the words of a quote."""
BY_NAME = 50
"""Notes that are read for a name, and for the links of hits."""
EXACT_ROWS = 75_000
"""Where a filter leaves so few passages, all of them are compared."""
_OF_NOTES = ("note_lexical", "covered", "titled", "dense", "speaker", "temporal", "dated")
"""Signals that an outline tells enough for."""
_LONGEST_TYPED = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_FOR_SCAN = "SELECT set_config('jit', 'off', true), set_config('enable_seqscan', %(all)s, true)"
"""Compiling is for statements that take seconds. The planner guesses four times the passages of
some thousand notes, since those of a note lie together: an index is used unless all are compared.
"""
_FOR_INDEX = (
    "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
    f" set_config('hnsw.ef_search', '{BY_INDEX}', true),"
    " set_config('plan_cache_mode', 'force_custom_plan', true)"
)
"""Until the end of the transaction, so that it holds behind a pool of connections as well. An index
goes on until enough rows pass the filter; a plan for any vector would not use it."""


class Chosen(Snapshot):
    """Notes that were read from a store, to be ranked with figures of all notes."""

    def __init__(
        self,
        outline: Outline,
        zones: Sequence[Segment],
        told: ToldStatistics,
        places: Mapping[str, int],
    ) -> None:
        folds = [fold_segments([zone]) for zone in zones]
        super().__init__(outline.commit, folds, rooms=outline.room_map)
        self._told = told
        # What a copy or a checkout dates is told by all notes.
        self.told_dates = outline.told_dates[[places[path] for path in self.paths]]

    @property
    def statistics(self) -> ToldStatistics:
        """Figures of all notes."""
        return self._told


class _Question:
    """One question, and the notes that are read for it."""

    def __init__(self, statements: Statements, outline: Outline, query: ParsedQuery) -> None:
        self._statements, self._outline, self.query = statements, outline, query
        self.parsed = read_question(query, outline.languages)
        self.told = ToldStatistics(outline, self.parsed)
        self._allowed = np.zeros(len(outline.paths), np.bool_)
        self._read: dict[int, tuple[NoteRow, bool]] = {}
        """Notes by number, and whether they are cold."""
        self._chosen: set[int] = set()
        """Places of the notes to be ranked."""
        self._places: dict[str, int] = {}
        """Those that are ranked, by path."""

    def choose(self, profile: Profile, limit: int, *, days: float, nearest: Any) -> None:
        """Choose the notes to be ranked; ``nearest`` finds passages, given the notes that pass."""
        self._fetch_lists()
        self._allowed = match_notes(self._outline, self.query.filters)
        if self.query.vector is not None:
            self._outline.cosines = nearest(self.query.vector, self._allowed)
        read = _OF_NOTES if self.query.text else profile.weights
        found = gather(self.query, self._outline, signals=read, half_life_days=days)
        notes = found.notes(found.rows)
        most = max(BY_ALL, BY_LIMIT * limit)
        if not self.query.text:
            scores = score_quickly(found, ScoringRule(profile, is_gated=False)).totals
            self._add(notes[_best(scores, most)])
            return
        total: Scores = np.zeros(len(notes), np.float32)
        for signal in _OF_NOTES:
            values = np.float32(HYBRID[signal]) * measure(signal, found, found.rows)
            total += values
            self._add(notes[_best(values, max(BY_EACH, most // 8))])
        self._add(notes[_best(total, most, above=-inf)])
        self._add_quoting(found)
        self._add_called()

    def _fetch_lists(self) -> None:
        """Read the posting lists that the question will ask for, at once."""
        names = tokenize(self.query.text, stems=False)
        asked = [(field, term) for field in ("words", "names") for term in self.parsed.terms]
        asked += [("facts", fact_term("speaker", name)) for name in names]
        keys = [key for time in self.parsed.times if is_sure(time) for key in weigh_keys(time)]
        spans = ((time.first, time.last) for time in self.query.filters.when)
        keys += [key for span in spans for key in list_keys(*span)]
        asked += [("facts", fact_term(FactKind.DATE, key)) for key in keys]
        self._outline.lists.fetch(asked)

    def _add(self, places: Iterable[int]) -> None:
        """Choose notes, if they pass the filters."""
        self._chosen.update(place for place in map(int, places) if self._allowed[place])

    def _add_quoting(self, found: Evidence) -> None:
        """Choose the notes that have the most words of each quote."""
        notes = found.notes(found.rows)
        for quote in find_quoted(self.query.text):
            terms = dict.fromkeys(tokenize(quote, languages=self._outline.languages))
            counts = count_terms(terms, self._outline)[notes].astype(np.float32)
            self._add(notes[_best(counts, BY_QUOTE)])

    def _add_called(self) -> None:
        """Choose the notes that the question may name, and what they link to if it is a label."""
        (asked,) = squeeze_all([self.query.text])
        called = self._find("called", [asked, *_mistype(asked)] if asked else ())
        self._add(called)
        self._add_linked(called, back=False)

    def _find(self, field: str, terms: Iterable[str]) -> list[int]:
        """Return the places of some notes that are listed under any of some names."""
        names = set(terms)
        lists = self._outline.lists
        lists.fetch((field, name) for name in names)
        found = {place for name in names for place in lists.get(field, name).places.tolist()}
        return sorted(found)[:BY_NAME]

    def add_linked(self, paths: Iterable[str]) -> None:
        """Choose what some notes that are ranked link to, and what links to them."""
        self._add_linked([self._places[path] for path in paths], back=True)

    def _add_linked(self, places: Sequence[int], *, back: bool) -> None:
        rows = [row for row, _ in self._read_notes(places)]
        self._add(self._find("ends", (end for row in rows for end in list_link_ends(row))))
        if back:
            names = [end for row in rows for end in list_own_ends(row)]
            self._add(self._find("links", names))
            self._add(self._find("ends", names))  # whether a name means one note

    def snapshot(self) -> Chosen:
        """Return the notes that were chosen, with those that any of them is a copy of."""
        rows = self._read_notes(self._chosen)
        stems = [name for row, _ in rows for name in split_list(row.originals)]
        self._add(self._find("called", filter(None, squeeze_all(stems))))
        places = sorted(self._chosen)
        rows = self._read_notes(places)
        self.told.at_hand[:] = False
        self.told.at_hand[places] = True
        zones = [
            _hold([row for row, cold in rows if cold is is_cold], self._outline, is_cold=is_cold)
            for is_cold in (False, True)
        ]
        self._places = {self._outline.paths[place]: place for place in places}
        return Chosen(self._outline, zones, self.told, self._places)

    def _read_notes(self, places: Iterable[int]) -> list[tuple[NoteRow, bool]]:
        """Return notes, with whether they are cold; those aside that are read, from the store."""
        numbers = self._outline.figures["id"][sorted(places)].tolist()
        wanted = [number for number in numbers if number not in self._read]
        found = self._statements.ask(
            f"SELECT id, {PAYLOAD} FROM note WHERE palace = %(palace)s AND id = ANY(%(notes)s)",
            notes=wanted,
        )
        cold = set(self._outline.figures["id"][self._outline.cold].tolist())
        dimension = self._outline.commit.dimension
        for number, path, record, keys, vectors in found:
            row = unpack_note(path, record, keys, vectors, dimension)
            self._read[number] = row, number in cold
        if not self._read.keys() >= set(numbers):
            raise damaged("the figures of the notes")
        return [self._read[number] for number in numbers]

    def read_lines(self, path: str) -> list[str]:
        """Return the lines of a note that is here, as they may be shown."""
        ((text,),) = self._statements.ask(
            "SELECT text FROM note WHERE palace = %(palace)s AND id = %(id)s",
            id=int(self._outline.figures["id"][self._places[path]]),
        )
        return read_text(text, path).split("\n")

    @property
    def remaining(self) -> ParsedQuery:
        """The question for notes that have passed its filters, all of which but the times go."""
        met = Filters(since=-inf, when=self.query.filters.when)
        return replace(self.query, filters=met if self.query.filters else Filters())


def _hold(notes: Sequence[NoteRow], outline: Outline, *, is_cold: bool) -> Segment:
    """Make a segment in memory."""
    members, lines = list_members(
        notes, fingerprint=outline.commit.fingerprint, dimension=outline.commit.dimension
    )
    arrays = {name: np.concatenate(parts) for name, parts in members.items()}
    return Segment(Path("chosen.jsonl"), arrays, lines, is_cold=is_cold)


def _best(scores: Scores, most: int, *, above: float = 0.0) -> NDArray[np.int64]:
    """Return the places of the highest scores."""
    places = np.flatnonzero(scores > above)
    if len(places) > most:
        places = places[np.argpartition(-scores[places], most)[:most]]
    return places


def _mistype(asked: str) -> Iterator[str]:
    """Yield the names that differ from a question in a letter, or in two side by side."""
    if not SHORTEST <= len(asked) <= _LONGEST_TYPED:
        return
    letters = {*_LETTERS, *asked}
    for place in range(len(asked) + 1):
        head, tail = asked[:place], asked[place:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in letters:
            yield head + letter + tail
            yield head + letter + tail[1:]


def find_nearest(
    statements: Statements, outline: Outline, rows: int, vector: Vector, allowed: NDArray[np.bool_]
) -> Scores:
    """Return the cosine of the nearest passage of each note; of others at most as high a one.

    Compared are all passages of a small palace of so many ``rows``, and of few notes; otherwise an
    index proposes more than are looked at, which are compared exactly. Vectors are of half
    precision: they only choose what is read.
    """
    notes, values = outline.figures["id"], dict[str, Any]()
    passing = int(outline.figures["passages"][allowed].sum())
    is_whole = rows < writing.INDEXED_ROWS
    statements.ask(_FOR_SCAN, all="on" if is_whole else "off")
    few = ""
    if not (allowed.all() and outline.is_whole):
        # A scalar of each row: any other form of filter, and the planner leaves the index aside.
        few = " AND (SELECT get_bit(%(bits)b, passage.note) = 1)"
        is_chosen = np.zeros(outline.last_note + 1, np.bool_)
        is_chosen[notes[allowed]] = True
        values["bits"] = np.packbits(is_chosen, bitorder="little").tobytes()
    if is_whole:
        source = f"passage WHERE palace = %(palace)s{few}"
    elif few and passing <= EXACT_ROWS:
        source = "passage WHERE palace = %(palace)s AND note = ANY(%(allowed)s)"
        values = {"allowed": notes[allowed].tolist()}
    else:
        kind = f"halfvec({len(vector)})"
        source = (
            f"(SELECT note, vector FROM passage WHERE palace = %(palace)s{few}"
            f" ORDER BY (vector::{kind}) <#> %(vector)s::{kind} LIMIT {BY_INDEX}) AS proposed"
        )
        statements.ask(_FOR_INDEX)
    found = statements.ask(
        f"SELECT note, -away FROM (SELECT note, vector <#> %(vector)s::halfvec AS away"
        f" FROM {source} ORDER BY away LIMIT {BY_VECTORS}) AS nearest",  # or each is computed twice
        vector="[" + ",".join(map(repr, vector.tolist())) + "]",
        **values,
    )
    numbers = np.array([number for number, _ in found], np.int64)
    cosines = np.array([-2.0 if cosine is None else cosine for _, cosine in found])
    if not np.isin(numbers, notes).all() or not (np.abs(cosines) < 2).all():
        raise damaged("a passage")
    floor = float(cosines.min()) if len(cosines) == BY_VECTORS else -1.0
    nearest: Scores = np.full(len(notes), floor, np.float32)
    np.maximum.at(nearest, np.searchsorted(notes, numbers), cosines.astype(np.float32))
    return nearest


class StoreReader:
    """Answers questions about one palace of a store; each sees one generation."""

    def __init__(self, address: Address, config: Config | None = None) -> None:
        self.address, self.config = address, config
        self._connection = connect(address, purpose="query")
        try:
            check_schema(self._connection, address)
            palace = find_palace(self._connection, address)
        except BaseException:
            self._connection.close()
            raise
        self._statements = Statements(self._connection, palace)
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True
        self._number = 0
        self._outlines: dict[bool, Outline] = {}
        self._embedders: dict[str, Embedder] = {}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[Generation]:
        """See one generation; raise ``IndexMissingError`` where there is none."""
        with asking(self.address), self._connection.transaction():
            generation = read_generation(self._statements)
            if generation is None:
                raise IndexMissingError(
                    f"nothing was pushed to {self.address.shown} yet, or it is no longer granted "
                    "to this role; run `palace index --store`, or ask whoever set it up"
                )
            yield generation

    def ask(self, asked: Query, *, whole: bool = False) -> QueryResult:
        """Rank notes as ``Palace.ask`` does; ``whole`` gives each hit the text of its passage."""
        with self._reading() as generation:
            asked, config = asked.linked(), self._settings(generation)
            outline = self._outline(generation, include_cold=asked.include_cold)
            query = parse_query(asked, now=time.time(), locale=config.locale)
            if may_narrow(query.text):
                query = take_times(query, outline.languages)
                query = take_tags(query, lambda tag: bool(bear_tag(outline, tag).any()))
            unread_by = "" if asked.profile else find_unread(asked.text, generation.commit)
            by_words = asked.lexical or bool(unread_by)
            has_vectors = bool(generation.commit.dimension)
            mode = choose_mode(query.text, lexical=by_words, has_vectors=has_vectors)
            chosen = choose_profile(asked.profile, config, mode)
            check_stored_profile(chosen, read_detail(generation.commit.fingerprint))
            if mode == "vector":
                query = embed_question(query, self._embedder(generation))
                if query.vector is None or len(query.vector) != generation.commit.dimension:
                    raise damaged("the record of the generation")
            question = _Question(self._statements, outline, query)
            question.choose(
                chosen,
                asked.limit,
                days=config.half_life_days,
                nearest=lambda vector, allowed: find_nearest(
                    self._statements, outline, generation.rows, vector, allowed
                ),
            )
            query, found = self._rank(question, generation, chosen, config, asked, whole=whole)
        return QueryResult(
            text=" ".join(asked.text.split()),
            profile=chosen.name,
            mode=mode,
            embedder=None if mode == "lexical" else generation.commit.embedder,
            hits=tuple(found.hits),
            is_answered=found.is_answered,
            freshness="current",
            languages=outline.languages,
            unmatched_quotes=query.unmatched,
            times=(*query.filters.when, *found.times),
            unread_by=unread_by,
        )

    query = by_fields(Query, ask)

    def _rank(
        self,
        question: _Question,
        generation: Generation,
        profile: Profile,
        config: Config,
        asked: Query,
        *,
        whole: bool,
    ) -> tuple[ParsedQuery, SearchResult]:
        """Rank what was chosen, and once more where links of the hits lead to other notes."""

        def rank(how: Query) -> tuple[ParsedQuery, Chosen, SearchResult]:
            snapshot = question.snapshot()
            snapshot.read_lines = question.read_lines if how is asked else None
            query = question.remaining
            if may_narrow(query.text):
                query = narrow(query, snapshot, None)
            days, told = config.half_life_days, generation.disputes
            found = search(
                query, snapshot, how, profile=profile, half_life_days=days, disputes=told
            )
            return query, snapshot, found

        if asked.neighbors:
            _, _, found = rank(replace(asked, neighbors=0))
            question.add_linked(hit.path for hit in found.hits)
        query, snapshot, found = rank(asked)
        if whole:
            shown = show_whole(found.hits, snapshot, asked.budget_bytes)
            found = found._replace(hits=shown)
        return query, found

    def find_unknown_tags(self, text: str, *, include_cold: bool = False) -> list[str]:
        """Return the tags of a question that no note has."""
        with self._reading() as generation:
            outline = self._outline(generation, include_cold=include_cold)
            return find_unknown_tags(text, lambda tag: bool(bear_tag(outline, tag).any()))

    def _outline(self, generation: Generation, *, include_cold: bool) -> Outline:
        """Return what is known of all notes, kept while the generation lasts."""
        if self._number != generation.number:
            self._outlines, self._number = {}, generation.number
        if include_cold not in self._outlines:
            made = Outline(self._statements, generation, include_cold=include_cold)
            self._outlines[include_cold] = made
        return self._outlines[include_cold].ask()

    def _settings(self, generation: Generation) -> Config:
        """Return the settings that were given, else those of the palace."""
        return self.config or read_kept(generation.settings, self.address.shown)

    def _embedder(self, generation: Generation) -> Embedder:
        """Return the embedder of the index; raise ``WrongEmbedderError`` for another recipe."""
        commit = generation.commit
        if commit.embedder.startswith(USERS_ONLY):
            raise WrongEmbedderError(
                f"the store was indexed with {commit.embedder}, which its user may "
                "choose, and a store cannot; ask with --mode lexical"
            )
        if commit.embedder not in self._embedders:
            self._embedders[commit.embedder] = get_embedder(commit.embedder)
        embedder = self._embedders[commit.embedder]
        if not fits_recipe(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder


def check_stored_profile(profile: Profile, detail: Detail) -> None:
    """Raise ``UsageError`` for a profile that needs more than a store knows of all notes.

    See ``check_detail`` for what its index may lack.
    """
    if "anchor" in profile.weights:
        why = "reads the anchors, which are not pushed"
    elif shares := sorted(profile.weights.keys() - SIGNALS.keys()):
        why = f"compares facts of all notes ({', '.join(shares)})"
    else:
        check_detail(profile, detail)
        return
    raise UsageError(f"the profile {profile.name} {why}: a store cannot; ask with --profile hybrid")
