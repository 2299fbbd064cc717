"""Palaces of a store, and pushes to one, as they are shown; nothing here needs its libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_palace.shown import Shown, inner, plural


@dataclass(frozen=True, slots=True)
class Member:
    """A role that was granted a palace."""

    role: str
    may_write: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """A palace of a store, as whoever asks may see it."""

    name: str
    generation: int
    """0 of one that nothing was pushed to yet."""
    notes: int
    passages: int
    size_bytes: int
    """Of its passages with their indexes."""
    built_by: str
    built_at: datetime | None
    members: tuple[Member, ...]
    """Whoever set the store up sees all of them, others what was granted to themselves."""

    def lines(self) -> Iterator[str]:
        counts = f"{plural(self.notes, 'note')}, {plural(self.passages, 'passage')}"
        size = f"{self.size_bytes / 1e6:.1f} MB"
        yield f"{self.name}  {counts}, {size}, generation {self.generation}"
        if self.built_at is not None:
            yield f"  built    {self.built_at:%Y-%m-%d %H:%M} by {self.built_by}"
        for member in self.members:
            yield f"  {'writes' if member.may_write else 'reads '}   {member.role}"


@dataclass(frozen=True, slots=True)
class StoreShown(Shown):
    """The palaces of a store that a role may read."""

    store: str
    """The address, without a password."""
    palaces: Sequence[Stored]

    def lines(self) -> Iterable[str]:
        return (line for palace in self.palaces for line in palace.lines())

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not self.palaces and not as_json:
            yield f"no palace at {self.store} was granted to this role"


@dataclass(frozen=True, slots=True)
class Granted(Shown):
    """What a role may do with a palace from now on."""

    palace: str
    role: str
    read: bool
    write: bool

    def lines(self) -> Iterable[str]:
        may = "write" if self.write else "read" if self.read else "no longer read"
        yield f"{self.role} may {may} {self.palace}"


@dataclass(frozen=True, slots=True)
class Dropped(Shown):
    """A palace that went, or would go."""

    palace: str
    notes: int
    passages: int
    applied: bool

    def lines(self) -> Iterable[str]:
        counts = f"{plural(self.notes, 'note')}, {plural(self.passages, 'passage')}"
        yield f"{self.palace}  {counts}{', gone' if self.applied else ' would go'}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not self.applied and not as_json:
            yield "nothing was changed; add --apply"


@dataclass(frozen=True, slots=True)
class Pushed(Shown):
    """What a push did, counted in the store."""

    generation: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    rows_sent: int = 0
    rows_removed: int = 0
    is_new: bool = inner(default=True)
    """Whether anything was written."""

    def lines(self) -> Iterable[str]:
        counts = f"{plural(self.rows_sent, 'passage')}, {self.rows_removed} removed"
        said = f"{counts}; generation {self.generation}"
        same = f"nothing: generation {self.generation} is the same"
        yield f"  {'pushed':<10} {said if self.is_new else same}"
