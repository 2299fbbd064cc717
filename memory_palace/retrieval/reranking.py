"""Rerank the best candidates with a cross-encoder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from memory_palace.config import PalacePaths
from memory_palace.embedding.st_models import find_folder, list_files, need_library, open_model
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.models import Matrix
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.excerpts import NoteReader
from memory_palace.retrieval.rank import Scored

TOKEN_LIMIT = 512
"""Most tokens of question and passage together; the longer text is cut."""


def open_cross_encoder(name: str, *, environ: Mapping[str, str] = os.environ) -> CrossEncoder:
    """Return a cross-encoder by its folder or its name on the hub.

    The model opened last is cached until its files change. Raise as ``find_folder`` does, and
    ``MissingPartError`` for damaged files or files of another kind.
    """
    folder = find_folder(name, environ)
    need_library(name)
    stats = [(str(path), path.stat()) for path in list_files(folder)]
    return _open(folder, tuple((path, s.st_size, s.st_mtime_ns, s.st_ino) for path, s in stats))


@lru_cache(maxsize=1)
def _open(folder: Path, marks: tuple[tuple[str, int, int, int], ...]) -> CrossEncoder:
    return CrossEncoder(folder)


class CrossEncoder:
    """A model that scores pairs of texts."""

    def __init__(self, folder: Path) -> None:
        self._model, self._folder = open_model("CrossEncoder", folder), folder
        self._model.max_seq_length = min(TOKEN_LIMIT, self._model.max_seq_length or TOKEN_LIMIT)
        names = self._model.config.id2label
        self.labels = tuple(names.get(n, f"LABEL_{n}") for n in range(self._model.num_labels))
        """The names of its logits, as ``id2label`` of ``config.json`` gives them."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        """Return the logits of pairs of texts, shape ``(len(pairs), len(labels))``.

        Raise ``MissingPartError`` if they are not finite, as with damaged weights.
        """
        from torch.nn import Identity

        if not pairs:
            return np.zeros((0, len(self.labels)), np.float32)
        found = self._model.predict([*pairs], activation_fn=Identity(), show_progress_bar=False)
        logits: Matrix = np.asarray(found, np.float32).reshape(len(pairs), -1)
        if not np.isfinite(logits).all():
            raise MissingPartError(f"the model in {self._folder} gives values that are no numbers")
        return logits


RERANKED = 50
"""Least number of candidates to rerank; a larger limit replaces it."""
RERANK = "rerank"
WEIGHT = 1_000_000.0
"""Large enough that a thousandth of a logit outweighs all other signals: the order is the model's,
and they decide only between logits that are equal to three decimals."""
_DECIMALS = 3
_POSITIVE = frozenset({"positive", "relevant", "true", "yes"})


def rank_again(
    scored: Scored, best: Places, name: str, paths: PalacePaths | None, *, limit: int
) -> tuple[Scored, Places]:
    """Return the scores with a cross-encoder's contribution, and the ``limit`` best hits by it.

    The value is the log odds of relevance: the logit, or of two labels the positive logit minus the
    other. Raise ``UsageError`` without a question, and as ``open_cross_encoder`` and
    ``choose_label`` do.
    """
    question = scored.evidence.query.text
    if not question:
        raise UsageError("there is no question to rerank by; ask one, or leave out --rerank")
    model = open_cross_encoder(name)
    label = choose_label(model.labels, name)
    pairs = [(question, text) for text in _read_passages(scored, best, paths)]
    logits = model.score(pairs).astype(np.float64)
    others = np.delete(logits, label, axis=1).sum(axis=1)
    found = np.round(logits[:, label] - others, _DECIMALS) + 0.0  # no minus zero
    values = np.zeros(len(scored.scores))
    values[best] = found
    # Stable: equal values stay in the order they came in, which may be another than by score.
    best = best[np.argsort(-found, kind="stable")][:limit]
    return scored.add(RERANK, values, WEIGHT), best


def choose_label(labels: tuple[str, ...], name: str) -> int:
    """Return the index of a model's positive label; raise ``MissingPartError`` without one."""
    if len(labels) == 1:
        return 0
    positive = [n for n, label in enumerate(labels) if label.casefold() in _POSITIVE]
    if len(labels) == 2 and len(positive) == 1:
        return positive[0]
    raise MissingPartError(
        f"the model {name} does not rerank: it has {len(labels)} labels ({', '.join(labels):.80}); "
        "a reranker has one, or two of which id2label of config.json calls one relevant"
    )


def _read_passages(scored: Scored, best: Places, paths: PalacePaths | None) -> list[str]:
    """Return the text of each candidate below its title and headings, as embedders read it.

    The text is the preview if the note has changed since indexing, or without ``paths``.
    """
    snapshot = scored.evidence.snapshot
    reader = NoteReader(snapshot, paths)
    texts, notes = [], scored.notes.tolist()
    for place in best.tolist():
        note, chunk = snapshot.note(notes[place]), snapshot.chunk(scored.rows[place])
        text = ""
        if chunk.preview:
            text = reader.read(note.path).read(chunk.first_line, chunk.last_line) or chunk.preview
        opening = text.partition("\n")[0].strip("# \t")
        above = dict.fromkeys((note.title, *chunk.heading_path))
        above.pop(opening, None)
        texts.append("\n".join([" > ".join(above), text]) if above else text)
    return texts
