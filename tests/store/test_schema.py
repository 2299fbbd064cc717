from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from memory_palace.address import read_address  # noqa: E402
from memory_palace.errors import IndexMissingError, StoreError  # noqa: E402
from memory_palace.features.store.access import list_palaces, make_palace  # noqa: E402
from memory_palace.features.store.connecting import connect  # noqa: E402
from memory_palace.features.store.schema import (  # noqa: E402
    check_schema,
    migrate,
    read_migrations,
    read_version,
)

pytestmark = pytest.mark.postgres

NEWEST = max(read_migrations())


@pytest.fixture
def address(database):
    return read_address(database.url(palace="hut"))


@pytest.fixture
def connection(address):
    with connect(address, purpose="test") as connection:
        yield connection


def test_an_empty_database_holds_no_store(connection, address):
    with pytest.raises(IndexMissingError, match="holds no store; run `palace index --store"):
        check_schema(connection, address)


def test_the_store_is_made_once(connection, address):
    assert migrate(connection, address) == NEWEST
    made = make_palace(connection, address)
    assert migrate(connection, address) == NEWEST
    assert make_palace(connection, address) == made
    check_schema(connection, address)
    assert [palace.name for palace in list_palaces(connection, address)] == ["hut"]


@pytest.mark.parametrize("version", range(2, NEWEST + 1))
def test_a_store_of_every_version_is_brought_up_to_date(connection, address, version):
    steps = {number: script for number, script in read_migrations().items() if number <= version}
    migrate(connection, address, steps)
    make_palace(connection, address)
    assert migrate(connection, address) == NEWEST
    check_schema(connection, address)
    assert [palace.name for palace in list_palaces(connection, address)] == ["hut"]


OLD = """
SET LOCAL search_path = memory_palace, public;
INSERT INTO palace (name) VALUES ('hut');
INSERT INTO member VALUES (1, 'keeper', true);
CREATE TABLE generation (palace int, number int);
CREATE TABLE note (palace int, title text);
CREATE TABLE passage (palace int, vector vector) PARTITION BY LIST (palace);
CREATE TABLE passage_1 PARTITION OF passage FOR VALUES IN (1);
CREATE TABLE posting (palace int, data bytea);
CREATE TABLE name (palace int);
CREATE TABLE link (palace int);
INSERT INTO note VALUES (1, 'Hut');
INSERT INTO passage VALUES (1, '[1, 2]');
"""
"""What version 1 kept of notes, in short."""


def test_notes_of_version_1_go_and_palaces_and_grants_stay(connection, address):
    migrate(connection, address, {1: read_migrations()[1] + OLD})
    assert migrate(connection, address) == NEWEST
    (palace,) = list_palaces(connection, address)
    assert (palace.name, palace.generation, palace.notes) == ("hut", 0, 0)
    assert [member.role for member in palace.members] == ["keeper"]
    with connection.transaction():
        assert connection.execute("SELECT count(*) FROM passage_1").fetchone() == (0,)
        assert connection.execute("SELECT to_regclass('link')").fetchone() == (None,)


def test_a_step_is_taken_whole_or_not_at_all(connection, address):
    good = {**read_migrations(), NEWEST + 1: "CREATE TABLE added (palace int)"}
    bad = {**good, NEWEST + 2: "CREATE TABLE half (palace int); SELECT 1 / 0"}
    with pytest.raises(StoreError, match="division by zero"):
        migrate(connection, address, bad)
    with connection.transaction():
        assert read_version(connection) == NEWEST + 1
        found = connection.execute("SELECT to_regclass('added'), to_regclass('half')").fetchone()
    assert found == ("added", None)


def test_an_older_program_says_that_the_store_is_newer(connection, address):
    migrate(connection, address, {**read_migrations(), NEWEST + 1: "SELECT 1"})
    for ask in (check_schema, migrate):
        with pytest.raises(StoreError, match=f"version {NEWEST + 1}, this program knows {NEWEST}"):
            ask(connection, address)


def test_a_newer_program_says_that_the_store_is_older(connection, address, monkeypatch):
    migrate(connection, address)
    newer = {**read_migrations(), NEWEST + 1: "SELECT 1"}
    monkeypatch.setattr("memory_palace.features.store.schema.read_migrations", lambda: newer)
    with pytest.raises(StoreError, match="as the role keeper brings it up to date"):
        check_schema(connection, address)


def test_two_that_set_a_store_up_at_once_make_one(connection, address):
    from threading import Thread

    made: list[int] = []
    with connect(address, purpose="test") as other:
        threads = [
            Thread(target=lambda c=c: made.append(migrate(c, address))) for c in (connection, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert made == [NEWEST, NEWEST]


def test_every_table_is_secured_and_every_partition_shut(connection, address):
    migrate(connection, address)
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
