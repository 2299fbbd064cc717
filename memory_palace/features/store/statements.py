"""The statements of one writer of one palace, each of which a test can count or stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, LiteralString

from psycopg import Connection, sql

from memory_palace.errors import IndexLockedError

_LOCKS = 0x70616C61
"""What the advisory locks of palaces have in common; the other half is the palace."""
_POLL_SECONDS = 0.05
_SCHEMA = "memory_palace"
_AT_A_TIME = 1_000
"""Rows of one statement: the rights are looked up once for all of them."""

Hook = Callable[[str], None]
"""Told each statement before it is sent."""


def ignore(statement: str) -> None:
    """Do nothing with a statement."""


class Statements:
    """Sends the statements of one transaction; every one has the palace as ``%(palace)s``."""

    def __init__(self, connection: Connection, palace: int, hook: Hook = ignore) -> None:
        self.connection, self.palace = connection, palace
        self._hook = hook

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
        """Return the rows of a query; values come as bytes, large ones in a tenth of the time."""
        self._hook(statement)
        done = self.connection.execute(statement, values | {"palace": self.palace}, binary=True)
        rows: list[tuple[Any, ...]] = done.fetchall()
        return rows

    def run(self, statement: LiteralString | sql.Composed, **values: Any) -> int:
        """Send a statement and return how many rows it changed."""
        self._hook(statement if isinstance(statement, str) else statement.as_string())
        count: int = self.connection.execute(statement, values | {"palace": self.palace}).rowcount
        return count

    def delete(self, table: str, **chosen: Sequence[int]) -> int:
        """Delete all rows, or those whose column is one of some values; return how many."""
        statement = sql.SQL("DELETE FROM {} WHERE palace = %(palace)s").format(_name(table))
        for column in chosen:
            chosen_by = sql.SQL(" AND {} = ANY({}::int4[])")
            statement += chosen_by.format(sql.Identifier(column), sql.Placeholder(column))
        return self.run(statement, **{column: list(values) for column, values in chosen.items()})

    def insert(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows; ``columns`` are their names and types, the palace aside."""
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        arrays = sql.SQL(", ").join(sql.SQL(f"%({n})b::{t}[]") for n, t in columns.items())
        statement = sql.SQL(
            "INSERT INTO {} (palace, {}) SELECT %(palace)s, * FROM unnest({})"
        ).format(_name(table), names, arrays)
        left = iter(rows)
        while part := list(islice(left, _AT_A_TIME)):
            values = zip(columns, map(list, zip(*part, strict=True)), strict=True)
            self.run(statement, **dict(values))

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


def _name(table: str) -> sql.Identifier:
    return sql.Identifier(_SCHEMA, table)
