"""Questions in words that people wrote, and whether the search finds their notes."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Literal, TypeAlias
from urllib.parse import unquote

from memory_palace.features.redqueen.session import (
    DEPTH,
    Memories,
    Strategy,
    blank_own_sections,
    choose_targets,
)
from memory_palace.graph.resolve import ZonedNames
from memory_palace.language.tagged_words import name_key
from memory_palace.language.visible import drop_markers
from memory_palace.language.words import STOP_STEMS, plain_words, tokenize
from memory_palace.markdown.markup import Markup, strip_markup, unescape
from memory_palace.notes.document import Document, Library
from memory_palace.palace import Palace
from memory_palace.shown import inner

CUT = 5
"""Hits that count as found: as many as a person looks at."""
AskingKind: TypeAlias = Literal["golden", "question", "link"]
"""Origin of a question: the golden set, the field ``questions``, a link."""
KINDS: tuple[AskingKind, ...] = ("golden", "question", "link")
"""Most reliable first."""
_LEAST_STEMS = 2
"""Least content stems of a link text that becomes a question: "learn more" has one."""
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+:|//|#")


@dataclass(frozen=True, slots=True)
class Asking:
    """One question, the notes that answer it, and the hits of the search."""

    question: str
    """One line, without markup."""
    kind: AskingKind
    path: str
    """Path of the note that it is about."""
    title: str
    said_in: str | None = None
    """Path of the other note whose words these are: whoever asks has not read it."""
    line: int | None = None
    """1-based line of that note's file."""
    rank: int | None = None
    """1-based place of the first right note among those that came."""
    found: tuple[str, ...] = ()
    """Paths, best first, at most ``CUT``, without the note whose words were asked."""
    others: tuple[str, ...] = inner(default=())
    """Paths of the notes that answer it as well."""

    @property
    def place(self) -> str:
        """The place of its words, in brackets; empty where it is unknown."""
        return f" ({self.said_in}:{self.line})" if self.said_in else ""

    def __str__(self) -> str:
        first = self.found[0] if self.found else "nothing"
        return f'{self.path}: "{self.question}"{self.place}; first comes {first}'

    def answered(self, *found: str) -> Asking:
        right = (self.path, *self.others)
        rank = next((place for place, path in enumerate(found, 1) if path in right), None)
        return replace(self, rank=rank, found=found)


def collect_askings(
    library: Library, golden: Mapping[str, Sequence[str]] | None = None
) -> list[Asking]:
    """Return the questions about every findable note, by kind (most reliable first), then path.

    ``golden`` maps questions to names of the notes that answer them. A text that would ask about
    two notes is dropped.
    """
    known = {path: d for path, d in library.documents.items() if not (d.is_cold or d.problem)}
    names = ZonedNames((path, d.names, False) for path, d in known.items())
    found = []
    for question, notes in (golden or {}).items():
        paths = dict.fromkeys(path for name in notes if (path := names.find(name, "")) is not None)
        if paths:
            path, *others = paths
            title = known[path].title
            found.append(Asking(question, "golden", path, title, others=tuple(others)))
    for document in known.values():
        found += _asked_by(document, known, names)
    found.sort(key=lambda a: (KINDS.index(a.kind), a.path, a.said_in or "", a.line or 0))
    same: dict[str, list[Asking]] = defaultdict(list)
    for asking in found:
        same[asking.question.casefold()].append(asking)
    return [asked[0] for asked in same.values() if len({asking.path for asking in asked}) == 1]


def _asked_by(
    document: Document, known: Mapping[str, Document], names: ZonedNames
) -> Iterator[Asking]:
    """Yield a note's ``questions``, and its link texts as questions about their targets."""
    path, markup = document.path, Markup(blank_own_sections(document.body))
    for text in document.texts("questions"):
        if tokenize(question := _read_line(text)):
            yield Asking(question, "question", path, document.title)
    for target, shown, at in links_shown(markup):
        note = names.find(target, path)
        name = _read_line(shown)
        if note is None or note == path or _is_name(name, known[note]):
            continue
        if len(set(tokenize(name)) - STOP_STEMS) >= _LEAST_STEMS:
            line = document.body_first_line + at
            yield Asking(name, "link", note, known[note].title, path, line)


