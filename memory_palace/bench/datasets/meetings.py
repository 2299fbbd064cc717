"""QMSum: meetings, and questions with the spans of turns that answer them.

Zhong et al. 2021, "QMSum: A New Benchmark for Query-based Multi-domain Meeting Summarization". A
document is a note of ten turns; a note is gold where it holds a turn of a relevant span.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_palace.bench.datasets.items import Collection, EvalDocument, EvalQuestion
from memory_palace.bench.datasets.reading import read_jsonl, take, take_list
from memory_palace.errors import UsageError

TURNS = 10


def load_meetings(path: Path) -> Collection:
    """Return all meetings of a JSONL as one collection."""
    documents: list[EvalDocument] = []
    questions: list[EvalQuestion] = []
    for number, meeting in read_jsonl(path):
        where = f"{path}:{number}"
        turns = take_list(meeting, "meeting_transcripts", where)
        documents += _notes(number, turns, where)
        for place, item in enumerate(take_list(meeting, "specific_query_list", where)):
            spans = take_list(item, "relevant_text_span", where)
            gold = frozenset(_gold(number, spans, len(turns), where))
            if gold:
                identity = f"m{number}_q{place}"
                questions.append(EvalQuestion(identity, str(take(item, "query", where)), gold))
    return Collection(path.stem, tuple(documents), tuple(questions))


def _notes(number: int, turns: list[Any], where: str) -> Iterator[EvalDocument]:
    for start in range(0, len(turns), TURNS):
        lines = [
            f"{take(turn, 'speaker', where)}: {take(turn, 'content', where)}"
            for turn in turns[start : start + TURNS]
        ]
        yield EvalDocument(f"m{number}_n{start // TURNS}", "\n\n".join(lines))


def _gold(number: int, spans: list[Any], turns: int, where: str) -> Iterator[str]:
    for span in spans:
        try:
            first, last = (int(turn) for turn in span)
        except (TypeError, ValueError):
            raise UsageError(f"{where}: {span!r} is not a pair of turns") from None
        for turn in range(first, min(last, turns - 1) + 1):
            yield f"m{number}_n{turn // TURNS}"
