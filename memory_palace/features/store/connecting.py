"""Connect to a store, and say in one line what is wrong with it."""

from __future__ import annotations

import getpass
import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from memory_palace.address import Address
from memory_palace.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexMissingError,
    StoreError,
    UsageError,
)

# What a lost connection leaves undone is said by ``asking``, in one line.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

SCHEMA = "memory_palace"
LEAST_SERVER, LEAST_VECTOR = 14, (0, 8)
"""Functions whose body is parsed when they are made; scans of an index that go on for a filter."""
_LIMITS: Mapping[str, str | int] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""When a server that does not answer is given up: after a minute, not after two hours."""
_LONGEST_NAME_BYTES = 63
_LOST = ("08", "57P01", "57P02", "57P03", "57P05")
_ADVICE: Mapping[str, str] = {
    "53100": "its disk is full: free space there and run the command again",
    "53200": "it has no memory left: run the command again when it is less busy",
    "53300": "it takes no more connections: try again, or raise its max_connections",
    "25006": "it only reads: give the address of the server that it follows",
    "40001": "another builder came first: run the command again",
    "40P01": "another builder came first: run the command again",
    "57014": "it stopped the query: raise its statement_timeout, and run the command again",
    "58030": "its disk fails: see its log",
}
"""What to do, by SQLSTATE; nothing has been changed by the command that failed."""


def connect(address: Address, *, purpose: str) -> psycopg.Connection:
    """Open a connection that sees the store's tables and knows vectors; no transaction is begun.

    Others who wait for this connection are told ``purpose``, who and where.
    """
    with asking(address):
        ours: dict[str, str | int] = {
            "application_name": name_client(purpose),
            "client_encoding": "UTF8",
        }
        connection = psycopg.connect(
            **{**_LIMITS, **read_parameters(address), **ours}, autocommit=True
        )
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


def name_client(purpose: str) -> str:
    """Return who is at work: the command, the user, the machine and the folder, in 63 bytes."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    text = f"palace {purpose}: {user}@{socket.gethostname()} {Path.cwd().name}"
    return text.encode("ascii", "replace").decode()[:_LONGEST_NAME_BYTES]


def _check_server(connection: psycopg.Connection, address: Address) -> None:
    version = connection.info.server_version // 10_000
    if version < LEAST_SERVER:
        raise StoreError(
            f"{address.shown} is PostgreSQL {version}; a store needs {LEAST_SERVER} or newer: "
            "update the server, or give another address"
        )
    if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
        raise StoreError(
            f"{address.shown} keeps text as {encoding}, which not every note fits into: have an "
            "administrator run `createdb --encoding UTF8 --template template0`, and give that one"
        )
    found = connection.execute(
        "SELECT nspname, extversion, pg_catalog.has_schema_privilege('public', n.oid, 'CREATE') "
        "FROM pg_catalog.pg_extension AS e "
        "JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE extname = 'vector'"
    ).fetchone()
    if found is None:
        raise StoreError(
            f"{address.shown} has no pgvector: have an administrator run `CREATE EXTENSION vector` "
            "in this database, where need be after installing it on the server"
        )
    if tuple(map(int, found[1].split(".")[:2])) < LEAST_VECTOR:
        raise StoreError(
            f"{address.shown} has pgvector {found[1]} and needs 0.8 or newer: have an "
            "administrator run `ALTER EXTENSION vector UPDATE` in this database"
        )
    if found[2]:
        raise StoreError(
            f"everybody may make functions in the schema {found[0]} of {address.shown}, which act "
            "for whoever uses the store: have its owner run "
            f"`REVOKE CREATE ON SCHEMA {found[0]} FROM PUBLIC`"
        )
    # Nothing that somebody else may have made is found before what is meant.
    places = list(dict.fromkeys((SCHEMA, found[0], "pg_temp")))
    path = sql.SQL(", ").join(map(sql.Identifier, places))
    connection.execute(sql.SQL("SET search_path = {}").format(path))
    register_vector(connection)


@contextmanager
def asking(address: Address) -> Iterator[None]:
    """Turn what PostgreSQL raises into errors of this program: one line, and what to type."""
    try:
        yield
    except psycopg.Error as error:
        raise _explain(error, address) from error


def _explain(
    error: psycopg.Error, address: Address
) -> StoreError | IndexDamagedError | IndexLockedError | IndexMissingError:
    state, where = error.sqlstate or "", address.shown
    why = error.diag.message_primary or _first_line(error)
    if not state:
        return StoreError(f"{where}: {_explain_connection(error, address, why)}")
    if state.startswith(_LOST):
        return StoreError(f"{where}: the connection was lost ({why}); run the command again")
    if state in _ADVICE:
        return StoreError(f"{where}: {_ADVICE[state]} ({why})")
    if state == "42501":
        return StoreError(f"{where}: {why}; {_explain_rights(address, why)}")
    if state == "55P03":
        return IndexLockedError(f"{where}: somebody else is writing; run the command again")
    if state in ("3F000", "42P01"):
        return IndexMissingError(
            f"{where} holds no store, or none that is granted to this role; "
            "run `palace index --store ADDRESS`, or ask whoever set it up"
        )
    if state.startswith("XX"):
        return IndexDamagedError(
            f"{where}: {why}; run `palace config store verify`, and see the server's log"
        )
    return StoreError(f"{where}: {why} ({state}); run `palace config store verify`")


def _explain_rights(address: Address, why: str) -> str:
    role = read_parameters(address).get("user", "ROLE")
    if "database" in why:
        return (
            f"to set a store up, have an administrator run `GRANT CREATE ON DATABASE … TO {role}`"
        )
    return (
        f"whoever set the store up can run `palace config store grant {role}`, "
        "with --write for one who indexes"
    )


def _explain_connection(error: psycopg.Error, address: Address, why: str) -> str:
    """Say why there is no connection, or none any longer: then there is no SQLSTATE."""
    tried = error.pgconn
    if tried is not None and tried.needs_password:
        return "it wants a password; set PGPASSWORD, or write it into ~/.pgpass"
    if tried is not None and tried.used_password and "password" in why:
        return "it takes another password; set PGPASSWORD, or mend ~/.pgpass"
    if "permission denied" in why:
        role = read_parameters(address).get("user", "ROLE")
        return f"{why}; have its owner run `GRANT CONNECT ON DATABASE … TO {role}`"
    if "too many" in why or "slots" in why:  # for the role, the database or the server
        return f"{why}; try again, or have an administrator allow more"
    if 'role "' in why:
        return f"{why}; have an administrator run `createuser`, or give another user"
    if 'database "' in why and "does not exist" in why:
        return f"{why}; have an administrator run `createdb`, or give another database"
    if "the connection" in why:  # it "is lost" or "closed", "server closed the connection"
        return f"{why}; run the command again"
    return f"{why}; `pg_isready` with this address, up to the #, says whether a server is there"


def _first_line(error: psycopg.Error) -> str:
    """Return what libpq says, without which of many ways it tried."""
    text = str(error).strip().partition("\n")[0]
    for mark in ("FATAL:", "failed: "):
        text = text.rpartition(mark)[2].strip() or text
    return text
