"""Which palaces a store holds, and which roles may read and write them."""

from __future__ import annotations

import psycopg
from psycopg import sql

from memory_palace.address import Address, check_name
from memory_palace.errors import IndexMissingError, UsageError, did_you_mean
from memory_palace.features.store.connecting import SCHEMA, asking
from memory_palace.features.store.schema import (
    KEPT,
    WRITERS,
    become_owner,
    list_tables,
    settle_rights,
)
from memory_palace.features.store.statements import Statements
from memory_palace.features.store.values import Member, Stored


def find_palace(connection: psycopg.Connection, address: Address) -> int:
    """Return the number of the palace that an address means: the named one, or the only one.

    Raise ``IndexMissingError`` where it is not there, or was not granted: nobody is told which.
    """
    return _find_named(connection, address)[1]


def _find_named(connection: psycopg.Connection, address: Address) -> tuple[str, int]:
    with asking(address), connection.transaction():
        rows = connection.execute(
            "SELECT name, id FROM palace WHERE id IN (SELECT readable()) ORDER BY name"
        ).fetchall()
    found: dict[str, int] = dict(rows)
    if address.palace in found:
        return address.palace, found[address.palace]
    if len(found) == 1 and not address.palace:
        return next(iter(found.items()))
    known = ", ".join(found) or "none"
    if not address.palace and found:
        raise UsageError(f"name the palace: {address.shown}#NAME; it may be {known}")
    raise IndexMissingError(
        f"{address.shown} is not there, or not granted to this role; readable: {known}; "
        "`palace index --store` makes one, `palace config store grant` lets others in"
    )


def make_palace(connection: psycopg.Connection, address: Address) -> int:
    """Return the number of the palace that an address names, which is made where it is not there.

    Only the role that set the store up makes palaces.
    """
    check_name(address.palace)
    with asking(address), connection.transaction():
        find = "SELECT id FROM palace WHERE name = %s"
        row = connection.execute(find, [address.palace]).fetchone()
        if row is None:
            become_owner(connection, address, "makes palaces in it")
            row = connection.execute("SELECT make_palace(%s)", [address.palace]).fetchone()
    return int(row[0]) if row else 0


def grant(connection: psycopg.Connection, address: Address, role: str, *, may_write: bool) -> str:
    """Let a role read a palace, or read and write it; return the palace's name."""
    name, palace = _find_named(connection, address)
    with asking(address), connection.transaction():
        become_owner(connection, address, "grants")
        _check_role(connection, role)
        connection.execute(
            "INSERT INTO member VALUES (%s, quote_ident(%s)::regrole, %s) "
            "ON CONFLICT (palace, role) DO UPDATE SET may_write = EXCLUDED.may_write",
            [palace, role, may_write],
        )
        settle_rights(connection)
    return name


def revoke(connection: psycopg.Connection, address: Address, role: str) -> str:
    """Take a palace from a role, with the last its rights on tables; return the palace's name."""
    name, palace = _find_named(connection, address)
    with asking(address), connection.transaction():
        become_owner(connection, address, "revokes")
        _check_role(connection, role)
        gone = connection.execute(
            "DELETE FROM member WHERE palace = %s AND role = quote_ident(%s)::regrole "
            "AND role <> quote_ident(current_user)::regrole",
            [palace, role],
        )
        if not gone.rowcount:
            raise UsageError(
                f"{role!r} was not granted {address.shown}; "
                "`palace config store status` shows who was"
            )
        _close_tables(connection, role)
        settle_rights(connection)
    return name


def drop(connection: psycopg.Connection, address: Address, *, wait_seconds: float = 0.0) -> str:
    """Remove a palace with all that is kept of it and its grants; return the palace's name.

    Raise ``IndexLockedError`` where somebody writes it, or where others use the tables for longer
    than two seconds: whoever comes to ask of any palace waits behind this.
    """
    name, palace = _find_named(connection, address)
    statements = Statements(connection, palace)
    with asking(address), statements.transaction(wait_seconds=wait_seconds):
        become_owner(connection, address, "drops palaces")
        connection.execute("SET LOCAL lock_timeout = '2s'")
        roles = connection.execute(
            "SELECT rolname FROM member JOIN pg_catalog.pg_roles AS r ON r.oid = role "
            "WHERE palace = %s AND rolname <> current_user",
            [palace],
        ).fetchall()
        for table in list_tables(connection):
            if table not in (*KEPT, "passage"):
                statements.delete(table)
        connection.execute("DELETE FROM palace WHERE id = %s", [palace])
        for (role,) in roles:
            _close_tables(connection, role)
        settle_rights(connection)
        passages = sql.Identifier(SCHEMA, f"passage_{palace}")
        connection.execute(sql.SQL("DROP TABLE {}").format(passages))
    return name


def _close_tables(connection: psycopg.Connection, role: str) -> None:
    """Take all rights on tables; what the role has left is given again by ``settle_rights``."""
    of, schema = sql.Identifier(role), sql.Identifier(SCHEMA)
    tables = sql.SQL(", ").join(sql.Identifier(SCHEMA, name) for name in list_tables(connection))
    connection.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(tables, of))
    for name in WRITERS:
        function = sql.Identifier(SCHEMA, name)
        connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM {}").format(function, of))
    connection.execute(sql.SQL("REVOKE ALL ON SCHEMA {} FROM {}").format(schema, of))


def _check_role(connection: psycopg.Connection, role: str) -> None:
    rows = connection.execute("SELECT rolname FROM pg_catalog.pg_roles").fetchall()
    names = [name for (name,) in rows]
    if role not in names:
        hint = did_you_mean(role, names, ";")
        raise UsageError(f"the server knows no role {role!r}{hint} `createuser` makes one")


def list_palaces(connection: psycopg.Connection, address: Address) -> list[Stored]:
    """Return the palaces that the role of the connection may read, by name."""
    with asking(address), connection.transaction():
        rows = connection.execute(_LIST).fetchall()
        granted: dict[int, list[Member]] = {}
        for palace, role, may_write in connection.execute(
            "SELECT palace, rolname, may_write FROM member "
            "JOIN pg_catalog.pg_roles AS r ON r.oid = role ORDER BY rolname"
        ).fetchall():
            granted.setdefault(palace, []).append(Member(role, may_write))
    return [Stored(*(*values, tuple(granted.get(n, ())))) for n, *values in rows]


_LIST = """
SELECT p.id, p.name, coalesce(g.number, 0), coalesce(g.notes, 0), coalesce(g.passages, 0),
    coalesce(pg_catalog.pg_total_relation_size(to_regclass(format('passage_%s', p.id))), 0),
    coalesce(g.built_by, ''), g.built_at
FROM palace AS p LEFT JOIN generation AS g ON g.palace = p.id
WHERE p.id IN (SELECT readable()) ORDER BY p.name
"""
