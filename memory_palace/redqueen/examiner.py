"""Make questions from what memories say: cloze, number, contrast, scenario, link."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memory_palace.language.tokens import tokenize
from memory_palace.redqueen.examined import ExaminedMemory, Memories
from memory_palace.redqueen.passages import (
    NUMBER,
    Rarity,
    find_statements,
    telling_words,
    weigh_sentence,
)
from memory_palace.redqueen.round_values import Kind, Question, Strategy

BLANK = "…"
_KINDS: dict[Strategy, tuple[Kind, ...]] = {
    Strategy.RANDOM: ("cloze", "number", "scenario", "contrast"),
    Strategy.WEAK_SPOTS: ("cloze", "number", "scenario"),
    Strategy.DEPTH_FIRST: ("cloze", "number", "scenario", "contrast"),
    Strategy.ADVERSARIAL: ("contrast", "scenario", "number", "cloze"),
    Strategy.CROSS_LINK: ("link",),
}
"""Kinds that a strategy asks; ``adversarial`` in this order, the others by chance."""


@dataclass(frozen=True, slots=True)
class _Matter:
    """What one question is made of."""

    id: str
    memory: ExaminedMemory
    sentences: tuple[str, ...]
    rival: ExaminedMemory | None
    rarity: Rarity


class TemplateExaminer:
    """Needs no model: every question is a sentence of the memory with its answer taken out."""

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return one question for each mention of a target, as far as its text gives any.

        No two questions are alike.
        """
        rarity = Rarity.of(memory.content for memory in memories.values())
        asked: dict[tuple[str, str], Question] = {}
        for target in targets:
            matter = _gather(target, memories, rarity, rng)
            kinds = list(_KINDS[strategy])
            if strategy is not Strategy.ADVERSARIAL:
                rng.shuffle(kinds)
            made = (q for kind in kinds for q in _MAKERS[kind][1](matter, memories))
            for question in made:
                key = (target, question.question_text)
                if key not in asked:
                    asked[key] = question
                    break
        return list(asked.values())


def _gather(target: str, memories: Memories, rarity: Rarity, rng: random.Random) -> _Matter:
    memory = memories[target]
    sentences = find_statements(memory.content) or [" ".join(memory.content.split())[:400]]
    telling = sorted(sentences, key=lambda text: -weigh_sentence(text, rarity))
    chosen = telling[: max(3, len(telling) // 2)]
    rng.shuffle(chosen)
    return _Matter(target, memory, tuple(chosen), _find_rival(target, memories), rarity)


def _find_rival(target: str, memories: Memories) -> ExaminedMemory | None:
    """Return the linked memory, or else the one whose subject is most like the target's."""
    memory = memories[target]
    for link in memory.links:
        if link != target:
            return memories[link]
    mine = set(tokenize(memory.cue.subject))
    others = [(len(mine & set(tokenize(m.cue.subject))), id) for id, m in memories.items()]
    best = max(((n, id) for n, id in others if id != target), default=(0, ""))
    return memories[best[1]] if best[0] else None


def _cloze(matter: _Matter, _: Memories) -> Iterator[Question]:
    for sentence in matter.sentences:
        words = telling_words(sentence, matter.rarity, but_not=[matter.memory.cue.subject])
        words = [word for word in words if not word[0].isdigit()]
        if words:
            yield _make(matter, "cloze", sentence.replace(words[0], BLANK), words[:1])


def _number(matter: _Matter, _: Memories) -> Iterator[Question]:
    for sentence in matter.sentences:
        match = NUMBER.search(sentence)
        if match is not None:
            text = f"How much, or when: {sentence[: match.start()]}{BLANK}{sentence[match.end() :]}"
            yield _make(matter, "number", text, [match[0]])


def _scenario(matter: _Matter, _: Memories) -> Iterator[Question]:
    """Give one sentence and ask for what the memory says besides."""
    for sentence in matter.sentences:
        for other in matter.sentences:
            words = telling_words(other, matter.rarity, but_not=[sentence])[:2]
            if other != sentence and len(words) == 2:
                yield _make(matter, "scenario", f"{sentence} What else belongs to it?", words)
                break


def _contrast(matter: _Matter, _: Memories) -> Iterator[Question]:
    if matter.rival is None:
        return
    for sentence in matter.sentences:
        words = telling_words(
            sentence, matter.rarity, but_not=[matter.rival.content, matter.rival.cue.subject]
        )
        if len(words) >= 4:
            text = f"Not {matter.rival.cue.subject}: {words[2]}, {words[3]}. What else?"
            yield _make(matter, "contrast", text, words[:2])


def _link(matter: _Matter, memories: Memories) -> Iterator[Question]:
    for link in matter.memory.links:
        other = memories[link]
        if link == matter.id:
            continue
        shared = set(tokenize(matter.memory.content)) & set(tokenize(other.content))
        words = [
            word
            for word in telling_words(other.content, matter.rarity, but_not=[other.cue.subject])
            if set(tokenize(word)) <= shared
        ][:3]
        about = f" ({', '.join(words)})" if words else ""
        text = f"What goes together with {matter.memory.cue.subject}{about}?"
        yield _make(matter, "link", text, [other.cue.subject])


def _make(matter: _Matter, kind: Kind, text: str, elements: Sequence[str]) -> Question:
    return Question(matter.id, " ".join(text.split()), _MAKERS[kind][0], tuple(elements), kind)


_MAKERS: dict[Kind, tuple[str, Callable[[_Matter, Memories], Iterator[Question]]]] = {
    "cloze": ("2", _cloze),
    "number": ("3", _number),
    "scenario": ("4", _scenario),
    "contrast": ("5", _contrast),
    "link": ("3", _link),
}
"""How hard each kind of question is, and what makes it."""
