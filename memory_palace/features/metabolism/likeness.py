"""Notes that say the same: pairs of assets in doubt, and statements that would be lost."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import Literal, TypeAlias

import numpy as np

from memory_palace.engine import Engine
from memory_palace.features.checking.contradictions import find_contradictions
from memory_palace.features.checking.verdicts import write_place
from memory_palace.features.checking.wording import read_claims, split_prose
from memory_palace.features.metabolism.assets import kind_of
from memory_palace.features.tasks.losing import read_statements
from memory_palace.language.tokens import plain_words, tokenize
from memory_palace.language.word_lists import STOP_STEMS
from memory_palace.markdown.markup import Markup
from memory_palace.models import Vector
from memory_palace.notes.document import Document
from memory_palace.notes.superseding import blank_claims, find_claims
from memory_palace.notes.withholding import withhold

LineRange: TypeAlias = tuple[int, int]
Cosine: TypeAlias = Callable[[str, str], float | None]
"""How alike two notes are by their vectors; ``None`` where one has none."""

DUPLICATE_COSINE, DUPLICATE_JACCARD = 0.92, 0.7
"""Both must be exceeded."""
_SHOWN = 100
"""Characters that are shown of a statement."""
_ADDRESS = re.compile(r"https?://[^\s)\]>\"]+")
_NAMES_ALONE = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:(?:\[\[[^\[\]\n]*\]\][ \t,;]*)+|[^\s:;,|()\[\]]+\.md[ \t]*)$", re.M
)
"""Lines that hold nothing but links or a path."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class AssetPair:
    """Two assets and what was measured; the older one comes first."""

    older: str
    newer: str
    action: Literal["merge", "contradiction"]
    evidence: tuple[str, ...]
    lines: tuple[LineRange, LineRange] | None = None
    """Of a contradiction, first and last line in either."""


def find_pairs(
    assets: Sequence[Document],
    *,
    cosine: Cosine | None,
    settled: Collection[frozenset[str]] = (),
) -> list[AssetPair]:
    """Compare assets with one another; each is in one pair at most, duplicates are of one kind.

    ``settled`` are pairs that a person has looked at: they are not proposed again.
    """
    ordered = sorted(assets, key=lambda d: (d.text("date"), d.path))
    pairs: list[AssetPair] = []
    taken: set[str] = set()
    duplicates = _duplicates(ordered, cosine) if cosine else iter(())
    for pair in chain(_contradictions(ordered), duplicates):
        both = frozenset((pair.older, pair.newer))
        if not both & taken and both not in settled:
            pairs.append(pair)
            taken |= both
    return pairs


def _contradictions(ordered: Sequence[Document]) -> Iterator[AssetPair]:
    """Yield the rules that cannot both be followed, by the tests of ``palace verify``."""
    for found in find_contradictions([read_statements(document) for document in ordered]):
        ends = found.first, found.second
        said = (f"{write_place(end)} says “{end.text}”" for end in ends)
        lines = ((ends[0].first_line, ends[0].last_line), (ends[1].first_line, ends[1].last_line))
        evidence = (*said, f"they differ: {found.reason}")
        yield AssetPair(ends[0].note, ends[1].note, "contradiction", evidence, lines)


def _duplicates(ordered: Sequence[Document], cosine: Cosine) -> Iterator[AssetPair]:
    words = {document.path: frozenset(plain_words(document.body)) for document in ordered}
    for older, newer in combinations(ordered, 2):
        one, other = words[older.path], words[newer.path]
        overlap = len(one & other) / max(1, len(one | other))
        if overlap <= DUPLICATE_JACCARD or kind_of(older) is not kind_of(newer):
            continue  # cheap, and most pairs end here
        alike = cosine(older.path, newer.path)
        if alike is not None and alike > DUPLICATE_COSINE:
            evidence = (
                f"cosine {alike:.3f}, above {DUPLICATE_COSINE}",
                f"shared words {overlap:.3f}, above {DUPLICATE_JACCARD}",
            )
            yield AssetPair(older.path, newer.path, "merge", evidence)


def has_vectors(engine: Engine) -> bool:
    """Whether there is an index with vectors to compare notes by."""
    return engine.paths.commit.exists() and bool(engine.snapshot().commit.dimension)


def open_cosine(engine: Engine) -> Cosine | None:
    """Return a function of the cosine of two notes' mean vectors; ``None`` without vectors."""
    if not has_vectors(engine):
        return None
    snapshot = engine.snapshot()
    places = {path: place for place, path in enumerate(snapshot.paths)}

    @cache
    def mean(path: str) -> Vector | None:
        rows = np.flatnonzero(snapshot.row_note == places.get(path, -1))
        total = snapshot.rows_of(rows).sum(axis=0) if len(rows) else np.zeros(1, np.float32)
        length = float(np.linalg.norm(total))
        return total / length if length else None

    def cosine(first: str, second: str) -> float | None:
        one, two = mean(first), mean(second)
        return None if one is None or two is None else float(one @ two)

    return cosine


class HotNotes:
    """The statements of the notes that are in the hot rooms."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.gone: set[str] = set()
        """Notes that leave in the same run."""
        self._needed: dict[str, str] = {}
        self._notes: dict[str, dict[str, None]] = defaultdict(dict)
        """For each statement the notes that have it in these words."""
        for document in documents:
            for statement in () if document.is_cold else _statements(document):
                self._notes[_key(statement)][document.path] = None

    def let_go(self, document: Document, *, without: Collection[str] = ()) -> str:
        """Return why a note has to stay; nothing where others say all it says, and then it is gone.

        A note that says what another one leaves behind stays for this time. A line that only names
        notes is no loss. The notes ``without`` stand for nothing.
        """
        if document.path in self._needed:
            return f"{self._needed[document.path]} goes because this note says what it said"
        if withhold(document.data.decode("utf-8", "replace"), document.path)[1]:
            return "holds something private, which is not compared"
        away = {document.path, *self.gone, *without}
        said = list(_statements(document))
        others = [sorted(self._notes[_key(each)].keys() - away) for each in said]
        unsaid = [each for each, notes in zip(said, others, strict=True) if not notes]
        if not unsaid:
            self.gone.add(document.path)
            self._needed |= {notes[0]: document.path for notes in others}
            return ""
        first = unsaid[0] if len(unsaid[0]) <= _SHOWN else f"{unsaid[0][: _SHOWN - 1]}…"
        if len(unsaid) == 1:
            return f"says a thing that no other hot note says: {first}"
        return f"says {len(unsaid)} things that no other hot note says, first: {first}"


def _statements(document: Document) -> Iterator[str]:
    """Yield the sentences of a note that say something, its lines of code and its addresses."""
    body = blank_claims(document.body, find_claims(document.body))
    said = dict.fromkeys(split_prose(read_claims(_NAMES_ALONE.sub("", body))))
    yield from (each for each in said if set(tokenize(each)) - STOP_STEMS)
    lines = zip(body.split("\n"), Markup(body).fenced, strict=True)
    code = (line.strip() for line, is_fenced in lines if is_fenced)
    yield from (line for line in code if _key(line) and not line.startswith(("```", "~~~")))
    yield from dict.fromkeys(_ADDRESS.findall(body))


def _key(statement: str) -> str:
    return " ".join(_WORD.findall(statement.casefold()))
