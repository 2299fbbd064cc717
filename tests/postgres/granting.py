"""Two palaces in one store: one that nobody else is to see, and one that was granted."""

from __future__ import annotations

from pathlib import Path

from postgres.pushing import write_notes

from memory_palace.palace import Palace
from memory_palace.postgres.access import grant
from memory_palace.postgres.address import read_address
from memory_palace.postgres.building import open_builder
from memory_palace.postgres.schema import open_store

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
        with open_builder(read_address(database.url(palace=name))) as builder:
            builder.push(palaces[name].paths, replaces=False, renews=False, wait_seconds=0)
    for role in ROLES:
        database.make_role(role)
    hers = read_address(database.url(palace="hers"))
    with open_store(hers, purpose="test") as keeper:
        grant(keeper, hers, "reader", may_write=False)
        grant(keeper, hers, "writer", may_write=True)
    return palaces
