"""A palace of a few notes, and the store it is pushed to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import psycopg

from memory_palace.cli.registry import read_address
from memory_palace.features.store.connecting import connect, find_palace, make_palace, make_store
from memory_palace.features.store.outline import list_terms, pack_lists
from memory_palace.features.store.reader import StoreReader
from memory_palace.features.store.rows import NOTE_COLUMNS, IndexFiles, pack_note
from memory_palace.features.store.writing import list_passages, measure, push
from memory_palace.palace import Palace

TABLES = ("generation", "note", "passage", "posting")


class Store:
    """What a builder has in hand."""

    def __init__(self, database, palace: Palace, *, role: str | None = None) -> None:
        self.palace = palace
        self.address = read_address(database.url(*[role] * bool(role), palace="hut"))
        self.connection = connect(self.address, purpose="test")
        if role is None:
            make_store(self.connection, self.address)
            self.number = make_palace(self.connection, self.address)
        else:
            _, self.number = find_palace(self.connection, self.address)

    @classmethod
    def at(cls, url: str, palace: Palace) -> Store:
        """Open a store that is there."""
        store = cls.__new__(cls)
        store.palace, store.address = palace, read_address(url)
        store.connection = connect(store.address, purpose="test")
        _, store.number = find_palace(store.connection, store.address)
        return store

    def push(self, **options):
        """Bring the index up to date, and the store."""
        self.palace.index()
        return self.push_index(**options)

    def push_index(self, palace: Palace | None = None, **options):
        """Push the index as it is, or that of another palace."""
        palace = palace or self.palace
        return push(
            self.connection, self.number, IndexFiles(palace.paths), palace.config, **options
        )

    def hook(self, hook: Callable[[str], None]) -> None:
        """Have each statement told before it is sent; the last is ``COMMIT``."""

        class Told(psycopg.Cursor):
            def execute(self, query, params=None, **how):
                hook(query)
                done = super().execute(query, params, **how)
                if "INTO generation" in query:
                    hook("COMMIT")
                return done

        self.connection.cursor_factory = Told

    @contextmanager
    def read(self):
        """Yield what reads the store, and the generation that it holds."""
        with StoreReader(self.address) as reader, reader.reading() as generation:
            yield reader.statements, generation

    def verify(self) -> list[str]:
        """Return the tables that do not hold what the index of the notes says."""
        source = IndexFiles(self.palace.paths)
        stamps = source.list_stamps()
        with self.read() as (statements, generation):
            rows = statements.ask(
                f"SELECT {', '.join(NOTE_COLUMNS)} FROM note WHERE palace = %(palace)s ORDER BY id"
            )
            passages = statements.ask(
                "SELECT note, place, vector FROM passage WHERE palace = %(palace)s"
            )
            lists = statements.ask(
                "SELECT field, key, block, data FROM posting WHERE palace = %(palace)s"
            )
            ((sample,),) = statements.ask("SELECT sample FROM generation WHERE palace = %(palace)s")
        numbers = {path: number for number, path, *_ in rows}
        if numbers.keys() != stamps.keys():
            return ["note"]
        notes = [(numbers[note.row.path], note) for note in source.read_notes(stamps)]
        notes.sort(key=lambda pair: pair[0])
        right = {
            "note": [pack_note(n, note, stamps[note.row.path]) for n, note in notes],
            "passage": sorted(_plain(*row) for n, note in notes for row in list_passages(n, note)),
            "posting": sorted(pack_lists(list_terms((n, note.row) for n, note in notes))),
            "generation": [*measure(source), len(notes), True],
        }
        is_above = generation.last_note >= max(numbers.values(), default=0)
        held = {
            "note": rows,
            "passage": sorted(_plain(*row) for row in passages),
            "posting": sorted(lists),
            "generation": [sample, generation.passages, generation.notes, is_above],
        }
        return [table for table in TABLES if held[table] != right[table]]

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


def _plain(number, place, vector=None):
    return number, place, [] if vector is None else vector.to_list()


@contextmanager
def push_and_read(database, palace: Palace):
    """Push a palace, and yield what answers questions about it."""
    store = Store(database, palace)
    store.push()
    store.connection.close()
    with StoreReader(store.address) as reader:
        yield reader


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
