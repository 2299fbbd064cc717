"""``palace query --store``: a palace in PostgreSQL is asked, without its notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from memory_palace.cli.answering import PalacesAsked
from memory_palace.cli.options import check_cold
from memory_palace.cli.store import find_store
from memory_palace.config import SEVEN
from memory_palace.errors import UsageError
from memory_palace.models import QueryResult
from memory_palace.retrieval.search import RankingOptions

_OF_FOLDERS = {"open_number": "--open", "refresh": "--refresh"}
"""Options that need the notes."""


def ask_store(text: str, asked: Mapping[str, Any], given: Mapping[str, Any]) -> PalacesAsked:
    """Ask a palace of a store; raise ``UsageError`` for options that need the notes."""
    if given["palaces"] is not None:
        raise UsageError("--store asks one palace; --palaces takes the names of stores as well")
    for name, option in _OF_FOLDERS.items():
        if given[name]:
            raise UsageError(f"{option} needs the notes, and a store is asked without them")
    result, unknown = query_store(given["store"], text, asked, given)
    return PalacesAsked({}, result, {"": result}, unknown_tags={"": unknown})


def query_store(
    store: str, text: str, asked: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[QueryResult, list[str]]:
    """Return what a palace of a store answers, and the tags of the question that no note has."""
    address, folders = find_store(store), given["folder"] or ()
    check_cold(SEVEN, given, folders)
    from memory_palace.postgres.reader import StoreReader  # delayed: it needs an extra

    with StoreReader(address) as reader:
        of_ranking = asked.keys() & RankingOptions.__annotations__
        ranking = cast("RankingOptions", {name: asked[name] for name in of_ranking})
        others = {name: value for name, value in asked.items() if name not in ranking}
        result = reader.ask(text, ranking=ranking, whole=given["full"], folder=folders, **others)
        if "#" not in text:
            return result, []
        return result, reader.find_unknown_tags(text, include_cold=given["include_cold"])
