"""``palace config store``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from memory_palace.address import Address
from memory_palace.cli.group import Group
from memory_palace.cli.options import SHORT_WAIT_SECONDS, Apply, Wait
from memory_palace.cli.progress import progress_line
from memory_palace.errors import UsageError
from memory_palace.features.store.reaching import find_store, name_palace
from memory_palace.features.store.values import (
    Dropped,
    Granted,
    StoreShown,
    StoreVerified,
)
from memory_palace.palace import Palace

if TYPE_CHECKING:
    from psycopg import Connection

store = Group("Keep palaces in PostgreSQL, and say who may read them.")
Store = Annotated[
    str | None,
    Option(
        "--store",
        metavar="NAME|ADDRESS",
        help="The store; where one alone is registered, that one.",
        show_default=False,
    ),
]


@store.verb("status")
def show_status(store: Store = None) -> StoreShown:
    """Show the palaces of a store that you may read, and who else may.

    Example: palace config store status --store team
    """
    address = find_store(store)
    from memory_palace.features.store.access import list_palaces

    with _open(address, "status") as connection:
        return StoreShown(address.shown, list_palaces(connection, address))


@store.verb("grant")
def grant_palace(
    role: Annotated[str, Argument(help="A role of the server.")],
    store: Store = None,
    write: Annotated[bool, Option("--write", help="Let it index too.")] = False,
    revoked: Annotated[bool, Option("--revoke", help="Take the palace from the role.")] = False,
) -> Granted:
    """Let a role read a palace of a store, or no longer; its owner alone may.

    Example: palace config store grant anna --store team
    """
    address = find_store(store)
    if write and revoked:
        raise UsageError("--write contradicts --revoke; give one of them")
    from memory_palace.features.store.access import grant, revoke

    with _open(address, "grant") as connection:
        if revoked:
            palace = revoke(connection, address, role)
        else:
            palace = grant(connection, address, role, may_write=write)
    return Granted(palace, role, read=not revoked, write=write)


@store.verb("drop")
def drop_palace(
    store: Store = None, apply: Apply = False, wait: Wait = SHORT_WAIT_SECONDS
) -> Dropped:
    """Remove a palace from a store, with its grants; the owner of the store alone may.

    The notes, and their index in files, stay as they are.

    Example: palace config store drop --store team --apply
    """
    address = find_store(store)
    from memory_palace.features.store.access import drop, find_palace, list_palaces

    with _open(address, "drop") as connection:
        find_palace(connection, address)
        palaces = list_palaces(connection, address)
        palace = next(one for one in palaces if address.palace in ("", one.name))
        if apply:
            drop(connection, address, wait_seconds=wait)
    return Dropped(palace.name, palace.notes, palace.passages, apply)


@store.verb("verify")
def verify_palace(palace: Palace | None, store: Store = None) -> StoreVerified:
    """Prove that a store holds what the notes' index says, and agrees with itself.

    Outside of a palace only the second. Nothing is changed.

    Example: palace config store verify --store team
    """
    address = find_store(store)
    from memory_palace.features.store.access import find_palace
    from memory_palace.features.store.checking import StoredIndex, verify_store
    from memory_palace.features.store.connecting import asking
    from memory_palace.index.store import IndexFiles

    address = name_palace(address, palace) if palace else address
    with _open(address, "verify") as connection, asking(address), progress_line() as advance:
        stored = StoredIndex(connection, find_palace(connection, address))
        source = IndexFiles(palace.paths) if palace else None
        findings = verify_store(stored, source, advance)
        said = stored.generation
    return StoreVerified(said.number, said.notes, said.rows, palace is not None, findings)


@contextmanager
def _open(address: Address, verb: str) -> Iterator[Connection]:
    from memory_palace.features.store.schema import open_store

    with open_store(address, purpose=f"store {verb}") as connection:
        yield connection
