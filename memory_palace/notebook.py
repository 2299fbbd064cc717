"""What writes files because somebody said so: new, remember, append, import, view."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.engine import Engine
from memory_palace.table import METHODS, load

if TYPE_CHECKING:
    from memory_palace.changes.adding import Appended
    from memory_palace.features.capture.remembering import Remembered
    from memory_palace.features.importing.items import ImportReport
    from memory_palace.features.view.writing import ViewReport


class Notebook(Engine):
    """The engine, with notes to write into. Get one as a ``Palace``."""

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
        from memory_palace.changes.new_notes import make_note

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
        from memory_palace.changes.adding import append_to_note

        return append_to_note(self, note, text, under=under)

    def import_export(
        self,
        path: str | Path,
        *,
        source: str = "auto",
        room: str | None = None,
        folder: str | None = None,
        apply: bool = False,
        progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    ) -> ImportReport:
        """Import conversations and notes of another program; shown only, without ``apply``.

        ``path`` is an export's file, .zip or folder; ``source`` its format, or ``auto``. ``room``
        or ``folder`` say where the notes go, else among the chambers, or to ``Imports``. What was
        imported before is not written again. Nothing is indexed. Raise ``UsageError`` for a format
        that cannot be told, ``OSError`` for a file that cannot be read.
        """
        place = {"room": room, "folder": folder}
        done: ImportReport = load(METHODS["import_export"])(
            self, Path(path), source=source, apply=apply, progress=progress, **place
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
