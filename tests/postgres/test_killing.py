"""Killed between any two statements: a store holds one generation or the other."""

from __future__ import annotations

import signal

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from forking import Forked  # noqa: E402
from postgres.dying import push_and_die  # noqa: E402
from postgres.pushing import Store, write_notes  # noqa: E402

from memory_palace.errors import StoreError  # noqa: E402
from memory_palace.index.store import IndexFiles  # noqa: E402
from memory_palace.palace import Palace  # noqa: E402
from memory_palace.postgres.checking import verify_store  # noqa: E402
from memory_palace.postgres.connecting import asking  # noqa: E402
from memory_palace.postgres.writing import push  # noqa: E402

pytestmark = pytest.mark.postgres

HUT = "# Hut\n\nA stove.\n\n## Roof\n\nMended.\n"
TABLES = ("generation", "note", "passage", "posting", "name", "link")


def read_tables(database) -> tuple[object, ...]:
    """Return a digest of every table, read past the product."""
    columns = ", ".join(
        f"(SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) "
        f"FROM memory_palace.{table} AS t)"
        for table in TABLES
    )
    with database.connect() as connection:
        return connection.execute(f"SELECT {columns}").fetchone()


@pytest.fixture
def store(database, tmp_path):
    store = make_store(database, tmp_path)
    yield store
    store.connection.close()


def make_store(database, tmp_path) -> Store:
    """A store of three notes, and an index that has one edited, one moved, one gone, one new."""
    (tmp_path / "palace").mkdir()
    write_notes(
        tmp_path, hut="# Hut\n\nA stove.\n\n## Roof\n\nMended.\n", path="# Path\n\n[[hut]]\n"
    )
    write_notes(tmp_path, fog="# Fog\n\nThick.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="hashing")
    store = Store(database, palace)
    store.push()
    hall = tmp_path / "palace" / "grand_hall"
    write_notes(
        tmp_path, hut="# Hut\n\nA new stove.\n\n## Roof\n\nMended.\n", sun="# Sun\n\nWarm.\n"
    )
    (hall / "path.md").rename(hall / "way.md")
    (hall / "fog.md").unlink()
    palace.index()
    return store


def count_statements(store: Store) -> int:
    """Return how many statements the push takes, which is undone."""
    told: list[str] = []

    def hook(statement: str) -> None:
        told.append(statement)
        if statement == "COMMIT":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        push(store.connection, store.number, IndexFiles(store.palace.paths), hook=hook)
    return len(told)


def check(store: Store, database, before: tuple[object, ...]) -> None:
    """The store is as it was, and agrees with itself."""
    assert read_tables(database) == before
    again = Store.at(database.url(palace="hut"), store.palace)
    assert verify_store(again.read(), store.palace.paths.rooms, None) == []
    again.connection.close()


def finish(store: Store, database, before: tuple[object, ...]) -> None:
    """The next push makes the store what the index is."""
    again = Store.at(database.url(palace="hut"), store.palace)
    push(again.connection, again.number, IndexFiles(store.palace.paths), wait_seconds=30)
    assert again.verify() == []
    assert read_tables(database) != before
    again.connection.close()


def test_a_builder_that_is_killed_leaves_what_was(store, database):
    before, count = read_tables(database), count_statements(store)
    assert count > 10
    for number in range(count):
        died = Forked(push_and_die, store.palace.paths.root, database.url(palace="hut"), number)
        assert died.wait()[0] == -signal.SIGKILL, number
        check(store, database, before)
    finish(store, database, before)


def test_a_connection_that_the_server_ends_leaves_what_was(store, database):
    before, count = read_tables(database), count_statements(store)
    for number in range(count):
        own = Store.at(database.url(palace="hut"), store.palace)
        left = number

        def hook(_statement: str, own: Store = own) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                pid = own.connection.info.backend_pid
                with database.server.connect() as admin:
                    admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

        with pytest.raises(StoreError) as caught, asking(own.address):
            push(own.connection, own.number, IndexFiles(own.palace.paths), hook=hook)
        assert len(str(caught.value).splitlines()) == 1
        assert "run the command again" in str(caught.value)
        own.connection.close()
        check(store, database, before)
    finish(store, database, before)


def test_a_server_that_loses_its_power_has_what_was_or_what_came(tmp_path):
    """Before the first statement, in the middle, before the end, and right after it."""
    from postgres.serving import Database, Server, fill

    server = Server()
    try:
        fill(server)
        database = Database(server)
        store = make_store(database, tmp_path)
        before, count = read_tables(database), count_statements(store)
        store.connection.close()
        for number in (0, count // 2, count - 1):
            own = Store.at(database.url(palace="hut"), store.palace)
            told: list[str] = []

            def hook(statement: str, number: int = number, told: list[str] = told) -> None:
                told.append(statement)
                if len(told) == number + 1:
                    server.crash()
                    server.start()

            with pytest.raises(StoreError), asking(own.address):
                push(own.connection, own.number, IndexFiles(own.palace.paths), hook=hook)
            own.connection.close()
            check(store, database, before)
        own = Store.at(database.url(palace="hut"), store.palace)
        push(own.connection, own.number, IndexFiles(own.palace.paths))
        after = read_tables(database)
        own.connection.close()
        server.crash()
        server.start()
        check(store, database, after)
        finish(store, database, before)
    finally:
        server.stop()
