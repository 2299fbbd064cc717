"""How a change of notes is shown, by every verb that makes one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from memory_palace.changes.changing import Outcome
from memory_palace.changes.operations import LoggedChange, Move
from memory_palace.shown import ABSENT, Absent, Shown

_ONLY_SHOWN = "nothing was changed; add --apply"


@dataclass(frozen=True, slots=True)
class ChangeEntry:
    """A logged change of notes."""

    identity: str
    time: str
    command: str
    reason: str
    evidence: tuple[str, ...]
    writes: tuple[str, ...]
    moves: tuple[Move, ...]
    undoes: str | None
    agent: str | None
    undone: bool | Absent = ABSENT

    @classmethod
    def of(cls, entry: LoggedChange, *, undone: bool | Absent = ABSENT) -> ChangeEntry:
        """Return a logged change as it is shown."""
        return cls(
            *(entry.identity, entry.time, entry.command, entry.reason, entry.evidence),
            writes=tuple(one.path for one in entry.writes),
            moves=entry.moves,
            undoes=entry.undoes,
            agent=entry.agent or None,
            undone=undone,
        )

    @property
    def name(self) -> str:
        """The id of the change, its verb, and who made it where that is known."""
        by = f"  by {self.agent}" if self.agent else ""
        return f"{self.identity}  {self.command}  {self.reason}{by}"

    def lines(self) -> Iterable[str]:
        """Return the name, and on what evidence the change was made."""
        return (self.name, *(f"  {words}" for words in self.evidence))


@dataclass(frozen=True)
class ChangeShown(Shown):
    """A change of notes that was planned or made."""

    change: ChangeEntry | Absent
    """The change that is taken back, where one is."""
    applied: bool
    id: str | None
    """Id for undo; null where the change was only shown."""
    reason: str
    paths: tuple[str, ...]
    """Notes written; moved notes by their new path."""
    diff: str
    remark: str | None
    """Why nothing was changed, or why the index is behind the notes; else null."""

    @classmethod
    def of(cls, outcome: Outcome, **more: Any) -> Self:
        """Return an outcome as it is shown; ``more`` are the fields that a subclass adds."""
        is_made = outcome.identity is not None
        remark = outcome.remark if is_made else _ONLY_SHOWN
        return cls(
            change=ChangeEntry.of(outcome.undone) if outcome.undone else ABSENT,
            applied=is_made,
            id=outcome.identity,
            reason=outcome.reason,
            paths=outcome.paths,
            diff=outcome.diff,
            remark=(remark or None) if outcome.diff else "there is nothing to change",
            **more,
        )

    def lines(self) -> Iterable[str]:
        """Return the change that is taken back, if one is, and the diff."""
        if self.change is not ABSENT:
            yield from self.change.lines()
        if self.diff:
            yield self.diff.removesuffix("\n")

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return what became of the change."""
        if self.remark:
            yield self.remark
