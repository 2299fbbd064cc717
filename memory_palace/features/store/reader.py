"""Answer queries from a store: the ranking of a file index, without notes or index on disk.

Candidate notes are selected by posting lists in the database (words) and by pgvector (cosine).
The candidates are read with all of their passages and ranked by the same code as files, given
the corpus statistics of all notes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from psycopg import IsolationLevel

from memory_palace.cli.registry import Address
from memory_palace.config import USERS_ONLY
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import IndexMissingError, UsageError, WrongEmbedderError
from memory_palace.facts import FactKind
from memory_palace.features.store import writing
from memory_palace.features.store.connecting import Statements, asking, find_palace, open_store
from memory_palace.features.store.outline import (
    Outline,
    ToldStatistics,
    list_link_ends,
    list_own_ends,
)
from memory_palace.features.store.rows import (
    PAYLOAD,
    UNREADABLE,
    Generation,
    damaged,
    read_generation,
    read_settings,
    unpack_note,
)
from memory_palace.index.commit import describe_mismatch, fits_recipe
from memory_palace.index.segment import Segment, fact_term, fold_segments
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.writing import NoteRow, list_members
from memory_palace.language.words import tokenize
from memory_palace.models import Filters, ParsedQuery, QueryResult, Scores, Vector
from memory_palace.query import Query, by_fields
from memory_palace.retrieval.evidence import gather
from memory_palace.retrieval.excerpts import show_whole
from memory_palace.retrieval.question import (
    bear_tag,
    find_unknown_tags,
    match_notes,
    narrow,
    parse_query,
    read_question,
    take_tags,
    take_times,
)
from memory_palace.retrieval.quotes import count_terms, find_quoted
from memory_palace.retrieval.rank import score_quickly
from memory_palace.retrieval.search import SearchResult, report, search
from memory_palace.retrieval.signals import HYBRID, Profile, measure, plan_ranking
from memory_palace.retrieval.times import is_sure, list_keys, list_sessions, weigh_keys
from memory_palace.signals import SIGNALS

if TYPE_CHECKING:
    from memory_palace.embedding.registry import Embedder

BY_ALL = 150
"""Candidate notes by the sum of all note-level signals."""
BY_EACH = 30
"""Candidate notes by each note-level signal alone."""
BY_LIMIT = 4
"""Candidate notes per requested hit, at least; per signal an eighth of all candidates."""
BY_VECTORS = 400
"""Nearest passages whose cosines are used."""
BY_INDEX = 1000
"""Passages that the HNSW index returns, also ``hnsw.ef_search``, of which pgvector allows 1000."""
BY_QUOTE = 400
"""Candidate notes by the number of a quote's terms."""
BY_NAME = 50
"""Candidate notes by the links of hits, per direction."""
EXACT_ROWS = 75_000
"""Most passages left by a filter that are compared exactly, without the HNSW index."""
_OF_NOTES = ("note_lexical", "covered", "titled", "dense", "speaker", "temporal", "dated")
"""Signals that are computed from an outline, without passages."""

_PLANNING = (
    "SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),"
    " set_config('plan_cache_mode', 'force_custom_plan', true),"
    " set_config('hnsw.iterative_scan', 'relaxed_order', true),"
    f" set_config('hnsw.ef_search', '{BY_INDEX}', true)"
)
"""Settings local to the transaction, so that they hold behind a connection pool too. JIT pays only
for statements of seconds; the planner overestimates the passages of a thousand notes fourfold, as
they are stored together; a generic plan would not use the vector index. The iterative HNSW scan
continues until enough rows pass the filter."""


class Chosen(Snapshot):
    """A snapshot of candidate notes from a store, with the corpus statistics of all notes."""

    told: ToldStatistics

    @property
    def statistics(self) -> ToldStatistics:
        return self.told


