"""Notes that are written after the nightly build: how soon, and how well, they are found."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from memory_palace.bench.corf_data import CorfQuestion
from memory_palace.bench.golden import copy_palace
from memory_palace.palace import Palace

PROBES = 5
"""Notes whose return is timed one by one."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A palace some of whose notes came after its anchors were built."""

    palace: Palace
    items: list[CorfQuestion]
    withheld: int
    lag_seconds: float
    """Median time from the end of writing a note until a lookup by its title can find it: one
    update of the index, embedding included."""
    reached: int
    """How many of the ``PROBES`` the first lookup found."""


@contextmanager
def with_fresh_notes(
    palace: Palace, items: Sequence[CorfQuestion], *, share: float, seed: int
) -> Iterator[Fresh]:
    """Copy a palace, build anchors without some of its notes, and bring those back.

    The original is only read. ``share`` of the notes that questions ask for is withheld.
    """
    asked = sorted({item.ground_truth_path for item in items})
    count = max(1, round(share * len(asked)))
    withheld = sorted(random.Random(seed).sample(asked, count))
    with TemporaryDirectory() as folder:
        root = Path(folder) / "copy"
        copy = copy_palace(palace.paths.root, root, with_index=True)
        aside = Path(folder) / "aside"
        for path in withheld:
            _move(root / path, aside / path)
        copy.index(embedder=palace.snapshot().commit.embedder)
        copy.anchors.build()
        lags, reached = [], 0
        for path in withheld[:PROBES]:
            lag, is_found = _bring_back(copy, aside, path)
            lags.append(lag)
            reached += is_found
        for path in withheld[PROBES:]:
            _move(aside / path, root / path)
        copy.index()
        late = set(withheld)
        marked = [replace(i, written_after_build=i.ground_truth_path in late) for i in items]
        yield Fresh(copy, marked, len(withheld), float(np.median(lags)), reached)


def _bring_back(copy: Palace, aside: Path, path: str) -> tuple[float, bool]:
    _move(aside / path, copy.paths.root / path)
    started = time.perf_counter()
    copy.index()
    snapshot = copy.snapshot()
    title = snapshot.titles[snapshot.paths.index(path)]
    hits = copy.look_up(title).hits
    return time.perf_counter() - started, path in {hit.path for hit in hits}


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)
