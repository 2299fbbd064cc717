"""Killed at a hundred points: a store holds one generation or the other, and the next push works.

Clients are killed and connections cut before each statement, and whole servers killed.
"""

import signal

import pytest
from forking import CONTEXT, Forked
from store import dying
from store.pushing import Store, read_tables, write_notes
from store.serving import Database, Server, fill

from memory_palace.errors import IndexMissingError, StoreError
from memory_palace.features.store import writing
from memory_palace.features.store.connecting import asking
from memory_palace.features.store.reader import StoreReader
from memory_palace.palace import Palace

CONTEXT.set_forkserver_preload(["preloaded", "store.dying"])

HUT = "# Hut\n\nA stove.\n\n## Roof\n\nMended.\n"
OLD, NEW = {"hut", "path", "fog"}, {"hut", "way", "sun"}


@pytest.fixture
def store(database, tmp_path):
    store = make_store(database, tmp_path)
    yield store
    store.connection.close()


def make_store(database, tmp_path) -> Store:
    """A store of three notes, and an index that has one edited, one moved, one gone, one new."""
    (tmp_path / "palace").mkdir()
    write_notes(tmp_path, hut=HUT, path="# Path\n\n[[hut]]\n", fog="# Fog\n\nThick.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="hashing")
    store = Store(database, palace)
    store.push()
    hall = tmp_path / "palace" / "grand_hall"
    write_notes(tmp_path, hut=HUT.replace("A stove", "A new stove"), sun="# Sun\n\nWarm.\n")
    (hall / "path.md").rename(hall / "way.md")
    (hall / "fog.md").unlink()
    palace.index()
    return store


def list_statements(store: Store) -> list[str]:
    """Return the statements that a push takes, which is undone."""
    told: list[str] = []

    def hook(statement: str) -> None:
        told.append(statement)
        if statement == "COMMIT":
            raise KeyboardInterrupt

    store.hook(hook)
    with pytest.raises(KeyboardInterrupt):
        store.push_index()
    store.hook(lambda statement: None)
    return told


def choose_points(told: list[str]) -> list[int]:
    """Return where to kill: before each statement that differs from the one before."""
    return [n for n, statement in enumerate(told) if not n or statement != told[n - 1]]


def answer(store: Store) -> set[str]:
    """Return which notes a reader finds."""
    with StoreReader(store.address) as reader:
        return {hit.path.rpartition("/")[2][:-3] for hit in reader.query("stove hut way fog").hits}


def check(store: Store, database, before: tuple[object, ...], notes=frozenset(OLD)) -> None:
    """The store is as it was, and answers."""
    assert read_tables(database) == before
    assert answer(store) >= notes - {"sun"}


def finish(store: Store, database, before: tuple[object, ...]) -> None:
    """The next push makes the store what the index is."""
    again = Store.at(store.address.url + "#hut", store.palace)
    again.push_index(wait_seconds=30)
    assert again.verify() == []
    assert read_tables(database) != before
    again.connection.close()
    assert {"hut", "way"} <= answer(store) <= NEW


def kill(run, store: Store, database, number: int) -> None:
    """Run a writer in a process that is killed before that statement."""
    died = Forked(run, store.palace.paths.root, database.url(palace="hut"), number)
    assert died.wait()[0] == -signal.SIGKILL, number


def test_a_builder_that_is_killed_leaves_what_was(store, database):
    before, points = read_tables(database), choose_points(list_statements(store))
    assert len(points) >= 12
    for number in points:
        kill(dying.push_and_die, store, database, number)
        check(store, database, before)
    finish(store, database, before)


def test_a_connection_that_the_server_ends_leaves_what_was(store, database):
    before, points = read_tables(database), choose_points(list_statements(store))
    assert len(points) >= 12
    for number in points:
        own = Store.at(database.url(palace="hut"), store.palace)
        left = number

        def hook(_statement: str, own: Store = own) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                pid = own.connection.info.backend_pid
                with database.server.connect() as admin:
                    admin.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

        own.hook(hook)
        with pytest.raises(StoreError) as caught, asking(own.address):
            own.push_index()
        assert len(str(caught.value).splitlines()) == 1
        assert "run the command again" in str(caught.value)
        own.connection.close()
        check(store, database, before)
    finish(store, database, before)


def test_a_first_push_that_is_killed_leaves_nothing(database, sample, monkeypatch):
    """Vectors are indexed at its end."""
    monkeypatch.setattr(writing, "INDEXED_ROWS", 1)
    store, before = Store(database, sample), read_tables(database)
    told = list_statements(store)
    assert any("index_vectors" in statement for statement in told)
    points = choose_points(told)
    assert len(points) >= 12
    for number in points:
        kill(dying.push_and_die, store, database, number)
        assert read_tables(database) == before
        with pytest.raises(IndexMissingError, match="nothing was pushed"):
            answer(store)
    store.push()
    assert store.verify() == []
    assert read_tables(database)[-1] == 1
    store.connection.close()


def test_a_server_that_is_killed_has_what_was_or_what_came(tmp_path):
    """Before the first statement, in the middle, before the end, and right after it."""
    server = Server()
    try:
        fill(server)
        database = Database(server)
        store = make_store(database, tmp_path)
        before, count = read_tables(database), len(list_statements(store))
        store.connection.close()
        for number, mark in (
            (0, signal.SIGQUIT),
            (count // 3, signal.SIGKILL),
            (count // 2, signal.SIGQUIT),
            (count * 2 // 3, signal.SIGKILL),
            (count - 1, signal.SIGQUIT),
            (count - 1, signal.SIGKILL),
        ):
            own = Store.at(database.url(palace="hut"), store.palace)
            told: list[str] = []

            def hook(statement: str, number=number, told=told, mark=mark) -> None:
                told.append(statement)
                if len(told) == number + 1:
                    server.crash(mark)
                    server.start()

            own.hook(hook)
            with pytest.raises(StoreError), asking(own.address):
                own.push_index()
            own.connection.close()
            check(store, database, before)
        for mark in (signal.SIGQUIT, signal.SIGKILL):
            own = Store.at(database.url(palace="hut"), store.palace)
            own.push_index()
            after = read_tables(database)
            own.connection.close()
            server.crash(mark)
            server.start()
            check(store, database, after, frozenset(NEW))
        finish(store, database, before)
    finally:
        server.stop()
