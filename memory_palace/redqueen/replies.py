"""What each role of a model has to reply: its JSON schema, and how a reply is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from memory_palace.dialogue import (
    ReplyError,
    read_choice,
    read_items,
    read_number,
    read_text,
    read_texts,
)
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.round_values import (
    Cue,
    Evaluation,
    Gap,
    LearnerAnswer,
    Question,
    conclude,
)

Reply: TypeAlias = Mapping[str, object]
Schema: TypeAlias = dict[str, Any]
_MOST_RECALLED = 5
_MOST_NAMED = 20
_MOST_QUESTIONS = 3
_MOST_ALIASES = 4
_IMAGE = ("strong", "weak", "none")
_CALIBRATION = ("over", "under", "appropriate")


def _text(longest: int = 300) -> Schema:
    return {"type": "string", "maxLength": longest}


def _number(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def _list(items: Schema, most: int, *, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _object(**properties: Schema) -> Schema:
    required = list(properties)
    known: Schema = {"type": "object", "properties": properties, "required": required}
    return known | {"additionalProperties": False}


_ENTRIES: Mapping[str, tuple[str, Schema]] = {
    "examiner": (
        "questions",
        _object(
            question=_text(),
            difficulty=_number(1, 5),
            expected=_list(_text(), 4, least=1),
        ),
    ),
    "learner": (
        "answers",
        _object(
            recalled=_list(_text(), _MOST_RECALLED),
            answer=_text(600),
            confidence=_number(1, 5),
        ),
    ),
    "evaluator": (
        "evaluations",
        _object(
            accuracy=_number(0, 100),
            missed=_list(_text(), 6),
            misconceptions=_list(_text(), 4),
            image={"type": "string", "enum": list(_IMAGE)},
            calibration={"type": "string", "enum": list(_CALIBRATION)},
        ),
    ),
    "evolver": (
        "memories",
        _object(
            questions=_list(_object(question=_text(), answer=_text()), _MOST_QUESTIONS),
            aliases=_list(_text(80), _MOST_ALIASES),
            image=_text(600),
        ),
    ),
}
"""By role: what its reply holds by name, and the schema of an entry. The bounds keep a small model
that is held to the schema from talking on."""


def reply_schema(role: str, names: Sequence[str]) -> Schema:
    """Return the schema of a reply with an entry for each of the names in its prompt."""
    key, entry = _ENTRIES[role]
    return _object(**{key: _object(**dict.fromkeys(names, entry))})


def read_entries(role: str, reply: object, names: Sequence[str]) -> list[Reply]:
    """Return the entries of a reply in the order of the names in its prompt."""
    key = _ENTRIES[role][0]
    entries = reply.get(key) if isinstance(reply, dict) else None
    if not isinstance(entries, dict) or set(entries) != set(names):
        raise ReplyError(f"{key!r} is no object with an entry for each of {', '.join(names)}")
    found: list[Reply] = []
    for name in names:
        if not isinstance(entries[name], dict):
            raise ReplyError(f"{name!r} is not an object")
        found.append(entries[name])
    return found


def read_question(id: str, item: Reply) -> Question:
    """Return the question on a memory."""
    return Question(
        id,
        read_text(item, "question"),
        str(read_number(item, "difficulty", low=1, high=5)),
        tuple(read_texts(item, "expected", least=1, most=6)),
    )


def read_recollection(shown: Mapping[str, Cue], _: str, item: Reply) -> LearnerAnswer:
    """Return what was recalled of the cues that were shown, by what the prompt calls them.

    Who names a cue that was not shown recalls nothing by it.
    """
    names = dict.fromkeys(read_texts(item, "recalled", most=_MOST_NAMED))
    text = read_text(item, "answer", may_be_empty=True)
    confidence = read_number(item, "confidence", low=1, high=5)
    ids = tuple(shown[name].memory_id for name in names if name in shown)
    return LearnerAnswer(ids[:_MOST_RECALLED], text, confidence)


def read_evaluation(question: Question, item: Reply) -> Evaluation:
    """Return the verdict on the answer to a question."""
    score = read_number(item, "accuracy", low=0, high=100) / 100
    missed = read_texts(item, "missed", most=10)
    wrong = read_texts(item, "misconceptions", most=10)
    image = read_choice(item, "image", _IMAGE)
    calibration = read_choice(item, "calibration", _CALIBRATION)
    gaps = [Gap("missing detail", element) for element in missed]
    gaps += [Gap("misconception", words) for words in wrong]
    if image == "weak":
        gaps.append(Gap("weak image", ", ".join(missed) or question.question_text))
    if calibration != "appropriate":
        gaps.append(Gap("miscalibration", f"{calibration}-confident"))
    return conclude(question, score, gaps)


def read_proposals(id: str, found: Sequence[Evaluation], item: Reply) -> list[RoundProposal]:
    """Return what a reply proposes for a memory, with what it closes as the reason."""
    missed = f"not recalled when asked: {found[0].question}" if found else ""
    proposals = [
        RoundProposal("question", id, text, reason=f"answered by: {answer}", answer=answer)
        for text, answer in _read_questions(item)
    ]
    for alias in dict.fromkeys(read_texts(item, "aliases", most=2 * _MOST_ALIASES)):
        proposals.append(
            RoundProposal("acronym" if is_acronym(alias) else "alias", id, alias, reason=missed)
        )
    image = read_text(item, "image", may_be_empty=True)
    return [*proposals, RoundProposal("image", id, image, reason=missed)] if image else proposals


def is_acronym(name: str) -> bool:
    """Say whether a name is two to eight letters, all of them capitals."""
    return 2 <= len(name) <= 8 and name.isalpha() and name.isupper()


def _read_questions(item: Reply) -> list[tuple[str, str]]:
    listed = item.get("questions", [])
    count = len(listed) if isinstance(listed, list) else 0
    if count > 2 * _MOST_QUESTIONS:
        raise ReplyError(f"'questions' has {count} entries, more than {_MOST_QUESTIONS}")
    entries = read_items(item, "questions", count) if "questions" in item else []
    read = [(read_text(e, "question"), read_text(e, "answer", may_be_empty=True)) for e in entries]
    return list(dict(read).items())
