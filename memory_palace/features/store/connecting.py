"""Connect to a store, create its tables and palaces, and grant roles access to palaces.

Errors of PostgreSQL are reported in one line.
"""

from __future__ import annotations

import getpass
import logging
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from memory_palace.cli.registry import Address, check_name
from memory_palace.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexMissingError,
    PalaceError,
    StoreError,
    UsageError,
    did_you_mean,
)
from memory_palace.features.store.reaching import Member, Stored

# psycopg's log messages are dropped: ``asking`` reports a lost connection in one line.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

SCHEMA = "memory_palace"
LEAST_VECTOR = (0, 8)
"""Oldest pgvector version that has iterative index scans, which filters need."""
_LIMITS = (
    "connect_timeout=10 keepalives_idle=30 keepalives_interval=10 keepalives_count=3"
    " tcp_user_timeout=60000"
)
"""libpq parameters that give up a server after about a minute without an answer."""
_LOCKS = 0x70616C61
"""First key of each palace's advisory lock; the second key is the palace's number."""
_AT_A_TIME = 1_000
"""Rows of one INSERT statement, whose access rights are checked once for all of them."""
_LOST = "the connection was lost ({why}); run the command again"
_BY_STATE: Mapping[str, tuple[type[PalaceError], str]] = {
    "08": (StoreError, _LOST),
    "3F000": (IndexMissingError, "it holds no store, or none that is granted to this role; {make}"),
    "40": (StoreError, "another builder came first: run the command again ({why})"),
    "42501": (StoreError, "{why}; {grant}"),
    "42P01": (IndexMissingError, "it holds no store, or none that is granted to this role; {make}"),
    "53100": (StoreError, "its disk is full: free space there and run the command again ({why})"),
    "55P03": (IndexLockedError, "somebody else is writing; try again, or wait with --wait SECONDS"),
    "57P": (StoreError, _LOST),
    "XX": (IndexDamagedError, "{why}; see the server's log"),
    "": (StoreError, "{why} ({state}); see the server's log"),
}
"""Exception class and message by prefix of the SQLSTATE; the transaction was rolled back."""
_UNCONNECTED = {
    "permission denied": "have its owner run `GRANT CONNECT ON DATABASE … TO {role}`",
    "too many": "try again, or have an administrator allow more",
    "slots": "try again, or have an administrator allow more",
    'role "': "have an administrator run `createuser`, or give another user",
    '" does not exist': "have an administrator run `createdb`, or give another database",
    "the connection": "run the command again",
    "": "`pg_isready` with this address, up to the #, says whether a server is there",
}
"""Advice for a failed or lost connection, by a part of libpq's message; the first match counts."""


def connect(address: Address, *, purpose: str) -> psycopg.Connection:
    """Return a connection with the store's search path and the vector type; begin no transaction.

    ``application_name`` in ``pg_stat_activity`` gives ``purpose``, user, host and folder.
    """
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    name = f"palace {purpose}: {user}@{socket.gethostname()} {Path.cwd().name}"
    name = name.encode("ascii", "replace").decode()[:63]  # bytes, the most that are shown
    ours = read_parameters(address) | {"application_name": name, "client_encoding": "UTF8"}
    with asking(address):
        connection = psycopg.connect(_LIMITS, **ours, autocommit=True)
        try:
            _check_server(connection, address)
        except BaseException:
            connection.close()
            raise
        connection.autocommit = False
        return connection


def read_parameters(address: Address) -> dict[str, str | int]:
    """Return an address's libpq parameters; raise ``UsageError``, without the password, if bad."""
    try:
        return {k: v for k, v in conninfo_to_dict(address.url).items() if v is not None}
    except psycopg.ProgrammingError:
        raise UsageError(
            f"the address {address.shown} cannot be read; it is "
            "postgresql://USER@HOST:PORT/DATABASE#PALACE, and options as libpq has them"
        ) from None


