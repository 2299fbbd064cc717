"""LongMemEval, official schema: each question has its own haystack of dated chat sessions.

Wu et al. 2024, "LongMemEval". A document is a session, written as a note; a question is asked on
its own day. Questions whose id ends in ``_abs`` have no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.datasets.reading import read_json, take, take_list
from memory_palace.errors import UsageError

_FORMATS = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m-%d")


def load_longmemeval(path: Path) -> Iterator[Collection]:
    """Yield one collection per question."""
    for item in read_json(path):
        name = str(take(item, "question_id", str(path)))
        where = f"{path}, {name}"
        ids = [str(i) for i in take_list(item, "haystack_session_ids", where)]
        sessions = take_list(item, "haystack_sessions", where)
        dates = take_list(item, "haystack_dates", where)
        if not len(ids) == len(sessions) == len(dates):
            raise UsageError(f"{where}: sessions, their ids and their dates differ in number")
        documents = tuple(
            EvalDocument(i, _text(turns, f"{where}, {i}"), (), _moment(date, where))
            for i, turns, date in zip(ids, sessions, dates, strict=True)
        )
        gold = frozenset(str(i) for i in take_list(item, "answer_session_ids", where))
        is_abstention = bool(item.get("abstention", name.endswith("_abs")))
        category = str(item.get("question_type", ""))
        is_incomplete = item.get("gold_complete") is False
        asked = _moment(take(item, "question_date", where), where)
        text = str(take(item, "question", where))
        question = EvalQuestion(name, text, gold, category, asked, is_abstention, is_incomplete)
        yield Collection(name, _distinct(documents), (question,))


def _text(turns: list[Any], where: str) -> str:
    return "\n\n".join(
        f"{take(turn, 'role', where)}: {take(turn, 'content', where)}" for turn in turns
    )


def _distinct(documents: tuple[EvalDocument, ...]) -> tuple[EvalDocument, ...]:
    """Keep the first of sessions that share an id, as some haystacks repeat one."""
    return tuple({document.id: document for document in reversed(documents)}.values())[::-1]


def _moment(text: object, where: str) -> float:
    for pattern in _FORMATS:
        try:
            return datetime.strptime(str(text), pattern).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    raise UsageError(f"{where}: {text!r} is not a date such as 2023/05/20 (Sat) 02:21")
