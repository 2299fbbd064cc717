"""A CORF set from any palace: questions whose passage is stored, each with a way to miss it.

Everything is made from templates and marked as synthetic. The four failure modes are those of
source document 003: *pronoun* names a project only by "our", *depth* names a note that links to the
wanted one, *source* looks for something outside the largest source, *silence* mentions a phrase
in passing. The generator knows nothing of anchors.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from memory_palace.anchors.policy import source_of
from memory_palace.bench.datasets.reading import read_jsonl
from memory_palace.errors import UsageError
from memory_palace.language.word_lists import STOPWORDS
from memory_palace.markdown.prose import strip_markup
from memory_palace.palace import Palace

SEED = 20260514
"""Fixed before any lookup was tuned; half of the questions, by digest of their id, are held out."""
MODES = ("pronoun", "depth", "source", "silence")
_WORD = re.compile(r"[a-z]{4,20}")
_TRIES = 60

_SILENCE = (
    "can we talk about {} for a moment?",
    "I was thinking of {} on the way here",
    "somebody asked me about {} yesterday",
    "remind me how {} came up",
)
_SOURCE = (
    "what do my notes say about {}, {} and {}?",
    "where did I write of {} together with {} and {}",
    "find the part on {}, {}, {}",
)
_DEPTH = ("starting from {}, what was that about {}?", "in connection with {}: the bit on {}")
_PRONOUN = (
    "what did we settle about {} in our project?",
    "where do we stand with our {}?",
    "is there anything on {} in what we have?",
)


@dataclass(frozen=True, slots=True)
class CorfQuestion:
    """One question with its truth."""

    id: str
    text: str
    modes: tuple[str, ...]
    ground_truth: tuple[str, ...]
    """Passages, each as its path, ``#`` and 16 hex digits of its text digest."""
    ground_truth_path: str
    relevant: tuple[str, ...]
    """Passages that are about it by the generator's rule; those of ``ground_truth`` included."""
    source: str
    project_anchors: tuple[str, ...] = ()
    """Folders of the active projects, where the question has a pronoun."""
    kind: str = "synthetic"
    written_after_build: bool = False

    @property
    def is_held_out(self) -> bool:
        """Whether the question may be used for the final measurement only."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class _Passage:
    id: str
    path: str
    title: str
    source: str
    words: tuple[str, ...]


def generate_corf(palace: Palace, *, per_mode: int = 100, seed: int = SEED) -> list[CorfQuestion]:
    """Make up to ``per_mode`` questions of each mode from the notes of an indexed palace."""
    passages = _passages(palace)
    if not passages:
        raise UsageError("there are no passages to ask about; run `palace index`")
    maker = _Maker(palace, passages, random.Random(seed))
    makers = (maker.pronouns(), maker.depths(), maker.sources(), maker.silences())
    return [item for made in makers for item in islice(made, per_mode)]


def write_items(path: Path, items: Iterable[CorfQuestion]) -> None:
    """Write one JSON line per question."""
    lines = (json.dumps(asdict(item), ensure_ascii=False, sort_keys=True) for item in items)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read_items(path: Path) -> list[CorfQuestion]:
    """Read questions, ours or people's own. Unknown fields are left alone."""
    known = CorfQuestion.__dataclass_fields__
    lists = ("modes", "ground_truth", "relevant", "project_anchors")
    items = []
    for number, record in read_jsonl(path):
        fields = {key: value for key, value in record.items() if key in known}
        try:
            items.append(
                CorfQuestion(**fields | {name: tuple(record.get(name, ())) for name in lists})
            )
        except TypeError as error:
            raise UsageError(f"{path}:{number}: this is not a CORF question: {error}") from error
    if not items:
        raise UsageError(f"{path} has no questions; make some with `palace bench corf --write`")
    return items


def _passages(palace: Palace) -> list[_Passage]:
    snapshot = palace.snapshot()
    found = []
    for row in np.flatnonzero(snapshot.row_note >= 0).tolist():
        chunk = snapshot.chunk(row)
        read = palace.read(chunk.path, first_line=chunk.first_line, last_line=chunk.last_line)
        words = _WORD.findall(strip_markup(read.text).casefold())
        title = snapshot.titles[int(snapshot.row_note[row])]
        source = source_of(chunk.path, palace.config.sources)
        place = f"{chunk.path}#{bytes(snapshot.row_digests[row])[:8].hex()}"
        found.append(_Passage(place, chunk.path, title, source, tuple(words)))
    return sorted(found, key=lambda passage: passage.id)


