"""What a person would ask of a note, in words that people wrote: nothing here is made up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from memory_palace.graph.resolve import Resolution, Resolver, fold_name
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import plain_words
from memory_palace.notes.document import Document, Library
from memory_palace.redqueen.note_text import BodyText, SaidLink
from memory_palace.redqueen.readable import read_name, read_question

AskingKind: TypeAlias = Literal["golden", "question", "heading", "link", "mention"]
"""Whose words: of the golden set, the field ``questions``, a heading, a link, a sentence."""
KINDS: tuple[AskingKind, ...] = ("golden", "question", "link", "heading", "mention")
"""Most telling first: a note is nearly always found by its own heading, and a sentence may be about
something else."""
_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})
_MOST_LINKS = 2
"""A sentence with more links lists notes and speaks of none."""
_MENTION_WORDS = 6
_MOST_BEFORE, _LEAST_AFTER = 2, 5
"""Words of a sentence before a link that is its subject, and behind it."""
_MARK = "\ue000"
"""Stands before the text of a link while its sentence is looked for."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One question, and which notes answer it."""

    text: str
    """Readable, on one line."""
    answers: tuple[str, ...]
    """Paths. The first is the note it is about; the others are as right."""
    kind: AskingKind
    said_in: str = ""
    """Path of the other note whose words these are: whoever asks has not read it."""
    line: int = 0
    """1-based line of that note's file, of a heading that of its own; 0 where there is none."""


class _Mention(NamedTuple):
    """A link as the text shows it, and the sentence that it is the subject of, if any."""

    target: str
    text: str
    sentence: str
    targets: tuple[str, ...]
    """Of all links in the sentence."""
    line: int
    """0-based, in the body."""


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
        if paths := [path for name in notes if (path := names.find(name, "")) is not None]:
            found.append(Asking(question, tuple(dict.fromkeys(paths)), "golden"))
    for document in known.values():
        body = BodyText.of(document)
        found += _own_questions(document, body)
        found += _of_others(document, body, known, names)
    about: dict[str, set[str]] = {}
    for asking in found:
        about.setdefault(asking.text.casefold(), set()).add(asking.answers[0])
    once = {a.text.casefold(): a for a in reversed(found) if len(about[a.text.casefold()]) == 1}
    order = {kind: place for place, kind in enumerate(KINDS)}
    return sorted(
        once.values(), key=lambda a: (order[a.kind], a.answers[0], a.said_in, a.line, a.text)
    )


class Meanings:
    """Which note a link means: as the product resolves it, or by the title of one note alone."""

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


def _own_questions(document: Document, body: BodyText) -> Iterator[Asking]:
    for text in document.texts("questions"):
        if question := read_question(text):
            yield Asking(question, (document.path,), "question")
    for heading in body.markup.headings:
        if heading.text.endswith(("?", "？")) and (question := read_question(heading.text)):
            line = document.body_first_line + heading.first
            yield Asking(question, (document.path,), "heading", line=line)


def _of_others(
    document: Document, body: BodyText, known: dict[str, Document], names: Meanings
) -> Iterator[Asking]:
    for mention in _find_mentions(body):
        target = names.find(mention.target, document.path)
        if target is None or target == document.path:
            continue
        place = (document.path, document.body_first_line + mention.line)
        beside = [names.find(other, document.path) for other in mention.targets]
        answers = tuple(dict.fromkeys([target, *filter(None, beside)]))
        name = read_name(mention.text)
        if name and not _is_name(name, known[target]):
            yield Asking(name, (target,), "link", *place)
        sentence = read_question(mention.sentence, least_words=_MENTION_WORDS)
        if sentence and len(mention.targets) <= _MOST_LINKS:
            yield Asking(sentence, answers, "mention", *place)


def _is_name(text: str, document: Document) -> bool:
    """Say whether a text holds a name of the note: then it tells nothing that is not known."""
    words = f" {' '.join(plain_words(text))} "
    return any(f" {' '.join(plain_words(name))} " in words for name in document.names if name)


def _find_mentions(body: BodyText) -> Iterator[_Mention]:
    """Yield every link to a note, block by block, with its sentence."""
    links = sorted((link for link in body.links if not link.is_image), key=lambda x: x.start)
    offsets, starts = [link.start for link in links], body.markup.starts
    for block in body.markup.blocks:
        start, end = starts[block.first] + block.column, starts[block.last + 1] - 1
        inside = links[bisect_left(offsets, start) : bisect_left(offsets, end)]
        if inside and block.kind == "prose":
            yield from _of_block(body.markup.text, start, end, inside)


def _of_block(body: str, start: int, end: int, links: Sequence[SaidLink]) -> Iterator[_Mention]:
    names = [link.shown or link.target.rpartition("/")[2] for link in links]
    text, position = "", start
    for link, name in zip(links, names, strict=True):
        if link.start < position:  # inside of another link
            return
        text += f"{body[position : link.start]}{_MARK}{name}"
        position = link.end
    place = 0
    for sentence in split_sentences(text + body[position:end]):
        first, place = place, place + sentence.count(_MARK)
        targets = tuple(link.target for link in links[first:place])
        plain = sentence.replace(_MARK, "")
        for number in range(first, place):
            link, name = links[number], names[number]
            is_subject = number == first and _is_subject(sentence, name)
            yield _Mention(link.target, name, plain if is_subject else "", targets, link.line)


def _is_subject(sentence: str, name: str) -> bool:
    """Say whether a sentence begins with a link, and goes on: it speaks of the other note.

    One that has the link in passing asks for what the sentence is about, which is another matter.
    """
    before, _, after = sentence.partition(_MARK)
    return len(before.split()) <= _MOST_BEFORE and len(after[len(name) :].split()) >= _LEAST_AFTER
