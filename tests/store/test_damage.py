"""Whatever cannot be read in a store: a line that names it, and what mends it."""

import re

import pytest
from store.pushing import Store, write_notes

from memory_palace.errors import IndexDamagedError
from memory_palace.features.store.reader import StoreReader
from memory_palace.palace import Palace


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


def test_what_cannot_be_read_is_one_line_and_is_written_again(store, database):
    for damaged in UNREADABLE:
        with database.connect("postgres") as admin:
            assert admin.execute(f"UPDATE memory_palace.{damaged}").rowcount
        with pytest.raises(IndexDamagedError) as caught, StoreReader(store.address) as reader:
            reader.query("stove")
        assert re.search(r"cannot be read .*palace index --verify --store", str(caught.value))
        assert len(str(caught.value).splitlines()) == 1
        if damaged == "generation SET record = '{}'":
            with pytest.raises(IndexDamagedError):
                store.push_index()
        assert store.push_index(renews=True).added == 2
        assert store.verify() == []
