import pytest
from store.pushing import Store, write_notes

from memory_palace.features.store import writing

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
    monkeypatch.setattr(writing, "COUNTED_ROWS", 100_000)
    store.push()
    assert counted(store) == []
    monkeypatch.setattr(writing, "COUNTED_ROWS", 10)
    told = []
    write_notes(tmp_path, hut="# Hut\n\nThe hut has a stove.\n")
    store.hook(told.append)
    store.push()
    assert not any("count_rows" in statement for statement in told)
    store.push(renews=True)
    assert [name for name, _ in counted(store)] == COUNTED
    rows = dict(counted(store))
    assert store.ask("SELECT count(*) FROM passage") == [(rows["passage_1"],)]
    assert store.ask("SELECT count(*) FROM note") == [(rows["note"],)]
