"""``Query``: the parameters of a question, each declared once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from inspect import Parameter, signature
from typing import ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar

from memory_palace.errors import UsageError
from memory_palace.signals import SHIPPED

Moment: TypeAlias = float | date | str
"""Seconds since the epoch, a date, a datetime, or text such as ``2026-03-01`` or ``30d``."""
Names: TypeAlias = Sequence[str] | None
"""One name or several."""
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Flag:
    """The command-line option of a query field."""

    names: str
    help: str
    value: str | None = None
    """Placeholder of the value in help, if not the default one."""
    completed: str | None = None
    """Kind of names that shell completion offers."""
    least: float | None = None
    most: float | None = None
    panel: str = "Which notes"


@dataclass(frozen=True, slots=True)
class Query:
    """A question, its filters and its ranking options.

    Without ``text`` the notes that pass the filters are listed.
    """

    text: str = ""
    limit: int = 5
    """Maximum number of notes, or of passages."""
    type: str | None = None
    priority: str | None = None
    """``high``, ``medium`` or ``low``."""
    room: str | None = None
    """One of the seven rooms."""
    folder: Names = None
    """Folders, relative to the root or to ``palace/``; notes below them pass too."""
    tags: Names = None
    """Tags that a note must all have; ``hut`` is met by ``hut/roof`` too."""
    since: Moment | None = None
    until: Moment | None = None
    when: str | None = None
    """Time expression such as ``last May``: notes dated then, and passages naming it, pass."""
    as_of: Moment | None = None
    """Moment of the question: "yesterday" is relative to it, and later notes are left out."""
    include_cold: bool = False
    profile: str | None = None
    """A built-in or registered ranking profile; ``None``: that of the settings."""
    neighbors: int | None = None
    """Linked notes to show after each hit; ``Palace.ask`` takes ``None`` for 2."""
    min_confidence: float | None = None
    """Hits below this confidence are left out; without others the first one stays."""
    budget_bytes: int | None = None
    """Maximum total text of the hits, in UTF-8 bytes."""
    rerank: str | None = None
    """Cross-encoder, by name or folder, that reranks the 50 best."""
    lexical: bool = False
    """Whether only words and facts are compared, without vectors."""
    per_note: bool = True
    """Whether each note is one hit; otherwise its passages are."""
    gate: bool = True
    """Whether metadata adds nothing to scores and only orders near-duplicates."""

    flags: ClassVar[Mapping[str, Flag]] = {
        "type": Flag("-t --type", "Only this note type."),
        "priority": Flag("-p --priority", "Only this priority: high, medium or low."),
        "room": Flag("--room", "Only notes in this room.", completed="rooms"),
        "folder": Flag(
            "--in", "Only notes in or below this folder; repeatable.", "FOLDER", "folders"
        ),
        "tags": Flag(
            "--tag", "Only notes with this tag, or one below it; repeatable.", "TAG", "tags"
        ),
        "since": Flag(
            "--since", "Only notes from this date on: a date, 30d, 2w, 6m or 1y.", "DATE"
        ),
        "until": Flag("--until", "Only notes up to this date.", "DATE"),
        "when": Flag("--when", 'Only what is of a time or names it: "last May".', "TEXT"),
        "as_of": Flag(
            "--as-of", "Answer as if today were this date; leave out later notes.", "DATE"
        ),
        "include_cold": Flag("--include-cold", "Include archived notes."),
        "limit": Flag("-k --top-k", "Maximum number of results.", "N", least=1, panel="Ranking"),
        "profile": Flag(
            "--profile",
            f"How to rank: {', '.join(SHIPPED)}, structured, or an extension's.",
            completed="profiles",
            panel="Ranking",
        ),
        "neighbors": Flag(
            "--neighbors",
            "Linked notes to show after each hit, with their text.",
            "N",
            least=0,
            panel="Ranking",
        ),
        "min_confidence": Flag(
            "--min-confidence",
            "Leave out hits below this confidence; 0 leaves out none.",
            "X",
            least=0,
            most=1,
            panel="Ranking",
        ),
        "budget_bytes": Flag(
            "--budget",
            "Maximum size of the text, in UTF-8 bytes.",
            "BYTES",
            least=1,
            panel="Ranking",
        ),
        "rerank": Flag(
            "--rerank",
            "Let a cross-encoder order the 50 best: a folder, or ORGANIZATION/NAME.",
            "MODEL",
            panel="Ranking",
        ),
    }


def by_fields(
    make: Callable[P, Query], ask: Callable[[S, Query], R]
) -> Callable[Concatenate[S, P], R]:
    """Return a method that builds a ``Query`` from its fields and calls ``ask`` with it."""

    def method(self: S, /, *given: P.args, **named: P.kwargs) -> R:
        return ask(self, make(*given, **named))

    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    taken = signature(make).replace(return_annotation=signature(ask).return_annotation)
    method.__dict__["__signature__"] = taken.replace(parameters=[own, *taken.parameters.values()])
    method.__doc__ = ask.__doc__
    return method


_AGO = re.compile(r"(\d{1,5})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_NAMED = {"today": 0, "yesterday": 1}


def to_timestamp(moment: Moment, *, now: float, end_of_day: bool = False) -> float:
    """Return a moment in seconds since the epoch.

    A date without a time is its first moment, or its last with ``end_of_day``. Times without a
    zone are UTC. Raise ``UsageError`` for text that is not a date.
    """
    if isinstance(moment, str):
        moment = _read_moment(moment, datetime.fromtimestamp(now, UTC))
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time.max if end_of_day else time.min, UTC)
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)


def _read_moment(text: str, today: datetime) -> date:
    wanted = text.strip().lower()
    try:
        if ago := _AGO.fullmatch(wanted):
            return today - timedelta(days=int(ago[1]) * _DAYS[ago[2]])
        if wanted in _NAMED:
            return today.date() - timedelta(days=_NAMED[wanted])
        is_date = len(wanted) <= len("2026-03-01")
        return (date if is_date else datetime).fromisoformat(wanted)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is not a date; write 2026-03-01, 2026-03-01T14:30, 30d, 2w or yesterday"
        ) from None
