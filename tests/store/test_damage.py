"""Whatever is damaged in a store: a line that names the note or the block, and what mends it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from running import run_main  # noqa: E402
from store.pushing import Store, write_notes  # noqa: E402

from memory_palace.errors import IndexDamagedError  # noqa: E402
from memory_palace.features.store.checking import verify_store  # noqa: E402
from memory_palace.features.store.reader import StoreReader  # noqa: E402
from memory_palace.features.store.writing import push  # noqa: E402
from memory_palace.index.store import IndexFiles  # noqa: E402
from memory_palace.palace import Palace  # noqa: E402

pytestmark = pytest.mark.postgres

TABLES = ("note", "passage", "posting", "generation")
ONE = {
    "note": "path LIKE '%hut.md'",
    "passage": "note = (SELECT id FROM memory_palace.note WHERE path LIKE '%hut.md') AND place = 0",
    "posting": "(field, key, block) = (SELECT field, key, block FROM memory_palace.posting"
    " WHERE field = {field} ORDER BY key LIMIT 1)",
    "generation": "true",
}
"""The rows that are damaged."""
NUMBERS = ("{0} + 1", "-7")
DAMAGE = {
    "smallint": NUMBERS,
    "integer": NUMBERS,
    "bigint": NUMBERS,
    "real": NUMBERS,
    "double precision": NUMBERS,
    "boolean": ("NOT {0}",),
    "text": ("'x'", "''"),
    "bytea": (
        "''",
        "substring({0} FROM 1 FOR length({0}) - 1)",
        "{0} || '\\x07'",
        "set_byte({0}, 0, 255 - get_byte({0}, 0))",
        "decode(repeat('ff', 64), 'hex')",
    ),
    "ARRAY": ("'{{}}'", "ARRAY[7, 7]", "ARRAY['x']"),
    "jsonb": ("'{{}}'", "'[]'", "'null'", "'{{\"digest\": 7}}'", "'{{\"1\": 7}}'"),
    "USER-DEFINED": ("NULL", "'[1, 2]'", "-1 * {0}"),
}
"""What may be written instead, by the type of the column."""
UNPROVEN = {("generation", name) for name in ("palace", "number", "built_by", "built_at")}
UNPROVEN |= {("generation", "next_note")}
NOT_HERE = {("note", "palace"), ("passage", "palace")}
"""Columns that nothing else in the store speaks of; of the number only less is wrong."""


@pytest.fixture
def store(database, tmp_path):
    (tmp_path / "palace").mkdir()
    palace = Palace(tmp_path)
    write_notes(
        tmp_path,
        hut="---\ntags: [a, b]\n---\n# Hut\n\nA stove.\n\n## Roof\n\nMended.\n",
        path="# Path\n\nSee [[hut]]; it is steep.\n",
    )
    palace.index(embedder="hashing", structure=True)
    store = Store(database, palace)
    store.push()
    yield store
    store.connection.close()


@pytest.fixture
def damage(database, store):
    """Change tables past the product; each time they are first as they were."""
    columns = list_columns(store, but=())
    with database.connect("postgres") as admin:
        for table in TABLES:
            admin.execute(f"CREATE TABLE kept_{table} AS TABLE memory_palace.{table}")

        def damage(statement: str) -> int:
            with admin.transaction():
                for table in TABLES:
                    admin.execute(f"DELETE FROM memory_palace.{table}")
                    names = ", ".join(name for of, name, _ in columns if of == table)
                    back = f"INSERT INTO memory_palace.{table} ({names})"
                    admin.execute(f"{back} SELECT {names} FROM kept_{table}")
            return admin.execute(statement).rowcount

        yield damage


def list_columns(store, but=UNPROVEN) -> list[tuple[str, str, str]]:
    """Return table, column and type of all that a push writes."""
    found = store.ask(
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'memory_palace' AND table_name = ANY(%s)"
        " AND is_generated = 'NEVER'"
        " ORDER BY table_name, ordinal_position",
        list(TABLES),
    )
    return [tuple(row) for row in found if (row[0], row[1]) not in but]


def list_damage(store) -> list[str]:
    """Return statements, each of which changes something in one column of few rows."""
    found = []
    for table, column, kind in list_columns(store):
        for text in DAMAGE[kind]:
            for field in (-1, 0) if table == "posting" else (0,):
                value = text.format(f"t.{column}")
                if column == "vector":
                    value = value.replace("-1 * ", "array_fill(-1, ARRAY[256])::halfvec + ")
                found.append(
                    f"UPDATE memory_palace.{table} AS t SET {column} = {value}"
                    f" WHERE {ONE[table].format(field=field)}"
                    f" AND t.{column} IS DISTINCT FROM {value}"
                )
    return found


PLACE = re.compile(r"(palace/grand_hall/\w+\.md|x|)|block -?\d+|generation|passage")
"""A note (one that was given another path as well), a block, or the table with a row of no note."""


def find_damage(store) -> list[tuple[str, str]]:
    """Return what ``verify`` says, with the notes and without them."""
    try:
        found = [*store.verify(), *verify_store(store.read(), None)]
    except IndexDamagedError as error:
        assert "the record of the generation cannot be read" in str(error)
        return [("generation", str(error))]
    return [(finding.where, finding.message) for finding in found]


def test_damage_to_any_column_is_found_and_named(store, damage):
    tried, wrong = Counter(), []
    for statement in list_damage(store):
        try:
            if not damage(statement):
                continue
        except psycopg.Error as error:  # the database itself does not take it
            assert error.sqlstate[:2] in ("22", "23", "42"), statement
            continue
        found = find_damage(store)
        if not found or not all(PLACE.fullmatch(where) and "\n" not in m for where, m in found):
            wrong.append((statement, found))
        tried[re.search(r"(\w+) AS t SET (\w+)", statement).groups()] += 1
    assert wrong == []
    assert {column[:2] for column in list_columns(store)} - tried.keys() <= NOT_HERE
    assert tried.total() > 80, tried


UNREADABLE = (
    "note SET record = '{}'",
    "note SET record = convert_to(replace(convert_from(record, 'UTF8'), 'flags', 'f'), 'UTF8')",
    "note SET figures = ''",
    "note SET keys = substring(keys FROM 1 FOR length(keys) - 1)",
    "note SET vectors = vectors || '\\x07'",
    "posting SET data = data || '\\x07' WHERE field = 0",
    "generation SET record = '{}'",
    "generation SET sample = sample || '\\x07'",
)


def test_what_cannot_be_read_is_one_line_and_is_written_again(store, damage):
    """To a reader, and to what reads the notes of a store."""
    source = IndexFiles(store.palace.paths)
    for damaged in UNREADABLE:
        assert damage(f"UPDATE memory_palace.{damaged}")
        with pytest.raises(IndexDamagedError) as caught, StoreReader(store.address) as reader:
            reader.query("stove")
        assert re.search(r"cannot be read .*palace index --verify --store", str(caught.value))
        assert len(str(caught.value).splitlines()) == 1
        assert find_damage(store)
        pushed = push(store.connection, store.number, source, renews=True)
        assert (pushed.generation, pushed.added) == (2, 2)
        assert store.verify() == []


def test_verify_says_what_mends_a_store_and_that_does(store, damage, capsys, database):
    """What a push compares is unchanged: it alone mends nothing."""
    line = ("-C", store.palace.paths.root, "index", "--store", database.url(palace="hut"))
    verify = ("-C", store.palace.paths.root, "config", "store", "verify", *line[-2:])
    for damaged, status, shown in (
        ("passage SET vector = array_fill(0, ARRAY[256])::halfvec", 8, "palace/grand_hall/hut.md"),
        ("generation SET record = '{}'", 6, "the record of the generation cannot be read"),
    ):
        assert damage(f"UPDATE memory_palace.{damaged}")
        assert run_main(capsys, *line)[0] == (6 if status == 6 else 0)
        found, out, said = run_main(capsys, *verify)
        assert (found, shown in out + said) == (status, True)
        assert "--verify" in said and len(said.splitlines()) == 1
        assert run_main(capsys, *line, "--verify")[0] == 0
        assert run_main(capsys, *verify)[0] == 0
