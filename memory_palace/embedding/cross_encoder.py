"""Cross-encoders: a question and a passage are read together and give logits, in numpy.

A model is a folder of ``config.json``, ``tokenizer.json`` and ``model.safetensors``, as the Hugging
Face hub has it: a BERT or XLM-RoBERTa for sequence classification.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from memory_palace.embedding.forward import (
    Encoder,
    apply_affine,
    read_affine,
    run_batches,
)
from memory_palace.embedding.minilm import WordPiece
from memory_palace.embedding.model_folder import (
    ModelConfig,
    ModelFileError,
    ModelWeights,
    check_files,
)
from memory_palace.embedding.rerankers import FILES
from memory_palace.embedding.tensor_file import TensorFile, TensorFileError
from memory_palace.embedding.tokenizer_file import read_tokenizer
from memory_palace.errors import MissingPartError
from memory_palace.models import Matrix

TOKEN_LIMIT = 512
"""Of both texts together; what is longer is cut, whatever more the model could read."""


def open_cross_encoder(folder: Path) -> CrossEncoder:
    """Return the model in a folder; the last one that was opened is kept while its files stay.

    Raise ``MissingPartError``, one line, for files that are missing, damaged or of another kind.
    """
    try:
        check_files(folder)
        stats = [(folder / name).stat() for name in FILES]
        marks = tuple((s.st_size, s.st_mtime_ns, s.st_ino) for s in stats)
        return _open(folder.resolve(), marks)
    except (ModelFileError, TensorFileError, OSError) as error:
        raise MissingPartError(f"the model in {folder} cannot be used: {error}") from error


@lru_cache(maxsize=1)
def _open(folder: Path, marks: tuple[tuple[int, ...], ...]) -> CrossEncoder:
    with np.errstate(all="ignore"):  # what is not finite is told by ``score``
        return CrossEncoder(folder)


class CrossEncoder:
    """A model for pairs of texts, with its weights mapped."""

    def __init__(self, folder: Path) -> None:
        """Read what the folder has; raise ``ModelFileError`` where that is no cross-encoder."""
        config = ModelConfig.read(folder / FILES[0])
        self._tokenizer, pieces = read_tokenizer(folder / FILES[1])
        weights = ModelWeights(TensorFile(folder / FILES[2]), config)
        words, places, types = (
            f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")
        )
        if pieces > weights.count_rows(words):
            raise ModelFileError(f"its tokenizer has {pieces} pieces, more than its weights")
        first = config.padding + 1 if config.family.counts_from_padding else 0
        self._limit = min(TOKEN_LIMIT, weights.count_rows(places) - first)
        if self._limit < 8:
            raise ModelFileError(f"it reads {self._limit} tokens at most, which holds no passage")
        # BERT's tokenizer marks each id with its text; XLM-RoBERTa's puts two ends between them.
        self._tells_apart = isinstance(self._tokenizer, WordPiece)
        if self._tells_apart and weights.count_rows(types) < 2:
            raise ModelFileError("its tokenizer tells two texts apart, and its weights do not")
        self._encoder = Encoder(
            weights,
            layers=config.layers,
            heads=config.heads,
            words=lambda ids: weights.read_rows(words, ids),
            epsilon=config.epsilon,
            first_position=first,
            separator=self._tokenizer.end if self._tells_apart else None,
        )
        weights.check_layers()
        self._dense = read_affine(weights, config.family.dense)
        self._out = read_affine(weights, config.family.out)
        count = len(self._out.bias)
        if config.labels and len(config.labels) != count:
            raise ModelFileError(
                f"config.json has {len(config.labels)} labels, its weights {count}"
            )
        self.labels = config.labels or tuple(f"LABEL_{n}" for n in range(count))
        """The names of its logits, as ``id2label`` of ``config.json`` gives them."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        """Return the logits of pairs of texts, shape ``(len(pairs), len(labels))``.

        Raise ``MissingPartError`` where they are not finite, as those of damaged weights.
        """
        encoded: dict[str, list[int]] = {}
        for text in (text for pair in pairs for text in pair):
            if text not in encoded:
                encoded[text] = self._tokenizer.encode(text)
        joined = [self._join(encoded[first], encoded[second]) for first, second in pairs]
        if not joined:
            return np.zeros((0, len(self.labels)), np.float32)
        logits = run_batches(joined, self._run, width=len(self.labels))
        if not np.isfinite(logits).all():
            raise MissingPartError("the model gives values that are no numbers; fetch it again")
        return logits

    def _run(self, sequences: Sequence[Sequence[int]]) -> Matrix:
        with np.errstate(all="ignore"):  # what is not finite is told by ``score``
            states = apply_affine(self._encoder.read_starts(sequences), self._dense)
            return apply_affine(np.tanh(states), self._out)

    def _join(self, first: list[int], second: list[int]) -> list[int]:
        start, end = self._tokenizer.start, self._tokenizer.end
        between = [end] if self._tells_apart else [end, end]
        room = self._limit - 2 - len(between)
        one, two = share_room(len(first), len(second), room)
        return [start, *first[:one], *between, *second[:two], end]


def share_room(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how much of two lengths is kept: the longer is cut, both to a half where both are.

    This is ``longest_first`` of the published tokenizers.
    """
    if first + second <= room:
        return first, second
    short = min(first, second)
    half = room // 2
    if short > half:
        kept = (half, room - half)
        return kept if first <= second else kept[::-1]
    return (first, room - first) if first <= second else (room - second, second)
