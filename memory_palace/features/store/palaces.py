"""The tables of a store, the palaces that it holds, and the roles that may read and write them."""

from __future__ import annotations

from importlib.resources import files

import psycopg
from psycopg import sql

from memory_palace.cli.registry import Address, check_name
from memory_palace.errors import IndexMissingError, StoreError, UsageError, did_you_mean
from memory_palace.features.store.connecting import SCHEMA, Statements, asking, connect
from memory_palace.features.store.values import Member, Stored

VERSION = 3
"""Of the tables in ``schema.sql``."""
_LOCK = 0x70616C616365
"""Key of the advisory lock of who makes the tables: ``palace``."""
_LIST = """
SELECT p.id, p.name, coalesce(g.number, 0), coalesce(g.notes, 0), coalesce(g.passages, 0),
    coalesce(pg_catalog.pg_total_relation_size(to_regclass(format('passage_%s', p.id))), 0),
    coalesce(g.built_by, ''), g.built_at
FROM palace AS p LEFT JOIN generation AS g ON g.palace = p.id
WHERE p.id IN (SELECT readable()) ORDER BY p.name
"""


def open_store(address: Address, *, purpose: str) -> psycopg.Connection:
    """Connect to a store whose tables this program can use; no transaction is begun."""
    connection = connect(address, purpose=purpose)
    try:
        with asking(address), connection.transaction():
            if not _has_tables(connection, address):
                raise IndexMissingError(
                    f"{address.shown} holds no store; run `palace index --store ADDRESS`"
                )
    except BaseException:
        connection.close()
        raise
    return connection


def make_store(connection: psycopg.Connection, address: Address) -> None:
    """Make the tables where there are none; whoever does so owns the store."""
    with asking(address), connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        if not _has_tables(connection, address):
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA)))
            connection.execute(files(__package__).joinpath("schema.sql").read_bytes())


def _has_tables(connection: psycopg.Connection, address: Address) -> bool:
    """Say whether the tables are there; raise ``StoreError`` for those of another version."""
    (schema,) = connection.execute("SELECT to_regnamespace(%s)", [SCHEMA]).fetchone() or (None,)
    if schema is None:
        return False
    # By its full name: a schema that a role may not use is passed over in its search path.
    table = sql.Identifier(SCHEMA, "version")
    found = connection.execute(sql.SQL("SELECT number FROM {}").format(table)).fetchone()
    version = found[0] if found else 0
    if version == VERSION:
        return True
    mend = (
        "update the program"
        if version > VERSION
        else f"have its owner run `DROP SCHEMA {SCHEMA} CASCADE` there, then push every palace "
        "and grant it again"
    )
    raise StoreError(
        f"the store at {address.shown} is of version {version}, this program knows {VERSION}: "
        + mend
    )


def become_owner(connection: psycopg.Connection, address: Address, what: str) -> None:
    """Act as the owner of the store until the outermost transaction ends.

    Raise ``StoreError`` where the role is not one of the owner's.
    """
    owner, is_ours = connection.execute(
        "SELECT pg_get_userbyid(nspowner), pg_has_role(nspowner, 'MEMBER')"
        " FROM pg_catalog.pg_namespace WHERE nspname = %s",
        [SCHEMA],
    ).fetchone() or ("", False)
    if not is_ours:
        raise StoreError(
            f"only the role {owner}, which set {address.shown} up, {what}: give that role in the "
            "address, or ask whoever has it"
        )
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))


def find_palace(connection: psycopg.Connection, address: Address) -> tuple[str, int]:
    """Return name and number of the palace that an address means: the named one, or the only one.

    Raise ``IndexMissingError`` where it is not there, or was not granted: nobody is told which.
    """
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


def grant(
    connection: psycopg.Connection, address: Address, role: str, *, may_write: bool | None
) -> str:
    """Let a role write a palace, only read it, or neither (``None``); return the palace's name."""
    name, palace = find_palace(connection, address)
    with asking(address), connection.transaction():
        become_owner(connection, address, "grants and revokes")
        rows = connection.execute("SELECT rolname FROM pg_catalog.pg_roles").fetchall()
        if (role,) not in rows:
            hint = did_you_mean(role, [name for (name,) in rows], ";")
            raise UsageError(f"the server knows no role {role!r}{hint} `createuser` makes one")
        if may_write is not None:
            connection.execute(
                "INSERT INTO member VALUES (%s, quote_ident(%s)::regrole, %s) "
                "ON CONFLICT (palace, role) DO UPDATE SET may_write = EXCLUDED.may_write",
                [palace, role, may_write],
            )
        elif not connection.execute(
            "DELETE FROM member WHERE palace = %s AND role = quote_ident(%s)::regrole "
            "AND role <> quote_ident(current_user)::regrole",
            [palace, role],
        ).rowcount:
            raise UsageError(
                f"{role!r} was not granted {address.shown}; "
                "`palace config store status` shows who was"
            )
        connection.execute("CALL settle_rights(quote_ident(%s)::regrole)", [role])
    return name


def drop(connection: psycopg.Connection, address: Address, *, wait_seconds: float = 0.0) -> None:
    """Remove a palace with all that is kept of it and its grants.

    Raise ``IndexLockedError`` where somebody writes it, or where others use the tables for longer
    than two seconds: whoever comes to ask of any palace waits behind this.
    """
    statements = Statements(connection, find_palace(connection, address)[1])
    with asking(address), statements.writing(wait_seconds):
        become_owner(connection, address, "drops palaces")
        statements.run("SET LOCAL lock_timeout = '2s'")
        statements.run("CALL drop_palace(%(palace)s)")


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
