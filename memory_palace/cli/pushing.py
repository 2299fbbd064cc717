"""``palace index --store``: push what was indexed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from memory_palace.cli.printing import plural
from memory_palace.cli.store import find_store, name_palace
from memory_palace.palace import Palace

if TYPE_CHECKING:
    from memory_palace.postgres.building import Builder
    from memory_palace.postgres.writing import Pushed

StoreToPush = Annotated[
    str | None,
    Option(
        "--store",
        metavar="NAME|ADDRESS",
        help="Push the index to this store as well, and take vectors that it has.",
        show_default=False,
    ),
]


@contextmanager
def building_at(
    store: str | None, palace: Palace, *, trusts: bool = True
) -> Iterator[Builder | None]:
    """Connect to the store that was named, if one was, and take vectors from there."""
    if store is None:
        yield None
        return
    address = name_palace(find_store(store), palace)
    from memory_palace.postgres.building import open_builder

    with open_builder(address) as builder:
        palace.find_vectors = builder.find_vectors if trusts else None
        try:
            yield builder
        finally:
            palace.find_vectors = None


def push_index(
    builder: Builder | None, palace: Palace, *, force: bool, verify: bool, wait: float
) -> Pushed | None:
    """Push what was indexed, where there is a store; ``verify`` pushes all of it again."""
    if builder is None:
        return None
    how = {"replaces": force, "renews": verify}
    return builder.push(palace.paths, palace.config, **how, wait_seconds=wait)


def pushed_record(pushed: Pushed | None) -> dict[str, Any]:
    """Return what ``--json`` says of a push besides what it says of the index."""
    if pushed is None:
        return {}
    record = asdict(pushed)
    del record["is_new"]
    return {"pushed": record}


def pushed_lines(pushed: Pushed | None) -> Iterator[str]:
    """Yield what is said of a push."""
    if pushed is None:
        return
    if not pushed.is_new:
        yield f"  {'pushed':<10} nothing: generation {pushed.generation} is the same"
        return
    counts = f"{plural(pushed.rows_sent, 'passage')}, {pushed.rows_removed} removed"
    yield f"  {'pushed':<10} {counts}; generation {pushed.generation}"
