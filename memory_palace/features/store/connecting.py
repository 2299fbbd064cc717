"""Connect to a store, send it statements, and say in one line what is wrong with it."""

from __future__ import annotations

import getpass
import logging
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from memory_palace.cli.registry import Address
from memory_palace.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexMissingError,
    PalaceError,
    StoreError,
    UsageError,
)

# What a lost connection leaves undone is said by ``asking``, in one line.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

SCHEMA = "memory_palace"
LEAST_VECTOR = (0, 8)
"""Scans of an index that go on for a filter."""
_LIMITS = (
    "connect_timeout=10 keepalives_idle=30 keepalives_interval=10 keepalives_count=3"
    " tcp_user_timeout=60000"
)
"""When a server that does not answer is given up: after a minute, not after two hours."""
_LOCKS = 0x70616C61
"""What the advisory locks of palaces have in common; the other half is the palace."""
_AT_A_TIME = 1_000
"""Rows of one statement: the rights are looked up once for all of them."""
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
"""What is said of an error, by the beginning of its SQLSTATE; the command has changed nothing."""
_UNCONNECTED = {
    "permission denied": "have its owner run `GRANT CONNECT ON DATABASE … TO {role}`",
    "too many": "try again, or have an administrator allow more",
    "slots": "try again, or have an administrator allow more",
    'role "': "have an administrator run `createuser`, or give another user",
    '" does not exist': "have an administrator run `createdb`, or give another database",
    "the connection": "run the command again",
    "": "`pg_isready` with this address, up to the #, says whether a server is there",
}
"""What to do where there is no connection, or none any longer, by what libpq says."""


def connect(address: Address, *, purpose: str) -> psycopg.Connection:
    """Open a connection that sees the store's tables and knows vectors; no transaction is begun.

    The server's list of who is at work has ``purpose``, who and where.
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
    """Return what libpq makes of an address; raise ``UsageError``, which quotes no secret."""
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
        # Nothing that somebody else may have made is found before what is meant.
        places = dict.fromkeys((SCHEMA, place, "pg_temp"))
        path = sql.SQL(", ").join(map(sql.Identifier, places))
        connection.execute(sql.SQL("SET search_path = {}").format(path))
        register_vector(connection)
        return
    raise StoreError(f"{address.shown} {why}")


@contextmanager
def asking(address: Address) -> Iterator[None]:
    """Turn what PostgreSQL raises into errors of this program: one line, and what to type."""
    try:
        yield
    except psycopg.Error as error:
        raise _explain(error, address) from error


def _explain(error: psycopg.Error, address: Address) -> PalaceError:
    state, role = error.sqlstate, read_parameters(address).get("user", "ROLE")
    why, tried = error.diag.message_primary or _first_line(error), error.pgconn
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


def _first_line(error: psycopg.Error) -> str:
    """Return what libpq says, without which of many ways it tried."""
    text = str(error).strip().partition("\n")[0]
    for mark in ("FATAL:", "failed: "):
        text = text.rpartition(mark)[2].strip() or text
    return text


class Statements:
    """Sends statements about one palace; every one has it as ``%(palace)s``."""

    def __init__(self, connection: psycopg.Connection, palace: int) -> None:
        self.connection, self.palace = connection, palace

    def run(self, statement: str, **values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        """Send a statement; values come as bytes, large ones in a tenth of the time."""
        return self.connection.execute(statement, values | {"palace": self.palace}, binary=True)

    def ask(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return list(self.run(statement, **values))

    def insert(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows; ``columns`` are their names and types, the palace aside."""
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
        """Run what follows as one transaction, with no other writer of this palace beside it."""
        self.connection.rollback()  # whatever was read before must not be older than the lock
        with self.connection.transaction():
            limit = max(1, round(wait_seconds * 1000))
            self.run("SELECT set_config('lock_timeout', %(limit)s, true)", limit=str(limit))
            self.run("SELECT pg_advisory_xact_lock(%(locks)s, %(palace)s)", locks=_LOCKS)
            self.run("SET LOCAL lock_timeout = 0")
            yield
