"""The engine joins notes, index and retrieval; what few methods need is imported where they are."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_palace.config import Config, PalacePaths
from memory_palace.fence import ASKED
from memory_palace.index.commit import choose_detail, name_recipe
from memory_palace.index.embedders import Embedders
from memory_palace.index.opened import OpenedIndex, check_freshness
from memory_palace.models import NoteRecord, ParsedQuery, Problem, QueryResult
from memory_palace.notes.discovery import read_settings
from memory_palace.notes.excerpt import find_disputes
from memory_palace.notes.usage import Act, logs_usage, record_usage
from memory_palace.query import Query, by_fields
from memory_palace.retrieval import profiles
from memory_palace.table import EVIDENCE, FEATURES, FOLLOWERS, load

if TYPE_CHECKING:
    from memory_palace.embedding.base import Embedder
    from memory_palace.graph.router import LinkGraph
    from memory_palace.index.doctor import IndexStatus
    from memory_palace.index.snapshot import Snapshot
    from memory_palace.index.values import FindVectors, Followed, IndexReport, Progress
    from memory_palace.notes.excerpt import NoteText
    from memory_palace.retrieval.profiles import Mode, Profile
    from memory_palace.retrieval.search import SearchResult


class Follower(Protocol):
    """A feature whose files are carried over to each generation of the index."""

    def follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        """Return the names of its files; see ``index.context.Follow``."""
        ...


class EvidenceSource(Protocol):
    """A feature that says of a question what one signal of the ranking measures."""

    def ask(self, query: ParsedQuery, snapshot: Snapshot) -> ParsedQuery:
        """Return the question with the evidence."""
        ...


class Engine:
    """A folder of Markdown notes and the index derived from it."""

    def __init__(self, root: Path, *, config: Config | None = None) -> None:
        self.paths, self.config = read_settings(root, config)
        self._embedders = Embedders(self.paths, self.config)
        self.check_freshness = check_freshness
        self._opened = OpenedIndex(self.paths, self.config.languages)
        self.find_vectors: FindVectors | None = None
        """What a build asks for vectors before it makes them."""
        self.agent = ""
        """Who changes notes, for the log of changes, where an agent says so."""
        self.unread: dict[str, Problem] = {}
        """Files and folders that a method could not read and went on without, by path."""

    def note_unread(self, problems: Iterable[Problem]) -> None:
        """Remember what could not be read, for whoever shows the answer."""
        self.unread |= {problem.path: problem for problem in problems if problem.is_failure}

    def note_use(self, act: Act, *paths: str) -> None:
        """Log that notes were opened or cited, where use is logged; it never fails."""
        if logs_usage(self.paths, self.config):
            record_usage(self.paths.logs, act, paths, now=datetime.now(UTC))

    def adopt(self, other: Engine) -> None:
        """Go on with the models that another engine has open, and with the index of this folder."""
        if (other.paths, other.config) == (self.paths, self.config):
            self._embedders, self._opened = other._embedders, other._opened
        else:
            self._embedders.share(other._embedders)

    def __getattr__(self, name: str) -> object:
        """Import a feature when its attribute is first used, and keep it."""
        if name not in FEATURES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        feature = load(FEATURES[name])(self)
        setattr(self, name, feature)
        return feature

    def index(
        self,
        *,
        force: bool = False,
        verify: bool = False,
        dry_run: bool = False,
        embedder: str | None = None,
        structure: bool | None = None,
        takes_up: bool = True,
        wait_seconds: float = 0.0,
        progress: Progress = lambda doing, done, total: None,
    ) -> IndexReport:
        """Bring the index up to date with the notes.

        ``force`` embeds all, ``verify`` hashes all, ``dry_run`` writes nothing; ``structure``
        keeps more; ``takes_up`` a model that has come, and vectors that were left over.
        Raise ``IndexLockedError`` for another writer.
        """
        from memory_palace.facts.derive import derive
        from memory_palace.index.build import build_index
        from memory_palace.index.opened import open_state
        from memory_palace.index.values import BuildContext

        with self.writing(wait_seconds=wait_seconds):
            state = open_state(self.paths, verify=verify)
            choose = self._embedders.to_build_with
            chosen, waits_for = choose(state.commit, asked=embedder, force=force, takes_up=takes_up)
            detail = choose_detail(state.commit, structure=structure)
            context = BuildContext(
                paths=self.paths,
                config=self.config,
                embedder=chosen,
                now_ns=time.time_ns(),
                monotonic=time.monotonic,
                progress=progress,
                derive=derive,
                fingerprint=name_recipe(chosen, detail, *self.config.reading),
                waits_for=waits_for,
                is_dry_run=dry_run,
                fills_all=takes_up,
                find_vectors=None if force else self.find_vectors,
                follow=self._follow,
            )
            return build_index(context, state, force=force, verify=verify)

    def _follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        from memory_palace.index.values import Followed

        problems: tuple[Problem, ...] = ()
        for name in FOLLOWERS.values():
            follower: Follower = getattr(self, name)
            names, told = follower.follow(hot, names, embedder, now_ns)
            problems += told
        return Followed(names, problems)

    def writing(self, *, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Hold the writer's lock of this palace."""
        from memory_palace.storage.lock import writer_lock

        return writer_lock(self.paths.lock, wait_seconds=wait_seconds)

    def ask(self, asked: Query) -> QueryResult:
        """Rank the notes that answer a question; without text, list those that meet the conditions.

        Quoted words must stand in a passage, unless no note holds them; a ``#tag`` of some note
        narrows the answer. An index without vectors needs no embedder: the mode of the result says
        so. Raise ``UsageError`` for what cannot be used.
        """
        asked, query = asked.linked(), self._parse(asked)
        snapshot = self.snapshot(include_cold=asked.include_cold)
        unread_by = "" if asked.profile else profiles.find_unread(asked.text, snapshot.commit)
        lexical = asked.lexical or bool(unread_by)
        query, chosen, mode = self._prepare(query, snapshot, asked.profile, lexical=lexical)
        found = self._search(query, snapshot, asked, chosen, self.paths)
        freshness = self.check_freshness(self.paths, self.config, snapshot)
        self.note_unread(freshness.problems)
        return QueryResult(
            text=" ".join(asked.text.split()),
            profile=chosen.name,
            mode=mode,
            embedder=None if mode == "lexical" else snapshot.commit.embedder,
            hits=tuple(found.hits),
            is_answered=found.is_answered,
            freshness=freshness.state,
            behind=freshness.behind,
            awaiting=snapshot.commit.awaiting,
            anchors=query.anchors,
            languages=snapshot.languages,
            unmatched_quotes=query.unmatched,
            times=(*query.filters.when, *found.times),
            unread_by=unread_by,
        )

    query = by_fields(Query, ask)

    def rank_paths(self, texts: Iterable[str], *, limit: int) -> list[tuple[str, ...]]:
        """Return for each text the notes that ``ask`` ranks first; no note is opened for it."""
        snapshot, found = self.snapshot(), list[tuple[str, ...]]()
        for text in texts:
            asked = Query(text, limit=limit)
            query, chosen, _ = self._prepare(self._parse(asked), snapshot)
            hits = self._search(query, snapshot, asked, chosen).hits
            found.append(tuple(hit.path for hit in hits))
        return found

    def _parse(self, asked: Query) -> ParsedQuery:
        from memory_palace.retrieval.question import parse_query

        locale, rooms = self.config.locale, self.paths.rooms
        return parse_query(asked, now=time.time(), locale=locale, rooms=rooms)

    def _prepare(
        self,
        query: ParsedQuery,
        snapshot: Snapshot,
        profile: str | None = None,
        *,
        lexical: bool = False,
    ) -> tuple[ParsedQuery, Profile, Mode]:
        """Return what a question asks of a snapshot, and how its answers are ranked."""
        from memory_palace.retrieval.question import may_narrow, narrow

        query = narrow(query, snapshot, self.paths) if may_narrow(query.text) else query
        has_vectors = bool(snapshot.commit.dimension)
        mode = profiles.choose_mode(query.text, lexical=lexical, has_vectors=has_vectors)
        chosen = profiles.choose_profile(profile, self.config, mode)
        profiles.check_detail(chosen, snapshot.detail)
        if mode == "vector":
            query = self._embed(query, snapshot)
        for signal, name in EVIDENCE.items():
            if query.text and signal in chosen.weights:
                feature: EvidenceSource = getattr(self, name)
                query = ASKED.read(name, partial(feature.ask, query, snapshot), query)
        return query, chosen, mode

    def _search(
        self,
        query: ParsedQuery,
        snapshot: Snapshot,
        asked: Query,
        profile: Profile,
        paths: PalacePaths | None = None,
    ) -> SearchResult:
        from memory_palace.retrieval.search import search

        days, told = self.config.half_life_days, find_disputes(self.paths)
        return search(
            query,
            snapshot,
            asked,
            profile=profile,
            half_life_days=days,
            paths=paths,
            disputes=told,
        )

    def _embed(self, query: ParsedQuery, snapshot: Snapshot) -> ParsedQuery:
        from memory_palace.retrieval.question import embed_question

        return embed_question(query, self._embedders.of(snapshot.commit))

    def embedder(self) -> Embedder:
        """Return the embedder of the index."""
        return self._embedders.of(self.snapshot().commit)

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        """Return the committed generation, opened again only when another was committed."""
        return self._opened.snapshot(include_cold=include_cold)

    def list_notes(self, asked: Query) -> list[NoteRecord]:
        """List the notes that meet the conditions of a query, in path order."""
        from memory_palace.retrieval.filters import match_notes

        snapshot = self.snapshot(include_cold=asked.include_cold)
        places = match_notes(snapshot, self._parse(asked).filters).nonzero()[0]
        return [snapshot.note(place) for place in places.tolist()]

    notes = by_fields(Query, list_notes)

    def read(
        self,
        note: str,
        *,
        first_line: int | None = None,
        last_line: int | None = None,
        include_cold: bool = False,
    ) -> NoteText:
        """Read lines of a note, named by path, stem, title or alias."""
        from memory_palace.graph.naming import NoteNames
        from memory_palace.notes.excerpt import excerpt
        from memory_palace.notes.reading import read_named

        path = NoteNames.from_snapshot(self.snapshot(include_cold=include_cold)).find(note)
        data = read_named(self.paths, path, limit_bytes=self.config.max_note_bytes)
        self.note_use("opened", path)
        return excerpt(path, data, first_line=first_line, last_line=last_line)

    def graph(self, *, include_cold: bool = False) -> LinkGraph:
        """Return the links between notes; those to cold notes are known as such."""
        from memory_palace.graph.router import LinkGraph

        whole = self.snapshot(include_cold=True)
        cold = [whole.paths[place] for place in whole.cold.nonzero()[0].tolist()]
        return LinkGraph.from_snapshot(self.snapshot(include_cold=include_cold), cold_paths=cold)

    def status(self) -> IndexStatus:
        """Return what the index holds, in figures."""
        from memory_palace.index.doctor import take_status

        return take_status(self.paths, self.config, self.snapshot(include_cold=True))
