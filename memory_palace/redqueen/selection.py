"""Choose which memories are attacked, by strategy."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from memory_palace.language.tokens import tokenize
from memory_palace.mnemonics.decay import decay_per_day
from memory_palace.redqueen.examined import ExaminedMemory, Memories
from memory_palace.redqueen.round_values import Strategy, cue_text

DEPTH = 5
"""Questions that ``depth-first`` puts to one memory before it goes on to the next."""
_INTEREST = 0.5
"""How much a memory matters for what is ahead, where nobody says (source document 000)."""


def weak_priority(memory: ExaminedMemory) -> float:
    """Return how much a memory needs review, 0 to 1 (source document 000, weak-spot test).

    0.4 (1 - confidence) + 0.3 decay per day + 0.2 min(days / 30, 1) + 0.1 interest.
    """
    return (
        0.4 * (1 - memory.confidence)
        + 0.3 * decay_per_day(memory.smashin)
        + 0.2 * min(memory.idle_days / 30, 1)
        + 0.1 * _INTEREST
    )


def choose_targets(
    memories: Memories, strategy: Strategy, count: int, *, rng: random.Random
) -> list[str]:
    """Return at most ``count`` ids; ``depth-first`` and ``cross-link`` may name one repeatedly."""
    order = sorted(memories)
    rng.shuffle(order)
    return _CHOICES[strategy](memories, order, count)


def _by_chance(memories: Memories, order: Sequence[str], count: int) -> list[str]:
    return list(order[:count])


def _weakest(memories: Memories, order: Sequence[str], count: int) -> list[str]:
    return sorted(order, key=lambda id: -weak_priority(memories[id]))[:count]


def _deeply(memories: Memories, order: Sequence[str], count: int) -> list[str]:
    weakest = _weakest(memories, order, -(-count // DEPTH))
    return [id for id in weakest for _ in range(DEPTH)][:count]


def _confusable(memories: Memories, order: Sequence[str], count: int) -> list[str]:
    """Put those first whose cues say least that no other cue says."""
    stems = {id: set(tokenize(cue_text(memories[id].cue))) for id in order}
    uses: dict[str, int] = {}
    for words in stems.values():
        for word in words:
            uses[word] = uses.get(word, 0) + 1
    own = {id: sum(uses[word] == 1 for word in words) for id, words in stems.items()}
    return sorted(order, key=lambda id: own[id])[:count]


def _linked(memories: Memories, order: Sequence[str], count: int) -> list[str]:
    by_links = sorted(order, key=lambda id: -len(memories[id].links))
    return [id for id in by_links if memories[id].links][:count]


_CHOICES: dict[Strategy, Callable[[Memories, Sequence[str], int], list[str]]] = {
    Strategy.RANDOM: _by_chance,
    Strategy.WEAK_SPOTS: _weakest,
    Strategy.DEPTH_FIRST: _deeply,
    Strategy.ADVERSARIAL: _confusable,
    Strategy.CROSS_LINK: _linked,
}
