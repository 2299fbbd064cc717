"""QMSum: meetings, and questions with the spans of turns that answer them.

Zhong et al. 2021, "QMSum: A New Benchmark for Query-based Multi-domain Meeting Summarization". A
document is a note of ten turns; a note is gold where it holds a turn of a relevant span.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.datasets.items import Collection, DatasetPassage, EvalDocument, EvalQuestion
from benchmarks.datasets.reading import read_jsonl, take, take_list
from memory_palace.errors import UsageError

TURNS = 10
LEAST_WORDS = 8


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


def load_turns(path: Path) -> Collection:
    """Return the same notes with their turns as passages, and the turns of the spans as gold.

    Turns of fewer than ``LEAST_WORDS`` words are no gold: "Yeah." answers nothing.
    """
    documents: list[EvalDocument] = []
    questions: list[EvalQuestion] = []
    for number, meeting in read_jsonl(path):
        where = f"{path}:{number}"
        turns = take_list(meeting, "meeting_transcripts", where)
        passages = [
            DatasetPassage(
                f"m{number}_t{n}", f"{take(t, 'speaker', where)}: {take(t, 'content', where)}"
            )
            for n, t in enumerate(turns)
        ]
        for start in range(0, len(passages), TURNS):
            name = f"m{number}_n{start // TURNS}"
            documents.append(EvalDocument(name, "", tuple(passages[start : start + TURNS])))
        for place, item in enumerate(take_list(meeting, "specific_query_list", where)):
            spans = take_list(item, "relevant_text_span", where)
            gold = frozenset(
                passages[turn].id
                for first, last in _pairs(spans, where)
                for turn in range(first, min(last, len(turns) - 1) + 1)
                if len(passages[turn].text.split()) > LEAST_WORDS
            )
            if gold:
                identity = f"m{number}_q{place}"
                questions.append(EvalQuestion(identity, str(take(item, "query", where)), gold))
    return Collection(path.stem, tuple(documents), tuple(questions), ranks_passages=True)


def _notes(number: int, turns: list[Any], where: str) -> Iterator[EvalDocument]:
    for start in range(0, len(turns), TURNS):
        lines = [
            f"{take(turn, 'speaker', where)}: {take(turn, 'content', where)}"
            for turn in turns[start : start + TURNS]
        ]
        yield EvalDocument(f"m{number}_n{start // TURNS}", "\n\n".join(lines))


def _gold(number: int, spans: list[Any], turns: int, where: str) -> Iterator[str]:
    for first, last in _pairs(spans, where):
        for turn in range(first, min(last, turns - 1) + 1):
            yield f"m{number}_n{turn // TURNS}"


def _pairs(spans: list[Any], where: str) -> Iterator[tuple[int, int]]:
    for span in spans:
        try:
            first, last = (int(turn) for turn in span)
        except (TypeError, ValueError):
            raise UsageError(f"{where}: {span!r} is not a pair of turns") from None
        yield first, last
