"""The public API: notes, index and retrieval, and the features above them.

A feature is imported on first use of its attribute, so that a question loads no other.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from memory_palace.config import Config, find_paths
from memory_palace.errors import IndexDamagedError, NotAPalaceError, UsageError
from memory_palace.index.commit import choose_detail, name_recipe
from memory_palace.index.embedders import Embedders
from memory_palace.index.snapshot import OpenedIndex, check_freshness
from memory_palace.models import NoteRecord, ParsedQuery, Problem, QueryResult
from memory_palace.notes.discovery import read_settings
from memory_palace.notes.note import NoteText, excerpt, read_note
from memory_palace.places import OWN, PALACE, nearest_root
from memory_palace.query import Query, by_fields
from memory_palace.table import FEATURES, FOLLOWERS, METHODS, RECOVER, load

if TYPE_CHECKING:
    from memory_palace.changes.changing import Changes
    from memory_palace.changes.composing import Appended, append_to_note
    from memory_palace.embedding.registry import Embedder
    from memory_palace.features.agents import memory_tool
    from memory_palace.features.anchors import lookup
    from memory_palace.features.anchors.anchors import Anchors
    from memory_palace.features.asking.langchain import make_retriever
    from memory_palace.features.capture import remembering
    from memory_palace.features.importing import run
    from memory_palace.features.memories.memories import Memories
    from memory_palace.features.metabolism.cold_zone import ColdZone
    from memory_palace.features.metabolism.cycle import Metabolism
    from memory_palace.features.recall import recalling
    from memory_palace.features.redqueen.rounds import RedQueen
    from memory_palace.features.seek.searches import Loci, Searches
    from memory_palace.features.tasks.conflicts import Conflicts
    from memory_palace.features.tasks.golden import Golden
    from memory_palace.features.tasks.tasks import Tasks, draw_map
    from memory_palace.features.view.page import write_view
    from memory_palace.graph.router import LinkGraph
    from memory_palace.index.doctor import Examination, IndexStatus
    from memory_palace.index.embedders import AwaitedModel
    from memory_palace.index.snapshot import Snapshot
    from memory_palace.index.values import Followed, IndexReport, Progress
    from memory_palace.notes.usage import Act


P = ParamSpec("P")
R = TypeVar("R")


class Verb(Generic[P, R]):
    """A descriptor that binds a function, whose first parameter is the palace, as a method.

    Its owners are the palace and its features. A function given by its place in the table is
    imported on first use.
    """

    def __init__(self, function: Callable[Concatenate[Palace, P], R] | str) -> None:
        self.function = function

    def __get__(self, owner: Any, kind: Any) -> Callable[P, R]:
        """Return the function, bound to the palace unless accessed on the class."""
        function: Any = load(self.function) if isinstance(self.function, str) else self.function
        return function if owner is None else MethodType(function, getattr(owner, "palace", owner))


class Palace:
    """A folder of Markdown notes, the index derived from it, and every feature above them.

    ``root`` is the folder that contains ``.palace/`` or ``palace/``, or one of these itself, as
    text or as a path; ``~`` is expanded. Raise ``NotAPalaceError`` for any other folder. ``config``
    replaces the settings in ``palace.yaml``.
    """

    def __init__(self, root: str | os.PathLike[str], *, config: Config | None = None) -> None:
        home = Path(root).expanduser()
        paths = find_paths(home)
        if paths is None and home.name in (PALACE, OWN):
            home = home.parent
            paths = find_paths(home)
        if paths is None:
            raise NotAPalaceError(_no_palace(home))
        self.paths, self.config = read_settings(paths, config)
        self._embedders = Embedders(self.paths, self.config)
        self.check_freshness = check_freshness
        self._opened = OpenedIndex(self.paths, self.config.languages)
        self.agent = ""
        """Name of the agent that changes notes, for the log of changes."""
        self.unread: dict[str, Problem] = {}
        """Files and folders that a method could not read and went on without, by path."""

    @classmethod
    def init(cls, root: str | os.PathLike[str], *, here: bool = False) -> Self:
        """Create a palace in a folder and open it; a second call changes nothing.

        The seven rooms are created in ``palace/``. With ``here`` the folder is adopted: notes stay
        in place, and only ``.palace/`` is created. Raise ``UsageError`` then for a missing folder,
        or one with a classic palace in use.
        """
        from memory_palace.notes.discovery import make_palace

        return cls(make_palace(Path(root).expanduser(), here=here).root)

    @classmethod
    def discover(cls, start: str | os.PathLike[str] = ".") -> Self:
        """Open the nearest palace at or above ``start``."""
        home = Path(start).expanduser().resolve()
        found = nearest_root(str(home))
        if found is None:
            raise NotAPalaceError(_no_palace(home, " or above it"))
        return cls(found[0])

    def note_unread(self, problems: Iterable[Problem]) -> None:
        """Record the failures among problems in ``unread``, to be shown with the answer."""
        self.unread |= {problem.path: problem for problem in problems if problem.is_failure}

    def note_use(self, act: Act, *paths: str) -> None:
        """Log that notes were opened or cited, if the usage log is on; never raise."""
        from memory_palace.notes.usage import logs_usage, record_usage

        if logs_usage(self.paths, self.config):
            record_usage(self.paths.logs, act, paths, now=datetime.now(UTC))

    def adopt(self, other: Palace) -> None:
        """Share the open models of another palace, and its index if paths and config are equal."""
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

        ``force`` embeds all notes again, ``verify`` hashes all, ``dry_run`` writes nothing,
        ``structure`` keeps structural facts, ``takes_up`` adopts a newly installed model and fills
        in missing vectors. Raise ``IndexLockedError`` if another process is writing.
        """
        from memory_palace.facts import derive
        from memory_palace.index.build import build_index
        from memory_palace.index.diff import open_state
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
                progress=progress,
                derive=derive,
                fingerprint=name_recipe(chosen, detail, *self.config.reading),
                waits_for=waits_for,
                is_dry_run=dry_run,
                fills_all=takes_up,
                follow=self._follow,
            )
            try:
                return build_index(context, state, force=force, verify=verify)
            except IndexDamagedError:
                if verify:
                    raise
                state = open_state(self.paths, verify=True)
                return build_index(context, state, force=force, verify=True)

    def _follow(
        self, hot: Snapshot, names: tuple[str, ...], embedder: Embedder, now_ns: int
    ) -> Followed:
        problems: tuple[Problem, ...] = ()
        for name in FOLLOWERS.values():
            names, told = getattr(self, name).follow(hot, names, embedder, now_ns)
            problems += told
        return names, problems

    @contextmanager
    def writing(self, *, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold the writer's lock; take back a change that was interrupted before."""
        from memory_palace.storage import writer_lock

        with writer_lock(self.paths.lock, wait_seconds=wait_seconds):
            if self.paths.journal.exists():
                load(RECOVER)(self.paths)
            yield

    def ask(self, asked: Query) -> QueryResult:
        """Rank the notes that answer a question; without text, list those that meet the conditions.

        Quoted words must occur in a passage, unless no note contains them; a ``#tag`` that some
        note has filters the notes. An index without vectors is searched by words alone, with
        ``mode`` "lexical". Raise ``UsageError`` for invalid parameters.
        """
        asked = replace(asked, neighbors=2) if asked.neighbors is None else asked
        snapshot = self.snapshot(include_cold=asked.include_cold)
        found = self._answer(asked, snapshot)
        freshness = self.check_freshness(self.paths, self.config, snapshot)
        self.note_unread(freshness.problems)
        return replace(found, freshness=freshness.state, behind=freshness.behind)

    query = by_fields(Query, ask)

    def rank_paths(self, texts: Iterable[str], *, limit: int) -> list[tuple[str, ...]]:
        """Return the top ``limit`` note paths for each text; no note is opened."""
        snapshot, asked = self.snapshot(), [Query(text, limit=limit) for text in texts]
        found = (self._answer(each, snapshot, shows_text=False) for each in asked)
        return [tuple(hit.path for hit in each) for each in found]

    def parse(self, asked: Query) -> ParsedQuery:
        """Return the parsed question."""
        from memory_palace.retrieval.question import parse_query

        locale, rooms = self.config.locale, self.paths.rooms
        return parse_query(asked, now=time.time(), locale=locale, rooms=rooms)

    def _answer(self, asked: Query, snapshot: Snapshot, *, shows_text: bool = True) -> QueryResult:
        from memory_palace.retrieval.search import answer

        return answer(
            asked,
            self.parse(asked),
            snapshot,
            self.config,
            paths=self.paths,
            embedder=self._embedders.of,
            feature=partial(getattr, self),
            shows_text=shows_text,
        )

    def embedder(self) -> Embedder:
        """Return the embedder of the index."""
        return self._embedders.of(self.snapshot().commit)

    def snapshot(self, *, include_cold: bool = False) -> Snapshot:
        """Return the snapshot of the committed index, reopened only after a new commit."""
        return self._opened.snapshot(include_cold=include_cold)

    def list_notes(self, asked: Query) -> list[NoteRecord]:
        """List the notes that meet conditions, in path order; raise ``UsageError`` for a text."""
        if asked.text:
            raise UsageError("notes are listed by conditions alone; ask a question with query")
        from memory_palace.retrieval.question import match_notes

        snapshot = self.snapshot(include_cold=asked.include_cold)
        places = match_notes(snapshot, self.parse(asked).filters).nonzero()[0]
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

        path = NoteNames.from_snapshot(self.snapshot(include_cold=include_cold)).find(note)
        data, _ = read_note(self.paths, path, limit_bytes=self.config.max_note_bytes)
        self.note_use("opened", path)
        return excerpt(path, data, first_line=first_line, last_line=last_line)

    def graph(self, *, include_cold: bool = False) -> LinkGraph:
        """Return the link graph of the notes, in which links to cold notes are marked."""
        from memory_palace.graph.router import LinkGraph

        whole = self.snapshot(include_cold=True)
        cold = [whole.paths[place] for place in whole.cold.nonzero()[0].tolist()]
        return LinkGraph.from_snapshot(self.snapshot(include_cold=include_cold), cold_paths=cold)

    def status(self) -> IndexStatus:
        """Return the statistics of the index."""
        from memory_palace.index.doctor import take_status

        return take_status(self.paths, self.config, self.snapshot(include_cold=True))

    def new(
        self,
        title: str,
        *,
        body: str = "",
        room: str | None = None,
        folder: str | None = None,
        type: str | None = None,
        priority: str | None = None,
        tags: Sequence[str] = (),
    ) -> str:
        """Create a note and return its path relative to the root; an existing index is updated.

        ``room`` is one of the seven rooms, or a folder in one; ``folder`` is any folder of the
        notes. By default it is ``project_rooms``, or the top folder if that room has none. Raise
        ``UsageError`` for an existing file, an unknown room or an invalid priority. ``body`` may
        begin with a heading, not with front matter; lines with secrets and private spans are left
        out.
        """
        given = {"room": room, "folder": folder, "type": type, "priority": priority}
        made: Appended = load(METHODS["new"])(self, title, body=body, tags=tags, **given)
        return made.path

    def doctor(self, *, fix: bool = False) -> Examination:
        """Check that notes, manifest, vectors and digests agree; ``fix`` rebuilds the index."""
        from memory_palace.facts import derive
        from memory_palace.graph.router import find_lost_heirs
        from memory_palace.index.doctor import examine_index

        found = examine_index(self.paths, self.config, self._embedders.get, derive, fix=fix)
        if fix and found.needs_build:
            self.index(verify=True, takes_up=False)
            return replace(self.doctor(), fixed=found.findings)
        has_notes = bool(found.checked.get("notes"))
        lost = find_lost_heirs(self.snapshot(include_cold=True)) if has_notes else ()
        return replace(found, findings=(*found.findings, *lost))

    def awaited_model(self) -> AwaitedModel | None:
        """Return the model that the next build will use, if installed; ``None`` if none awaits."""
        from memory_palace.index.embedders import find_awaited

        return find_awaited(self.paths, self.config)

    def watch(
        self,
        report: Callable[[IndexReport], None],
        *,
        stop: threading.Event,
        debounce_seconds: float = 1.0,
        warn: Callable[[str], None] = lambda words: None,
    ) -> None:
        """Update the index whenever notes change, until ``stop`` is set."""
        from memory_palace.index.watch import watch_palace  # delayed: only this needs watchdog

        watch_palace(
            self.paths,
            lambda: report(self.index(takes_up=False)),
            stop=stop,
            debounce_seconds=debounce_seconds,
            warn=warn,
        )

    if TYPE_CHECKING:
        append = Verb(append_to_note)
        import_export = Verb(run.import_export)
        look_up = Verb(lookup.look_up)
        map = Verb(draw_map)
        memory_tool = Verb(memory_tool.memory_tool)
        recall = Verb(recalling.recall)
        remember = Verb(remembering.remember)
        retriever = Verb(make_retriever)
        view = Verb(write_view)
        anchors: Anchors
        changes: Changes
        cold_zone: ColdZone
        conflicts: Conflicts
        golden: Golden
        loci: Loci
        memories: Memories
        metabolism: Metabolism
        redqueen: RedQueen
        searches: Searches
        tasks: Tasks


for _name in METHODS.keys() - vars(Palace).keys():
    setattr(Palace, _name, Verb(METHODS[_name]))


def _no_palace(home: Path, above: str = "") -> str:
    return (
        f"there is no {OWN}/ or {PALACE}/ folder in {home}{above}; `palace init --here` takes a "
        "folder of notes as it stands, `palace init` makes one with rooms"
    )


class Feature:
    """Base class of the features. Instances are attributes of ``Palace``."""

    def __init__(self, palace: Palace) -> None:
        self.palace = palace
