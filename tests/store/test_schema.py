from __future__ import annotations

from threading import Thread

import pytest

from memory_palace.cli.registry import read_address
from memory_palace.errors import IndexMissingError, StoreError
from memory_palace.features.store import connecting
from memory_palace.features.store.connecting import (
    VERSION,
    connect,
    list_palaces,
    make_palace,
    make_store,
    open_store,
)


@pytest.fixture
def address(database):
    return read_address(database.url(palace="hut"))


@pytest.fixture
def connection(address):
    with connect(address, purpose="test") as connection:
        yield connection


def test_an_empty_database_holds_no_store(address):
    with pytest.raises(IndexMissingError, match="holds no store; run `palace index --store"):
        open_store(address, purpose="test")


def test_the_store_is_made_once(connection, address):
    make_store(connection, address)
    made = make_palace(connection, address)
    make_store(connection, address)
    assert make_palace(connection, address) == made
    open_store(address, purpose="test").close()
    assert [palace.name for palace in list_palaces(connection, address)] == ["hut"]


def test_a_store_is_made_whole_or_not_at_all(connection, address, database, monkeypatch):
    for end in ("SELECT 1 / 0", "SELECT pg_terminate_backend(pg_backend_pid())"):
        with connect(address, purpose="test") as own, monkeypatch.context() as patch:
            made = make_script(end)
            patch.setattr(connecting, "files", lambda _, made=made: made)
            with pytest.raises(StoreError):
                make_store(own, address)
        with connection.transaction():
            found = connection.execute("SELECT to_regnamespace('memory_palace')").fetchone()
        assert found == (None,)
    make_store(connection, address)


def make_script(end):
    """Return the folder of a script that ends otherwise."""
    from importlib.resources import files
    from types import SimpleNamespace

    script = files("memory_palace.features.store").joinpath("schema.sql").read_bytes()
    file = SimpleNamespace(read_bytes=lambda: script + end.encode())
    return SimpleNamespace(joinpath=lambda name: file)


@pytest.mark.parametrize(
    ("version", "mend"),
    [(VERSION + 1, "update the program"), (1, "have its owner run `DROP SCHEMA memory_pal")],
)
def test_a_store_of_another_version_says_what_to_do(connection, address, version, mend):
    make_store(connection, address)
    connection.execute("UPDATE version SET number = %s", [version])
    connection.commit()
    for ask in (
        lambda: open_store(address, purpose="test"),
        lambda: make_store(connection, address),
    ):
        with pytest.raises(
            StoreError, match=f"version {version}, this program knows {VERSION}: {mend}"
        ):
            ask()


def test_two_that_set_a_store_up_at_once_make_one(connection, address):
    with connect(address, purpose="test") as other:
        threads = [Thread(target=make_store, args=(c, address)) for c in (connection, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    open_store(address, purpose="test").close()


def test_every_table_is_secured_and_every_partition_shut(connection, address):
    make_store(connection, address)
    make_palace(connection, address)
    with connection.transaction():
        rows = connection.execute(
            "SELECT relname, relispartition, relrowsecurity AND relforcerowsecurity, "
            "(SELECT count(*) FROM pg_policy WHERE polrelid = c.oid) FROM pg_class AS c "
            "WHERE relkind IN ('r', 'p') AND relnamespace = 'memory_palace'::regnamespace"
        ).fetchall()
    tables = {name: (is_secured, policies) for name, part, is_secured, policies in rows if not part}
    parts = {name: (is_secured, policies) for name, part, is_secured, policies in rows if part}
    assert tables.pop("version") == (False, 0)
    assert {is_secured for is_secured, _ in tables.values()} == {True}
    assert {name for name, (_, policies) in tables.items() if policies != 4} == {"member", "palace"}
    assert parts == {"passage_1": (True, 0)}
