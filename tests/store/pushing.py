"""A palace of a few notes, and the store it is pushed to."""

from __future__ import annotations

from pathlib import Path

from memory_palace.address import read_address
from memory_palace.features.store.access import find_palace, make_palace
from memory_palace.features.store.checking import StoredIndex, verify_store
from memory_palace.features.store.connecting import connect
from memory_palace.features.store.generation import kept_settings
from memory_palace.features.store.schema import migrate
from memory_palace.features.store.writing import push
from memory_palace.index.store import IndexFiles
from memory_palace.palace import Palace

TABLES = ("generation", "note", "passage", "posting")


class Store:
    """What a builder has in hand."""

    def __init__(self, database, palace: Palace, *, role: str | None = None) -> None:
        self.palace = palace
        self.address = read_address(database.url(*[role] * bool(role), palace="hut"))
        self.connection = connect(self.address, purpose="test")
        if role is None:
            migrate(self.connection, self.address)
            self.number = make_palace(self.connection, self.address)
        else:
            self.number = find_palace(self.connection, self.address)

    @classmethod
    def at(cls, url: str, palace: Palace) -> Store:
        """Open a store that is there."""
        store = cls.__new__(cls)
        store.palace, store.address = palace, read_address(url)
        store.connection = connect(store.address, purpose="test")
        store.number = find_palace(store.connection, store.address)
        return store

    def push(self, **options):
        """Bring the index up to date, and the store."""
        self.palace.index()
        files, settings = IndexFiles(self.palace.paths), kept_settings(self.palace.config)
        return push(self.connection, self.number, files, settings=settings, **options)

    def read(self) -> StoredIndex:
        """Return what the store holds."""
        return StoredIndex(self.connection, self.number)

    def verify(self):
        """Return what the store and the index disagree about."""
        files = IndexFiles(self.palace.paths)
        return verify_store(self.read(), files)

    def ask(self, statement, *values):
        """Return the rows of a query."""
        self.connection.rollback()
        rows = self.connection.execute(statement, values).fetchall()
        self.connection.rollback()
        return rows

    def do(self, statement, *values):
        """Change something behind the product's back."""
        self.connection.rollback()
        self.connection.execute(statement, values or None)
        self.connection.commit()


def write_notes(root: Path, **notes: str) -> None:
    """Write notes of the grand hall, by their stems."""
    for name, text in notes.items():
        path = root / "palace" / "grand_hall" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def read_tables(database) -> tuple[object, ...]:
    """Return a digest of every table, and the indexes of vectors, read past the product."""
    columns = ", ".join(
        f"(SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) "
        f"FROM memory_palace.{table} AS t)"
        for table in TABLES
    )
    indexes = "(SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%')"
    with database.connect() as connection:
        return connection.execute(f"SELECT {columns}, {indexes}").fetchone()
