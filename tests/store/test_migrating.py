"""A filled store is brought to the next version whole, or stays as it was."""

from __future__ import annotations

import random
import re
import signal

import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from forking import Forked  # noqa: E402
from store import dying  # noqa: E402
from store.pushing import Store, read_tables, write_notes  # noqa: E402

from memory_palace.address import read_address  # noqa: E402
from memory_palace.errors import StoreError  # noqa: E402
from memory_palace.features.store.access import grant  # noqa: E402
from memory_palace.features.store.connecting import connect  # noqa: E402
from memory_palace.features.store.reader import StoreReader  # noqa: E402
from memory_palace.features.store.schema import migrate, read_migrations, read_version  # noqa: E402

pytestmark = pytest.mark.postgres

NEWEST = max(read_migrations())
NEXT = """
ALTER TABLE note ADD COLUMN heading text NOT NULL DEFAULT '';
UPDATE note SET heading = type;
CREATE INDEX ON note (palace, heading);
ALTER TABLE passage ADD COLUMN weight real NOT NULL DEFAULT 1;
UPDATE passage SET weight = 2 WHERE place > 0;
CREATE TABLE topic (palace int NOT NULL, note int NOT NULL, text text NOT NULL);
CALL secure('memory_palace.topic');
INSERT INTO topic SELECT palace, id, type FROM note;
"""
QUESTIONS = ("rain gauge", "battery below freezing", "why did we drop MQTT")


def split(script: str) -> list[str]:
    """Return the statements of a script; bodies of functions stay whole."""
    parts, found = re.split(r"(?<=;\n)", script), [""]
    for part in parts:
        found[-1] += part
        if found[-1].count("$$") % 2 == 0:
            found.append("")
    return [part for part in found if part.strip()]


def interrupt(script: str, place: int, statement: str) -> str:
    """Return a script with one more statement before that one."""
    parts = split(script)
    return "".join([*parts[:place], f"SELECT {statement};\n", *parts[place:]])


def answers(store: Store) -> list[tuple[str, float]]:
    with StoreReader(store.address) as reader:
        found = [hit for text in QUESTIONS for hit in reader.query(text).hits]
    return [(hit.path, hit.score) for hit in found]


def version_of(database) -> int:
    with connect(read_address(database.url()), purpose="test") as connection:
        return read_version(connection)


def test_a_filled_store_is_brought_up_to_date_and_answers_as_before(database, sample, monkeypatch):
    store = Store(database, sample)
    store.push()
    grant(store.connection, store.address, database.make_role("anna"), may_write=False)
    before = answers(store)
    assert len(before) > 10
    newer = {**read_migrations(), NEWEST + 1: NEXT}
    monkeypatch.setattr("memory_palace.features.store.schema.read_migrations", lambda: newer)
    with pytest.raises(StoreError, match="brings it up to date"):
        answers(store)
    assert migrate(store.connection, store.address) == NEWEST + 1
    assert answers(store) == before
    assert store.verify() == []
    with database.connect("anna") as hers:
        topics = hers.execute("SELECT count(*) FROM memory_palace.topic").fetchone()
    assert topics == (store.read().generation.notes,)
    write_notes(sample.paths.root, hut="# Hut\n\nA stove.\n")
    assert store.push().added == 1
    assert store.verify() == []
    store.connection.close()


def test_a_migration_that_is_killed_between_any_two_statements_leaves_what_was(database, sample):
    """The connection is cut by the server, or the client is killed."""
    store = Store(database, sample)
    store.push()
    before, said = read_tables(database), answers(store)
    for place in range(len(split(NEXT)) + 1):
        script = interrupt(NEXT, place, "pg_terminate_backend(pg_backend_pid())")
        with (
            connect(store.address, purpose="test") as own,
            pytest.raises(StoreError, match=r"the connection was lost .*; run the command again"),
        ):
            migrate(own, store.address, {**read_migrations(), NEWEST + 1: script})
        assert (read_tables(database), version_of(database)) == (before, NEWEST)
    for place in (1, 4, 8):
        died = Forked(dying.migrate, store.address.url, interrupt(NEXT, place, "pg_sleep(0.5)"))
        asleep = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = %s"
        with database.server.connect() as admin:
            while not admin.execute(asleep, [database.name]).fetchone():
                assert died.process.is_alive()
        died.kill()
        assert died.wait()[0] == -signal.SIGKILL
        assert (read_tables(database), version_of(database)) == (before, NEWEST)
    assert answers(store) == said
    migrate(store.connection, store.address, {**read_migrations(), NEWEST + 1: NEXT})
    assert version_of(database) == NEWEST + 1
    store.connection.close()


def test_a_store_whose_making_is_cut_is_none(database):
    address, first = read_address(database.url(palace="hut")), read_migrations()[1]
    places = random.Random(20).sample(range(len(split(first)) + 1), 8)
    for place in places:
        script = interrupt(first, place, "pg_terminate_backend(pg_backend_pid())")
        with connect(address, purpose="test") as own, pytest.raises(StoreError, match="lost"):
            migrate(own, address, {1: script})
        assert version_of(database) == 0
    with connect(address, purpose="test") as own:
        assert migrate(own, address) == NEWEST
