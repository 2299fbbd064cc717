"""Entry points of ``palace query`` and ``palace index`` to a store, and the values shown.

The PostgreSQL libraries are imported only after an address has been found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memory_palace.cli.registry import Address, read_registry
from memory_palace.libraries import check_postgres
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.shown import Shown, inner, plural


def find_store(given: str | None, palace: Palace | None = None) -> Address:
    """Return the address given by ``--store``, after checking that psycopg and pgvector exist.

    An address without a palace gets ``palace``'s registered name, or else its folder's name.
    """
    registry = read_registry()
    address = registry.store_of(given)
    check_postgres()
    if address.palace or palace is None:
        return address
    folder = palace.paths.root.resolve()
    names = [name for name, place in registry.palaces.items() if folder == Path(place)]
    cleaned = re.sub(r"[^\w.-]+", "-", folder.name).strip("-._")[:64]
    return replace(address, palace=names[0] if names else cleaned or "palace")


@contextmanager
def pushing_to(store: str, palace: Palace) -> Iterator[Callable[..., Pushed]]:
    """Connect to a store, creating it and its palace if missing; yield a function that pushes."""
    address = find_store(store, palace)
    from memory_palace.features.store.connecting import asking, connect, make_palace, make_store
    from memory_palace.features.store.rows import IndexFiles
    from memory_palace.features.store.writing import push
    from memory_palace.storage import writer_lock

    with closing(connect(address, purpose="index")) as connection:
        make_store(connection, address)
        number = make_palace(connection, address)

        def push_index(*, wait: float, **how: bool) -> Pushed:
            with writer_lock(palace.paths.lock, wait_seconds=wait), asking(address):
                source, config = IndexFiles(palace.paths), palace.config
                return push(connection, number, source, config, wait_seconds=wait, **how)

        yield push_index


def ask_store(store: str, asked: Query, *, whole: bool = False) -> tuple[QueryResult, list[str]]:
    """Return a stored palace's answer to a query, and the query's tags that no note has."""
    address = find_store(store)
    from memory_palace.features.store.reader import StoreReader

    with StoreReader(address) as reader:
        result = reader.ask(asked, whole=whole)
        if "#" not in asked.text:
            return result, []
        return result, reader.find_unknown_tags(asked.text, include_cold=asked.include_cold)


# --- Shown ---


@dataclass(frozen=True, slots=True)
class Member:
    """A role that was granted a palace."""

    role: str
    may_write: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """A palace of a store, with the details that the asking role may see."""

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
    """A role's access to a palace after a grant or a revocation."""

    palace: str
    role: str
    read: bool
    write: bool

    def lines(self) -> Iterable[str]:
        may = "write" if self.write else "read" if self.read else "no longer read"
        yield f"{self.role} may {may} {self.palace}"


@dataclass(frozen=True, slots=True)
class Dropped(Shown):
    """A palace deleted from a store, or to be deleted with ``--apply``."""

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
    """Counts of the notes and passage rows that a push wrote or removed."""

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
