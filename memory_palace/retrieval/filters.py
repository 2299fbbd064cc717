"""Which notes may be found at all. Filters are exact and come before ranking."""

from __future__ import annotations

from difflib import get_close_matches
from typing import cast, get_args

from memory_palace.config import ROOMS
from memory_palace.errors import UsageError
from memory_palace.language.moments import Moment, to_timestamp
from memory_palace.models import Filters, Priority


def make_filters(
    *,
    type: str | None = None,
    priority: str | None = None,
    room: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    now: float,
) -> Filters:
    """Check conditions as people give them; ``now`` is what ``30d`` counts back from.

    Raise ``UsageError`` for an unknown priority or room, and for text that is not a date.
    """
    if room is not None:
        check_room(room)
    return Filters(
        type=type,
        priority=check_priority(priority) if priority is not None else None,
        room=room,
        since=to_timestamp(since, now=now) if since is not None else None,
        until=to_timestamp(until, now=now, end_of_day=True) if until is not None else None,
    )


def check_priority(name: str) -> Priority:
    """Return a priority in lower case; raise ``UsageError`` where there is none of that name."""
    level = name.lower()
    if level not in get_args(Priority):
        raise UsageError(f"a priority is high, medium or low, not {name!r}")
    return cast(Priority, level)


def check_room(name: str) -> None:
    """Raise ``UsageError`` where ``name`` is none of the seven rooms."""
    if name.casefold() not in ROOMS:
        near = get_close_matches(name.casefold(), ROOMS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise UsageError(f"there is no room {name!r}{hint} The rooms are {', '.join(ROOMS)}.")
