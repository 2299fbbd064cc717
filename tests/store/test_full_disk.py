"""A server whose disk is full, for real: a small one of its own, which something else fills."""

import os
import subprocess

import pytest
from running import run_main
from store.pushing import Store, read_tables
from store.serving import Database, Server, fill

from memory_palace.features.store import writing
from memory_palace.features.store.connecting import asking

LEFT_BYTES = 1 << 18


@pytest.fixture
def server():
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("only root makes a disk")
    server = Server("min_parallel_table_scan_size=0", room="160M")
    try:
        fill(server)
        yield server
    finally:
        server.stop()


def take_room(server) -> None:
    """Leave the server so much and no more."""
    place = os.statvfs(server.data)
    with (server.data / "ballast").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, place.f_bavail * place.f_frsize - LEFT_BYTES)


def test_a_push_to_a_full_disk_changes_nothing_and_the_next_one_works(server, sample, capsys):
    database = Database(server)
    store, line = Store(database, sample), ["-C", str(sample.paths.root)]
    url = ["--store", database.url(palace="hut")]
    for note in (None, sorted((sample.paths.root / "palace").rglob("*.md"))[0]):
        if note:
            note.write_text("# Long\n\n" + "".join(f"Word{n} of many.\n\n" for n in range(9000)))
        before = read_tables(database)
        take_room(server)
        status, _, said = run_main(capsys, *line, "index", "--quiet", *url)
        assert (status, len(said.splitlines())) == (10, 1), said
        assert "its disk is full: free space there and run the command again" in said
        assert read_tables(database) == before
        status, out, said = run_main(capsys, *line, "query", "rain gauge", *url)
        assert (status, bool(out)) == ((0, True) if note else (4, False)), said
        (server.data / "ballast").unlink()
        assert run_main(capsys, *line, "index", "--quiet", *url)[0] == 0
        assert store.verify() == []
        assert read_tables(database) != before
    store.connection.close()


def test_vectors_are_indexed_where_processes_cannot_share_the_memory(server, sample, monkeypatch):
    """A container has 64 MB for that, and an index that several make asks for all it may take."""
    monkeypatch.setattr(writing, "INDEXED_ROWS", 1)
    store = Store(Database(server), sample)
    with asking(store.address):
        store.push()
    indexes = store.ask("SELECT 1 FROM pg_indexes WHERE indexdef LIKE '%%USING hnsw%%'")
    store.connection.close()
    assert len(indexes) == 1