class _Question:
    def __init__(self, statements: Statements, outline: Outline, query: ParsedQuery) -> None:
        self._statements, self._outline, self.query = statements, outline, query
        self.parsed = read_question(query, outline)
        self.told = ToldStatistics(outline, self.parsed)
        # One query reads all posting lists that the question needs.
        names = tokenize(query.text, stems=False)
        asked = [(field, term) for field in ("words", "names") for term in self.parsed.terms]
        asked += [("facts", fact_term("speaker", name)) for name in names]
        keys = [key for time in self.parsed.times if is_sure(time) for key in weigh_keys(time)]
        keys += [key for time in query.filters.when for key in list_keys(time.first, time.last)]
        outline.lists.fetch([*asked, *(("facts", fact_term(FactKind.DATE, key)) for key in keys)])
        self._allowed = match_notes(outline, query.filters)
        self._read: dict[int, tuple[NoteRow, bool]] = {}
        """Notes read so far by number, each with whether it is cold."""
        self._chosen: set[int] = set()
        """Outline rows of the candidate notes."""
        self._places: dict[str, int] = {}
        """Outline rows of the ranked notes, by path."""

    def choose(self, profile: Profile, limit: int, *, days: float) -> None:
        """Select candidate notes by signals and quotes; without text, by the profile's scores."""
        outline, query = self._outline, self.query
        if query.vector is not None:
            outline.cosines = find_nearest(self._statements, outline, query.vector, self._allowed)
        read = _OF_NOTES if query.text else profile.weights
        found = gather(query, outline, signals=read, half_life_days=days)
        notes = found.note_of[found.rows]
        most = max(BY_ALL, BY_LIMIT * limit)
        if not query.text:
            scores = score_quickly(found, profile, is_gated=False).totals
            self._add(notes[_best(scores, most)])
            return
        total: Scores = np.zeros(len(notes), np.float32)
        for signal in _OF_NOTES:
            values = np.float32(HYBRID[signal]) * measure(signal, found, found.rows)
            total += values
            self._add(notes[_best(values, max(BY_EACH, most // 8))])
        self._add(notes[_best(total, most, above=-inf)])
        for quote in find_quoted(query.text):
            terms = dict.fromkeys(tokenize(quote, languages=outline.languages))
            counts = count_terms(terms, outline)[notes].astype(np.float32)
            self._add(notes[_best(counts, BY_QUOTE)])

    def _add(self, places: Iterable[int]) -> None:
        self._chosen.update(place for place in map(int, places) if self._allowed[place])

    def _find(self, field: str, ends: Iterable[str]) -> None:
        """Add the first ``BY_NAME`` notes posted under any of some link names."""
        names, lists = set(ends), self._outline.lists
        lists.fetch((field, name) for name in names)
        found = {place for name in names for place in lists.get(field, name).places.tolist()}
        self._add(sorted(found)[:BY_NAME])

    def add_linked(self, paths: Iterable[str]) -> None:
        """Add the outgoing and incoming link neighbors of ranked notes to the candidates."""
        rows = [row for row, _ in self._read_notes(self._places[path] for path in paths)]
        self._find("ends", [end for row in rows for end in list_link_ends(row)])
        names = [end for row in rows for end in list_own_ends(row)]
        self._find("links", names)
        self._find("ends", names)  # namesakes: a link resolves only if its name is unique

    def snapshot(self) -> Chosen:
        outline, places = self._outline, sorted(self._chosen)
        rows, folds = self._read_notes(places), []
        for is_cold in (False, True):
            members, lines = list_members(
                [row for row, cold in rows if cold is is_cold], outline.commit
            )
            arrays = {name: np.concatenate(parts) for name, parts in members.items()}
            segment = Segment(Path("chosen.jsonl"), arrays, lines, is_cold=is_cold)
            folds.append(fold_segments([segment]))
        self.told.at_hand[:] = False
        self.told.at_hand[places] = True
        self._places = {outline.paths[place]: place for place in places}
        chosen = Chosen(outline.commit, folds, rooms=outline.room_map)
        chosen.told, chosen.passages = self.told, outline.passages
        # Dates set by a copy or a checkout are recognized from all notes, not from a subset.
        chosen.told_dates = outline.told_dates[[self._places[path] for path in chosen.paths]]
        chosen.list_sessions = lambda _, kind: list_sessions(outline, self.query.filters, kind)
        return chosen

    def _read_notes(self, places: Iterable[int]) -> list[tuple[NoteRow, bool]]:
        """Return notes by outline row, each with whether it is cold; query those not read yet."""
        outline, order = self._outline, sorted(places)
        numbers = outline.figures["id"][order].tolist()
        wanted = [number for number in numbers if number not in self._read]
        found = wanted and self._statements.ask(
            f"SELECT id, {PAYLOAD} FROM note WHERE palace = %(palace)s AND id = ANY(%(notes)s)",
            notes=wanted,
        )
        cold = dict(zip(numbers, outline.cold[order].tolist(), strict=True))
        for number, path, record, keys, vectors in found:
            row = unpack_note(path, record, keys, vectors, outline.commit.dimension)
            self._read[number] = row, cold[number]
        if not self._read.keys() >= cold.keys():
            raise damaged("the figures of the notes")
        return [self._read[number] for number in numbers]

    def rank(
        self, profile: Profile, days: float, asked: Query, *, whole: bool
    ) -> tuple[ParsedQuery, SearchResult]:
        """Select and rank candidates; for neighbors rank again with the hits' linked notes."""
        self.choose(profile, asked.limit, days=days)
        left, told = self.query, self._outline.disputes
        if left.filters:  # the notes at hand have passed them, their passages not the times
            left = replace(left, filters=Filters(since=-inf, when=left.filters.when))
        alone = replace(asked, neighbors=0)
        for how in (alone, asked) if asked.neighbors else (asked,):
            snapshot = self.snapshot()
            snapshot.read_lines = self.read_lines if how is asked else None
            query = narrow(left, snapshot, None)
            found = search(
                query, snapshot, how, profile=profile, half_life_days=days, disputes=told
            )
            if how is alone:
                self.add_linked(hit.path for hit in found.hits)
        if whole:
            shown = show_whole(found.hits, snapshot, None, max_bytes=asked.budget_bytes)
            found = found._replace(hits=shown)
        return query, found

    def read_lines(self, path: str) -> list[str]:
        """Return the lines of a ranked note's text; raise ``IndexDamagedError`` if not UTF-8."""
        ((text,),) = self._statements.ask(
            "SELECT text FROM note WHERE palace = %(palace)s AND id = %(id)s",
            id=int(self._outline.figures["id"][self._places[path]]),
        )
        try:
            lines: list[str] = text.decode().split("\n")
        except UnicodeDecodeError:
            raise damaged(f"the text of {path}") from None
        return lines


def _best(scores: Scores, most: int, *, above: float = 0.0) -> NDArray[np.int64]:
    """Return the positions of up to ``most`` highest scores greater than ``above``, unordered."""
    places = np.flatnonzero(scores > above)
    if len(places) > most:
        places = places[np.argpartition(-scores[places], most)[:most]]
    return places


def find_nearest(
    statements: Statements, outline: Outline, vector: Vector, allowed: NDArray[np.bool_]
) -> Scores:
    """Return each note's highest passage cosine; for notes not among the nearest, an upper bound.

    Few passages are all compared; of many, the HNSW index returns ``BY_INDEX`` candidates, which
    are compared exactly. Half-precision vectors suffice, since they only select candidates.
    """
    notes, kind = outline.figures["id"], f"halfvec({len(vector)})"
    is_whole = outline.is_whole and bool(allowed.all())
    passing = int(outline.figures["passages"][allowed].sum())
    values: dict[str, Any] = {"allowed": notes[allowed].tolist()}
    source = "passage WHERE palace = %(palace)s AND note = ANY(%(allowed)s)"
    if passing > (writing.INDEXED_ROWS if is_whole else EXACT_ROWS):
        # A bit lookup per row: with other forms of filter the planner does not use the HNSW index.
        is_chosen = np.zeros(len(outline.places), np.bool_)
        is_chosen[notes[allowed]] = True
        values = {"bits": np.packbits(is_chosen, bitorder="little").tobytes()}
        few = "" if is_whole else " AND (SELECT get_bit(%(bits)b, passage.note) = 1)"
        source = (
            f"(SELECT note, vector FROM passage WHERE palace = %(palace)s{few}"
            f" ORDER BY (vector::{kind}) <#> %(vector)s::{kind} LIMIT {BY_INDEX}) AS proposed"
        )
    statements.run(_PLANNING)
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


class StoreReader(AbstractContextManager["StoreReader"]):
    """Answers queries about one palace of a store, each from a single generation."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connection = open_store(address, purpose="query")
        try:
            palace = find_palace(self._connection, address)[1]
        except BaseException:
            self._connection.close()
            raise
        self.statements = Statements(self._connection, palace)
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True
        self._number = 0
        self._outlines: dict[bool, Outline] = {}
        self._get_embedder = cache(get_embedder)

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[Generation]:
        """Yield the generation, read in one transaction; raise ``IndexMissingError`` for none.

        Errors in ``UNREADABLE`` become ``IndexDamagedError``: writers may store malformed rows.
        """
        with asking(self.address), self._connection.transaction():
            generation = read_generation(self.statements)
            if generation is None:
                raise IndexMissingError(
                    f"nothing was pushed to {self.address.shown} yet, or it is no longer granted "
                    "to this role; run `palace index --store`, or ask whoever set it up"
                )
            try:
                yield generation
            except UNREADABLE as error:
                raise damaged("a note, or what is known of all notes,") from error

    def ask(self, asked: Query, *, whole: bool = False) -> QueryResult:
        """Rank notes as ``Palace.ask`` does; ``whole`` gives each hit the text of its passage."""
        with self.reading() as generation:
            asked = replace(asked, neighbors=2) if asked.neighbors is None else asked
            config = read_settings(generation.record["settings"], self.address.shown)
            outline = self._outline(generation, include_cold=asked.include_cold)
            query = parse_query(asked, now=time.time(), locale=config.locale)
            query = take_times(query, outline.languages)
            query = take_tags(query, lambda tag: bool(bear_tag(outline, tag).any()))
            query, plan = plan_ranking(
                asked, query, generation.commit, config, lambda _: self._embedder(generation)
            )
            if needed := plan.profile.weights.keys() - (SIGNALS - {"anchor"}):
                raise UsageError(
                    f"the profile {plan.profile.name} needs {', '.join(sorted(needed))}, which a "
                    "store does not have: ask with --profile hybrid"
                )
            if query.vector is not None and len(query.vector) != generation.commit.dimension:
                raise damaged("the record of the generation")
            question = _Question(self.statements, outline, query)
            query, found = question.rank(plan.profile, config.half_life_days, asked, whole=whole)
        return replace(report(asked, query, plan, found, outline), freshness="current")

    query = by_fields(Query, ask)

    def find_unknown_tags(self, text: str, *, include_cold: bool = False) -> list[str]:
        with self.reading() as generation:
            outline = self._outline(generation, include_cold=include_cold)
            return find_unknown_tags(text, lambda tag: bool(bear_tag(outline, tag).any()))

    def _outline(self, generation: Generation, *, include_cold: bool) -> Outline:
        """Return the outline of a generation, cached until the generation changes."""
        if self._number != generation.number:
            self._outlines, self._number = {}, generation.number
        if include_cold not in self._outlines:
            made = Outline(self.statements, generation, include_cold=include_cold)
            self._outlines[include_cold] = made
        return self._outlines[include_cold].ask()

    def _embedder(self, generation: Generation) -> Embedder:
        """Return the embedder of the index; raise ``WrongEmbedderError`` if it cannot be used."""
        commit = generation.commit
        if commit.embedder.startswith(USERS_ONLY):
            raise WrongEmbedderError(
                f"the store was indexed with {commit.embedder}, which its user may "
                "choose, and a store cannot; ask with --mode lexical"
            )
        embedder = self._get_embedder(commit.embedder)
        if not fits_recipe(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder
