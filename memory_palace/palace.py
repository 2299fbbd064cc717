"""The palace: the engine and, above it, what people do with it. The public API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memory_palace.engine import Engine
from memory_palace.retrieval.filters import check_room


class Palace(Engine):
    """A folder of Markdown rooms and the index derived from it."""

    def new(
        self,
        title: str,
        *,
        room: str,
        type: str | None = None,
        priority: str | None = None,
        tags: Sequence[str] = (),
    ) -> str:
        """Create a note and return its path; an existing file is never touched."""
        from memory_palace.changes.creating import create_note

        check_room(room.partition("/")[0])
        now = datetime.now(UTC)
        return create_note(
            self.paths.root, title, room=room, now=now, type=type, priority=priority, tags=tags
        )
