"""Embedders by name. Nothing heavy is imported before its embedder is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.util import find_spec

from memory_palace.embedding.base import Embedder
from memory_palace.embedding.bge_weights import find_bge_m3
from memory_palace.embedding.weights import cache_folder, is_minilm_present
from memory_palace.errors import MissingPartError, UsageError

LLM_PREFIX = "llm:"

EMBEDDERS: Mapping[str, str] = {
    "minilm": "all-MiniLM-L6-v2, 384 dimensions, English; the default where its weights are",
    "bge-m3": "BAAI/bge-m3, 1024 dimensions, a hundred languages; needs the extra [bge]",
    "hashing": "hashed words and letters, 384 dimensions; lexical: finds words, not meanings",
    "none": "no vectors: words and facts alone answer; what an index gets where no model is",
    "llm:MODEL": "an embedding model of the llm library; needs the extra [llm]",
}
"""What each name stands for, in one line."""


def get_embedder(name: str, *, environ: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder of that name. It is cheap: weights load when the first text comes.

    Raises ``UsageError`` for a name nobody knows, ``MissingPartError`` for a missing extra.
    """
    if name.startswith(LLM_PREFIX) and len(name) > len(LLM_PREFIX):
        from memory_palace.embedding.llm_models import load_llm_embedder

        return load_llm_embedder(name.removeprefix(LLM_PREFIX))
    cache = cache_folder(environ)
    if name == "minilm":
        from memory_palace.embedding.minilm import MiniLMEmbedder

        return MiniLMEmbedder(cache)
    if name == "bge-m3":
        from memory_palace.embedding.bge_m3 import load_bge_m3

        return load_bge_m3(environ, cache)
    if name == "hashing":
        from memory_palace.embedding.hashing import HashingEmbedder

        return HashingEmbedder()
    if name == "none":
        from memory_palace.embedding.none import NoEmbedder

        return NoEmbedder()
    raise UsageError(describe_unknown(name))


def is_available(name: str, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the packages and weights of an embedder are here; imports none of them."""
    if name.startswith(LLM_PREFIX):
        return find_spec("llm") is not None
    if name == "minilm":
        return is_minilm_present(cache_folder(environ))
    if name == "bge-m3":
        return find_spec("FlagEmbedding") is not None and _has_bge_weights(environ)
    if name in ("hashing", "none"):
        return True
    raise UsageError(describe_unknown(name))


def _has_bge_weights(environ: Mapping[str, str]) -> bool:
    try:
        find_bge_m3(environ, cache_folder(environ))
    except MissingPartError:
        return False
    return True


def describe_unknown(name: str) -> str:
    """Return the message for a name nobody knows: the known ones, and the nearest."""
    near = get_close_matches(name, EMBEDDERS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no embedder {name!r}{hint} (known: {', '.join(EMBEDDERS)})"