class _Maker:
    def __init__(self, palace: Palace, passages: Sequence[_Passage], rng: random.Random) -> None:
        self._palace = palace
        self._passages = passages
        self._rng = rng
        self._held = Counter(word for p in passages for word in set(p.words))
        self._phrases: dict[tuple[str, str], set[str]] = {}
        for passage in passages:
            for pair in pairwise(passage.words):
                if not STOPWORDS.intersection(pair):
                    self._phrases.setdefault(pair, set()).add(passage.id)
        counts = Counter(passage.source for passage in passages)
        self._largest = max(counts, key=lambda name: (counts[name], name))

    def silences(self) -> Iterator[CorfQuestion]:
        """Mention a phrase that stands in 2 to 8 passages, in passing."""
        for number, passage in enumerate(self._draw(self._passages)):
            pairs = sorted(set(pairwise(passage.words)))
            pairs = [pair for pair in pairs if 2 <= len(self._phrases.get(pair, ())) <= 8]
            if not pairs:
                continue
            pair = self._rng.choice(pairs)
            text = self._rng.choice(_SILENCE).format(" ".join(pair))
            yield _item("silence", number, text, passage, self._phrases[pair])

    def sources(self) -> Iterator[CorfQuestion]:
        """Ask with three telling words of a passage outside the largest source."""
        outside = [passage for passage in self._passages if passage.source != self._largest]
        for number, passage in enumerate(self._draw(outside)):
            words = self._telling(passage, 10)
            if len(words) < 3:
                continue
            three = self._rng.sample(words, 3)
            text = self._rng.choice(_SOURCE).format(*three)
            relevant = {p.id for p in self._passages if len(set(three).intersection(p.words)) > 1}
            yield _item("source", number, text, passage, relevant)

    def depths(self) -> Iterator[CorfQuestion]:
        """Name a note, and ask for what stands in another that it links to."""
        graph = self._palace.graph()
        by_path: dict[str, list[_Passage]] = {}
        for passage in self._passages:
            by_path.setdefault(passage.path, []).append(passage)
        for number, start in enumerate(self._draw(self._passages)):
            linked = [path for path in sorted(graph.neighbors(start.path).out) if path in by_path]
            if not linked:
                continue
            path = self._rng.choice(linked)
            passage = self._rng.choice(by_path[path])
            hints = [w for w in self._telling(passage, 6) if w not in start.title.casefold()]
            if not hints:
                continue
            hint = self._rng.choice(hints)
            text = self._rng.choice(_DEPTH).format(start.title, hint)
            relevant = {p.id for p in by_path[path] if hint in p.words}
            yield _item("depth", number, text, passage, relevant)

    def pronouns(self) -> Iterator[CorfQuestion]:
        """Ask for a word that many notes hold, about a project that only "our" names."""
        inside = [p for p in self._passages if _project(p.path)]
        folders: dict[str, list[_Passage]] = {}
        for passage in inside:
            folders.setdefault(_project(passage.path), []).append(passage)
        most = len(self._passages) // 3
        drawn = [p for p in inside if len(folders[_project(p.path)]) <= most]
        for number, passage in enumerate(self._draw(drawn)):
            folder = _project(passage.path)
            near = Counter(word for p in folders[folder] for word in set(p.words))
            words = sorted(
                word
                for word in set(passage.words) - STOPWORDS
                if self._held[word] >= 8 and near[word] <= 5 and near[word] < self._held[word] / 2
            )
            if not words:
                continue
            word = self._rng.choice(words)
            text = self._rng.choice(_PRONOUN).format(word)
            relevant = {p.id for p in folders[folder] if word in p.words}
            yield _item("pronoun", number, text, passage, relevant, project=folder)

    def _draw(self, passages: Sequence[_Passage]) -> Iterator[_Passage]:
        """Yield passages by chance, each often enough that a small palace gives many questions."""
        for _ in range(_TRIES if passages else 0):
            yield from self._rng.sample(passages, len(passages))

    def _telling(self, passage: _Passage, count: int) -> list[str]:
        most = max(len(self._passages) // 20, 3)
        frequency = Counter(passage.words)
        words = [w for w in frequency if w not in STOPWORDS and self._held[w] <= most]
        return sorted(words, key=lambda w: (-frequency[w] / self._held[w], w))[:count]


def _project(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[:3]) + "/" if parts[1] == "project_rooms" and len(parts) > 3 else ""


def _item(
    mode: str, number: int, text: str, passage: _Passage, relevant: Iterable[str], project: str = ""
) -> CorfQuestion:
    return CorfQuestion(
        id=f"{mode}-{number:05d}",
        text=text,
        modes=(mode,),
        ground_truth=(passage.id,),
        ground_truth_path=passage.path,
        relevant=tuple(sorted({passage.id, *relevant})),
        source=passage.source,
        project_anchors=(project,) if project else (),
    )