def _check_server(connection: psycopg.Connection, address: Address) -> None:
    found = connection.execute(
        "SELECT nspname, extversion, pg_catalog.has_schema_privilege('public', n.oid, 'CREATE') "
        "FROM pg_catalog.pg_extension AS e "
        "JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE extname = 'vector'"
    ).fetchone()
    place, vector, is_open = found or ("", "", False)
    if not place:
        why = (
            "has no pgvector: have an administrator run `CREATE EXTENSION vector` in this "
            "database, where need be after installing it on the server"
        )
    elif tuple(map(int, vector.split(".")[:2])) < LEAST_VECTOR:
        why = (
            f"has pgvector {vector} and needs 0.8 or newer: have an administrator run "
            "`ALTER EXTENSION vector UPDATE` in this database"
        )
    elif is_open:
        why = (
            f"lets everybody make functions in the schema {place}, which act for whoever uses the "
            f"store: have its owner run `REVOKE CREATE ON SCHEMA {place} FROM PUBLIC`"
        )
    else:
        # Schemas in which only the store's owner and administrators create objects come first.
        places = dict.fromkeys((SCHEMA, place, "pg_temp"))
        path = sql.SQL(", ").join(map(sql.Identifier, places))
        connection.execute(sql.SQL("SET search_path = {}").format(path))
        register_vector(connection)
        return
    raise StoreError(f"{address.shown} {why}")


@contextmanager
def asking(address: Address) -> Iterator[None]:
    """Raise psycopg's errors as ``PalaceError``: a one-line message with the command to run."""
    try:
        yield
    except psycopg.Error as error:
        raise _explain(error, address) from error


def _explain(error: psycopg.Error, address: Address) -> PalaceError:
    state, role = error.sqlstate, read_parameters(address).get("user", "ROLE")
    why, tried = error.diag.message_primary or "", error.pgconn
    if not why:  # libpq's message begins with the addresses that it tried
        why = str(error).strip().partition("\n")[0]
        for mark in ("FATAL:", "failed: "):
            why = why.rpartition(mark)[2].strip() or why
    make = "run `palace index --store ADDRESS`, or ask whoever set it up"
    grant = (
        f"whoever set the store up can run `palace config store grant {role}`, "
        "with --write for one who indexes"
    )
    if "database" in why:
        grant = (
            f"to set a store up, have an administrator run `GRANT CREATE ON DATABASE … TO {role}`"
        )
    if state:
        kind, said = next(found for start, found in _BY_STATE.items() if state.startswith(start))
        said = said.format(why=why, state=state, grant=grant, make=make)
        return kind(f"{address.shown}: {said}")
    if tried is not None and tried.needs_password:
        said = "it wants a password; set PGPASSWORD, or write it into ~/.pgpass"
    elif tried is not None and tried.used_password and "password" in why:
        said = "it takes another password; set PGPASSWORD, or mend ~/.pgpass"
    else:
        advice = next(advice for mark, advice in _UNCONNECTED.items() if mark in why)
        said = f"{why}; {advice.format(role=role)}"
    return StoreError(f"{address.shown}: {said}")


