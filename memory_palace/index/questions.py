"""What chance gives to the best of all passages: questions of many kinds, asked of every palace.

Nearly all of them are answered by no note, whatever the palace is about. An answer is as sure as it
stands above theirs, see ``retrieval.confidence``.
"""

from __future__ import annotations

import math
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np

from memory_palace.embedding.base import Embedder, find_parts
from memory_palace.embedding.pair import join_parts
from memory_palace.index.calibration import LEAST_DEVIATION, list_choices, sample_rows
from memory_palace.index.npz import map_arrays, write_arrays
from memory_palace.index.snapshot import Snapshot, take_part
from memory_palace.models import Matrix
from memory_palace.storage.atomic import is_named_by_content, remove_files, write_content

_Kept: TypeAlias = tuple[Path, Matrix]
"""A file of vectors, and those."""
ASKED_OF = 4096
"""Passages that each question is asked of, at most."""
_MAD = 1.4826
"""Median absolute deviations in a standard deviation of a normal distribution."""


def read_questions() -> list[str]:
    """Return questions of our own on people, homes, software, science, work and the world."""
    lines = Path(__file__).with_name("questions.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line]


def find_best_null(snapshot: Snapshot, questions: Matrix) -> dict[str, float]:
    """Return the median best cosine of questions that are not answered here, and its deviation.

    Some of the questions may happen to be answered: median and median absolute deviation do not
    mind those. Among more than ``ASKED_OF`` passages the best is better, for every doubling by as
    much as from half of those to all of them. Of two embedders each has figures of its own besides.
    Empty without vectors.
    """
    rows = sample_rows(snapshot, limit=ASKED_OF)
    if not len(rows) or not snapshot.commit.dimension:
        return {}
    growing = math.log2(max(int(np.count_nonzero(snapshot.hot_rows)) / len(rows), 1))
    figures: dict[str, float] = {}
    for which in list_choices(snapshot.commit):
        asked = take_part(questions, which)
        cosines = (snapshot.rows_of(rows, which) @ asked.T).astype(np.float64)
        best = cosines.max(axis=0)
        median = float(np.median(best))
        deviation = _MAD * float(np.median(np.abs(best - median)))
        if growing:
            growth = median - float(np.median(cosines[: len(rows) // 2].max(axis=0)))
            median += growth * growing
        figures[f"{which.prefix}best_null"] = round(median, 4)
        figures[f"{which.prefix}best_deviation"] = round(max(deviation, LEAST_DEVIATION), 4)
    return figures


def embed_questions(folder: Path, embedder: Embedder) -> Matrix | None:
    """Return the vectors of ``read_questions``; ``None`` from an embedder that gives none.

    They are kept in ``folder``, for each embedder in a file that is named by recipe and content: a
    model would have to read a hundred questions after every change otherwise.
    """
    if not embedder.dimension:
        return None
    parts = find_parts(embedder)
    found = [_find_kept(folder, part) or _keep(folder, part) for part in parts]
    kept = {path for path, _ in found}
    remove_files(path for path in sorted(folder.glob("null-*.npz")) if path not in kept)
    return join_parts([vectors for _, vectors in found])


def _find_kept(folder: Path, embedder: Embedder) -> _Kept | None:
    for path in sorted(folder.glob(f"null-{_name_recipe(embedder)}-*.npz")):
        if is_named_by_content(path):
            return path, map_arrays(path)["questions"].astype(np.float32)
    return None


def _keep(folder: Path, embedder: Embedder) -> _Kept:
    halves = embedder.embed_queries(read_questions()).astype(np.float16)
    name = f"null-{_name_recipe(embedder)}-{{}}.npz"
    path = write_content(folder, lambda file: write_arrays(file, {"questions": [halves]}), name)
    return path, halves.astype(np.float32)


def _name_recipe(embedder: Embedder) -> str:
    texts = [embedder.fingerprint, *read_questions()]
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
