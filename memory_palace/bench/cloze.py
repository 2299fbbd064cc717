"""Sentences with a word taken out: questions whose answers are graded without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import tokenize
from memory_palace.language.vocabulary import VAGUE
from memory_palace.language.word_lists import STOPWORDS
from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.readable import read_question
from memory_palace.redqueen.round_values import Question

BLANK = "…"
_WORD = re.compile(r"[^\W\d_]{3,}+")


def make_clozes(memories: Memories, targets: Sequence[str]) -> Iterator[Question]:
    """Yield for each target the sentence with the rarest word of the palace, that word left out."""
    uses = Counter(stem for m in memories.values() for stem in set(tokenize(m.content)))
    for target in targets:
        sentences = filter(None, map(read_question, split_sentences(memories[target].content)))
        known = set(tokenize(memories[target].cue.subject))
        found = [
            (min(uses[stem] for stem in stems), sentence, word)
            for sentence in sentences
            for word in _content_words(sentence)
            if (stems := set(tokenize(word)) - known)
        ]
        if found:
            _, sentence, word = min(found)
            yield Question(target, sentence.replace(word, BLANK), "2", (word,))


def mentions(text: str, element: str) -> bool:
    """Say whether a text holds every token of an element, in any order."""
    wanted = set(tokenize(element))
    return bool(wanted) and wanted <= set(tokenize(text))


def _content_words(text: str) -> list[str]:
    found = _WORD.findall(text)
    return [word for word in found if not {word.casefold()} & (STOPWORDS | VAGUE)]
