"""Three-level index of memories: a root, an index per domain, the memories.

A reader loads the root and a few domain indexes before any memory. Both are texts built from
subjects and anchors, without verification tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from memory_palace.config import find_paths
from memory_palace.embedding.registry import Embedder
from memory_palace.errors import NotAPalaceError
from memory_palace.features.memories.collection import TextCollection
from memory_palace.features.memories.form import Memory, is_memory, load_reviews, read_memory
from memory_palace.index.chance import measure_null
from memory_palace.index.snapshot import NULL
from memory_palace.language.visible import drop_markers, visible
from memory_palace.language.words import STOP_STEMS, STOPWORDS, tokenize
from memory_palace.models import Vector
from memory_palace.notes.discovery import read_settings
from memory_palace.notes.document import read_library
from memory_palace.places import nearest_root
from memory_palace.shown import Shown, inner, plural

ROOT_CHARACTERS = 500
"""Most characters of the root, for any palace (source document 000: 400 to 500)."""


@dataclass(frozen=True, slots=True)
class Retrieved(Shown):
    """The memories found by a two-hop look-up, and the bytes read."""

    text: str
    """Root and domain indexes, which are read first, then the memories: what a model is given."""
    bytes: int
    """UTF-8 bytes of the text."""
    index_bytes: int
    """UTF-8 bytes of the root and domain indexes."""
    domains: tuple[str, ...]
    """Those of the best memories; all where no memory has a word of the question."""
    is_sure: bool
    memories: tuple[str, ...]
    """Paths, best first."""
    loaded: tuple[Memory, ...] = inner()

    def lines(self) -> Iterable[str]:
        return [self.text.removesuffix("\n")]

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not as_json:
            everywhere = "" if self.is_sure else " (all: no memory has a word of the question)"
            yield (
                f"{plural(len(self.domains), 'domain')}{everywhere}, {len(self.memories)} "
                f"memories, {self.bytes} bytes"
            )


class HierarchicalIndex:
    """Index over the memories of a palace, built in memory from its notes."""

    def __init__(self, root_path: str | Path, *, embedder: Embedder | None = None) -> None:
        """Read the memories of the palace at or above ``root_path``, without cold notes.

        With an ``embedder`` cosines count besides BM25. Raise ``NotAPalaceError`` for no palace.
        """
        root = Path(root_path).absolute()
        near = nearest_root(str(root))
        places = find_paths(Path(near[0])) if near else None
        if places is None:
            raise NotAPalaceError(f"there is no palace in {root} or above it; run `palace init`")
        paths, config = read_settings(places)
        library = read_library(paths, ignore=config.ignore, limit_bytes=config.max_note_bytes)
        documents = library.documents.values()
        reviews = load_reviews(paths)
        found = [
            read_memory(d, reviews.get(d.path, ()))
            for d in documents
            if not d.is_cold and is_memory(d)
        ]
        self._open(found, embedder)

    @classmethod
    def of(
        cls, memories: Sequence[Memory], *, embedder: Embedder | None = None
    ) -> HierarchicalIndex:
        made = cls.__new__(cls)
        made._open(memories, embedder)
        return made

    def retrieve(self, query: str, k: int = 3) -> tuple[list[Memory], int]:
        """Return the ``k`` best memories, and the bytes of the indexes and memories read."""
        found = self.look_up(query, k)
        return list(found.loaded), found.bytes

    def look_up(self, query: str, k: int = 3, *, budget_bytes: int | None = None) -> Retrieved:
        """Return the ``k`` best memories with the root and the indexes of their domains.

        If no memory has a word of the query, the indexes of all domains are returned.
        ``budget_bytes`` bounds the whole text: memories are added while they fit, best first, then
        the root and domain indexes. None is truncated.
        """
        vector = self._embedder.embed_queries([query])[0] if self._embedder else None
        best = self._rank(query, vector)[:k]
        is_sure = not self._stems.isdisjoint(_stems(query))
        homes = [self.memories[at].domain for at in best]
        domains = tuple(dict.fromkeys(homes)) if is_sure else self.domains
        indexes = [self.domain_text(name) for name in domains]
        loaded = _fit([render(self.memories[at]) for at in best], budget_bytes, _bytes)
        text = "".join(loaded)
        left = None if budget_bytes is None else budget_bytes - _bytes(text)
        index_text = "".join(_fit([self.root_text, *indexes], left, _bytes))
        chosen = tuple(self.memories[at] for at in best[: len(loaded)])
        return Retrieved(
            text=index_text + text,
            bytes=_bytes(index_text + text),
            index_bytes=_bytes(index_text),
            domains=domains,
            is_sure=is_sure,
            memories=tuple(memory.id for memory in chosen),
            loaded=chosen,
        )

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(self._members)

    @cached_property
    def root_text(self) -> str:
        """The root: each domain's number of memories and keywords, within ``ROOT_CHARACTERS``.

        Keywords are added round-robin by domain; domains that do not fit are counted at the end.
        """
        lines = [visible(f"{name} {len(self._members[name])}:") for name in self.domains]
        kept = _fit(lines, ROOT_CHARACTERS, lambda line: len(line) + 1)
        room = ROOT_CHARACTERS - sum(len(line) + 1 for line in kept)
        keywords = [self._topics[name] for name in self.domains[: len(kept)]]
        if len(kept) < len(lines):
            rest = f"and {len(lines) - len(kept)} more domains"
            while kept and room < len(rest) + 1:
                room += len(kept.pop()) + 1
            return "\n".join([*kept, rest]) + "\n"
        for turn in range(max(map(len, keywords), default=0)):
            for at, words in enumerate(keywords):
                if turn < len(words) and len(words[turn]) + 1 <= room:
                    kept[at] += f" {words[turn]}"
                    room -= len(words[turn]) + 1
        return "\n".join(kept) + "\n"

    def domain_text(self, name: str) -> str:
        """Return the index of one domain: subject, anchors and path of each memory."""
        lines = [f"# {name}"]
        for memory in (self.memories[at] for at in self._members[name]):
            anchors = f" ({', '.join(memory.anchors)})" if memory.anchors else ""
            lines.append(f"- {memory.subject}{anchors}: {memory.id}")
        return "\n".join(map(visible, lines)) + "\n"

    def _open(self, memories: Sequence[Memory], embedder: Embedder | None) -> None:
        self.memories = tuple(sorted(memories, key=lambda memory: memory.id))
        topics = [". ".join((memory.subject, *memory.anchors)) for memory in self.memories]
        bodies = [drop_markers(f"{memory.image}\n{memory.content}") for memory in self.memories]
        texts = [f"{topic}. {body}" for topic, body in zip(topics, bodies, strict=True)]
        self._vectors, null = None, NULL
        if embedder is not None and texts:
            self._vectors = embedder.embed_passages(texts)
            null = measure_null(embedder.embed_passages)
        self._texts, self._embedder = TextCollection(texts, null=null), embedder if texts else None
        self._stems = {stem for text in texts for stem in _stems(text)}
        self._members: dict[str, list[int]] = {}
        for domain, at in sorted((m.domain, at) for at, m in enumerate(self.memories)):
            self._members.setdefault(domain, []).append(at)
        words = [set(tokenize(topic, stems=False)) - STOPWORDS for topic in topics]
        everywhere = Counter(word for each in words for word in each)
        self._topics: dict[str, list[str]] = {}
        for domain, places in self._members.items():
            here = Counter(word for at in places for word in words[at])
            # Most distinctive first: frequent in this domain, rare in others.
            self._topics[domain] = sorted(here, key=lambda w: (-(here[w] ** 2) / everywhere[w], w))

    def _rank(self, query: str, vector: Vector | None) -> list[int]:
        """Return positions in ``memories``, best score first; ties by subject, then by path."""
        cosines = None if vector is None or self._vectors is None else self._vectors @ vector
        scores = self._texts.score(query, cosines)

        def rank(at: int) -> tuple[float, str, str]:
            return -round(float(scores[at]), 6), self.memories[at].subject, self.memories[at].id

        return sorted(range(len(self.memories)), key=rank)


def render(memory: Memory) -> str:
    """Return the loaded text of a memory: subject, image with its token, content.

    Control characters are escaped here, so that the counted bytes equal the bytes shown.
    """
    return visible(f"# {memory.subject}\n{memory.image.strip()}\n\n{memory.content.strip()}\n")


def _stems(text: str) -> set[str]:
    return set(tokenize(text)) - STOP_STEMS


def _fit(texts: Sequence[str], limit: int | None, size: Callable[[str], int]) -> list[str]:
    """Return the longest prefix of texts whose total size is within the limit (``None``: all)."""
    sizes = accumulate(map(size, texts))
    return [text for text, used in zip(texts, sizes, strict=True) if limit is None or used <= limit]


def _bytes(text: str) -> int:
    return len(text.encode())
