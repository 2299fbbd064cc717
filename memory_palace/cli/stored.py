"""``palace query --store``: a palace in PostgreSQL is asked, without its notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_palace.cli.answering import PalacesAsked
from memory_palace.cli.store import find_store
from memory_palace.errors import UsageError
from memory_palace.models import QueryResult
from memory_palace.retrieval.merging import merge_results
from memory_palace.retrieval.search import RankingOptions

_OF_FOLDERS = {
    "interactive": "-i",
    "open_number": "--open",
    "refresh": "--refresh",
    "full": "--full",
}
"""Options that need the notes."""


def ask_store(text: str, asked: Mapping[str, Any], given: Mapping[str, Any]) -> PalacesAsked:
    """Ask a palace of a store; raise ``UsageError`` for options that need the notes."""
    if given["palaces"] is not None:
        raise UsageError("--store asks one palace; --palaces takes the names of stores as well")
    store = given["store"]
    found = query_store(store, text, asked, given)
    name = find_store(store).palace or store.rpartition("/")[2]
    own = {name: found}
    return PalacesAsked({}, merge_results(own, limit=asked["limit"]), own)


def query_store(
    store: str, text: str, asked: Mapping[str, Any], given: Mapping[str, Any]
) -> QueryResult:
    """Return what a palace of a store answers."""
    for name, option in _OF_FOLDERS.items():
        if given[name]:
            raise UsageError(f"{option} needs the notes, and a store is asked without them")
    address = find_store(store)
    from memory_palace.postgres.reader import StoreReader  # delayed: it needs an extra

    with StoreReader(address) as reader:
        ranking: RankingOptions = {
            "limit": asked["limit"],
            "gate": asked["gate"],
            "rerank": asked["rerank"],
            "min_confidence": asked["min_confidence"],
            "budget_bytes": asked["budget_bytes"],
            "neighbors": asked["neighbors"],
        }
        others = {name: value for name, value in asked.items() if name not in ranking}
        return reader.ask(text, ranking=ranking, folder=given["folder"] or (), **others)
