from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from store.pushing import Store, write_notes  # noqa: E402

from memory_palace.errors import (  # noqa: E402
    IndexLockedError,
    NotesFailedError,
)
from memory_palace.features.store import checking, lists  # noqa: E402
from memory_palace.features.store.lists import (  # noqa: E402
    list_terms,
    pack_lists,
    unpack_lists,
)
from memory_palace.features.store.notes import pack_keys, unpack_keys  # noqa: E402
from memory_palace.features.store.writing import push  # noqa: E402
from memory_palace.index.arrays import count_keys, hash_key, same_keys  # noqa: E402
from memory_palace.index.segment import ChunkRow, NoteRow  # noqa: E402
from memory_palace.index.store import IndexFiles  # noqa: E402
from memory_palace.palace import Palace  # noqa: E402

pytestmark = pytest.mark.postgres

QUESTIONS = ("why did we drop MQTT", "battery below freezing", "who keeps the rain gauge", "fog")
HUT = "# Hut\n\nThe hut has a stove.\n\n## Roof\n\nThe roof was mended in spring.\n"


@pytest.fixture
def palace(tmp_path):
    (tmp_path / "palace").mkdir()
    made = Palace(tmp_path)
    write_notes(tmp_path, hut=HUT, path="# Path\n\nSee [[hut]]; the path is steep.\n")
    made.index(embedder="hashing")
    return made


@pytest.fixture
def open_store(database):
    opened = []

    def open_one(palace, role=None):
        opened.append(Store(database, palace, role=role))
        return opened[-1]

    yield open_one
    for store in opened:
        store.connection.close()


@pytest.fixture
def store(open_store, palace):
    return open_store(palace)


def test_a_store_holds_what_the_index_holds(open_store, sample):
    store = open_store(sample)
    pushed = store.push()
    assert (pushed.added, pushed.generation) == (len(sample.snapshot(include_cold=True).paths), 1)
    assert store.verify() == []
    assert store.read().generation.passages == int(sample.snapshot().hot_rows.sum())


def test_pushing_the_same_again_writes_nothing(store):
    store.push()
    told = []
    assert not store.push(hook=told.append).is_new
    assert not [statement for statement in told if not statement.startswith("SELECT")][:-1]
    assert store.read().generation.number == 1


def test_an_edit_sends_the_note_that_differs(store, tmp_path):
    store.push()
    before = store.ask("SELECT id, path FROM note ORDER BY id")
    write_notes(tmp_path, hut=HUT + "\n## Door\n\nThe door sticks in the rain.\n")
    pushed = store.push()
    (rows,) = store.ask("SELECT count(*) FROM passage WHERE note = 1")
    assert (pushed.changed, pushed.added, pushed.rows_sent) == (1, 0, *rows)
    assert store.ask("SELECT id, path FROM note ORDER BY id") == before
    assert store.verify() == []


def test_a_note_that_moves_is_removed_and_added(store, tmp_path):
    store.push()
    old, new = "palace/grand_hall/hut.md", "palace/grand_hall/valley/hut.md"
    (tmp_path / new).parent.mkdir()
    (tmp_path / old).rename(tmp_path / new)
    pushed = store.push()
    assert (pushed.added, pushed.removed) == (1, 1)
    assert store.verify() == []


def test_two_notes_change_places(store, tmp_path):
    store.push()
    write_notes(tmp_path, hut="# Path\n\nSee [[hut]]; the path is steep.\n", path=HUT)
    store.push()
    assert store.verify() == []


def test_a_removed_note_leaves_nothing(store, tmp_path):
    store.push()
    (tmp_path / "palace/grand_hall/hut.md").unlink()
    assert store.push().removed == 1
    assert store.verify() == []
    assert not store.ask("SELECT 1 FROM passage WHERE note NOT IN (SELECT id FROM note)")


def test_a_note_that_goes_cold_counts_no_more(store, tmp_path):
    store.push()
    cold = tmp_path / "palace/archive_basement/hut.md"
    cold.parent.mkdir(exist_ok=True)
    (tmp_path / "palace/grand_hall/hut.md").rename(cold)
    assert store.push().added == 1
    assert store.verify() == []
    assert store.read().generation.passages == 1 < store.read().generation.rows


def test_another_recipe_begins_anew(store, tmp_path):
    store.push()
    store.palace.index(embedder="none", force=True)
    assert push(store.connection, store.number, IndexFiles(store.palace.paths)).added == 2
    assert store.verify() == []


