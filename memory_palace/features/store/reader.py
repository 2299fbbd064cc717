"""A question answered by a store as the files answer it, without the notes and without an index."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from psycopg import IsolationLevel

from memory_palace.address import Address
from memory_palace.config import SEVEN, Config
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import IndexMissingError, WrongEmbedderError
from memory_palace.facts.fact import FactKind
from memory_palace.features.store.access import find_palace
from memory_palace.features.store.asking import bearing, find_passing, known_tags
from memory_palace.features.store.choosing import NoteEstimate, find_nearest, list_priors
from memory_palace.features.store.collection import PostedStatistics
from memory_palace.features.store.connecting import asking, connect
from memory_palace.features.store.fetching import Fetched, compare
from memory_palace.features.store.generation import Generation, read_generation
from memory_palace.features.store.packing import damaged
from memory_palace.features.store.posted import PostedLists, PostedRows, PostedSnapshot
from memory_palace.features.store.records import read_matrix
from memory_palace.features.store.schema import check_schema
from memory_palace.features.store.settings import (
    check_stored_profile,
    read_kept,
    refuse_service,
    refuse_two,
)
from memory_palace.features.store.statements import Statements
from memory_palace.index.recipes import describe_mismatch, fits_recipe, read_detail
from memory_palace.language.moments import Moment
from memory_palace.models import Filters, Matrix, ParsedQuery, QueryResult, TimeReading, Vector
from memory_palace.retrieval.filters import Conditions, ask_as_of, choose_filters
from memory_palace.retrieval.profiles import Profile, choose_mode, choose_profile, find_unread
from memory_palace.retrieval.question import (
    ParsedQuestion,
    embed_question,
    find_unknown_tags,
    may_narrow,
    narrow,
    take_tags,
    take_times,
)
from memory_palace.retrieval.search import RankingOptions, SearchResult, search
from memory_palace.retrieval.when import list_keys
from memory_palace.retrieval.whole_passages import show_whole

if TYPE_CHECKING:
    from memory_palace.embedding.base import Embedder


def mark_naming(facts: PostedLists, times: Sequence[TimeReading]) -> NDArray[np.bool_]:
    """Say for each note of a snapshot whether a passage names a day, month or year of a time."""
    owners = facts.snapshot.row_note
    found = np.zeros(len(facts.snapshot.paths), np.bool_)
    for each in times:
        keys = list(list_keys(each.first, each.last))
        facts.fetch((FactKind.DATE, key) for key in keys)
        for key in keys:
            named = owners[facts.rows(FactKind.DATE, key)]
            found[named[named >= 0]] = True
    return found


@dataclass(frozen=True, slots=True)
class _Held:
    """What stays the same from question to question of one generation."""

    number: int
    snapshot: PostedSnapshot
    notes: int
    """Those without rows as well."""
    sample: Sequence[Matrix]
    """Of passages, and of what describes them if anything."""

    def compare(self, vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of the rows that stand for all."""
        return compare(self.sample[0], vector)


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
        self._statements = Statements(self._connection, palace, is_binary=True)
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True
        self._held: dict[bool, _Held] = {}
        self._embedders: dict[str, Embedder] = {}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(
        self,
        text: str = "",
        *,
        profile: str | None = None,
        lexical: bool = False,
        include_cold: bool = False,
        as_of: Moment | None = None,
        whole: bool = False,
        ranking: RankingOptions,
        **conditions: Unpack[Conditions],
    ) -> QueryResult:
        """Rank notes as ``Palace.query`` does, with its conditions and its words for moments."""
        now = time.time()
        locale = ""
        if conditions.get("when"):
            with self._reading() as generation:
                locale = self._settings(generation).locale
        filters = choose_filters(None, conditions, SEVEN, now=now, as_of=as_of, locale=locale)
        filters, moment = ask_as_of(filters, as_of, now=now)
        return self.query(
            text,
            filters=filters,
            profile=profile,
            lexical=lexical,
            include_cold=include_cold,
            as_of=moment,
            whole=whole,
            **ranking,
        )

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
            refuse_two(generation.commit.embedder)
            yield generation

    def query(
        self,
        text: str,
        *,
        filters: Filters | None = None,
        profile: str | None = None,
        lexical: bool = False,
        include_cold: bool = False,
        as_of: float | None = None,
        whole: bool = False,
        **ranking: Unpack[RankingOptions],
    ) -> QueryResult:
        """Rank notes as ``Engine.query`` does; ``whole`` gives each hit the text of its passage."""
        with self._reading() as generation:
            moment, asked = time.time() if as_of is None else as_of, " ".join(text.split())
            config = self._settings(generation)
            query = ParsedQuery(asked, moment, filters or Filters(), locale=config.locale)
            if may_narrow(asked):
                languages = self._hold(generation, include_cold=include_cold).snapshot.languages
                query = take_times(query, languages)
                tags = known_tags(self._statements, include_cold=include_cold)
                query = take_tags(query, lambda tag: bool(bearing(tags, tag)))
            has_vectors = bool(generation.commit.dimension)
            unread_by = "" if profile else find_unread(asked, generation.commit)
            by_words = lexical or bool(unread_by)
            mode = choose_mode(query.text, lexical=by_words, has_vectors=has_vectors)
            chosen = choose_profile(profile, config, mode)
            check_stored_profile(chosen, read_detail(generation.commit.fingerprint))
            query = self._embed(query, generation) if mode == "vector" else query
            limit = ranking.get("limit", 5)
            fetched = self._find(query, generation, limit, include_cold=include_cold)
            query, found = self._search(query, fetched, chosen, config.half_life_days, ranking)
            if whole:
                most = ranking.get("budget_bytes")
                found = found._replace(hits=show_whole(found.hits, fetched.snapshot(), most))
        return QueryResult(
            text=asked,
            profile=chosen.name,
            mode=mode,
            embedder=None if mode == "lexical" else generation.commit.embedder,
            hits=tuple(found.hits),
            is_answered=found.is_answered,
            freshness="current",
            languages=self._held[include_cold].snapshot.languages,
            unmatched_quotes=query.unmatched,
            times=(*query.filters.when, *found.times),
            unread_by=unread_by,
        )

    def find_unknown_tags(self, text: str, *, include_cold: bool = False) -> list[str]:
        """Return the tags of a question that no note has."""
        with self._reading():
            tags = known_tags(self._statements, include_cold=include_cold)
        return find_unknown_tags(text, lambda tag: bool(bearing(tags, tag)))

    def _find(
        self, query: ParsedQuery, generation: Generation, limit: int, *, include_cold: bool
    ) -> Fetched:
        """Read the notes that may answer."""
        statements, held = self._statements, self._hold(generation, include_cold=include_cold)
        snapshot = held.snapshot
        question = ParsedQuestion(
            query.text, as_of=query.as_of, languages=snapshot.languages, locale=query.locale
        )
        collection = PostedStatistics(
            statements,
            snapshot,
            question,
            notes=held.notes,
            sample=held.compare,
            also=chain(*list_priors(query.text)),
        )
        naming = mark_naming(collection.lists["facts"], query.filters.when)
        named = snapshot.posted.notes[naming].tolist()
        passing = find_passing(statements, query.filters, include_cold=include_cold, naming=named)
        allowed = None if passing is None else passing.notes
        if allowed is not None and (query.filters.since or query.filters.until):
            allowed = np.setdiff1d(allowed, snapshot.posted.notes[snapshot.told_dates == 0])
        fetched = Fetched(statements, generation, collection, allowed)
        if not query.text:
            fetched.add([] if allowed is None else allowed.tolist())
            return fetched
        nearest = None
        if query.vector is not None:
            nearest = find_nearest(
                statements, generation, query.vector, passing, include_cold=include_cold
            )
        estimate = NoteEstimate(collection, snapshot, passing, nearest)
        found = estimate.choose(limit) | estimate.choose_quoting(query.text)
        found |= fetched.find_called(query.text, include_cold=include_cold)
        fetched.add(found)
        return fetched

    def _search(
        self,
        query: ParsedQuery,
        fetched: Fetched,
        profile: Profile,
        days: float,
        ranking: RankingOptions,
    ) -> tuple[ParsedQuery, SearchResult]:
        """Rank what was read."""
        snapshot = fetched.snapshot()
        narrowed = narrow(query, snapshot, None) if may_narrow(query.text) else query
        return narrowed, search(narrowed, snapshot, profile=profile, half_life_days=days, **ranking)

    def _hold(self, generation: Generation, *, include_cold: bool) -> _Held:
        held = self._held.get(include_cold)
        if held is not None and held.number == generation.number:
            return held
        ask = self._statements.ask
        posted = PostedRows(self._statements, generation, include_cold=include_cold)
        ((notes,),) = ask(
            "SELECT count(*) FROM note WHERE palace = %(palace)s AND (%(cold)s OR NOT is_cold)",
            cold=include_cold,
        )
        rows = {
            row: (vector, described)
            for row, vector, described in ask(
                "SELECT id, vector, described FROM passage"
                " WHERE palace = %(palace)s AND id = ANY(%(rows)s)",
                rows=generation.sample,
            )
        }
        if any(row not in rows for row in generation.sample):
            raise damaged("a passage")
        pairs = [rows[row] for row in generation.sample]
        self._held[include_cold] = _Held(
            generation.number,
            PostedSnapshot(self._statements, generation, posted),
            notes,
            [
                read_matrix([vectors[place] for vectors in pairs], dimension)
                for place, dimension in enumerate(generation.dimensions)
            ],
        )
        return self._held[include_cold]

    def _settings(self, generation: Generation) -> Config:
        """Return the settings that were given, else those of the palace."""
        return self.config or read_kept(generation.settings, self.address.shown)

    def _embed(self, query: ParsedQuery, generation: Generation) -> ParsedQuery:
        return embed_question(query, self._embedder(generation))

    def _embedder(self, generation: Generation) -> Embedder:
        """Return the embedder of the index; raise ``WrongEmbedderError`` for another recipe."""
        commit = generation.commit
        refuse_service(commit.embedder, "ask with --mode lexical")
        if commit.embedder not in self._embedders:
            self._embedders[commit.embedder] = get_embedder(commit.embedder)
        embedder = self._embedders[commit.embedder]
        if not fits_recipe(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder
