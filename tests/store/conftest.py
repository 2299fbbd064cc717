"""One server for each process of tests, one database for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_palace.palace import Palace

SAMPLE = Path(__file__).parents[2] / "palace"

if TYPE_CHECKING:
    from store.serving import Database, Server

if not (find_spec("psycopg") and find_spec("pgvector")):  # the extra [postgres]
    collect_ignore_glob = ["test_*.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder: it needs PostgreSQL."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("postgres")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL of this process, with the template that databases are copied from."""
    from store.serving import Server, fill, find_wheel

    if find_wheel() is None:
        pytest.skip("needs the extra [postgres-test]")
    server = Server()
    try:
        fill(server)
        yield server
    finally:
        server.stop()


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    """A database of this test, with pgvector and nothing else in it."""
    from store.serving import Database

    database = Database(server)
    yield database
    database.close()


@pytest.fixture(scope="module")
def shared(server: Server) -> Iterator[Database]:
    """A database that the tests of a module share."""
    from store.serving import Database

    database = Database(server)
    yield database
    database.close()


@pytest.fixture
def sample(tmp_path: Path) -> Palace:
    """A copy of the sample palace, indexed without a model."""
    shutil.copytree(SAMPLE, tmp_path / "palace", ignore=shutil.ignore_patterns(".index"))
    made = Palace(tmp_path)
    made.index(embedder="hashing")
    return made
