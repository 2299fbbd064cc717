"""How ``palace query`` and ``palace index`` reach a store: they find it, ask it, push to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from memory_palace.address import Address
from memory_palace.cli.registry import read_registry
from memory_palace.features.store.values import Pushed
from memory_palace.libraries import check_postgres
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.query import Query


def find_store(given: str | None) -> Address:
    """Return the address that ``--store`` means, once the libraries are there to ask it."""
    address = read_registry().store_of(given)
    check_postgres()
    return address


def name_palace(address: Address, palace: Palace) -> Address:
    """Return an address with the palace named: as it is registered here, else as its folder is."""
    if address.palace:
        return address
    folder = palace.paths.root.resolve()
    names = [name for name, place in read_registry().palaces.items() if folder == Path(place)]
    cleaned = re.sub(r"[^\w.-]+", "-", folder.name).strip("-._")[:64]
    return replace(address, palace=names[0] if names else cleaned or "palace")


class Push(Protocol):
    """Pushes what was indexed; ``verify`` pushes all of it again."""

    def __call__(self, *, force: bool, verify: bool, wait: float) -> Pushed: ...


@contextmanager
def pushing_to(store: str, palace: Palace, *, trusts: bool = True) -> Iterator[Push]:
    """Connect to a store; while it lasts a build takes vectors from there, if it ``trusts`` them.

    The store is made, or brought up to date, where it has to be.
    """
    address = name_palace(find_store(store), palace)
    from memory_palace.features.store.writing import open_builder

    with open_builder(address) as builder:

        def push(*, force: bool, verify: bool, wait: float) -> Pushed:
            how = {"replaces": force, "renews": verify}
            return builder.push(palace.paths, palace.config, **how, wait_seconds=wait)

        palace.find_vectors = builder.find_vectors if trusts else None
        try:
            yield push
        finally:
            palace.find_vectors = None


def ask_store(store: str, asked: Query, *, whole: bool = False) -> tuple[QueryResult, list[str]]:
    """Return what a palace of a store answers, and the tags of the question that no note has."""
    address = find_store(store)
    from memory_palace.features.store.reader import StoreReader  # delayed: it needs an extra

    with StoreReader(address) as reader:
        result = reader.ask(asked, whole=whole)
        if "#" not in asked.text:
            return result, []
        return result, reader.find_unknown_tags(asked.text, include_cold=asked.include_cold)
