"""How ``palace query`` and ``palace index`` reach a store.

Its libraries are imported once an address was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from memory_palace.cli.registry import Address, read_registry
from memory_palace.features.store.values import Pushed
from memory_palace.libraries import check_postgres
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.query import Query


def find_store(given: str | None, palace: Palace | None = None) -> Address:
    """Return the address that ``--store`` means, once the libraries are there to ask it.

    It names a palace of this machine as that is registered here, else as its folder is called.
    """
    registry = read_registry()
    address = registry.store_of(given)
    check_postgres()
    if address.palace or palace is None:
        return address
    folder = palace.paths.root.resolve()
    names = [name for name, place in registry.palaces.items() if folder == Path(place)]
    cleaned = re.sub(r"[^\w.-]+", "-", folder.name).strip("-._")[:64]
    return replace(address, palace=names[0] if names else cleaned or "palace")


@contextmanager
def pushing_to(store: str, palace: Palace) -> Iterator[Callable[..., Pushed]]:
    """Connect to a store, made where there is none, and yield what pushes an index to it."""
    address = find_store(store, palace)
    from memory_palace.features.store.connecting import asking, connect
    from memory_palace.features.store.palaces import make_palace, make_store
    from memory_palace.features.store.source import IndexFiles
    from memory_palace.features.store.writing import push
    from memory_palace.storage import writer_lock

    with closing(connect(address, purpose="index")) as connection:
        make_store(connection, address)
        number = make_palace(connection, address)

        def push_index(*, wait: float, **how: bool) -> Pushed:
            with writer_lock(palace.paths.lock, wait_seconds=wait), asking(address):
                source, config = IndexFiles(palace.paths), palace.config
                return push(connection, number, source, config, wait_seconds=wait, **how)

        yield push_index


def ask_store(store: str, asked: Query, *, whole: bool = False) -> tuple[QueryResult, list[str]]:
    """Return what a palace of a store answers, and the tags of the question that no note has."""
    address = find_store(store)
    from memory_palace.features.store.reader import StoreReader

    with StoreReader(address) as reader:
        result = reader.ask(asked, whole=whole)
        if "#" not in asked.text:
            return result, []
        return result, reader.find_unknown_tags(asked.text, include_cold=asked.include_cold)
