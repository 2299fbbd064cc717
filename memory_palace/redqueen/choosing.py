"""Which questions a round asks, for there are more than anybody waits for."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from memory_palace.language.tokens import tokenize
from memory_palace.redqueen.askings import KINDS, Asking
from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.round_values import Strategy
from memory_palace.redqueen.session import weak_priority


def choose_askings(
    askings: Sequence[Asking], memories: Memories, strategy: Strategy, count: int, *, seed: int
) -> list[Asking]:
    """Return at most ``count`` askings, the golden ones always first.

    ``weak-spots`` asks one question of each note, the weakest note first, then a second of each;
    ``depth-first`` asks all of one note before the next; ``adversarial`` begins with words that
    stand in the titles of other notes; ``cross-link`` takes what links say alone.
    """
    golden = [asking for asking in askings if asking.kind == "golden"]
    others = [asking for asking in askings if asking.kind != "golden"]
    random.Random(seed).shuffle(others)
    return [*golden, *_ORDERS[strategy](others, memories)][:count]


def _by_note(askings: Sequence[Asking], memories: Memories) -> list[list[Asking]]:
    """Return the askings of each note, weakest note first, of one note the most telling first."""
    groups: Mapping[str, list[Asking]] = defaultdict(list)
    for asking in sorted(askings, key=lambda asking: KINDS.index(asking.kind)):
        groups[asking.answers[0]].append(asking)
    weakness = {path: weak_priority(memories[path]) if path in memories else 0 for path in groups}
    return [groups[path] for path in sorted(groups, key=lambda path: -weakness[path])]


def _weakest(askings: Sequence[Asking], memories: Memories) -> list[Asking]:
    turns = zip_longest(*_by_note(askings, memories))
    return [asking for turn in turns for asking in turn if asking is not None]


def _deeply(askings: Sequence[Asking], memories: Memories) -> list[Asking]:
    return list(chain.from_iterable(_by_note(askings, memories)))


def _confusable(askings: Sequence[Asking], memories: Memories) -> list[Asking]:
    titles = {path: frozenset(tokenize(m.cue.subject)) for path, m in memories.items()}
    holders: Mapping[str, set[str]] = defaultdict(set)
    for path, stems in titles.items():
        for stem in stems:
            holders[stem].add(path)

    def likeness(asking: Asking) -> float:
        words = set(tokenize(asking.text))
        near = {path for word in words for path in holders[word]} - set(asking.answers)
        return max((len(words & titles[path]) / len(titles[path]) for path in near), default=0.0)

    return sorted(askings, key=lambda asking: -likeness(asking))


def _linked(askings: Sequence[Asking], memories: Memories) -> list[Asking]:
    return _weakest([a for a in askings if a.kind in ("link", "mention")], memories)


def _by_chance(askings: Sequence[Asking], memories: Memories) -> list[Asking]:
    return list(askings)


_ORDERS: Mapping[Strategy, Callable[[Sequence[Asking], Memories], list[Asking]]] = {
    Strategy.RANDOM: _by_chance,
    Strategy.WEAK_SPOTS: _weakest,
    Strategy.DEPTH_FIRST: _deeply,
    Strategy.ADVERSARIAL: _confusable,
    Strategy.CROSS_LINK: _linked,
}
