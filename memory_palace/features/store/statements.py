"""The statements of one writer of one palace, each of which a test can count or stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, LiteralString

from psycopg import Connection, sql

from memory_palace.errors import IndexLockedError

_LOCKS = 0x70616C61
"""What the advisory locks of palaces have in common; the other half is the palace."""
_POLL_SECONDS = 0.05
_SCHEMA = "memory_palace"
_FEW = 500

Hook = Callable[[str], None]
"""Told each statement before it is sent."""


def ignore(statement: str) -> None:
    """Do nothing with a statement."""


class Statements:
    """Sends the statements of one transaction; every one has the palace as ``%(palace)s``."""

    def __init__(
        self,
        connection: Connection,
        palace: int,
        hook: Hook = ignore,
        *,
        is_binary: bool = False,
    ) -> None:
        """Take whether values come as bytes: large ones are read in a tenth of the time."""
        self.connection, self.palace = connection, palace
        self._hook, self._is_binary = hook, is_binary

    @contextmanager
    def transaction(self, *, wait_seconds: float = 0.0) -> Iterator[None]:
        """Run what follows as one transaction, with no other writer of this palace beside it.

        Raise ``IndexLockedError`` naming the other one after ``wait_seconds``.
        """
        self.connection.rollback()  # whatever was read before must not be older than the lock
        with self.connection.transaction():
            self._lock(wait_seconds)
            yield
            self._hook("COMMIT")

    def ask(self, statement: LiteralString, **values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        self._hook(statement)
        values["palace"] = self.palace
        done = self.connection.execute(statement, values, binary=self._is_binary)
        rows: list[tuple[Any, ...]] = done.fetchall()
        return rows

    def run(self, statement: LiteralString, **values: Any) -> int:
        """Send a statement and return how many rows it changed."""
        self._hook(statement)
        count: int = self.connection.execute(statement, values | {"palace": self.palace}).rowcount
        return count

    def delete(self, table: str, **chosen: Sequence[int]) -> list[tuple[Any, ...]]:
        """Delete the rows whose column is one of some values, or all; return what was chosen by.

        Of rows of ``passage`` return the numbers.
        """
        column, values = next(iter(chosen.items()), ("", ()))
        statement = sql.SQL("DELETE FROM {} WHERE palace = %(palace)s").format(
            sql.Identifier(_SCHEMA, table)
        )
        if column:
            statement += sql.SQL(" AND {} = ANY(%(values)s)").format(sql.Identifier(column))
        if table == "passage":
            statement += sql.SQL(" RETURNING id")
        self._hook(f"DELETE FROM {table}")
        done = self.connection.execute(statement, {"palace": self.palace, "values": list(values)})
        return done.fetchall() if table == "passage" else []

    def insert(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows; ``columns`` are their names and types, the palace aside.

        To make a temporary table takes as long as to insert ``_FEW`` rows one by one.
        """
        left = iter(rows)
        few = list(islice(left, _FEW))
        if len(few) == _FEW:
            self._copy(table, columns, chain(few, left))
        elif few:
            values = sql.SQL(", ").join(sql.SQL(f"%s::{kind}") for kind in columns.values())
            with self.connection.cursor() as cursor:
                cursor.executemany(
                    sql.SQL("INSERT INTO {} (palace, {}) VALUES ({}, {})").format(
                        sql.Identifier(_SCHEMA, table),
                        _list_names(columns),
                        sql.Literal(self.palace),
                        values,
                    ),
                    (self._tell(table, row) for row in few),
                )

    def _tell(self, table: str, row: Sequence[Any]) -> Sequence[Any]:
        self._hook(f"INSERT INTO {table}")
        return row

    def _copy(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Copy rows in binary, by a temporary table: COPY refuses one that has row security."""
        incoming = sql.Identifier(f"new_{table}")
        types = sql.SQL(", ").join(
            sql.SQL("{} " + kind).format(sql.Identifier(name)) for name, kind in columns.items()
        )
        self._hook(f"CREATE TEMP TABLE new_{table}")
        with self.connection.cursor() as cursor:
            cursor.execute(
                sql.SQL("CREATE TEMP TABLE {} ({}) ON COMMIT DROP").format(incoming, types)
            )
            self._hook(f"COPY {table} FROM STDIN")
            copied = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(incoming)
            with cursor.copy(copied) as copy:
                copy.set_types(list(columns.values()))
                for row in rows:
                    copy.write_row(row)
            self._hook(f"INSERT INTO {table}")
            cursor.execute(
                sql.SQL("INSERT INTO {} (palace, {}) SELECT {}, * FROM {}").format(
                    sql.Identifier(_SCHEMA, table),
                    _list_names(columns),
                    sql.Literal(self.palace),
                    incoming,
                )
            )
            self._hook(f"DROP TABLE new_{table}")
            cursor.execute(sql.SQL("DROP TABLE {}").format(incoming))

    def _lock(self, wait_seconds: float) -> None:
        deadline = time.monotonic() + wait_seconds
        while True:
            found = self.ask(
                "SELECT pg_try_advisory_xact_lock(%(locks)s, %(palace)s)", locks=_LOCKS
            )
            if found[0][0]:
                return
            if time.monotonic() >= deadline:
                raise IndexLockedError(self._describe())
            time.sleep(_POLL_SECONDS)

    def _describe(self) -> str:
        found = self.ask(
            "SELECT coalesce(nullif(application_name, ''), 'another program'), usename"
            " FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE locktype = 'advisory' AND granted AND objsubid = 2"
            " AND datname = current_database()"
            " AND classid = %(locks)s AND objid = %(palace)s",
            locks=_LOCKS,
        )
        who = "{} ({})".format(*found[0]) if found else "another process that has just ended"
        return (
            f"the palace is being written in the store by {who}; try again, or wait longer with "
            "--wait SECONDS"
        )


def _list_names(columns: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))
