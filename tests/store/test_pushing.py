from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from store.pushing import Store, write_notes  # noqa: E402

from memory_palace.errors import (  # noqa: E402
    IndexLockedError,
    NotesFailedError,
    StoreError,
)
from memory_palace.features.store import blocks  # noqa: E402
from memory_palace.features.store.packing import (  # noqa: E402
    PostedRow,
    pack_block,
    pack_keys,
    unpack_block,
    unpack_keys,
    unpack_lengths,
    unpack_posting,
)
from memory_palace.features.store.upkeep import vacuum  # noqa: E402
from memory_palace.features.store.writing import push  # noqa: E402
from memory_palace.index.postings import count_keys, same_keys  # noqa: E402
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


def rows_of(store, path):
    return store.ask(
        "SELECT p.id, p.mark FROM passage p JOIN note n ON n.id = p.note WHERE n.path = %s"
        " ORDER BY place",
        path,
    )


def test_a_store_holds_what_the_index_holds(open_store, sample):
    store = open_store(sample)
    pushed = store.push()
    assert (pushed.added, pushed.generation) == (len(sample.snapshot(include_cold=True).paths), 1)
    assert store.verify() == []
    statistics = store.read().generation.statistics
    assert statistics.passages == int(sample.snapshot().hot_rows.sum())


def test_pushing_the_same_again_writes_nothing(store):
    store.push()
    told = []
    assert not store.push(hook=told.append).is_new
    assert not [statement for statement in told if not statement.startswith("SELECT")][:-1]
    assert store.read().generation.number == 1


def test_an_edit_sends_the_passages_that_differ(store, tmp_path):
    store.push()
    before = rows_of(store, "palace/grand_hall/hut.md")
    write_notes(tmp_path, hut=HUT + "\n## Door\n\nThe door sticks in the rain.\n")
    pushed = store.push()
    after = rows_of(store, "palace/grand_hall/hut.md")
    assert pushed.changed == 1
    assert len(after) - len(set(before) & set(after)) == pushed.rows_sent
    assert store.verify() == []


def test_lines_above_move_a_passage_and_send_it_not(store, tmp_path):
    long = "".join(f"## Part {n}\n\n{f'Sentence {n} about topic {n}. ' * 60}\n\n" for n in range(6))
    write_notes(tmp_path, hut=long)
    store.push()
    before = rows_of(store, "palace/grand_hall/hut.md")
    write_notes(tmp_path, hut="\n\n" + long)
    pushed = store.push()
    assert rows_of(store, "palace/grand_hall/hut.md") == before
    assert (pushed.changed, pushed.rows_sent, pushed.rows_removed) == (1, 0, 0)
    assert store.verify() == []


def test_a_note_that_moves_keeps_its_number_and_its_passages(store, tmp_path):
    store.push()
    old, new = "palace/grand_hall/hut.md", "palace/grand_hall/valley/hut.md"
    number, rows = store.ask("SELECT id FROM note WHERE path = %s", old), rows_of(store, old)
    (tmp_path / new).parent.mkdir()
    (tmp_path / old).rename(tmp_path / new)
    pushed = store.push()
    assert (pushed.moved, pushed.added, pushed.removed) == (1, 0, 0)
    assert store.ask("SELECT id FROM note WHERE path = %s", new) == number
    assert rows_of(store, new)[1:] == rows[1:]  # the first has the names of the note's folders
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
    for table in ("passage", "name", "link"):
        assert not store.ask(f"SELECT 1 FROM {table} WHERE note NOT IN (SELECT id FROM note)")


def test_a_note_that_goes_cold_is_found_in_cold_blocks_alone(store, tmp_path):
    store.push()
    cold = tmp_path / "palace/archive_basement/hut.md"
    cold.parent.mkdir(exist_ok=True)
    (tmp_path / "palace/grand_hall/hut.md").rename(cold)
    assert store.push().moved == 1
    assert store.verify() == []
    assert min(store.read().generation.blocks) < 0
    assert store.read().generation.statistics.hot_notes == 1


def test_another_recipe_begins_anew(store, tmp_path):
    store.push()
    store.palace.index(embedder="none", force=True)
    assert push(store.connection, store.number, IndexFiles(store.palace.paths)).added == 2
    assert store.verify() == []
    assert not len(store.read().generation.dead)


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


def test_full_blocks_are_left_as_they_are(open_store, sample, monkeypatch):
    store = open_store(sample)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 4)
    statements = []

    def count(statement):
        statements.append(statement)
        assert len(statements) < 20_000, "it merges for ever"

    store.push(hook=count)
    assert list(store.read().generation.blocks.values()).count(4) > blocks.PILE
    assert store.verify() == []


def test_small_blocks_are_merged_and_vacuum_drops_the_dead(store, tmp_path):
    store.push()
    for number in range(10):
        write_notes(tmp_path, hut=f"{HUT}\nLine {number}.\n")
        store.push()
    assert store.verify() == []
    assert 1 < len(store.read().generation.blocks) < 8
    dead = len(store.read().generation.dead)
    assert dead
    assert vacuum(store.connection, store.number).dead_rows == dead
    assert len(store.read().generation.blocks) == 1
    assert store.verify() == []
    assert vacuum(store.connection, store.number).dead_rows == 0


@pytest.mark.parametrize("kind", ["row", "note"])
def test_numbers_that_are_used_up_are_told_and_begin_anew(store, tmp_path, kind):
    store.push()
    store.do(f"UPDATE generation SET next_{kind} = 2147483646")
    write_notes(tmp_path, **{f"hut{n}": f"# Hut {n}\n\nA hut.\n" for n in range(600)})
    with pytest.raises(StoreError, match=r"as it can: `palace index --verify --store"):
        store.push()
    assert store.push(renews=True).generation == 2
    assert store.verify() == []
    assert store.ask("SELECT min(id), max(id) FROM note") == [(1, 602)]


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
    assert vacuum(other.connection, other.number).blocks == 1
    assert other.verify() == []


LOST = (
    "DELETE FROM note WHERE path LIKE '%hut.md'",
    "DELETE FROM passage",
    "DELETE FROM posting WHERE key = (SELECT max(key) FROM posting)",
    "DELETE FROM posting WHERE field < 0",
    "DELETE FROM name WHERE kind = 0",
    "DELETE FROM link",
)
OWN = ("note", "passage", "posting", "name", "link", "generation")


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
    for row in keys:
        assert same_keys(unpack_keys(pack_keys(row)), row)
    posted = [PostedRow(10 + n, n // 2, n % 3 == 0, row) for n, row in enumerate(keys)]
    block = {(field, key): data for field, key, data in pack_block(posted)}
    own = unpack_block(block.pop((-1, 0)))
    assert own.rows.tolist() == [row.row for row in posted]
    assert own.notes.tolist() == [~r.note if r.is_question else r.note for r in posted]
    lengths = [unpack_lengths(block.pop((-1, 1 + place))).tolist() for place in range(4)]
    assert lengths[0] == [len(words) for words in rows]
    found = set()
    for (field, key), data in block.items():
        places, counts = unpack_posting(data, len(rows))
        assert all(one < other for one, other in pairwise(places.tolist()))
        unsigned = int(np.int64(key).view(np.uint64))
        found |= {
            (field, unsigned, p, c) for p, c in zip(places.tolist(), counts.tolist(), strict=True)
        }
    assert found == {
        (field, key, place, count)
        for place, row in enumerate(keys)
        for field, held in enumerate(row)
        for key, count in zip(held.keys.tolist(), held.counts.tolist(), strict=True)
    }