def _read_line(text: str) -> str:
    return " ".join(strip_markup(drop_markers(text), keep_spans=True).split())


def links_shown(markup: Markup) -> Iterator[tuple[str, str, int]]:
    """Yield target, text and 0-based line of each link to a note that shows its own text."""
    for link in markup.links:
        inside = markup.text[link.target_start : link.target_end]
        if link.form == "wiki":
            target, _, shown = inside.replace("\\|", "|").partition("|")
        else:
            target, shown = unquote(unescape(inside)), markup.text[link.start + 1 : link.text_end]
        is_address = link.form != "wiki" and _SCHEME.match(target)
        if shown and not link.is_image and not is_address:
            yield target.partition("#")[0].strip(), shown, markup.line_at(link.start)


def _is_name(text: str, document: Document) -> bool:
    """Return whether a text contains a name of the note, so that finding it tests nothing."""
    words = f" {' '.join(plain_words(text))} "
    return any(f" {' '.join(plain_words(name))} " in words for name in document.names if name)


def choose_askings(
    askings: Sequence[Asking], memories: Memories, strategy: Strategy, count: int, *, seed: int
) -> list[Asking]:
    """Return at most ``count`` of the collected questions, the golden ones first.

    The strategy orders the notes as ``choose_targets`` does. Each note is asked its most reliable
    question, then a second; ``depth-first`` asks all of one note before the next.
    """
    golden = [asking for asking in askings if asking.kind == "golden"]
    groups: dict[str, list[Asking]] = defaultdict(list)
    for asking in askings[len(golden) :]:
        groups[asking.path].append(asking)
    known = {path: memories[path] for path in groups if path in memories}
    chosen = choose_targets(known, strategy, DEPTH * len(known), rng=random.Random(seed))
    turns = [groups[path] for path in dict.fromkeys([*chosen, *groups])]
    if strategy is not Strategy.DEPTH_FIRST:
        turns = [[a for a in turn if a is not None] for turn in zip_longest(*turns)]
    return [*golden, *chain.from_iterable(turns)][:count]


def ask_search(palace: Palace, askings: Sequence[Asking]) -> list[Asking]:
    """Return the questions with the search's hits, less the note that each was written in."""
    found = palace.rank_paths((asking.question for asking in askings), limit=CUT + 1)
    return [
        asking.answered(*[path for path in paths if path != asking.said_in][:CUT])
        for asking, paths in zip(askings, found, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Confusion:
    """Two notes of which the search mistakes one for the other."""

    path: str
    title: str
    rival: str
    """Path of the note that comes first in its place, and by whose name a link calls it."""
    rival_title: str
    questions: tuple[Asking, ...]
    """The texts of such links."""

    def __str__(self) -> str:
        first, more = self.questions[0], len(self.questions) - 1
        others = f" and {more} more" if more else ""
        said = f'"{first.question}"{first.place}'
        return f"{self.title} is linked as {said}, which is {self.rival_title}{others}"


def judge_search(
    asked: Sequence[Asking], documents: Mapping[str, Document]
) -> tuple[tuple[Asking, ...], tuple[Confusion, ...]]:
    """Return the missed questions, and the notes that a link calls by the first hit's name."""
    missed: list[Asking] = []
    pairs: dict[tuple[str, str], list[Asking]] = defaultdict(list)
    for asking in sorted(asked, key=lambda asking: KINDS.index(asking.kind)):
        first = documents.get(asking.found[0]) if asking.found and asking.rank != 1 else None
        names = map(name_key, first.names) if first and asking.kind == "link" else ()
        if first and name_key(asking.question) in names:
            pairs[asking.path, first.path].append(asking)
        elif asking.rank is None:
            missed.append(asking)
    confused = [
        Confusion(path, documents[path].title, rival, documents[rival].title, tuple(questions))
        for (path, rival), questions in sorted(pairs.items(), key=lambda p: (-len(p[1]), p[0]))
    ]
    return tuple(missed), tuple(confused)
