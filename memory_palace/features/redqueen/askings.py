"""Questions in words that people wrote, what the search answers, and a report of both."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Literal, TypeAlias
from urllib.parse import unquote

from memory_palace.engine import Engine
from memory_palace.features.memories.memory_values import Memory
from memory_palace.features.memories.reviews import Standing
from memory_palace.features.redqueen.examined import Memories, blank_own_sections
from memory_palace.features.redqueen.session import DEPTH, PASS_SCORE, Strategy, choose_targets
from memory_palace.graph.resolve import Resolution, Resolver, fold_name
from memory_palace.language.markers import drop_markers
from memory_palace.language.names import name_key
from memory_palace.language.tokens import plain_words, tokenize
from memory_palace.language.word_lists import STOP_STEMS
from memory_palace.markdown.links import unescape
from memory_palace.markdown.markup import Markup
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.document import Document, Library
from memory_palace.shown import inner

CUT = 5
"""Notes that a person looks at."""
AskingKind: TypeAlias = Literal["golden", "question", "link", "heading"]
"""Origin of a question: the golden set, the field ``questions``, a link, a heading."""
KINDS: tuple[AskingKind, ...] = ("golden", "question", "link", "heading")
"""Most telling first: a note is nearly always found by its own heading."""
_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})
_LEAST_STEMS = 2
"""Telling words of a link's text that is asked: "learn more" has one."""
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+:|//|#")


@dataclass(frozen=True, slots=True)
class Asking:
    """One question, which notes answer it, and the notes that came."""

    question: str
    """The text on one line, without markup."""
    kind: AskingKind
    path: str
    """Path of the note that it is about."""
    title: str
    said_in: str | None = None
    """Path of the other note whose words these are: whoever asks has not read it."""
    line: int | None = None
    """1-based line of that note's file, of a heading that of its own."""
    rank: int | None = None
    """1-based place of the first right note among those that came."""
    found: tuple[str, ...] = ()
    """Paths, best first, at most ``CUT``, without the note whose words were asked."""
    others: tuple[str, ...] = inner(default=())
    """Paths of the notes that answer it as well."""

    @property
    def place(self) -> str:
        """The place of its words, in brackets; empty where it is unknown."""
        return f" ({self.said_in or self.path}:{self.line})" if self.line else ""

    def __str__(self) -> str:
        first = self.found[0] if self.found else "nothing"
        return f'{self.path}: "{self.question}"{self.place}; first comes {first}'

    def answered(self, *found: str) -> Asking:
        """Return it with the notes that came."""
        right = (self.path, *self.others)
        rank = next((place for place, path in enumerate(found, 1) if path in right), None)
        return replace(self, rank=rank, found=found)


class Meanings:
    """Resolves links to notes: as the product does, or by a title that one note alone has."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._paths = list(documents)
        aliases = [document.texts("aliases") for document in documents.values()]
        self._resolver = Resolver(self._paths, aliases)
        self._titles: dict[str, list[str]] = {}
        for path, document in documents.items():
            self._titles.setdefault(fold_name(document.title), []).append(path)

    def resolve(self, target: str, source: str) -> str | None:
        """Return the path of the note that a link leads to as it is written, or ``None``."""
        return self._path_of(self._resolver.resolve(target, source))

    def find(self, target: str, source: str) -> str | None:
        """Return the path of the note that is meant, or ``None``."""
        found = self._resolver.resolve(target, source)
        if found.state != "broken":
            return self._path_of(found)
        titled = self._titles.get(fold_name(target), [])
        return titled[0] if len(titled) == 1 else None

    def _path_of(self, found: Resolution) -> str | None:
        return self._paths[found.places[0]] if found.state == "resolved" else None


def collect_askings(
    library: Library, golden: Mapping[str, Sequence[str]] = _NOTHING
) -> list[Asking]:
    """Return what is asked of every note that can be found, surest first, then by path.

    ``golden`` are questions and names of the notes that answer them. Words that are used of two
    notes ask for neither.
    """
    known = {path: d for path, d in library.documents.items() if not (d.is_cold or d.problem)}
    names = Meanings(known)
    found = []
    for question, notes in golden.items():
        paths = dict.fromkeys(path for name in notes if (path := names.find(name, "")) is not None)
        if paths:
            path, *others = paths
            title = known[path].title
            found.append(Asking(question, "golden", path, title, others=tuple(others)))
    for document in known.values():
        found += _asked_by(document, known, names)
    about: dict[str, set[str]] = {}
    for asking in found:
        about.setdefault(asking.question.casefold(), set()).add(asking.path)
    once = {
        key: asking
        for asking in reversed(found)
        if len(about[key := asking.question.casefold()]) == 1
    }
    return sorted(
        once.values(),
        key=lambda a: (KINDS.index(a.kind), a.path, a.said_in or "", a.line or 0, a.question),
    )


def _asked_by(
    document: Document, known: Mapping[str, Document], names: Meanings
) -> Iterator[Asking]:
    """Yield the questions of a note's field and headings, and what its links call others."""
    path, markup = document.path, Markup(blank_own_sections(document.body))
    for text in document.texts("questions"):
        if tokenize(question := _read_line(text)):
            yield Asking(question, "question", path, document.title)
    for heading in markup.headings:
        question = _read_line(heading.text)
        if question.endswith(("?", "？")) and tokenize(question):
            line = document.body_first_line + heading.first
            yield Asking(question, "heading", path, document.title, line=line)
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
    """Yield target, words and 0-based line of each link that shows more than its target."""
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
    """Say whether a text holds a name of the note: then it tells nothing that is not known."""
    words = f" {' '.join(plain_words(text))} "
    return any(f" {' '.join(plain_words(name))} " in words for name in document.names if name)


def choose_askings(
    askings: Sequence[Asking], memories: Memories, strategy: Strategy, count: int, *, seed: int
) -> list[Asking]:
    """Return at most ``count`` askings, the golden ones always first.

    The strategy orders the notes as ``choose_targets`` does. One question is asked of each, the
    most telling, then a second; ``depth-first`` asks all of one note before the next.
    """
    golden = [asking for asking in askings if asking.kind == "golden"]
    others = [asking for asking in askings if asking.kind != "golden"]
    others.sort(key=lambda asking: KINDS.index(asking.kind))
    groups: dict[str, list[Asking]] = {}
    for asking in others:
        groups.setdefault(asking.path, []).append(asking)
    known = {path: memories[path] for path in groups if path in memories}
    chosen = choose_targets(known, strategy, DEPTH * len(known), rng=random.Random(seed))
    turns = [groups[path] for path in dict.fromkeys([*chosen, *groups])]
    if strategy is not Strategy.DEPTH_FIRST:
        turns = [[a for a in turn if a is not None] for turn in zip_longest(*turns)]
    return [*golden, *chain.from_iterable(turns)][:count]


def ask_search(engine: Engine, askings: Sequence[Asking]) -> list[Asking]:
    """Ask each question as a person does who has not read the note that speaks of the other."""
    found = engine.rank_paths((asking.question for asking in askings), limit=CUT + 1)
    return [
        asking.answered(*[path for path in paths if path != asking.said_in][:CUT])
        for asking, paths in zip(askings, found, strict=True)
    ]


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
    """Path of the note that comes first in its place."""
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
    """Findings of one examination."""

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
    return RoundReport(tuple(missed), confused, unreviewed)


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
