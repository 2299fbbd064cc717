from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from store.pushing import Store, write_notes  # noqa: E402

from memory_palace.features.store import writing  # noqa: E402
from memory_palace.features.store.access import grant  # noqa: E402

pytestmark = pytest.mark.postgres

COUNTED = ["note", "passage_1", "posting"]


@pytest.fixture
def store(database, sample):
    opened = Store(database, sample)
    yield opened
    opened.connection.close()


def counted(store):
    return store.ask(
        "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r' AND reltuples >= 0"
        " AND relnamespace = 'memory_palace'::regnamespace ORDER BY relname"
    )


def test_a_large_push_has_the_planner_count_and_a_small_one_has_not(store, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_COUNTED_ROWS", 100_000)
    store.push()
    assert counted(store) == []
    monkeypatch.setattr(writing, "_COUNTED_ROWS", 10)
    told = []
    write_notes(tmp_path, hut="# Hut\n\nThe hut has a stove.\n")
    store.push(hook=told.append)
    assert not any("count_rows" in statement for statement in told)
    store.push(hook=told.append, renews=True)
    assert [name for name, _ in counted(store)] == COUNTED
    rows = dict(counted(store))
    assert store.ask("SELECT count(*) FROM passage") == [(rows["passage_1"],)]
    assert store.ask("SELECT count(*) FROM note") == [(rows["note"],)]


def test_who_may_write_has_the_tables_counted(store, database, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_COUNTED_ROWS", 100_000)
    store.push()
    grant(store.connection, store.address, database.make_role("builder"), may_write=True)
    monkeypatch.setattr(writing, "_COUNTED_ROWS", 10)
    other = Store(database, store.palace, role="builder")
    other.push(renews=True)
    other.connection.close()
    assert [name for name, _ in counted(store)] == COUNTED
