"""Ask a palace the same question many times and embed it once."""

from collections.abc import Callable, Sequence
from functools import cache

from memory_palace.models import Matrix
from memory_palace.palace import Palace

Embed = Callable[[Sequence[str]], Matrix]


def remember_questions(palace: Palace) -> None:
    """Let the embedder of a palace keep the vectors of questions, for as long as it lives."""
    embedder = palace.embedder()
    embedder.embed_queries = _remember(embedder.embed_queries)  # type: ignore[method-assign]


def _remember(embed: Embed) -> Embed:
    known = cache(lambda texts: embed(list(texts)))
    return lambda texts: known(tuple(texts))