def test_what_is_private_or_secret_is_in_no_column(database, store, tmp_path):
    secret = "AKIA" + "Q3EGRIJZKL7MNOPX"
    write_notes(
        tmp_path,
        canary_private="---\nprivate: true\n---\n# zanzibarone\n\nzanzibartwo\n",
        mixed=f"# Mixed\n\nOpen words.\n\n<private>zanzibarthree</private>\n\nkey = {secret}\n",
        commented="# Commented\n\n<!-- <private>zanzibarfour</private> -->\n\nOpen words too.\n",
    )
    store.push()
    (tmp_path / "palace/grand_hall/mixed.md").rename(tmp_path / "palace/grand_hall/mixed2.md")
    store.push()
    assert store.verify() == []
    with database.server.connect(database.name, "postgres") as admin:
        tables = admin.execute(
            "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname = 'memory_palace' AND relkind = 'r'"
        ).fetchall()
        dumped = b""
        for (table,) in tables:
            with admin.cursor().copy(
                f"COPY memory_palace.{table} TO STDOUT (FORMAT BINARY)"
            ) as out:
                dumped += b"".join(map(bytes, out))
    assert b"The hut has a stove" in dumped
    for canary in (b"zanzibar", b"canary_private", secret.encode()):
        assert canary not in dumped


def test_a_note_that_changed_since_is_not_pushed(store, tmp_path):
    write_notes(tmp_path, hut=HUT + "More.\n")
    with pytest.raises(NotesFailedError, match=r"hut.md has changed since it was indexed"):
        push(store.connection, store.number, IndexFiles(store.palace.paths))
    assert store.ask("SELECT count(*) FROM note") == [(0,)]


def test_blocks_of_notes_are_written_and_changed_each_by_itself(open_store, sample, monkeypatch):
    monkeypatch.setattr(lists, "BLOCK_NOTES", 16)
    monkeypatch.setattr(checking, "BLOCK_NOTES", 16)
    monkeypatch.setattr(lists, "_ENOUGH", 2_000)
    store = open_store(sample)
    store.push()
    assert store.ask("SELECT count(DISTINCT block) FROM posting")[0][0] > 3
    assert store.verify() == []
    for file in sorted(sample.paths.notes.rglob("*.md"))[::3]:
        file.write_text("# Another\n\nWords of another kind.\n")
    assert store.push().changed > 1
    assert store.verify() == []


def test_a_second_builder_waits_and_says_for_whom(open_store, store, database):
    store.push()
    other = open_store(store.palace)
    elsewhere = database.server.connect()
    elsewhere.execute("SELECT pg_advisory_lock(1885432929, %s)", [store.number])
    store.do("SELECT pg_advisory_lock(1885432929, %s)", store.number)
    with pytest.raises(IndexLockedError, match=r"palace test: .*wait longer with --wait"):
        other.push(wait_seconds=0.1)
    told = []

    def free(statement):
        told.append(statement)
        if len(told) == 3:
            store.connection.close()

    assert not other.push(wait_seconds=20, hook=free).is_new
    elsewhere.close()


def test_readers_see_one_generation_while_another_is_written(open_store, store, tmp_path):
    store.push()
    reader = open_store(store.palace)
    before = reader.read()
    write_notes(tmp_path, new="# New\n\nA new note.\n")
    store.push()
    assert len(before.list_stamps()) == before.generation.notes == 2
    assert reader.read().generation.notes == 3


def test_a_role_that_may_write_pushes(database, open_store, store, tmp_path):
    from memory_palace.features.store.access import grant

    store.push()
    grant(store.connection, store.address, database.make_role("builder"), may_write=True)
    other = open_store(store.palace, role="builder")
    write_notes(tmp_path, new="# New\n\n" + "A new note of many words. " * 400)
    assert other.push().added == 1
    assert other.verify() == []


LOST = (
    "DELETE FROM note WHERE path LIKE '%hut.md'",
    "DELETE FROM passage",
    "DELETE FROM posting WHERE key = (SELECT max(key) FROM posting)",
    "DELETE FROM posting WHERE field = 4",
    "DELETE FROM posting WHERE field = 6",
)
OWN = ("note", "passage", "posting", "generation")


def test_verify_finds_what_is_lost(store):
    """What is changed: see ``test_damage``."""
    for damage in LOST:
        store.push()
        assert store.verify() == []
        store.do(damage)
        assert store.verify(), damage
        for table in OWN:
            store.do(f"DELETE FROM {table}")


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=20), min_size=1, max_size=40))
def test_packing_loses_nothing(rows):
    keys = [(count_keys(words), *[count_keys(())] * 2, count_keys(words[:3])) for words in rows]
    chunks = [ChunkRow(n % 3, 9, (b"",), b"", each) for n, each in enumerate(keys)]
    again = unpack_keys(pack_keys(chunks), len(chunks))
    assert all(same_keys(one, other) for one, other in zip(again, keys, strict=True))
    notes = [(7 * n, NoteRow("hut.md", 0, chunks=tuple(chunks[n::2]))) for n in range(2)]
    terms = list_terms(notes)
    assert np.array_equal(unpack_lists(list(pack_lists(terms))), terms)
    for number, note in notes:
        passages = [chunk for chunk in note.chunks if chunk.first_line]
        for word in set(chain(*rows)):
            key = lists.key_of(word)
            held = terms[(terms["field"] == 0) & (terms["key"] == key)]
            held = held[held["place"] == number]
            found = [dict(zip(*chunk.keys[0], strict=True)) for chunk in passages]
            counts = [int(each.get(hash_key(word), 0)) for each in found]
            assert held["count"].sum() == sum(counts)
            assert held["passages"].sum() == sum(count > 0 for count in counts)
