"""The palace: the engine and, above it, what people do with it. The public API.

A feature is imported when its attribute is first used: a question should not pay for the rest.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from memory_palace.config import Config, find_paths, nearest_paths
from memory_palace.engine import Engine
from memory_palace.errors import NotAPalaceError
from memory_palace.language.moments import Moment
from memory_palace.models import QueryResult, Recollection
from memory_palace.places import OWN, PALACE
from memory_palace.query import Query
from memory_palace.table import METHODS, load

if TYPE_CHECKING:
    from memory_palace.changes.changing import Appended, Changes, Outcome
    from memory_palace.changes.cold_zone import ColdZone
    from memory_palace.features.anchors.feature import Anchors
    from memory_palace.features.capture.remembering import Remembered
    from memory_palace.features.importing.items import ImportReport
    from memory_palace.features.memories.memories import Memories
    from memory_palace.features.metabolism.feature import Metabolism
    from memory_palace.features.redqueen.feature import RedQueen
    from memory_palace.features.seek.feature import Loci, Searches
    from memory_palace.features.tasks.conflicts import Conflicts
    from memory_palace.features.tasks.golden import Golden
    from memory_palace.features.tasks.tasks import Tasks
    from memory_palace.features.view.writing import ViewReport
    from memory_palace.index.doctor import Examination
    from memory_palace.index.embedders import AwaitedModel
    from memory_palace.index.values import IndexReport


class Palace(Engine):
    """A folder of Markdown notes, the index derived from it, and every feature above them.

    ``root`` is the folder that holds ``.palace/`` or ``palace/``, or one of these itself, as text
    or as a path; ``~`` is expanded. Raise ``NotAPalaceError`` where there is no such folder.
    ``config`` replaces the settings in ``palace.yaml``.
    """

    def __init__(self, root: str | os.PathLike[str], *, config: Config | None = None) -> None:
        home = Path(root).expanduser()
        if home.name in (PALACE, OWN) and find_paths(home) is None:
            home = home.parent
        if find_paths(home) is None:
            raise NotAPalaceError(_no_palace(home))
        super().__init__(home, config=config)

    @classmethod
    def init(cls, root: str | os.PathLike[str], *, here: bool = False) -> Self:
        """Make a palace of a folder and open it; doing it twice changes nothing.

        The seven rooms are made in ``palace/``. With ``here`` the folder is taken as it stands:
        notes stay where they are, and only ``.palace/`` is made. Raise ``UsageError`` where that
        would make a second palace of the notes of a classic one.
        """
        from memory_palace.notes.discovery import make_palace

        return cls(make_palace(Path(root).expanduser(), here=here).root)

    @classmethod
    def discover(cls, start: str | os.PathLike[str] = ".") -> Self:
        """Open the nearest palace at or above ``start``."""
        home = Path(start).expanduser().resolve()
        found = nearest_paths(home)
        if found is None:
            raise NotAPalaceError(_no_palace(home, " or above it"))
        return cls(found.root)

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
        """Create a note and return its path relative to the root; an index that exists follows.

        ``room`` is one of the seven rooms, or a folder in one; ``folder`` is any folder of the
        notes. Without either it is ``project_rooms``, or the top where no folder is that room. An
        existing file is never touched: it raises ``UsageError``, as an unknown room or priority
        does. A ``body`` may have front matter and a heading of its own; lines of it with secrets
        and private spans are not written.
        """
        from memory_palace.changes.changing import make_note

        given = {"room": room, "folder": folder, "type": type, "priority": priority}
        return make_note(self, title, body=body, tags=tags, **given).path

    def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        tags: Sequence[str] = (),
        source: str | None = None,
        agent: str | None = None,
        wait_seconds: float = 10.0,
    ) -> Remembered:
        """Append a text to the day's inbox note of an agent, index it, and return where it stands.

        What the inbox has in the same words is counted there. Lines with secrets and private spans
        are not written. Where another writer does not end in ``wait_seconds`` it is kept, and
        indexed later. Raise ``UsageError`` for a text that is blank or too long,
        ``CheckFailedError`` where all of it is secret.
        """
        done: Remembered = load(METHODS["remember"])(
            self,
            text,
            title=title,
            tags=tags,
            source=source,
            agent=agent,
            wait_seconds=wait_seconds,
        )
        return done

    def append(self, note: str, text: str, *, under: str | None = None) -> Appended:
        """Add a text at the end of a note, or of its section ``under``, at once, and index it.

        The note is named by path, stem, title or alias. A section ends at the next heading of its
        level or above; one that is missing is made, of level two. Lines with secrets and private
        spans are not written; every other byte of the note stays. Raise ``UsageError`` for an
        archived or private note, and for a text that would be hidden or change what stands there,
        ``CheckFailedError`` where nothing of it may be written.
        """
        from memory_palace.changes.changing import append_to_note

        return append_to_note(self, note, text, under=under)

    def import_export(
        self,
        path: str | Path,
        *,
        source: str = "auto",
        folder: str | None = None,
        apply: bool = False,
        progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    ) -> ImportReport:
        """Import conversations and notes of another program; shown only, without ``apply``.

        ``path`` is an export's file, .zip or folder; ``source`` its format, or ``auto``. ``folder``
        says where the notes go, else among the chambers, or to ``Imports``. What was imported
        before is not written again. Nothing is indexed. Raise ``UsageError`` for a format
        that cannot be told, ``OSError`` for a file that cannot be read.
        """
        done: ImportReport = load(METHODS["import_export"])(
            self, Path(path), source=source, folder=folder, apply=apply, progress=progress
        )
        return done

    def view(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        include_cold: bool = False,
        relayout: bool = False,
    ) -> ViewReport:
        """Draw the palace as one HTML page, and return which file it is and what is on it.

        It is written to ``out``, or beside the index; only a page that this has written before is
        replaced. Notes lie where they lay before, unless ``relayout`` lays the plan out anew. Raise
        ``UsageError`` for a file of somebody else.
        """
        file = None if out is None else Path(out).expanduser()
        draw = load(METHODS["view"])
        drawn: ViewReport = draw(self, file, include_cold=include_cold, relayout=relayout)
        return drawn

    def recall(
        self,
        text: str,
        *,
        context: Sequence[str] = (),
        budget_bytes: int = 1500,
        as_of: Moment | None = None,
        min_confidence: float | None = None,
    ) -> Recollection:
        """Return what the notes have to say, unasked, to somebody who just said ``text``.

        Nothing where it refers to none of them. ``context`` are the turns before, the last one
        last. ``budget_bytes`` of UTF-8 bound the text. With ``as_of`` notes that give themselves a
        later date are left out. ``min_confidence`` replaces the palace's own bar: 0 always speaks
        where there is anything. Raise ``UsageError`` for a value that cannot be used.
        """
        said = self._parse(Query(text, as_of=as_of, budget_bytes=budget_bytes))
        given = {"budget_bytes": budget_bytes, "min_confidence": min_confidence}
        found: Recollection = load(METHODS["recall"])(self, said, context=context, **given)
        return found

    def doctor(self, *, fix: bool = False) -> Examination:
        """Prove that notes, manifest, vectors and digests agree; ``fix`` builds what does not."""
        from memory_palace.facts.derive import derive
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
        """Return the model that the next build takes up, or would if it were here."""
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
        """Index whenever notes have changed, until ``stop`` is set."""
        from memory_palace.index.watch import watch_palace  # delayed: only this needs watchdog

        watch_palace(
            self.paths,
            lambda: report(self.index(takes_up=False)),
            stop=stop,
            debounce_seconds=debounce_seconds,
            warn=warn,
        )

    def map(self, *, apply: bool = False) -> Outcome:
        """Write rooms, work, insights and health into the control panel, between two marks."""
        drawn: Outcome = load(METHODS["map"])(self, apply=apply)
        return drawn

    def look_up(
        self,
        text: str,
        *,
        limit: int | None = None,
        projects: Sequence[str] | None = None,
        budget_bytes: int | None = None,
    ) -> QueryResult:
        """Rank passages with the anchors of ``text`` in view; no hits where none fires.

        ``limit`` replaces ``max_chunks`` of the settings, ``projects`` the folders that "that
        project" stands for; ``budget_bytes`` bounds the snippets.
        """
        look_up = load(METHODS["look_up"])
        found: QueryResult = look_up(
            self, text, limit=limit, projects=projects, budget_bytes=budget_bytes
        )
        return found

    if TYPE_CHECKING:
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


def _no_palace(home: Path, above: str = "") -> str:
    return (
        f"there is no {OWN}/ or {PALACE}/ folder in {home}{above}; `palace init --here` takes a "
        "folder of notes as it stands, `palace init` makes one with rooms"
    )
