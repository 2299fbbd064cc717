"""Two palaces in one store: one that nobody else is to see, and one that was granted."""

from pathlib import Path

from store.pushing import write_notes

from memory_palace.cli.registry import read_address
from memory_palace.features.store.connecting import (
    connect,
    grant,
    make_palace,
    make_store,
    open_store,
)
from memory_palace.features.store.rows import IndexFiles
from memory_palace.features.store.writing import push
from memory_palace.palace import Palace

CANARY = "quagga"
"""A word of the secret palace: in paths, titles, texts, tags, types and links."""
SECRET = f"""---
title: The {CANARY} plan
type: {CANARY}-type
tags: [{CANARY}/tag]
aliases: [{CANARY} alias]
---
# The {CANARY} plan

The {CANARY} is hidden in [[the {CANARY} cellar|{CANARY} cellar]].
"""
ROLES = ("stranger", "reader", "writer")


def list_tables(connection) -> list[str]:
    """Return the tables of the store, without the partitions, which nobody is to touch."""
    rows = connection.execute(
        "SELECT relname FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') "
        "AND NOT relispartition AND relnamespace = 'memory_palace'::regnamespace ORDER BY relname"
    )
    return [name for (name,) in rows.fetchall()]


def push_two(database, tmp_path: Path) -> dict[str, Palace]:
    """Push ``secret`` and ``hers``; ``reader`` and ``writer`` were granted the second."""
    notes = {
        "secret": {f"{CANARY}-{n}": SECRET for n in range(30)},
        "hers": {"hut": "# Hut\n\nA hut.\n"},
    }
    palaces = {}
    for name, texts in notes.items():
        write_notes(tmp_path / name, **texts)
        palaces[name] = Palace(tmp_path / name)
        palaces[name].index(embedder="hashing")
        address = read_address(database.url(palace=name))
        with connect(address, purpose="test") as connection:
            make_store(connection, address)
            number = make_palace(connection, address)
            source, config = IndexFiles(palaces[name].paths), palaces[name].config
            push(connection, number, source, config)
    for role in ROLES:
        database.make_role(role)
    hers = read_address(database.url(palace="hers"))
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, hers, "reader", may_write=False)
        grant(keeper, hers, "writer", may_write=True)
    return palaces
