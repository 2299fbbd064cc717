"""Models chosen by the user, ``st:MODEL``: a folder, or ``ORGANIZATION/NAME`` of the hub.

They are loaded with ``sentence-transformers``: no code of a model is run, no pickle is read, and
only ``fetch_model`` uses the network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from logging import getLogger
from pathlib import Path
from typing import Any, Literal

import numpy as np

from memory_palace.embedding.registry import cache_folder, digest_weights, hub_cache, hub_snapshots
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.libraries import install_command
from memory_palace.models import Matrix

TOKEN_LIMIT, SPECIAL_TOKENS, BATCH_SIZE = 510, 2, 8
PATTERNS = ("*.json", "*.txt", "*.model", "*.safetensors")
"""Files of a model that are fetched, and that make up its digest."""
_HUB_NAME = re.compile(r"\A[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)


RERANKERS: Mapping[str, str] = {
    "ms-marco-minilm": "cross-encoder/ms-marco-MiniLM-L6-v2",
    "bge-reranker-v2-m3": "BAAI/bge-reranker-v2-m3",
}
"""Short names of two models of the hub: English and quick; a hundred languages and slow."""


def load(model: str, environ: Mapping[str, str]) -> StEmbedder:
    """Return the embedder; raise ``MissingPartError`` without the extra or the model."""
    need_library(f"st:{model}")
    folder = find_folder(model, environ)
    name = str(folder) if Path(model).expanduser().is_dir() else model
    return StEmbedder(f"st:{name}", folder, cache=cache_folder(environ))


class StEmbedder:
    """An embedder with one model, loaded on first use; vectors have unit length."""

    def __init__(self, name: str, folder: Path, *, cache: Path) -> None:
        self.name, self._folder, self._cache = name, folder, cache

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        return int(self._model.get_embedding_dimension())

    @property
    def token_limit(self) -> int:
        """Tokens that the model reads of a passage, at most 510."""
        return int(min(TOKEN_LIMIT, (self._model.max_seq_length or TOKEN_LIMIT) - SPECIAL_TOKENS))

    @cached_property
    def fingerprint(self) -> str:
        """Digest of weights, tokenizer, configuration and prompts, whatever their folder."""
        digest = sha256()
        for path in list_files(self._folder):
            file = digest_weights(path, cache=self._cache)
            digest.update(f"{path.relative_to(self._folder).as_posix()}:{file}\n".encode())
        return f"st:{digest.hexdigest()[:16]}:{TOKEN_LIMIT}:fp32"

    def count_tokens(self, text: str) -> int:
        """Count tokens with the model's tokenizer."""
        return len(self._model.tokenizer.encode(text, add_special_tokens=False))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question, after the model's prompt for questions if any."""
        return self._embed(self._model.encode_query, texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, after the model's prompt for passages if any."""
        return self._embed(self._model.encode_document, texts)

    def _embed(self, encode: Any, texts: Sequence[str]) -> Matrix:
        vectors: Matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if filled := [row for row, text in enumerate(texts) if text.strip()]:
            how = {"normalize_embeddings": True, "show_progress_bar": False}
            vectors[filled] = encode([texts[row] for row in filled], batch_size=BATCH_SIZE, **how)
        if not np.isfinite(vectors).all():
            raise MissingPartError(f"{self.name} gives values that are no numbers")
        return vectors

    @cached_property
    def _model(self) -> Any:
        return open_model("SentenceTransformer", self._folder)


def is_available(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the library is installed, without importing it; models are not checked."""
    return find_spec("sentence_transformers") is not None


def need_library(what: str) -> None:
    """Raise ``MissingPartError`` where ``sentence-transformers`` is not installed."""
    if not is_available():
        install = install_command("st")
        raise MissingPartError(f"{what} needs sentence-transformers; run `{install}`")


def find_folder(name: str, environ: Mapping[str, str]) -> Path:
    """Return the folder of a model; one of the hub is looked up in the Hugging Face cache.

    Raise ``MissingPartError`` if it is not on this machine, ``UsageError`` for a name that is
    neither a folder nor ``ORGANIZATION/NAME``.
    """
    try:
        if name and (folder := Path(name).expanduser()).is_dir():
            return folder.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # too long, nobody's home, a zero byte
        raise UsageError(f"there is no folder {name!r:.80}: {error}") from error
    repository = RERANKERS.get(name, name)
    if not _HUB_NAME.fullmatch(repository):
        raise UsageError(
            f"there is no folder {name!r:.80}; give that of a model, or ORGANIZATION/NAME of "
            "one in the cache of the Hugging Face hub"
        )
    try:
        found = [f for f in hub_snapshots(environ, repository) if any(f.glob("*.json"))]
    except (OSError, ValueError):  # a cache that cannot be read has no model
        found = []
    if not found:
        raise MissingPartError(
            f"the model {name} is not in {hub_cache(environ)}; run `palace models fetch {name}`, "
            "or give the folder of a model"
        )
    return found[0]


def list_files(folder: Path) -> list[Path]:
    """Return the files that determine the output of a model."""
    return sorted(path for pattern in PATTERNS for path in folder.rglob(pattern) if path.is_file())


def open_model(
    kind: Literal["SentenceTransformer", "CrossEncoder"], folder: Path, **options: Any
) -> Any:
    """Return a model loaded in float32; raise ``MissingPartError`` if it cannot be loaded."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read once, when huggingface_hub is imported
    need_library(f"the model in {folder}")
    import sentence_transformers
    import torch
    from safetensors import SafetensorError
    from transformers.utils import logging

    getLogger("sentence_transformers").setLevel("ERROR")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    weights = {"use_safetensors": True, "dtype": torch.float32}
    try:
        return getattr(sentence_transformers, kind)(
            str(folder),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs=weights,
            **options,
        )
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RuntimeError,
        ImportError,
        SafetensorError,
    ) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise MissingPartError(f"the model in {folder} cannot be used: {said:.300}") from error


def fetch_model(name: str) -> Path:
    """Download a model of the hub into its cache; return the folder."""
    need_library(f"to fetch {name}")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(RERANKERS.get(name, name), allow_patterns=[*PATTERNS]))
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split())
        raise MissingPartError(f"{name} cannot be fetched: {said:.300}") from error
