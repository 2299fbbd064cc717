"""The roles of source document 000 without a model: a word is left out, and cues must say it."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOPWORDS
from memory_palace.redqueen.examined import Memories
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.readable import read_question
from memory_palace.redqueen.round_values import (
    Cue,
    Evaluation,
    Gap,
    LearnerAnswer,
    Question,
    Strategy,
    conclude,
    cue_text,
)
from memory_palace.retrieval.collection import TextCollection

RECALLED = 5
"""How many memories an answer may think of."""
_BLANK = "____"
_WORD = re.compile(r"\w+(?:[.,:'’-]\w+)*")


class SentencePlayer:
    """Plays all four roles over memories alone; ``palace redqueen run`` asks the search instead."""

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return a sentence without its most telling word for each mention; none twice."""
        asked: dict[str, Question] = {}
        for target in targets:
            subject, content = memories[target].cue.subject, memories[target].content
            found = (
                leave_out(text, subject) for text in map(read_question, split_sentences(content))
            )
            left = [pair for pair in found if pair and pair[0] not in asked]
            if left:
                text, word = rng.choice(left)
                asked[text] = Question(target, text, "3", (word,))
        return list(asked.values())

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return the memories whose cues share words with each question."""
        texts = TextCollection([cue_text(cue) for cue in cues])
        return [_recall(rank_cues(texts, question, cues), cues) for question in questions]

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Score each answer by the share of what was left out that it says, of the right memory."""
        return [
            _judge(question, answer, memories)
            for question, answer in zip(questions, answers, strict=True)
        ]

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        """Propose nothing: words copied from a sentence are no cue of a person."""
        return []


def leave_out(sentence: str, subject: str) -> tuple[str, str] | None:
    """Return a sentence without its most telling word, and that word; ``None`` where it has none.

    A number tells most, then a name, then the longest word; a word of the subject tells nothing.
    """
    known = {*tokenize(subject)}
    words = [
        word
        for word in _WORD.findall(sentence)
        if word.casefold() not in STOPWORDS and known.isdisjoint(tokenize(word))
    ]
    if not words:
        return None
    is_name = {word: word[0].isupper() and not sentence.startswith(word) for word in words}
    best = max(words, key=lambda word: (not word.isalpha(), is_name[word], len(word)))
    stems = {*tokenize(best)}
    text = _WORD.sub(lambda at: at[0] if stems.isdisjoint(tokenize(at[0])) else _BLANK, sentence)
    return (text, best) if tokenize(text.replace(_BLANK, "")) else None


def rank_cues(texts: TextCollection, question: str, cues: Sequence[Cue]) -> list[int]:
    """Return the places of the cues that share a word with a question, best first, ties by id."""
    scores = [round(float(score), 6) for score in texts.score(question)]
    known = [place for place, score in enumerate(scores) if score > 0]
    return sorted(known, key=lambda place: (-scores[place], cues[place].memory_id))


def _recall(places: Sequence[int], cues: Sequence[Cue]) -> LearnerAnswer:
    if not places:
        return LearnerAnswer((), "", 1)
    recalled = tuple(cues[place].memory_id for place in places[:RECALLED])
    return LearnerAnswer(recalled, cue_text(cues[places[0]]), 3)


def _judge(question: Question, answer: LearnerAnswer, memories: Memories) -> Evaluation:
    ranks, said = answer.recalled, {*tokenize(answer.text)}
    lacking = [each for each in question.expected_elements if not said.issuperset(tokenize(each))]
    share = 1 - len(lacking) / max(len(question.expected_elements), 1)
    score = share if question.memory_id in ranks else 0.0
    gaps = [Gap("missing detail", each) for each in lacking]
    if ranks and ranks[0] != question.memory_id:
        gaps.append(Gap("misconception", f"taken for {memories[ranks[0]].cue.subject}"))
    return conclude(question, score, gaps)
