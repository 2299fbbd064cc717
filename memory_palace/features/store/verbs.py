"""``palace config store``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import SHORT_WAIT_SECONDS, Apply, Group, Wait
from memory_palace.errors import UsageError
from memory_palace.features.store.reaching import Dropped, Granted, StoreShown, find_store

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
    from memory_palace.features.store.connecting import list_palaces, open_store

    with open_store(address, purpose="store status") as connection:
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
    from memory_palace.features.store.connecting import grant, open_store

    with open_store(address, purpose="store grant") as connection:
        palace = grant(connection, address, role, may_write=None if revoked else write)
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
    from memory_palace.features.store.connecting import drop, find_palace, list_palaces, open_store

    with open_store(address, purpose="store drop") as connection:
        name, _ = find_palace(connection, address)
        palace = next(one for one in list_palaces(connection, address) if one.name == name)
        if apply:
            drop(connection, address, wait_seconds=wait)
    return Dropped(name, palace.notes, palace.passages, apply)
