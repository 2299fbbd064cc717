"""A question, and what it names, as vectors."""

from __future__ import annotations

from dataclasses import replace

from memory_palace.embedding.base import Embedder, embed_query
from memory_palace.index.recipes import Detail
from memory_palace.models import Query
from memory_palace.retrieval.profiles import get_profile


def embed_question(query: Query, embedder: Embedder, profile: str, *, detail: Detail) -> Query:
    """Add the vector of a question, and of its noun phrases where the profile compares them."""
    query = replace(query, vector=embed_query(embedder, query.text))
    if detail < Detail.ENRICHED or "bridge" not in get_profile(profile).weights:
        return query
    from memory_palace.retrieval.phrasing import phrases_of  # delayed: few profiles ask for it

    phrases = phrases_of(query.text)
    return replace(query, phrases=embed_query(embedder, phrases)) if phrases else query
