"""The roles of source document 000 without a model: words recall the memory of a sentence."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from memory_palace.language.sentences import split_sentences
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


class SentencePlayer:
    """Plays all four roles over memories alone; ``palace redqueen run`` asks the search instead."""

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return a sentence of the memory for each mention of a target; no sentence twice."""
        asked: dict[str, Question] = {}
        for target in targets:
            content = memories[target].content
            readable = [text for text in map(read_question, split_sentences(content)) if text]
            left = [text for text in readable if text not in asked]
            if left:
                text = rng.choice(left)
                asked[text] = Question(target, text, "3", (memories[target].cue.subject,))
        return list(asked.values())

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return the memories whose cues share words with each question."""
        texts = TextCollection([cue_text(cue) for cue in cues])
        return [_recall(rank_cues(texts, question, cues), cues) for question in questions]

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Score each answer by the reciprocal rank of the memory that was asked for."""
        return [
            _judge(question, answer, memories)
            for question, answer in zip(questions, answers, strict=True)
        ]

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        """Propose nothing: words copied from a sentence are no cue of a person."""
        return []


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
    ranks = answer.recalled
    score = 1 / (1 + ranks.index(question.memory_id)) if question.memory_id in ranks else 0.0
    gaps = [] if score else [Gap("missing detail", question.question_text)]
    if ranks and ranks[0] != question.memory_id:
        gaps.append(Gap("misconception", f"taken for {memories[ranks[0]].cue.subject}"))
    return conclude(question, score, gaps)
