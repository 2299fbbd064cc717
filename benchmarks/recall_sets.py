"""What is said to palaces: lines that refer to notes without asking, and small talk that does not.

Lines written for notes of others stand in ``tests/golden/recall``; of LoCoMo there are ids alone.
Each half of a set was chosen beforehand: nothing is decided on the lines that are ``held``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from benchmarks.datasets.items import Collection
from benchmarks.datasets.locomo import load_locomo, read_words
from benchmarks.datasets.own import read_notes
from benchmarks.datasets.reading import read_jsonl, take, take_list
from benchmarks.given import GARDEN, Given, checkout
from memory_palace.errors import UsageError

Half: TypeAlias = Literal["dev", "held"]
SETS = ("locomo", "garden", "help")


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that is said where a palace listens."""

    id: str
    text: str
    half: Half
    gold: frozenset[str] = frozenset()
    """Ids of the documents that it refers to; none for small talk."""
    turns: tuple[str, ...] = ()
    """Texts of the turns that it refers to, where turns are labelled."""
    language: str = "en"
    as_of: float = 0.0
    """Seconds since the epoch; 0 for now."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A palace, and what is said where it listens."""

    set: str
    notes: Collection
    said: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class _Turn:
    session: int
    text: str
    moment: float


def read_listeners(given: Given, names: Sequence[str]) -> Iterator[Listener]:
    """Yield the palaces of the sets named: see ``SETS``.

    Raise ``MissingPartError`` where the data is not at hand.
    """
    lines = checkout("tests/golden") / "recall"
    if unknown := set(names) - set(SETS):
        raise UsageError(f"there is no set {min(unknown)!r}; choose from {', '.join(SETS)}")
    for name in names:
        if name == "locomo":
            yield from read_talks(given.find_talks()[0], lines)
        else:
            place = GARDEN if name == "garden" else "multilingual-help/notes/en"
            own = read_own(given.find(place), lines / f"{name}.jsonl", lines / "small_talk.jsonl")
            yield replace(own, set=name)


def read_own(folder: Path, utterances: Path | None, chat: Path | None) -> Listener:
    """Return a folder of notes with what is said to it.

    Raise ``UsageError`` where a line is not as it should be, or names a note that is not there.
    """
    notes = Collection(folder.name, read_notes(folder), ())
    said = list(_read_lines(utterances, notes)) if utterances else []
    said += _read_lines(chat, None) if chat else []
    return Listener(folder.name, notes, tuple(said))


def _read_lines(file: Path, notes: Collection | None) -> Iterator[Remark]:
    known = {document.id for document in notes.documents} if notes else frozenset()
    for number, record in read_jsonl(file):
        where = f"{file}:{number}"
        gold = frozenset(map(str, take_list(record, "gold", where) if notes else ()))
        if notes and not gold:
            raise UsageError(f"{where}: 'gold' names no note; small talk is another file")
        if unknown := gold - known:
            raise UsageError(f"{where}: there is no note {min(unknown)}")
        yield Remark(
            str(record.get("id", f"{file.stem}-{number}")),
            str(take(record, "utterance", where)),
            _read_half(record, where),
            gold,
            language=str(record.get("lang", "en")),
        )


def read_talks(talks: Path, lines: Path) -> Iterator[Listener]:
    """Yield a palace for each session in which something is said: the sessions before it.

    ``lines`` holds ``locomo.jsonl`` and ``locomo_chat.jsonl``: ids of turns.
    """
    turns = _index_turns(talks)
    said: defaultdict[tuple[str, int], list[Remark]] = defaultdict(list)
    for key, utterance in _read_marked(lines, turns):
        said[key].append(utterance)
    for talk in load_locomo(talks, unit="session"):
        for (name, session), utterances in sorted(said.items()):
            if name == talk.group:
                before = tuple(d for d in talk.documents if _number(d.id) < session)
                notes = Collection(f"{name}-{session}", before, ())
                yield Listener("locomo", notes, tuple(utterances))


def _read_marked(
    lines: Path, turns: Mapping[tuple[str, str], _Turn]
) -> Iterator[tuple[tuple[str, int], Remark]]:
    for name in ("locomo.jsonl", "locomo_chat.jsonl"):
        for number, record in read_jsonl(lines / name):
            where = f"{lines / name}:{number}"
            talk, place = str(take(record, "conversation", where)), str(take(record, "turn", where))
            refers = bool(record.get("refers"))
            gold = [str(one) for one in take_list(record, "gold", where)] if refers else []
            try:
                turn, *earlier = [turns[talk, one] for one in (place, *gold)]
            except KeyError as error:
                raise UsageError(f"{where}: there is no turn {error.args[0][1]}") from None
            if refers or name == "locomo_chat.jsonl":
                yield (
                    (talk, turn.session),
                    Remark(
                        f"{talk}-{place}",
                        turn.text,
                        _read_half(record, where),
                        frozenset(f"session_{one.session}" for one in earlier),
                        tuple(one.text for one in earlier),
                        as_of=turn.moment,
                    ),
                )


def _index_turns(talks: Path) -> dict[tuple[str, str], _Turn]:
    words = read_words(talks)
    found: dict[tuple[str, str], _Turn] = {}
    for talk in load_locomo(talks):
        for document in talk.documents:
            names = [passage.id for passage in document.passages]
            texts = [words[talk.group, name] for name in names]
            for name, text in zip(names, texts, strict=True):
                found[talk.group, name] = _Turn(_number(document.id), text, document.timestamp)
    return found


def _number(session: str) -> int:
    return int(session.removeprefix("session_"))


def _read_half(record: Mapping[str, Any], where: str) -> Half:
    half = record.get("half", "dev")
    if half not in get_args(Half):
        raise UsageError(f"{where}: 'half' is dev or held, not {half!r}")
    return "held" if half == "held" else "dev"


def choose_half(listeners: Iterable[Listener], half: str) -> Iterator[Listener]:
    """Yield the palaces to which something of one half, or of ``all``, is said, with that alone."""
    for listener in listeners:
        said = tuple(one for one in listener.said if half in (one.half, "all"))
        if said:
            yield replace(listener, said=said)
