"""Conditions, settings and whole passages at a store are those of the files."""

from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from postgres.pushing import Store, write_notes  # noqa: E402

from memory_palace.palace import Palace  # noqa: E402
from memory_palace.postgres.reader import StoreReader  # noqa: E402

pytestmark = pytest.mark.postgres

ASKED = "2026-11-14"
WHEN = ["November 2026", "2026-11-02", "since October 2026", "2025", "last week", "in winter"]


@pytest.fixture
def stored(sample, database):
    """The sample palace as a store that can be asked."""
    store = Store(database, sample)
    store.push()
    store.connection.close()
    with StoreReader(store.address) as reader:
        yield reader


def paths_of(found):
    return [(hit.path, hit.role, pytest.approx(hit.score, abs=1e-4)) for hit in found]


def ask(reader, text, *, neighbors=2, limit=10, **how):
    return reader.ask(text, ranking={"limit": limit, "neighbors": neighbors}, **how)


def test_a_linked_note_of_another_room_is_no_hit(sample, stored):
    for room in ("project_rooms", "chambers", "Grand_Hall"):
        how = {"room": room, "as_of": ASKED, "neighbors": 3}
        found = sample.query("batteries in the cold", limit=10, **how)
        assert paths_of(ask(stored, "batteries in the cold", **how)) == paths_of(found)
        assert all(f"/{room.lower()}/" in hit.path for hit in found)


def test_a_time_leaves_the_same_notes(sample, stored):
    for when in WHEN:
        inside = f'batteries when:"{when}"'
        for text, how in (("batteries", {"when": when}), ("", {"when": when}), (inside, {})):
            found = sample.query(text, limit=30, as_of=ASKED, **how)
            again = ask(stored, text, limit=30, as_of=ASKED, **how)
            assert paths_of(again) == paths_of(found)
            assert again.times == found.times


def test_a_time_that_few_notes_name_is_looked_for_before_words_are(tmp_path, database):
    """Notes that say more of batteries would fill all places of the candidates."""
    (tmp_path / "palace").mkdir()
    many = {f"n{place}": f"# N{place}\n\nbatteries, batteries {place}\n" for place in range(450)}
    write_notes(tmp_path, **many, old="# Old\n\nOn May 5, 2011 the stove and batteries came.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="none")
    store = Store(database, palace)
    store.push()
    store.connection.close()
    with StoreReader(store.address) as reader:
        for text, how in (("batteries when:2011-05", {}), ("batteries", {"when": "May 2011"})):
            assert [hit.title for hit in ask(reader, text, **how)] == ["Old"]
