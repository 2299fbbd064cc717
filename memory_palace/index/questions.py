"""What chance gives to the best of all passages: questions of many kinds, asked of every palace.

Nearly all of them are answered by no note, whatever the palace is about. An answer is as sure as it
stands above theirs, see ``retrieval.confidence``. They are asked in the language of the notes where
it is one of eight: an embedder of many languages puts a question of another one farther off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.base import Embedder
from memory_palace.index.calibration import (
    LEAST_DEVIATION,
    SAMPLE,
    expect_mean,
    sample_rows,
)
from memory_palace.index.chat import choose_part, read_lines, read_parts
from memory_palace.index.npz import Array, map_arrays, write_arrays
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Matrix
from memory_palace.storage.atomic import is_named_by_content, remove_files, write_content

_Kept: TypeAlias = tuple[Path, Matrix]
"""A file of vectors, and those."""
ASKED_OF = 4096
"""Passages that each question is asked of, at most."""
_BYTE, _TINY = 127, 1e-9
_SLICE = 64
"""Lines embedded at a time; they have ten words, a passage a hundred."""
_MAD = 1.4826
"""Median absolute deviations in a standard deviation of a normal distribution."""


def read_questions() -> Sequence[str]:
    """Return questions of our own on people, homes, software, science, work and the world."""
    return read_lines("questions")


def find_best_null(snapshot: Snapshot, questions: Matrix) -> dict[str, float]:
    """Return the median best cosine of questions that are not answered here, and its deviation.

    Some of the questions may happen to be answered: median and median absolute deviation do not
    mind those. The median is that of the questions in the language of the notes; where they are
    few, the deviation is half that of the English ones. Among more than ``ASKED_OF`` passages the
    best is better, for every doubling by as much as from half of those to all of them. Empty
    without vectors.

    Where all cosines are high, as e5's are, those of one question are higher than those of another
    as a whole. So a share of each question's mean is taken off its best, ``shared``: the least
    mean that any question has, which is nothing where unrelated texts have no cosine.
    """
    rows = sample_rows(snapshot, limit=ASKED_OF)
    if not len(rows) or not snapshot.commit.dimension:
        return {}
    growing = math.log2(max(int(np.count_nonzero(snapshot.embedded_rows)) / len(rows), 1))
    own, english = choose_part(snapshot, "questions"), slice(len(read_parts("questions")[0]))
    cosines = (snapshot.rows_of(rows) @ questions.T).astype(np.float64)
    sample = cosines[:SAMPLE]
    means = sample.mean(axis=0)
    level, shared = float(means[own].mean()), max(float(means[own].min()), 0.0)
    off = shared * expect_mean(means, len(sample), level)
    best = cosines.max(axis=0) - off
    median, spread = _find_middle(best[own])
    deviation = (spread + _find_middle(best[english])[1]) / 2
    if growing:
        half = cosines[: len(rows) // 2].max(axis=0) - off
        median += (median - _find_middle(half[own])[0]) * growing
    least = LEAST_DEVIATION * (1 - shared)
    found = {"best_null": median, "best_deviation": max(deviation, least)}
    if shared:
        found |= {"best_shared": shared, "best_level": level}
    return {name: round(value, 4) for name, value in found.items()}


def _find_middle(best: NDArray[np.float64]) -> tuple[float, float]:
    """Return the median, and the deviation that the median absolute one stands for."""
    median = float(np.median(best))
    return median, _MAD * float(np.median(np.abs(best - median)))


class NullVectors(NamedTuple):
    """Vectors of the lines that refer to nothing."""

    questions: Matrix
    talk: Matrix
    """Of ``talk.txt``."""


def embed_null_lines(folder: Path, embedder: Embedder) -> NullVectors | None:
    """Return the vectors of questions and talk; ``None`` from an embedder that gives none.

    They are kept in ``folder``, in a file that is named by recipe and content: a model would have
    to read hundreds of lines after every change otherwise.
    """
    if not embedder.dimension:
        return None
    kept, vectors = _find_kept(folder, embedder) or _keep(folder, embedder, embed_lines(embedder))
    remove_files(path for path in sorted(folder.glob("null-*.npz")) if path != kept)
    return _split(vectors)


def find_null_lines(folder: Path, embedder: Embedder) -> NullVectors | None:
    """Return the same where they are kept; nothing is embedded or written."""
    if not embedder.dimension:
        return None
    kept = _find_kept(folder, embedder)
    return _split(kept[1]) if kept else None


def _split(vectors: Matrix) -> NullVectors:
    count = len(read_questions())
    return NullVectors(vectors[:count], vectors[count:])


def _find_kept(folder: Path, embedder: Embedder) -> _Kept | None:
    for path in sorted(folder.glob(f"null-{_name_recipe(embedder)}-*.npz")):
        if is_named_by_content(path):
            return path, _unpack(map_arrays(path))
    return None


def embed_lines(embedder: Embedder) -> Matrix:
    """Return the vectors of the questions, then of the lines of ``talk.txt``."""
    lines = [*read_questions(), *read_lines("talk")]
    parts = [lines[start : start + _SLICE] for start in range(0, len(lines), _SLICE)]
    return np.concatenate([embedder.embed_queries(part) for part in parts])


def _keep(folder: Path, embedder: Embedder, vectors: Matrix) -> _Kept:
    """Write the vectors in whole numbers of a byte: they are off by less than chance spreads."""
    steps = np.maximum(np.abs(vectors).max(axis=1, keepdims=True) / _BYTE, _TINY)
    members = {"lines": np.rint(vectors / steps).astype(np.int8), "steps": steps}
    name = f"null-{_name_recipe(embedder)}-{{}}.npz"
    parts = {member: [values] for member, values in members.items()}
    return write_content(folder, lambda file: write_arrays(file, parts), name), _unpack(members)


def _unpack(members: Mapping[str, Array]) -> Matrix:
    vectors: Matrix = members["lines"].astype(np.float32) * members["steps"]
    return vectors


def _name_recipe(embedder: Embedder) -> str:
    texts = [embedder.fingerprint, *read_questions(), *read_lines("talk")]
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
