"""What chance gives to the best of all passages: questions of many kinds, asked of every palace.

Nearly all of them are answered by no note, whatever the palace is about. An answer is as sure as it
stands above theirs, see ``retrieval.confidence``.
"""

from __future__ import annotations

import math
from hashlib import sha256
from pathlib import Path

import numpy as np

from memory_palace.embedding.base import Embedder
from memory_palace.index.calibration import LEAST_DEVIATION, sample_rows
from memory_palace.index.npz import map_arrays, write_arrays
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.storage.atomic import is_named_by_content, remove_files, write_content

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
    much as from half of those to all of them. Empty without vectors.
    """
    rows = sample_rows(snapshot, limit=ASKED_OF)
    if not len(rows) or not snapshot.commit.dimension:
        return {}
    cosines = (snapshot.rows_of(rows) @ questions.T).astype(np.float64)
    best = cosines.max(axis=0)
    median = float(np.median(best))
    deviation = _MAD * float(np.median(np.abs(best - median)))
    if (hot := int(np.count_nonzero(snapshot.hot_rows))) > len(rows):
        growth = median - float(np.median(cosines[: len(rows) // 2].max(axis=0)))
        median += growth * math.log2(hot / len(rows))
    return {
        "best_null": round(median, 4),
        "best_deviation": round(max(deviation, LEAST_DEVIATION), 4),
    }


def embed_questions(folder: Path, embedder: Embedder) -> Matrix | None:
    """Return the vectors of ``read_questions``; ``None`` from an embedder that gives none.

    They are kept in ``folder``, in a file that is named by recipe and content: a model would have
    to read a hundred questions after every change otherwise.
    """
    if not embedder.dimension:
        return None
    texts = read_questions()
    recipe = sha256("\n".join([embedder.fingerprint, *texts]).encode()).hexdigest()[:16]
    stale = sorted(folder.glob("null-*.npz"))
    for path in stale:
        if path.name.startswith(f"null-{recipe}-") and is_named_by_content(path):
            kept: Matrix = map_arrays(path)["questions"].astype(np.float32)
            return kept
    halves = embedder.embed_queries(texts).astype(np.float16)
    name = f"null-{recipe}-{{}}.npz"
    kept_in = write_content(folder, lambda file: write_arrays(file, {"questions": [halves]}), name)
    remove_files(path for path in stale if path != kept_in)
    return halves.astype(np.float32)
