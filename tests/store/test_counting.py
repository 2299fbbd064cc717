from __future__ import annotations

from itertools import count

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from store.pushing import Store, write_notes  # noqa: E402

from memory_palace.features.store import fetching, writing  # noqa: E402
from memory_palace.features.store.access import grant  # noqa: E402
from memory_palace.features.store.naming import NameKind  # noqa: E402
from memory_palace.features.store.reader import StoreReader  # noqa: E402

pytestmark = pytest.mark.postgres

COUNTED = ["link", "name", "note", "passage_1", "posting"]


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


def test_no_table_is_read_once_for_each_note_where_nothing_was_counted(
    store, database, monkeypatch
):
    """So that it took minutes for a question about 5,000 notes."""
    monkeypatch.setattr(writing, "_COUNTED_ROWS", 100_000)
    store.push()
    asked = store.ask("SELECT folded FROM name WHERE kind = %s", int(NameKind.CALLED))[0][0]
    statements: list[tuple[str, dict[str, object]]] = []
    with StoreReader(store.address, None) as reader:
        ask = reader._statements.ask

        def note(statement, **values):
            statements.append((statement, values | {"palace": store.number}))
            return ask(statement, **values)

        monkeypatch.setattr(reader._statements, "ask", note)
        assert reader.query(asked, lexical=True, neighbors=2).hits
    found = [each for each in statements if "FROM name" in each[0] or "FROM link" in each[0]]
    assert any(statement == fetching._CALLED for statement, _ in found)
    number = count()
    for statement, values in found:
        plan = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
        ((explained,),) = store.connection.execute(plan, values).fetchall()
        for node in list_nodes(explained[0]["Plan"]):
            if node.get("Relation Name") in ("name", "link"):
                next(number)
                assert node["Actual Loops"] <= 1, node
    assert next(number) > 5


def test_what_was_read_stays_for_the_next_question_of_a_generation(store, tmp_path, monkeypatch):
    write_notes(tmp_path, hut="# Hut\n\nThe hut has a marmot.\n\nSee [[garden]].\n")
    store.push()
    read = []
    chunk = fetching.read_chunk
    monkeypatch.setattr(fetching, "read_chunk", lambda row: read.append(row) or chunk(row))
    with StoreReader(store.address) as reader:
        first = reader.query("marmot in the hut", lexical=True, neighbors=2).hits
        rows = len(read)
        assert reader.query("marmot in the hut", lexical=True, neighbors=2).hits == first
        assert len(read) == rows > 0
        monkeypatch.setattr(fetching, "KEPT_ROWS", 0)
        assert reader.query("marmot in the hut", lexical=True, neighbors=2).hits == first
        assert len(read) == 2 * rows
        monkeypatch.undo()
        write_notes(tmp_path, hut="# Hut\n\nThe hut has a stove and no marmot.\n")
        store.push()
        assert "no marmot" in reader.query("marmot in the hut", lexical=True).hits[0].text


def list_nodes(node):
    yield node
    for below in node.get("Plans", ()):
        yield from list_nodes(below)
