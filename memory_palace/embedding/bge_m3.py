"""BAAI/bge-m3 through FlagEmbedding: 1024 dimensions, a hundred languages, the quality choice."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.embedding.registry import cache_folder, digest_weights, hub_snapshots
from memory_palace.errors import MissingPartError
from memory_palace.libraries import install_command
from memory_palace.models import Matrix

MODEL_ID = "BAAI/bge-m3"
VARIABLE = "PALACE_BGE_M3"
ENCODERS = ("model.safetensors", "pytorch_model.bin")
"""Either holds the encoder; transformers prefers the first, and the hub has the second."""
REQUIRED = ("config.json", "tokenizer.json", "sparse_linear.pt", "colbert_linear.pt")
"""Without both files FlagEmbedding fills the heads with random numbers, without a message."""
TOKEN_LIMIT = 510
SPECIAL_TOKENS = 2
BATCH_SIZE = 8
"""4 to 8 is fastest on a CPU; larger batches only add padding and memory."""

_CONTROL_TOKEN = re.compile(r"<(?=(?:/?s|pad|unk|mask)>)")


def load(model: str, environ: Mapping[str, str]) -> BgeM3Embedder:
    """Return the embedder over the weights on this machine; FlagEmbedding loads on first use.

    Raises ``MissingPartError`` where the extra or the weights are not installed.
    """
    if importlib.util.find_spec("FlagEmbedding") is None:
        raise MissingPartError(f"bge-m3 needs FlagEmbedding; run `{install_command('bge')}`")
    return BgeM3Embedder(find_weights(environ), cache=cache_folder(environ))


def is_available(environ: Mapping[str, str]) -> bool:
    """Whether FlagEmbedding and the weights are installed."""
    if importlib.util.find_spec("FlagEmbedding") is None:
        return False
    try:
        find_weights(environ)
    except MissingPartError:
        return False
    return True


def find_weights(environ: Mapping[str, str]) -> Path:
    """Return a complete folder of weights, or raise ``MissingPartError`` with instructions.

    Searched are ``PALACE_BGE_M3``, alone if it is set; then ``models/bge-m3`` of this program's
    cache; then the Hugging Face hub's cache. FlagEmbedding would take a path that does not exist
    for the name of a model to download.
    """
    if given := environ.get(VARIABLE):
        named = Path(given).expanduser()
        if missing := missing_files(named):
            lack = f"lacks {', '.join(missing)}" if named.is_dir() else "is not a folder"
            raise MissingPartError(
                f"{VARIABLE} points to {named}, which {lack}; copy the whole of {MODEL_ID} there "
                f"(`hf download {MODEL_ID} --exclude 'onnx/*' --local-dir {named}`)"
            )
        return named
    own = cache_folder(environ) / "models" / "bge-m3"
    for folder in (own, *hub_snapshots(environ, MODEL_ID)):
        if not missing_files(folder):
            return folder
    raise MissingPartError(
        f"the weights of bge-m3 are not on this machine (looked in {own} and the Hugging Face "
        f"cache); run `hf download {MODEL_ID} --exclude 'onnx/*'`, or copy that folder from "
        f"another machine and set {VARIABLE} to it"
    )


def missing_files(folder: Path) -> tuple[str, ...]:
    """Return the names of the model's files that a folder lacks."""
    missing = [name for name in REQUIRED if not (folder / name).is_file()]
    return (*missing, *([] if find_encoder(folder) else [" or ".join(ENCODERS)]))


def find_encoder(folder: Path) -> Path | None:
    """Return the file of encoder weights that is loaded from ``folder``."""
    return next((folder / name for name in ENCODERS if (folder / name).is_file()), None)


class BgeM3Embedder:
    """Dense vectors of bge-m3 from a local folder. Nothing is ever downloaded."""

    name = "bge-m3"

    def __init__(self, folder: Path, *, cache: Path) -> None:
        self._folder = folder
        self._cache = cache
        config = json.loads((folder / "config.json").read_bytes())
        self.dimension = int(config["hidden_size"])
        # RoBERTa numbers positions from pad_token_id + 1, so two of them are never used.
        self._max_tokens = int(config["max_position_embeddings"]) - 2
        self.token_limit = min(TOKEN_LIMIT, self._max_tokens - SPECIAL_TOKENS)

    @cached_property
    def fingerprint(self) -> str:
        """Model, digest of encoder, configuration and tokenizer, pooling, limits."""
        encoder = find_encoder(self._folder) or self._folder
        digest = sha256(digest_weights(encoder, cache=self._cache).encode())
        for name in ("config.json", "tokenizer.json"):
            digest.update(sha256((self._folder / name).read_bytes()).digest())
        limits = f"{self.token_limit}-{self._max_tokens}"
        return f"{self.name}:{digest.hexdigest()[:16]}:cls:{limits}:fp32"

    def count_tokens(self, text: str) -> int:
        """Count tokens with the model's tokenizer, which loads without torch."""
        return len(self._tokenizer.encode(_as_text(text), add_special_tokens=False).ids)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question; bge-m3 uses no query prefix."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
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
                f"FlagEmbedding cannot be loaded ({error}); run `{install_command('bge')}`"
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
    """Return a text whose ``<s>`` and the like cannot become the model's control tokens.

    The tokenizer has them as pieces too, so its own switch for this has no effect.
    """
    return _CONTROL_TOKEN.sub("< ", text)
