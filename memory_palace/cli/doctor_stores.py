"""How the stores that a palace is registered to stand to its index, for ``palace doctor``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory_palace.cli.printing import plural
from memory_palace.cli.registry import read_registry
from memory_palace.cli.store import find_store, name_palace
from memory_palace.errors import PalaceError

if TYPE_CHECKING:
    from memory_palace.palace import Palace
    from memory_palace.postgres.address import Address


@dataclass(frozen=True, slots=True)
class StoreStanding:
    """One store beside the index of the notes."""

    store: str
    message: str
    is_same: bool


def compare_stores(palace: Palace) -> Iterator[StoreStanding]:
    """Say of each store that holds this palace whether it holds what the index says.

    One that does not answer is told as well.
    """
    registry = read_registry()
    for name in sorted(registry.stores):
        address = registry.store_of(name)
        if name_palace(replace(address, palace=""), palace).palace != address.palace:
            continue  # it is of another palace
        try:
            message = _compare(find_store(name), palace, name)
        except PalaceError as error:
            yield StoreStanding(name, str(error), is_same=False)
        else:
            yield StoreStanding(name, message or "holds what the index says", is_same=not message)


def _compare(address: Address, palace: Palace, name: str) -> str:
    """Say what differs, and what to type; nothing where all is the same."""
    from memory_palace.index.store import IndexFiles
    from memory_palace.postgres.access import find_palace
    from memory_palace.postgres.checking import compare_stamps
    from memory_palace.postgres.connecting import asking
    from memory_palace.postgres.exporting import StoredIndex
    from memory_palace.postgres.schema import open_store

    source = IndexFiles(palace.paths)
    with open_store(address, purpose="doctor") as connection, asking(address):
        stored = StoredIndex(connection, find_palace(connection, address))
        found = Counter(kind for _, kind in compare_stamps(dict(stored.list_stamps()), source))
        generation = stored.generation
    if not found:
        return ""
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()))
    verb = "differs" if found.total() == 1 else "differ"
    notes = plural(found.total(), "note")
    differs = f"{notes} of generation {generation.number} {verb} ({counts})"
    command = f"`palace index --store {name}`"
    if generation.commit.built_ns > source.read_commit().built_ns:
        return f"{differs}; pushed by {generation.built_by} since: get those notes, then {command}"
    return f"{differs}; run {command}"
