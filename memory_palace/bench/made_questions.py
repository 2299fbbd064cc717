"""Questions made of somebody's own notes: of titles, and of what is written around links.

Other than in a search, no passage shows the title of its note: a title asks for its own note as
its text alone tells it. What is written around a link asks for the note that it leads to, without
the name that the link shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from memory_palace.graph.resolve import Resolver, fold_name
from memory_palace.index.npz import Array
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.sentences import find_units
from memory_palace.markdown.markup import Markup
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.note import Chunk, Note
from memory_palace.notes.parsing import parse_note
from memory_palace.palace import Palace

PER_NOTE = 2
_LEAST_TITLE, _LEAST_SENTENCE = 4, 30
"""Letters; a character of Chinese, Japanese or Korean counts as three."""
_LINKED = 2
"""Questions of links to one note."""
_DENSE = 3


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question that was made of the notes."""

    text: str
    kind: str
    """``title`` or ``link``."""
    note: int
    """The note that it means, by its place in the sample."""
    source: int | None = None
    """The note it was taken from, which is no answer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some notes, two passages of each without the title, and questions about them."""

    paths: Sequence[str]
    texts: Sequence[str]
    owners: Array
    """The note of each text."""
    questions: Sequence[MadeQuestion]


def draw_sample(palace: Palace, *, most: int) -> Sample:
    """Choose notes evenly by path, and make questions of their titles and of links to them."""
    snapshot = palace.snapshot()
    places = [place for place in range(len(snapshot.paths)) if not snapshot.private[place]]
    count = min(len(places), most // PER_NOTE)
    chosen = [places[place * len(places) // count] for place in range(count)]
    paths = [snapshot.paths[place] for place in chosen]
    texts: list[str] = []
    owners: list[int] = []
    titles: list[str] = []
    for number, path in enumerate(paths):
        note = _read(palace, path)
        titles.append(note.title)
        for text in islice(filter(None, map(untitled(note.title), note.chunks)), PER_NOTE):
            texts.append(text)
            owners.append(number)
    known = Counter(map(fold_name, titles))
    questions = [
        MadeQuestion(title, "title", number)
        for number, title in enumerate(titles)
        if number in set(owners) and known[fold_name(title)] == 1 and weigh(title) >= _LEAST_TITLE
    ]
    questions += _ask_links(palace, snapshot, {place: n for n, place in enumerate(chosen)})
    return Sample(paths, texts, np.array(owners), questions)


def _read(palace: Palace, path: str) -> Note:
    embedder = palace.embedder()
    count, limit = embedder.count_tokens, embedder.token_limit
    if not embedder.dimension:
        count = _guess_tokens
    try:
        data = (palace.paths.root / path).read_bytes()
    except OSError:  # it went, or was closed, since it was indexed
        data = b""
    return parse_note(path, data, count_tokens=count, token_limit=limit)


def _guess_tokens(text: str) -> int:
    """Count about as many tokens as the models would, that no passage be longer than they see."""
    return weigh(text) // _DENSE + text.count("\n")


def weigh(text: str) -> int:
    """Count letters; one of Chinese, Japanese or Korean says as much as three."""
    return sum(_DENSE if ord(letter) > 0x1100 else 1 for letter in text if letter.isalpha())


def untitled(title: str) -> Callable[[Chunk], str]:
    """Return how to give a passage as the embedder sees it, but without the title of its note."""

    def text(chunk: Chunk) -> str:
        name = fold_name(title)
        above = [part for part in chunk.heading_path if fold_name(part) != name]
        lines = chunk.text.split("\n")
        kept = "\n".join(line for line in lines if fold_name(line.strip("# \t")) != name).strip()
        if not weigh(kept):
            return ""
        if kept == chunk.text and title not in chunk.embed_text.partition("\n")[0]:
            return chunk.embed_text
        return "\n".join([" > ".join(above), kept]) if above else kept

    return text


def _ask_links(
    palace: Palace, snapshot: Snapshot, numbers: Mapping[int, int]
) -> Iterator[MadeQuestion]:
    resolver = Resolver(snapshot.paths, snapshot.aliases())
    asked: Counter[int] = Counter()
    for place, path in enumerate(snapshot.paths):
        if snapshot.private[place] or not snapshot.link_targets()[place]:
            continue
        body = _read(palace, path).body
        for target, question in _sentences(body):
            found = resolver.resolve(target, path)
            number = numbers.get(found.places[0]) if found.state == "resolved" else None
            if number is None or found.places[0] == place or asked[number] >= _LINKED:
                continue
            asked[number] += 1
            yield MadeQuestion(question, "link", number, numbers.get(place))


def _sentences(body: str) -> Iterator[tuple[str, str]]:
    """Yield the target of each wiki link, and the prose around it without the name it shows."""
    markup = Markup(body)
    links = [link for link in markup.links if link.form == "wiki" and not link.is_image]
    for unit in find_units(body) if links else ():
        if unit.kind not in ("text", "turn"):
            continue
        for link in links:
            if unit.start <= link.start < unit.end:
                rest = body[unit.start : link.start] + body[link.end : unit.end]
                question = " ".join(strip_markup(rest).split())
                if weigh(question) >= _LEAST_SENTENCE:
                    inside = body[link.target_start : link.target_end]
                    yield inside.partition("|")[0].partition("#")[0].strip(), question
