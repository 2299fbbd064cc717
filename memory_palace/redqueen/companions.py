"""Which other memories must be seen with one: what it is taken for, and what it links to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory_palace.redqueen.examined import ExaminedMemory, Memories
from memory_palace.redqueen.round_values import Strategy, cue_text
from memory_palace.retrieval.collection import TextCollection

_MOST_LINKED = 3
_CHARACTERS = 1_000
"""Of the content that is compared: a rival has the same subject, and says so at its beginning."""


def find_companions(
    ids: Iterable[str], memories: Memories, strategy: Strategy
) -> Mapping[str, tuple[str, ...]]:
    """Return for each id which memories go with it.

    For ``adversarial`` that is its rival, for ``cross-link`` up to three that it links to.
    """
    if strategy is Strategy.CROSS_LINK:
        return {id: memories[id].links[:_MOST_LINKED] for id in ids}
    return _find_rivals(ids, memories) if strategy is Strategy.ADVERSARIAL else {}


def _find_rivals(ids: Iterable[str], memories: Memories) -> dict[str, tuple[str, ...]]:
    """Return for each id the other memory whose words are nearest to its own, if any is near."""
    known = sorted(memories)
    texts = TextCollection([_describe(memories[id]) for id in known])
    rivals: dict[str, tuple[str, ...]] = {}
    for id in dict.fromkeys(ids):
        scores = texts.score(_describe(memories[id]))
        scores[known.index(id)] = 0
        best = int(scores.argmax())
        rivals[id] = (known[best],) if scores[best] > 0 else ()
    return rivals


def _describe(memory: ExaminedMemory) -> str:
    return f"{cue_text(memory.cue)}\n{memory.content[:_CHARACTERS]}"
