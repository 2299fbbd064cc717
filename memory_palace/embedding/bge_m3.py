"""BAAI/bge-m3 through FlagEmbedding: 1024 dimensions, a hundred languages, the quality choice."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.embedding.bge_weights import check_bge_m3, find_bge_m3, find_encoder
from memory_palace.embedding.weight_digest import digest_weights
from memory_palace.errors import MissingPartError
from memory_palace.models import Matrix

NAME = "bge-m3"
TOKEN_LIMIT = 510
SPECIAL_TOKENS = 2
BATCH_SIZE = 8
"""4 to 8 is fastest on a CPU; larger batches only add padding and memory."""
INSTALL = "pip install 'memory-palace[bge]'"

_CONTROL_TOKEN = re.compile(r"<(?=(?:/?s|pad|unk|mask)>)")


def load_bge_m3(environ: Mapping[str, str], cache: Path) -> BgeM3Embedder:
    """Return the embedder over the weights on this machine; FlagEmbedding loads on first use.

    Raises ``MissingPartError`` where the extra or the weights are not installed.
    """
    if importlib.util.find_spec("FlagEmbedding") is None:
        raise MissingPartError(f"bge-m3 needs FlagEmbedding; run `{INSTALL}`")
    return BgeM3Embedder(find_bge_m3(environ, cache), cache=cache)


class BgeM3Embedder:
    """Dense vectors of bge-m3 from a local folder. Nothing is ever downloaded."""

    def __init__(self, folder: Path, *, cache: Path) -> None:
        check_bge_m3(folder, f"bge-m3 is to be loaded from {folder}")
        self._folder = folder
        self._cache = cache
        config = json.loads((folder / "config.json").read_bytes())
        self._dimension = int(config["hidden_size"])
        # RoBERTa numbers positions from pad_token_id + 1, so two of them are never used.
        self._max_tokens = int(config["max_position_embeddings"]) - 2

    @property
    def name(self) -> str:
        """The name it is chosen by."""
        return NAME

    @property
    def dimension(self) -> int:
        """Length of its vectors, 1024 for the published weights."""
        return self._dimension

    @property
    def token_limit(self) -> int:
        """Tokens a passage should have at most; the model itself reads up to 8190."""
        return min(TOKEN_LIMIT, self._max_tokens - SPECIAL_TOKENS)

    @cached_property
    def fingerprint(self) -> str:
        """Model, digest of encoder, configuration and tokenizer, pooling, limits."""
        encoder = find_encoder(self._folder) or self._folder
        digest = sha256(digest_weights(encoder, cache=self._cache).encode())
        for name in ("config.json", "tokenizer.json"):
            digest.update(sha256((self._folder / name).read_bytes()).digest())
        limits = f"{self.token_limit}-{self._max_tokens}"
        return f"{NAME}:{digest.hexdigest()[:16]}:cls:{limits}:fp32"

    def count_tokens(self, text: str) -> int:
        """Count tokens with the model's tokenizer, which loads without torch."""
        return len(self._tokenizer.encode(_as_text(text), add_special_tokens=False).ids)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question; bge-m3 uses no query prefix."""
        return self.embed_passages(texts)

    def embed_passages(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without a token.

        The model is called directly, not through ``encode``: that runs its first batch twice,
        draws progress bars, and takes every RuntimeError for a full memory.
        """
        vectors: Matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        lengths = np.array([self.count_tokens(text) for text in texts], dtype=np.int64)
        rows = np.argsort(-lengths, kind="stable")
        for start in range(0, len(rows), BATCH_SIZE):
            batch = rows[start : start + BATCH_SIZE]
            filled = batch[lengths[batch] > 0]
            if len(filled):
                vectors[filled] = self._encode([_as_text(texts[row]) for row in filled])
            if progress is not None:
                progress(len(batch))
        return vectors

    def _encode(self, texts: list[str]) -> Matrix:
        import torch

        model = self._model
        device = model.target_devices[0]
        inputs = model.tokenizer(
            texts, truncation=True, max_length=self._max_tokens, padding=True, return_tensors="pt"
        )
        with torch.inference_mode():
            output = model.model(inputs.to(device), return_dense=True)
        vectors: Matrix = output["dense_vecs"].float().cpu().numpy()
        return vectors

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        # Read once, when huggingface_hub is imported: a local folder never asks the network.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            import torch
            from FlagEmbedding import BGEM3FlagModel
            from transformers.utils import logging
        except ImportError as error:
            raise MissingPartError(
                f"FlagEmbedding cannot be loaded ({error}); run `{INSTALL}`"
            ) from error
        logging.disable_progress_bar()
        # Half precision takes twice the memory on a CPU, and moves vectors by 5e-5.
        model = BGEM3FlagModel(
            str(self._folder),
            use_fp16=False,
            devices="cuda:0" if torch.cuda.is_available() else "cpu",
        )
        model.model.to(model.target_devices[0]).eval()
        return model


def _as_text(text: str) -> str:
    """Keep ``<s>`` and its like, common in Markdown, from becoming the model's control tokens.

    The tokenizer knows them as pieces too, so its own switch for this has no effect.
    """
    return _CONTROL_TOKEN.sub("< ", text)
