"""Answers on what other people wrote: right in other words, with one fact changed, or beside it.

They were written by hand, by reading and without sight of the checker. A file of them holds none of
the sources: an answer in words of its own stands there, and one that is a sentence with one fact
changed is a place, the digest of the sentence, and what is put for what. The sources are QMSum,
SciFact, a garden and the help pages of a program, in a folder laid out as
``references/performance.md`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.bench.datasets.reading import read_jsonl, read_text, take, take_list
from memory_palace.bench.given import checkout
from memory_palace.errors import UsageError

CHANGED = ("number", "unit", "negation", "role", "order", "category", "time")
"""What was changed in a wrong answer."""
RIGHT, OFF = "paraphrase", "off"
KINDS = (*CHANGED, OFF, RIGHT)
FORMS = ("near", "own")
"""A sentence of the source with an edit, or words of the writer's own."""
HELD_DIGEST = "99f59fe44243d0ab393c0dd58b0214d0ba5b92ad22b845289cac62573a9d92d8"
"""SHA-256 of the file of the half that nobody looked at, fixed before a rule was made."""


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer, what is true of it, and the text it is to be checked against."""

    id: str
    text: str
    kind: str
    """``paraphrase`` is right, ``off`` wanders off, the others name what was changed."""
    form: str
    collection: str
    source_name: str
    """A path in the folder of data, or the id of a document or of the turns of a meeting."""
    source_text: str

    @property
    def is_right(self) -> bool:
        """Whether the source bears it out."""
        return self.kind == RIGHT


def load_answers(path: Path, data: Path) -> list[WrittenAnswer]:
    """Read a file of answers and their sources in the folder ``data``.

    Raise ``UsageError`` with the line where a source is missing or has changed.
    """
    sources = Sources(data)
    return [read_answer(record, sources, f"{path}:{n}") for n, record in read_jsonl(path)]


def find_answers() -> Path:
    """Return the committed file that counts: the half without rules where it is here.

    Raise ``UsageError`` where that is not the file whose digest was fixed.
    """
    held = checkout("tests/checking") / "answers_held.jsonl"
    if not held.exists():
        return held.with_name("answers_dev.jsonl")
    if digest_answers(held) != HELD_DIGEST:
        raise UsageError(f"{held} is not what was fixed before the rules were made")
    return held


def digest_answers(path: Path) -> str:
    """Return the SHA-256 of a file of answers."""
    return sha256(read_text(path).encode()).hexdigest()


def read_answer(record: Mapping[str, Any], sources: Sources, where: str) -> WrittenAnswer:
    """Return what one line says; raise ``UsageError`` where it does not fit its source."""
    kind, form = str(take(record, "kind", where)), str(take(record, "form", where))
    if kind not in KINDS or form not in FORMS:
        raise UsageError(f"{where}: {kind!r} in form {form!r} is no kind of answer")
    collection, name = str(take(record, "collection", where)), str(take(record, "source", where))
    text = sources.read(collection, name, where)
    said = _edit(record, text, where) if form == "near" else str(take(record, "answer", where))
    if not said.strip():
        raise UsageError(f"{where}: the answer says nothing")
    return WrittenAnswer(
        str(take(record, "id", where)), said.strip(), kind, form, collection, name, text
    )


def _edit(record: Mapping[str, Any], text: str, where: str) -> str:
    """Return the sentence of the source with every edit made at once."""
    start, length = int(take(record, "start", where)), int(take(record, "length", where))
    sentence = text[start : start + length]
    found = sha256(sentence.strip().encode()).hexdigest()[:16]
    if found != take(record, "sentence", where):
        raise UsageError(f"{where}: the sentence has changed, or is not at {start}")
    places = []
    for old, new in take_list(record, "edits", where):
        if not old or sentence.count(old) != 1:
            raise UsageError(f"{where}: {old!r} does not stand there once")
        at = sentence.index(old)
        places.append((at, at + len(old), new))
    return "".join(_replace(sentence, sorted(places), where))


def _replace(text: str, places: Sequence[tuple[int, int, str]], where: str) -> Iterator[str]:
    done = 0
    for first, last, new in places:
        if first < done:
            raise UsageError(f"{where}: two edits meet")
        yield text[done:first] + new
        done = last
    yield text[done:]


class Sources:
    """The texts that answers are checked against; each collection is read once."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._readers: Mapping[str, Callable[[str], str]] = {
            "help": self._read_file,
            "garden": self._read_file,
            "scifact": lambda name: self._abstracts[name],
            "qmsum": self._read_turns,
        }

    def read(self, collection: str, name: str, where: str) -> str:
        """Return a source's text; raise ``UsageError`` where there is none."""
        if collection not in self._readers:
            raise UsageError(f"{where}: {collection!r} is not one of {', '.join(self._readers)}")
        try:
            return self._readers[collection](name)
        except (LookupError, ValueError) as error:
            raise UsageError(f"{where}: {collection} has no {name!r}") from error

    def _read_file(self, name: str) -> str:
        return read_text(self._data / name)

    @cached_property
    def _abstracts(self) -> Mapping[str, str]:
        lines = read_jsonl(self._data / "beir/scifact/corpus.jsonl")
        return {str(line["_id"]): f"{line['title']}\n{line['text']}" for _, line in lines}

    @cached_property
    def _meetings(self) -> Sequence[Sequence[Mapping[str, str]]]:
        lines = read_jsonl(self._data / "qmsum/val.jsonl")
        return [line["meeting_transcripts"] for _, line in lines]

    def _read_turns(self, name: str) -> str:
        meeting, _, turns = name.partition(":")
        first, last = (int(number) for number in turns.split("-"))
        chosen = self._meetings[int(meeting)][first : last + 1]
        if first > last or len(chosen) != last - first + 1:
            raise ValueError(name)
        return "\n".join(f"{turn['speaker']}: {turn['content']}" for turn in chosen)
