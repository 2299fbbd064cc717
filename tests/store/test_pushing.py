from itertools import chain
from threading import Timer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.pushing import Store, write_notes

from memory_palace.errors import IndexLockedError, NotesFailedError
from memory_palace.features.store import outline, writing
from memory_palace.features.store.connecting import asking
from memory_palace.features.store.outline import list_terms, pack_lists, unpack_lists
from memory_palace.features.store.rows import pack_keys, unpack_keys
from memory_palace.index.segment import hash_key, same_keys
from memory_palace.index.writing import ChunkRow, NoteRow, count_keys
from memory_palace.palace import Palace

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
    with store.read() as (_, generation):
        assert generation.passages == int(sample.snapshot().hot_rows.sum())


def test_pushing_the_same_again_writes_nothing(store):
    store.push()
    told = []
    store.hook(told.append)
    assert not store.push().is_new
    assert not [statement for statement in told if not statement.startswith(("SELECT", "SET"))]
    with store.read() as (_, generation):
        assert generation.number == 1


def test_an_edit_sends_the_note_that_differs(store, tmp_path):
    store.push()
    write_notes(tmp_path, hut=HUT + "\n## Door\n\nThe door sticks in the rain.\n")
    pushed = store.push()
    (rows,) = store.ask("SELECT count(*) FROM passage WHERE note = 1")
    assert (pushed.changed, pushed.added, pushed.rows_sent) == (1, 0, *rows)
    assert store.ask("SELECT id FROM note ORDER BY id") == [(1,), (2,)]
    assert store.verify() == []


def test_a_note_that_moves_or_goes_leaves_nothing_of_what_was(store, tmp_path):
    hall = tmp_path / "palace/grand_hall"
    store.push()
    write_notes(tmp_path, hut="# Path\n\nSee [[hut]]; the path is steep.\n", path=HUT)
    assert (store.push().changed, store.verify()) == (2, [])
    (hall / "valley").mkdir()
    (hall / "hut.md").rename(hall / "valley" / "hut.md")
    pushed = store.push()
    assert (pushed.added, pushed.removed, store.verify()) == (1, 1, [])
    (hall / "valley" / "hut.md").unlink()
    assert (store.push().removed, store.verify()) == (1, [])


def test_a_note_that_goes_cold_counts_no_more(store, tmp_path):
    store.push()
    cold = tmp_path / "palace/archive_basement/hut.md"
    cold.parent.mkdir(exist_ok=True)
    (tmp_path / "palace/grand_hall/hut.md").rename(cold)
    assert store.push().added == 1
    assert store.verify() == []
    with store.read() as (_, generation):
        assert (generation.passages, generation.notes) == (1, 2)


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
        store.push_index()
    assert store.ask("SELECT count(*) FROM note") == [(0,)]


def test_blocks_of_notes_are_written_and_changed_each_by_itself(open_store, sample, monkeypatch):
    for module in (outline, writing):
        monkeypatch.setattr(module, "BLOCK_NOTES", 16)
    store = open_store(sample)
    store.push()
    assert store.ask("SELECT count(DISTINCT block) FROM posting")[0][0] > 3
    assert store.verify() == []
    for file in sorted(sample.paths.notes.rglob("*.md"))[::3]:
        file.write_text("# Another\n\nWords of another kind.\n")
    assert store.push().changed > 1
    assert store.verify() == []


def test_a_second_builder_waits(open_store, store, database):
    store.push()
    other = open_store(store.palace)
    elsewhere = database.server.connect()
    elsewhere.execute("SELECT pg_advisory_lock(1885432929, %s)", [store.number])
    store.do("SELECT pg_advisory_lock(1885432929, %s)", store.number)
    with pytest.raises(IndexLockedError, match=r"somebody else .* --wait"), asking(other.address):
        other.push(wait_seconds=0.1)
    freed = Timer(0.5, store.connection.close)
    freed.start()
    assert not other.push(wait_seconds=20).is_new
    elsewhere.close()


def test_readers_see_one_generation_while_another_is_written(store, tmp_path):
    store.push()
    with store.read() as (statements, before):
        write_notes(tmp_path, new="# New\n\nA new note.\n")
        store.push()
        assert statements.ask("SELECT count(*) FROM note") == [(before.notes,)] == [(2,)]
    with store.read() as (_, generation):
        assert generation.notes == 3


def test_what_is_lost_or_changed_shows(store):
    """What every other test asks is trusted since it fails here."""
    for damage in (
        "DELETE FROM note WHERE path LIKE '%hut.md'",
        "UPDATE note SET type = 'x'",
        "DELETE FROM passage",
        "DELETE FROM posting WHERE key = (SELECT max(key) FROM posting)",
        "UPDATE posting SET data = data || data",
        "UPDATE generation SET sample = ''",
    ):
        store.push_index(renews=True)
        assert store.verify() == []
        store.do(damage)
        assert store.verify() == [damage.split()[1 if "UPDATE" in damage else 2]]


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
            key = outline.key_of(word)
            held = terms[(terms["field"] == 0) & (terms["key"] == key)]
            held = held[held["note"] == number]
            found = [dict(zip(*chunk.keys[0], strict=True)) for chunk in passages]
            counts = [int(each.get(hash_key(word), 0)) for each in found]
            assert held["count"].sum() == sum(counts)
            assert held["passages"].sum() == sum(count > 0 for count in counts)
