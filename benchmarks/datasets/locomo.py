"""LoCoMo, official schema: long conversations in dated sessions, and questions on them.

Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents". A document
is a session, a passage one of its turns, with the caption of a shared image in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.datasets.items import Collection, DatasetPassage, EvalDocument, EvalQuestion
from benchmarks.datasets.reading import read_json, read_jsonl, take, take_list
from memory_palace.errors import UsageError

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D(\d+):(\d+)")
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The official numbers; 5, adversarial, asks of one person what another one said or did."""
_DATE = "%I:%M %p on %d %B, %Y"


def load_locomo(
    path: Path, *, unit: str = "turn", gold: Path | None = None, is_adversarial: bool = False
) -> Iterator[Collection]:
    """Yield one collection per conversation.

    ``unit`` is what is ranked, ``turn`` or ``session``. ``gold`` is a JSONL of normalised labels;
    without it the official ``evidence`` is used. Adversarial questions have no answer in the text,
    and are asked only with ``is_adversarial``: their evidence is what misleads. A question's own
    ``subset`` goes before the name of its category.
    """
    kinds = _CATEGORIES | ({5: "adversarial"} if is_adversarial else {})
    labels = _read_labels(gold) if gold is not None else None
    for sample in read_json(path):
        name = str(take(sample, "sample_id", str(path)))
        conversation = take(sample, "conversation", f"{path}, {name}")
        documents = tuple(_documents(conversation, f"{path}, {name}"))
        last = max((document.timestamp for document in documents), default=0.0)
        rows = labels.get(name, []) if labels is not None else _official(sample, f"{path}, {name}")
        questions = tuple(_questions(rows, unit, last, kinds))
        yield Collection(name, documents, questions, unit == "turn")


def read_words(path: Path) -> dict[tuple[str, str], str]:
    """Return what each turn says, by conversation and id: no speaker, no caption of an image."""
    return {
        (name, str(take(turn, "dia_id", f"{path}, {name}"))): str(turn.get("text") or "")
        for sample in read_json(path)
        for name in [str(take(sample, "sample_id", str(path)))]
        for key, turns in take(sample, "conversation", f"{path}, {name}").items()
        if _SESSION.fullmatch(key)
        for turn in turns
    }


def _documents(conversation: Mapping[str, Any], where: str) -> Iterator[EvalDocument]:
    numbers = sorted(int(m[1]) for key in conversation if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        turns = take_list(conversation, f"session_{number}", where)
        if not turns:
            continue
        said = conversation.get(f"session_{number}_date_time")
        passages = tuple(
            DatasetPassage(str(take(turn, "dia_id", at)), _text(turn, at))
            for at, turn in (
                (f"{where}, session_{number}, turn {n}", t) for n, t in enumerate(turns, 1)
            )
        )
        yield EvalDocument(f"session_{number}", "", passages, _timestamp(said, where))


def _text(turn: Any, where: str) -> str:
    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{take(turn, 'speaker', where)}: {turn.get('text') or ''}{caption}"


def _timestamp(text: object, where: str) -> float:
    if text is None:
        return 0.0
    try:
        return datetime.strptime(str(text), _DATE).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise UsageError(f"{where}: {text!r} is not a date like 1:56 pm on 8 May, 2023") from None


def _official(sample: Any, where: str) -> list[dict[str, Any]]:
    rows = []
    for number, item in enumerate(take_list(sample, "qa", where)):
        at = f"{where}, question {number}"
        turns = [
            f"D{m[1]}:{int(m[2])}"
            for text in take_list(item, "evidence", at)
            for m in _TURN.finditer(str(text))
        ]
        sessions = [f"session_{turn[1:].partition(':')[0]}" for turn in turns]
        rows.append(
            {
                "qid": f"{sample['sample_id']}_q{number}",
                "category": take(item, "category", at),
                "subset": item.get("subset"),
                "question": take(item, "question", at),
                "gold_turns": turns,
                "gold_sessions": sessions,
            }
        )
    return rows


def _read_labels(path: Path) -> dict[str, list[dict[str, Any]]]:
    labels: dict[str, list[dict[str, Any]]] = {}
    for number, record in read_jsonl(path):
        sample = str(take(record, "sample_id", f"{path}:{number}"))
        for key in ("qid", "category", "question", "gold_turns", "gold_sessions"):
            take(record, key, f"{path}:{number}")
        labels.setdefault(sample, []).append(record)
    return labels


def _questions(
    rows: list[dict[str, Any]], unit: str, as_of: float, kinds: Mapping[int, str]
) -> Iterator[EvalQuestion]:
    for row in rows:
        gold = frozenset(row["gold_turns" if unit == "turn" else "gold_sessions"])
        category = kinds.get(row["category"])
        if category is not None and gold:
            kind = row.get("subset") or category
            yield EvalQuestion(str(row["qid"]), row["question"], gold, kind, as_of)
