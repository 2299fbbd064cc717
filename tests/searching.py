"""``search`` as tests call it: what a query may say of the ranking is given by keyword."""

from typing import Any

from memory_palace.query import Query
from memory_palace.retrieval import search as ranking

OWN = {"profile", "half_life_days", "paths", "disputes"}


def search(query: Any, snapshot: Any, **given: Any) -> ranking.SearchResult:
    """Rank the notes of a snapshot."""
    own = {name: given.pop(name) for name in OWN & given.keys()}
    return ranking.search(query, snapshot, Query(**given), **own)
