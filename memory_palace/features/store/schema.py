"""The tables of a store: made and brought up to date by numbered files of SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

import psycopg
from psycopg import sql

from memory_palace.address import Address
from memory_palace.errors import IndexMissingError, StoreError
from memory_palace.features.store.connecting import SCHEMA, asking, connect

_LOCK = 0x70616C616365
"""Key of the advisory lock of who changes the schema: ``palace``."""


@cache
def read_migrations() -> Mapping[int, str]:
    """Return the SQL that leads to each version from the one before."""
    folder = files(__package__).joinpath("migrations")
    return {
        int(file.name.removesuffix(".sql")): file.read_text("utf-8")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".sql")
    }


def read_version(connection: psycopg.Connection) -> int:
    """Return the version of the schema; 0 where there is none. Raise what PostgreSQL raises."""
    found = connection.execute("SELECT to_regnamespace(%s)", [SCHEMA]).fetchone()
    if found is None or found[0] is None:
        return 0
    # By its full name: a schema that a role may not use is passed over in its search path.
    table = sql.Identifier(SCHEMA, "version")
    row = connection.execute(sql.SQL("SELECT number FROM {}").format(table)).fetchone()
    return row[0] if row else 0


@contextmanager
def open_store(address: Address, *, purpose: str) -> Iterator[psycopg.Connection]:
    """Connect to a store whose tables this program can use; no transaction is begun."""
    connection = connect(address, purpose=purpose)
    try:
        check_schema(connection, address)
        yield connection
    finally:
        connection.close()


def check_schema(connection: psycopg.Connection, address: Address) -> None:
    """Raise an error where this program cannot use the tables as they are."""
    with asking(address), connection.transaction():
        version = read_version(connection)
        owner = find_owner(connection)
    newest = max(read_migrations())
    if not version:
        raise IndexMissingError(
            f"{address.shown} holds no store; run `palace index --store ADDRESS`"
        )
    _refuse_newer(version, newest, address)
    if version < newest:
        raise StoreError(
            f"the store at {address.shown} is of version {version}, this program needs {newest}: "
            f"`palace index --store ADDRESS` as the role {owner} brings it up to date"
        )


def migrate(
    connection: psycopg.Connection,
    address: Address,
    migrations: Mapping[int, str] | None = None,
) -> int:
    """Bring the tables to the newest version, each step in a transaction; return that version.

    The first step makes them, and whoever takes it owns the store.
    """
    steps = read_migrations() if migrations is None else migrations
    with asking(address):
        while True:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
                version = read_version(connection)
                _refuse_newer(version, max(steps), address)
                if version == max(steps):
                    return version
                if version:
                    become_owner(connection, address, "brings it up to date")
                _take_step(connection, version + 1, steps[version + 1])


def _take_step(connection: psycopg.Connection, number: int, script: str) -> None:
    if number == 1:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA)))
    connection.execute(script.encode())
    connection.execute("UPDATE version SET number = %s", [number])
    settle_rights(connection)


def settle_rights(connection: psycopg.Connection) -> None:
    """Give every role the rights on tables that its palaces need; row security does the rest."""
    tables = sql.SQL(", ").join(sql.Identifier(SCHEMA, name) for name in list_tables(connection))
    schema = sql.Identifier(SCHEMA)
    for role, may_write in connection.execute(
        "SELECT rolname, bool_or(may_write) FROM member JOIN pg_catalog.pg_roles AS r "
        "ON r.oid = role WHERE rolname <> current_user GROUP BY rolname"
    ).fetchall():
        to = sql.Identifier(role)
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, to))
        connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(tables, to))
        if may_write:
            _let_write(connection, to)


def _let_write(connection: psycopg.Connection, role: sql.Identifier) -> None:
    written = [name for name in list_tables(connection) if name not in KEPT]
    tables = sql.SQL(", ").join(sql.Identifier(SCHEMA, name) for name in written)
    grant = sql.SQL("GRANT INSERT, UPDATE, DELETE ON {} TO {}")
    connection.execute(grant.format(tables, role))
    for name in WRITERS:
        grant = sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}")
        connection.execute(grant.format(sql.Identifier(SCHEMA, name), role))


KEPT = ("version", "palace", "member")
"""Tables that only the owner of a store changes."""
WRITERS = ("index_vectors", "count_rows")
"""Functions of the owner for those who write a palace."""


def list_tables(connection: psycopg.Connection) -> list[str]:
    """Return the tables of the store, without the partitions, which nobody is to touch."""
    rows = connection.execute(
        "SELECT relname FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') "
        "AND NOT relispartition AND relnamespace = %s::regnamespace ORDER BY relname",
        [SCHEMA],
    )
    return [name for (name,) in rows.fetchall()]


def find_owner(connection: psycopg.Connection) -> str:
    """Return the role that set the store up; empty where there is none."""
    row = connection.execute(
        "SELECT pg_catalog.pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace "
        "WHERE nspname = %s",
        [SCHEMA],
    ).fetchone()
    return str(row[0]) if row else ""


def become_owner(connection: psycopg.Connection, address: Address, what: str) -> None:
    """Act as the owner of the store until the outermost transaction ends.

    Raise ``StoreError`` where the role is not one of the owner's.
    """
    owner = find_owner(connection)
    row = connection.execute("SELECT pg_has_role(%s, 'MEMBER')", [owner]).fetchone()
    if row is None or not row[0]:
        raise StoreError(
            f"only the role {owner}, which set {address.shown} up, {what}: give that role in the "
            "address, or ask whoever has it"
        )
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))


def _refuse_newer(version: int, newest: int, address: Address) -> None:
    if version > newest:
        raise StoreError(
            f"the store at {address.shown} is of version {version}, this program knows {newest}: "
            "update the program"
        )
