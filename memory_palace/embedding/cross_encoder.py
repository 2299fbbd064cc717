"""Cross-encoders: a question and a passage are read together and give logits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from memory_palace.embedding.hub import (
    RERANKERS,
    HubModel,
    find_folder,
    list_files,
    need_library,
    open_model,
)
from memory_palace.errors import MissingPartError
from memory_palace.models import Matrix

TOKEN_LIMIT = 512
"""Of both texts together; what is longer is cut, whatever more the model could read."""


def open_cross_encoder(
    name: str, *, known: Mapping[str, HubModel] = RERANKERS, environ: Mapping[str, str] = os.environ
) -> CrossEncoder:
    """Return a model by its ``known`` name, its folder, or its name on the hub.

    The last one that was opened is kept while its files stay. Raise as ``find_folder`` does, and
    ``MissingPartError`` for files that are damaged, or of another kind.
    """
    folder = find_folder(name, environ, known=known)
    need_library(name)
    stats = [(str(path), path.stat()) for path in list_files(folder)]
    return _open(folder, tuple((path, s.st_size, s.st_mtime_ns, s.st_ino) for path, s in stats))


@lru_cache(maxsize=1)
def _open(folder: Path, marks: tuple[tuple[str, int, int, int], ...]) -> CrossEncoder:
    return CrossEncoder(folder)


class CrossEncoder:
    """A model for pairs of texts."""

    def __init__(self, folder: Path) -> None:
        self._model, self._folder = open_model("CrossEncoder", folder), folder
        self._model.max_seq_length = min(TOKEN_LIMIT, self._model.max_seq_length or TOKEN_LIMIT)
        names = self._model.config.id2label
        self.labels = tuple(names.get(n, f"LABEL_{n}") for n in range(self._model.num_labels))
        """The names of its logits, as ``id2label`` of ``config.json`` gives them."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        """Return the logits of pairs of texts, shape ``(len(pairs), len(labels))``.

        Raise ``MissingPartError`` where they are not finite, as those of damaged weights.
        """
        from torch.nn import Identity

        if not pairs:
            return np.zeros((0, len(self.labels)), np.float32)
        found = self._model.predict([*pairs], activation_fn=Identity(), show_progress_bar=False)
        logits: Matrix = np.asarray(found, np.float32).reshape(len(pairs), -1)
        if not np.isfinite(logits).all():
            raise MissingPartError(f"the model in {self._folder} gives values that are no numbers")
        return logits
