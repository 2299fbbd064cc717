"""What an examination found that a person would want to know, most useful first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

from memory_palace.features.memories.memory_values import Memory
from memory_palace.features.memories.reviews import Standing
from memory_palace.features.redqueen.askings import KINDS, Asking
from memory_palace.features.redqueen.round_values import PASS_SCORE
from memory_palace.language.names import name_key
from memory_palace.language.tokens import tokenize
from memory_palace.notes.document import Document

ReviewState: TypeAlias = Literal["never reviewed", "overdue", "fading"]
_HALF = 0.5
"""Of 20 names of the garden and the help pages that miss their note, 9 of 13 above it are worth
knowing, and 3 of 7 below."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Two notes of which the search takes one for the other."""

    path: str
    title: str
    rival: str
    """What comes first in its place."""
    rival_title: str
    is_named: bool
    """Whether a link to the note is called by the rival's name."""
    questions: tuple[Asking, ...]
    """Those that bring the rival, clearest first."""

    def __str__(self) -> str:
        first, more = self.questions[0], len(self.questions) - 1
        others = f" and {more} more" if more else ""
        said = f'"{first.question}"{first.place}'
        if self.is_named:
            return f"{self.title} is linked as {said}, which is {self.rival_title}{others}"
        return f"{self.path} comes after {self.rival}: {said}{others}"


@dataclass(frozen=True, slots=True)
class Unreviewed:
    """A memory that nobody has looked at for too long."""

    path: str
    state: ReviewState
    due: date
    confidence: float


@dataclass(frozen=True, slots=True)
class RoundReport:
    """One examination."""

    asked: tuple[Asking, ...] = ()
    missed: tuple[Asking, ...] = ()
    """Questions whose note is not among the first five."""
    confused: tuple[Confusion, ...] = ()
    unreviewed: tuple[Unreviewed, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missed or self.confused or self.unreviewed)


def make_report(
    asked: Sequence[Asking],
    documents: Mapping[str, Document],
    standings: Iterable[tuple[Memory, Standing]],
    *,
    today: date,
) -> RoundReport:
    """Return what is worth knowing of some answers and reviews.

    A link's text of which the note itself says less than half may be a figure of speech: that it
    misses its note says nothing.
    """
    confused = tuple(_find_confusions(asked, documents))
    known = {id(found) for confusion in confused for found in confusion.questions}
    missed = [found for found in asked if found.rank is None and id(found) not in known]
    share = {id(found): _share_said(found, documents) for found in missed}
    missed = [f for f in missed if f.kind != "link" or share[id(f)] >= _HALF]
    missed.sort(key=lambda found: (_by_kind(found), -share[id(found)]))
    unreviewed = tuple(_find_unreviewed(standings, today))
    return RoundReport(tuple(asked), tuple(missed), confused, unreviewed)


def _by_kind(found: Asking) -> int:
    return KINDS.index(found.kind)


def _share_said(found: Asking, documents: Mapping[str, Document]) -> float:
    """Return the share of the words of a question that stand in its note."""
    words = set(tokenize(found.question))
    return len(words & set(tokenize(documents[found.path].body))) / len(words)


def _find_confusions(
    asked: Sequence[Asking], documents: Mapping[str, Document]
) -> Iterator[Confusion]:
    """Yield pairs of which a link names the wrong one, or that two questions take for another."""
    pairs: dict[tuple[str, str], list[Asking]] = {}
    for found in asked:
        if (found.rank or 0) > 1 or _is_name_of(found, documents):
            pairs.setdefault((found.path, found.found[0]), []).append(found)
    made = [
        Confusion(
            path,
            documents[path].title,
            rival,
            documents[rival].title if rival in documents else rival,
            any(_is_name_of(one, documents) for one in found),
            tuple(sorted(found, key=_by_kind)),
        )
        for (path, rival), found in pairs.items()
    ]
    worth = [c for c in made if c.is_named or len(c.questions) > 1]
    yield from sorted(worth, key=lambda c: (not c.is_named, -len(c.questions), c.path, c.rival))


def _is_name_of(found: Asking, documents: Mapping[str, Document]) -> bool:
    """Say whether the text of a link is a name of the note that comes first in its note's place."""
    if not found.found or found.rank == 1 or found.kind != "link":
        return False
    rival = documents.get(found.found[0])
    return rival is not None and name_key(found.question) in map(name_key, rival.names)


def _find_unreviewed(
    standings: Iterable[tuple[Memory, Standing]], today: date
) -> Iterator[Unreviewed]:
    for memory, standing in standings:
        state: ReviewState | None = None
        if not standing.reviews:
            state = "never reviewed"
        elif standing.due < today:
            state = "overdue"
        elif standing.confidence < PASS_SCORE:
            state = "fading"
        if state is not None:
            yield Unreviewed(memory.id, state, standing.due, standing.confidence)
