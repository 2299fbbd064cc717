"""Recall from cues alone: an index of subjects, anchors and images, and of nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.embedding.base import Embedder
from memory_palace.redqueen.cue_index import CueIndex, Ranking
from memory_palace.redqueen.round_values import Cue, Recollection, cue_text

RECALLED = 5
"""How many memories an answer may think of."""
_CERTAINTY = ((1.5, 5), (0.8, 4), (0.4, 3), (0.15, 2))
"""Confidence by how far the first memory is ahead of the second, in standard deviations."""


class CueLearner:
    """Ranks memories by what their cues say; never holds a memory's content."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[Recollection]:
        """Return one answer per question."""
        if not cues or not questions:
            return [Recollection((), "", 1) for _ in questions]
        index = CueIndex(cues, self._embedder)
        return [_answer(index.rank(scores), cues) for scores in index.score(questions)]


def _answer(ranking: Ranking, cues: Sequence[Cue]) -> Recollection:
    order = ranking.places[:RECALLED]
    if not order:
        return Recollection((), "", 1)
    confidence = next((level for least, level in _CERTAINTY if ranking.lead >= least), 1)
    return Recollection(
        tuple(cues[place].memory_id for place in order), cue_text(cues[order[0]]), confidence
    )