class Statements:
    """Executes SQL statements about one palace, whose number is the parameter ``%(palace)s``."""

    def __init__(self, connection: psycopg.Connection, palace: int) -> None:
        self.connection, self.palace = connection, palace

    def run(self, statement: str, **values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement; results come in binary format, ten times as fast if large."""
        return self.connection.execute(statement, values | {"palace": self.palace}, binary=True)

    def ask(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return list(self.run(statement, **values))

    def insert(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows; ``columns`` maps column names to types, without the column ``palace``."""
        arrays = ", ".join(f"%({name})b::{kind}[]" for name, kind in columns.items())
        statement = (
            f"INSERT INTO {table} (palace, {', '.join(columns)})"
            f" SELECT %(palace)s, * FROM unnest({arrays})"
        )
        left = iter(rows)
        while part := list(islice(left, _AT_A_TIME)):
            values = zip(columns, map(list, zip(*part, strict=True)), strict=True)
            self.run(statement, **dict(values))

    @contextmanager
    def writing(self, wait_seconds: float) -> Iterator[None]:
        """Run the block in one transaction that holds the palace's exclusive advisory lock."""
        self.connection.rollback()  # a snapshot must not be older than the lock
        with self.connection.transaction():
            limit = max(1, round(wait_seconds * 1000))
            self.run("SELECT set_config('lock_timeout', %(limit)s, true)", limit=str(limit))
            self.run("SELECT pg_advisory_xact_lock(%(locks)s, %(palace)s)", locks=_LOCKS)
            self.run("SET LOCAL lock_timeout = 0")
            yield


# --- Palaces and roles ---

VERSION = 3
"""Version of the tables in ``schema.sql``."""
_LOCK = 0x70616C616365
"""Key of the advisory lock held while the tables are created: ``palace`` in ASCII."""
_LIST = """
SELECT p.id, p.name, coalesce(g.number, 0), coalesce(g.notes, 0), coalesce(g.passages, 0),
    coalesce(pg_catalog.pg_total_relation_size(to_regclass(format('passage_%s', p.id))), 0),
    coalesce(g.built_by, ''), g.built_at
FROM palace AS p LEFT JOIN generation AS g ON g.palace = p.id
WHERE p.id IN (SELECT readable()) ORDER BY p.name
"""


def open_store(address: Address, *, purpose: str) -> psycopg.Connection:
    """Return a connection to a store of this version; raise ``IndexMissingError`` for no store."""
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
    """Create the store's tables if they are missing; the current role becomes their owner."""
    with asking(address), connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        if not _has_tables(connection, address):
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA)))
            connection.execute(files(__package__).joinpath("schema.sql").read_bytes())


def _has_tables(connection: psycopg.Connection, address: Address) -> bool:
    """Return whether the tables exist; raise ``StoreError`` for tables of another version."""
    (schema,) = connection.execute("SELECT to_regnamespace(%s)", [SCHEMA]).fetchone() or (None,)
    if schema is None:
        return False
    # Qualified, because PostgreSQL skips schemas in the search path that the role may not use.
    table = sql.Identifier(SCHEMA, "version")
    found = connection.execute(sql.SQL("SELECT number FROM {}").format(table)).fetchone()
    version = found[0] if found else 0
    if version == VERSION:
        return True
    mend = "update the program"
    if version < VERSION:
        mend = f"have its owner run `DROP SCHEMA {SCHEMA} CASCADE` there, then push every palace "
        mend += "and grant it again"
    what = f"is of version {version}, this program knows {VERSION}"
    raise StoreError(f"the store at {address.shown} {what}: {mend}")


def become_owner(connection: psycopg.Connection, address: Address, what: str) -> None:
    """Switch to the store owner's role until the outermost transaction ends.

    Raise ``StoreError`` if the current role is not a member of the owner; ``what`` names the act.
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
    """Return name and number of the palace an address names, or of the only readable palace.

    Raise ``IndexMissingError`` for a palace that is missing or not granted (not told apart).
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
    """Return the number of the palace an address names; create the palace if it is missing.

    Raise ``StoreError`` if a palace is missing and the role is not a member of the store's owner.
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
    """Grant a role write or read access to a palace, or revoke it (``None``); return its name."""
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
    """Delete a palace with its rows and grants.

    Raise ``IndexLockedError`` after ``wait_seconds`` of another writer, or if the tables are in use
    for longer than two seconds: queries of every palace queue behind the table lock.
    """
    statements = Statements(connection, find_palace(connection, address)[1])
    with asking(address), statements.writing(wait_seconds):
        become_owner(connection, address, "drops palaces")
        statements.run("SET LOCAL lock_timeout = '2s'")
        statements.run("CALL drop_palace(%(palace)s)")


def list_palaces(connection: psycopg.Connection, address: Address) -> list[Stored]:
    """Return the palaces that the connection's role may read, in order of their names."""
    with asking(address), connection.transaction():
        rows = connection.execute(_LIST).fetchall()
        granted: dict[int, list[Member]] = {}
        for palace, role, may_write in connection.execute(
            "SELECT palace, rolname, may_write FROM member "
            "JOIN pg_catalog.pg_roles AS r ON r.oid = role ORDER BY rolname"
        ).fetchall():
            granted.setdefault(palace, []).append(Member(role, may_write))
    return [Stored(*(*values, tuple(granted.get(n, ())))) for n, *values in rows]
