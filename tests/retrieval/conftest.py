"""Small indexes whose cosines, dates and priorities a test chooses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import sqrt

import numpy as np
import pytest

from memory_palace.index.commit import Commit
from memory_palace.index.segment import (
    CONTENT,
    EVERGREEN,
    PRIORITIES,
    PRIVATE,
    fact_term,
    fold_segments,
    open_segment,
)
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.writing import ChunkRow, NoteRow, count_keys, json_line, write_segment
from memory_palace.language.words import tokenize
from memory_palace.models import Filters, ParsedQuery

NOW = 1_780_000_000.0
DAY = 86_400.0


def facts_of(text: str) -> list[str]:
    """A text whose first word ends in a colon is said by that word."""
    first = text.split()[0]
    said = [fact_term("speaker", first[:-1].casefold())] if first.endswith(":") else []
    return [*said, *([fact_term("form", "question")] if text.endswith("?") else [])]


@dataclass(frozen=True)
class DatasetPassage:
    """A note of one or more passages, each with its cosine to the question (1, 0)."""

    path: str
    cosines: Sequence[float] = (0.5,)
    age_days: float = 30.0
    priority: str = ""
    type: str = "project"
    texts: Sequence[str] | None = None
    targets: Sequence[str] = ()
    flags: int = 0

    def row(self) -> NoteRow:
        texts = self.texts or [f"{self.path} passage {n}" for n in range(len(self.cosines))]
        digests = [sha256(text.encode()) for text in texts]
        vectors = [(c, sqrt(max(0.0, 1 - c * c))) for c in self.cosines]
        priority = PRIORITIES.index(self.priority)
        record = {"tags": (), "entities": (), "aliases": (), "links": (), "problems": ()}
        return NoteRow(
            path=self.path,
            kind=CONTENT,
            digest=sha256(self.path.encode()).digest()[:16],
            title=self.path.rsplit("/", 1)[-1].removesuffix(".md"),
            type=self.type,
            own_type=self.type,
            priority=priority,
            own_priority=priority,
            aliases="",
            targets="\x1f".join(self.targets),
            date=NOW - self.age_days * DAY,
            date_source=0,
            flags=self.flags,
            stat=(1, 1, 1, 1, 1),
            line=json_line(record),
            chunks=tuple(
                ChunkRow(
                    1 + 10 * n,
                    9 + 10 * n,
                    digest.digest()[:16],
                    json_line([(), text]),
                    (
                        count_keys(tokenize(text)),
                        count_keys(()),
                        count_keys(()),
                        count_keys(facts_of(text)),
                    ),
                )
                for n, (text, digest) in enumerate(zip(texts, digests, strict=True))
            ),
            vectors=np.array(vectors, np.float32).reshape(
                len(texts), len(vectors[0]) if len(vectors) else 0
            ),
        )


Build = Callable[..., Snapshot]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return what writes notes into segments, one per argument list, and opens them."""

    def write(
        *groups: Sequence[DatasetPassage],
        cold: Sequence[DatasetPassage] = (),
        calibration: Mapping[str, float] | None = None,
    ) -> Snapshot:
        folder, commit = tmp_path_factory.mktemp("index"), Commit(1, "test", "test", 2)
        refs = [
            write_segment(folder, [passage.row() for passage in group], commit, is_cold=is_cold)
            for group, is_cold in (*((g, False) for g in groups), (cold, True))
            if group
        ]
        figures = {"null_mean": 0.1, "null_std": 0.1} if calibration is None else calibration
        commit = replace(commit, segments=tuple(refs), calibration=figures)
        zones = (
            [open_segment(folder, r) for r in refs if r.is_cold == is_cold]
            for is_cold in (False, True)
        )
        return Snapshot(commit, [fold_segments(zone) for zone in zones])

    return write


@pytest.fixture(scope="session")
def ask() -> Callable[..., ParsedQuery]:
    """Return what makes the question (1, 0), or a listing."""

    def question(text: str = "why", *, as_of: float = NOW, **filters: object) -> ParsedQuery:
        vector = np.array([1, 0], np.float32) if text else None
        return ParsedQuery(text, as_of, Filters(**filters), vector)  # type: ignore[arg-type]

    return question


@pytest.fixture(scope="session")
def passage() -> type[DatasetPassage]:
    """Return the recipe of a note."""
    return DatasetPassage


@pytest.fixture(scope="session")
def flags() -> Mapping[str, int]:
    """Name the flags of a note record."""
    return {"evergreen": EVERGREEN, "private": PRIVATE}
