"""``palace store``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Argument, Option, Typer

from memory_palace.cli.options import Json
from memory_palace.cli.printing import plural, print_answer, say, to_record
from memory_palace.cli.registry import read_registry
from memory_palace.libraries import check_postgres
from memory_palace.postgres.address import Address

app = Typer(no_args_is_help=True, help="Keep palaces in PostgreSQL, and say who may read them.")
Store = Annotated[
    str | None,
    Option(
        "--store",
        metavar="NAME|ADDRESS",
        help="The store; where one alone is registered, that one.",
        show_default=False,
    ),
]
Role = Annotated[str, Argument(help="A role of the server.")]


@app.command("status")
def show_status(store: Store = None, as_json: Json = False) -> None:
    """Show the palaces of a store that you may read, and who else may.

    Example: palace store status --store team
    """
    address = find_store(store)
    from memory_palace.postgres.access import Stored, list_palaces
    from memory_palace.postgres.schema import open_store

    with open_store(address, purpose="store status") as connection:
        palaces = list_palaces(connection, address)

    def describe(palace: Stored) -> Iterator[str]:
        counts = f"{plural(palace.notes, 'note')}, {plural(palace.passages, 'passage')}"
        size = f"{palace.size_bytes / 1e6:.1f} MB"
        yield f"{palace.name}  {counts}, {size}, generation {palace.generation}"
        if palace.built_at is not None:
            yield f"  built    {palace.built_at:%Y-%m-%d %H:%M} by {palace.built_by}"
        for member in palace.members:
            yield f"  {'writes' if member.may_write else 'reads '}   {member.role}"

    record = {"store": address.shown, "palaces": to_record(palaces)}
    lines = [line for palace in palaces for line in describe(palace)]
    print_answer(record, lines, as_json=as_json)
    if not palaces and not as_json:
        say(f"no palace at {address.shown} was granted to this role")


@app.command("grant")
def grant_palace(
    role: Role,
    store: Store = None,
    write: Annotated[bool, Option("--write", help="Let it index too.")] = False,
    as_json: Json = False,
) -> None:
    """Let a role read a palace of a store; its owner alone may.

    Example: palace store grant anna --store team
    """
    address = find_store(store)
    from memory_palace.postgres.access import grant
    from memory_palace.postgres.schema import open_store

    with open_store(address, purpose="store grant") as connection:
        palace = grant(connection, address, role, may_write=write)
    _show({"palace": palace, "role": role, "read": True, "write": write}, as_json=as_json)


@app.command("revoke")
def revoke_palace(role: Role, store: Store = None, as_json: Json = False) -> None:
    """Take a palace of a store from a role; its owner alone may.

    Example: palace store revoke anna --store team
    """
    address = find_store(store)
    from memory_palace.postgres.access import revoke
    from memory_palace.postgres.schema import open_store

    with open_store(address, purpose="store revoke") as connection:
        palace = revoke(connection, address, role)
    _show({"palace": palace, "role": role, "read": False, "write": False}, as_json=as_json)


def find_store(given: str | None) -> Address:
    """Return the address that ``--store`` means, once the libraries are there to ask it."""
    address = read_registry().store_of(given)
    check_postgres()
    return address


def _show(record: dict[str, Any], *, as_json: bool) -> None:
    may = "write" if record["write"] else "read" if record["read"] else "no longer read"
    line = f"{record['role']} may {may} {record['palace']}"
    print_answer(record, [line], as_json=as_json)
