"""Memories and questions for the hierarchical index, made from a seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.features.memories.form import Memory

_SYLLABLES = "ba ko li mu ren sa tor vi ze du fan gol hir jan pel qui".split()
_COMMON, _OWN = 600, 120
"""Words that all domains share, and words of one domain."""
_PER_DOMAIN, _LEAST_DOMAINS = 50, 5


@dataclass(frozen=True, slots=True)
class MemorySet:
    """Memories in domains, and questions with the memory that answers each."""

    name: str
    memories: tuple[Memory, ...]
    questions: tuple[tuple[str, str], ...]
    """Pairs of question and id."""


def make_memories(count: int, *, questions: int = 300, seed: int = 2) -> MemorySet:
    """Return memories of invented words in domains of about fifty, the same ones each time.

    A memory draws half of its words from its domain. A question draws two words of the content and
    one, in two of three cases, of the subject or an anchor; and with one word in four it strays
    into another domain. This is easier than life: no person keeps domains that differ so much.
    """
    rng = random.Random(f"{seed}|{count}")
    common = _make_words(rng, _COMMON)
    domains = max(_LEAST_DOMAINS, round(count / _PER_DOMAIN))
    own = [_make_words(rng, _OWN) for _ in range(domains)]
    memories = [_make(rng, at, at % domains, common, own) for at in range(count)]
    asked = rng.choices(range(count), k=questions)
    pairs = [(_ask(rng, memories[at], common, own), memories[at].id) for at in asked]
    return MemorySet(f"{count:,} made", tuple(memories), tuple(pairs))


def _make(
    rng: random.Random, at: int, domain: int, common: Sequence[str], own: Sequence[Sequence[str]]
) -> Memory:
    def draw(size: int) -> str:
        return " ".join(
            rng.choice(own[domain]) if rng.random() < 0.5 else _zipf(rng, common)
            for _ in range(size)
        )

    return Memory(
        f"palace/domain {domain:03d}/memory {at:05d}.md",
        draw(3),
        "",
        draw(60),
        anchors=tuple(draw(2) for _ in range(3)),
    )


def _ask(
    rng: random.Random, memory: Memory, common: Sequence[str], own: Sequence[Sequence[str]]
) -> str:
    words = rng.sample(memory.content.split(), 2)
    if rng.random() < 2 / 3:
        words.append(rng.choice(" ".join((memory.subject, *memory.anchors)).split()))
    words += [_zipf(rng, common) for _ in range(2)]
    if rng.random() < 1 / 4:
        words.append(rng.choice(rng.choice(own)))
    rng.shuffle(words)
    return " ".join(words)


def _make_words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(count)]


def _zipf(rng: random.Random, words: Sequence[str]) -> str:
    """Draw the word of rank r about as often as 1/r."""
    return words[int(len(words) ** rng.random()) - 1]
