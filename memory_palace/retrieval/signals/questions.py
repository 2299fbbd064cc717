"""What a note says that it answers, beside the question."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext


def questions(context: SearchContext) -> Scores:
    """Return by how much a question that each candidate's note answers is nearer than its passages.

    In deviations of meaning. Such questions stand in front matter: what is found is the note.
    """
    scores: Scores = context.evidence.questions[context.notes]
    return scores


def question_words(context: SearchContext) -> Scores:
    """Return the same in deviations of BM25."""
    scores: Scores = context.evidence.question_words[context.notes]
    return scores
