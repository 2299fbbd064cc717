"""What says something of the notes, unasked: the product, and simpler ways that always speak.

All have the same bytes for it, places included. None is told more than what was said and when.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from benchmarks.recall_sets import Remark
from benchmarks.systems import add_baselines
from memory_palace.errors import UsageError
from memory_palace.features.recall.recalling import LOOKED_AT, tell
from memory_palace.models import Hit, ParsedQuery
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.retrieval import signals as profiles
from memory_palace.retrieval.search import search

BUDGET = 1_500
"""Bytes that a system may say."""
NOTES = 5
_PLAIN = frozenset({"raw", "bm25-passages"})
"""Profiles whose score is one figure: it says by itself how near the best passage is."""


@dataclass(frozen=True, slots=True)
class Speech:
    """What a system said."""

    text: str = ""
    """All that it printed; empty where it was silent."""
    told: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What of that are words of a note, by the note's path."""
    ranked: Sequence[str] = ()
    """Paths of notes, best first, whether or not it spoke."""
    sure: float = 0.0
    """How sure it was, in figures of its own, whether or not it spoke."""
    ms: float = 0.0


System: TypeAlias = Callable[[Palace, Remark], Speech]


def say_nothing(palace: Palace, said: Remark) -> Speech:
    """Never speak: what most tools do today."""
    return Speech()


def say_excerpts(palace: Palace, said: Remark) -> Speech:
    """Say what ``palace query --budget`` shows of five notes, whatever is said."""
    ask = partial(palace.query, said.text, limit=NOTES, neighbors=0, as_of=_moment(said))
    started = time.perf_counter()
    first = ask()
    room = BUDGET - sum(len(_place(hit).encode()) + 2 for hit in first.hits)
    found = ask(budget_bytes=max(room, 1))
    ms = (time.perf_counter() - started) * 500  # asked twice, to know the room
    text, told = _join((hit.path, _place(hit), [hit.text]) for hit in found.hits)
    return Speech(text, told, [hit.path for hit in first.hits], first.confidence or 0.0, ms)


def say_ranked(palace: Palace, said: Remark, *, profile: str) -> Speech:
    """Say the best notes of a ranking, written as ``palace recall`` writes its own."""
    add_baselines()
    started = time.perf_counter()
    found = palace.query(
        said.text, limit=LOOKED_AT, profile=profile, neighbors=0, as_of=_moment(said)
    )
    parts = said.text, found.hits, palace.snapshot(), palace.paths
    text, told = tell(*parts, lambda lines: [1.0] * len(lines), budget_bytes=BUDGET, least=0)
    ms = (time.perf_counter() - started) * 1_000
    best = found.hits[0].score if found.hits else 0.0
    sure = best if profile in _PLAIN else found.confidence or 0.0
    return Speech(text, _words_of(told), [hit.path for hit in found.hits], sure, ms)


def say_recalled(palace: Palace, said: Remark) -> Speech:
    """Say what ``palace recall`` says."""
    started = time.perf_counter()
    found = palace.recall(said.text, budget_bytes=BUDGET, as_of=_moment(said))
    ms = (time.perf_counter() - started) * 1_000
    snapshot = palace.snapshot()
    vector = palace.embedder().embed_queries([said.text])[0] if found.mode == "vector" else None
    query = ParsedQuery(said.text, said.as_of or time.time(), vector=vector)
    ranked = search(query, snapshot, Query(limit=NOTES), profile=profiles.RECALL).hits
    paths = [hit.path for hit in ranked]
    return Speech(found.text, _words_of(found.hits), paths, found.confidence, ms)


RECALL, NOTHING = "recall", "nothing"
SYSTEMS: Mapping[str, System] = {
    RECALL: say_recalled,
    "palace query": say_excerpts,
    "hybrid": partial(say_ranked, profile="hybrid"),
    "cosine": partial(say_ranked, profile="raw"),
    "bm25": partial(say_ranked, profile="bm25-passages"),
    NOTHING: say_nothing,
}
"""By name, in the order of the tables."""


def choose_systems(names: Iterable[str], *, has_vectors: bool) -> Mapping[str, System]:
    """Return the systems of these names that can be asked; a name that is none is an error."""
    if unknown := set(names) - SYSTEMS.keys():
        raise UsageError(f"there is no system {min(unknown)!r}; choose from {', '.join(SYSTEMS)}")
    return {n: s for n, s in SYSTEMS.items() if n in names and (has_vectors or n != "cosine")}


def _words_of(hits: Sequence[Hit]) -> Mapping[str, str]:
    return {hit.path: hit.text for hit in hits}


def _moment(said: Remark) -> datetime | None:
    return datetime.fromtimestamp(said.as_of, UTC) if said.as_of else None


def _place(hit: Hit) -> str:
    """Return where a hit stands and its day, as ``palace recall`` gives them."""
    return f"{hit.path}:{hit.lines[0]}  {hit.note.date.day}"


def _join(parts: Iterable[tuple[str, str, Sequence[str]]]) -> tuple[str, dict[str, str]]:
    """Write places and sentences while there is room; return the text, and the words of each note.

    It ends with the first sentence that has no room.
    """
    lines: list[str] = []
    told: dict[str, str] = {}
    left = BUDGET
    for path, place, sentences in parts:
        head = len(place.encode()) + 1
        for number, sentence in enumerate(sentences):
            size = len(sentence.encode()) + 1 + (0 if number else head)
            if size > left:
                return "\n".join(lines), told
            lines += [sentence] if number else [place, sentence]
            told[path] = f"{told.get(path, '')}\n{sentence}"
            left -= size
    return "\n".join(lines), told
