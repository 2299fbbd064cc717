"""The real weights of MiniLM, for tests that need them; CI fetches them first."""

import os
from pathlib import Path

import pytest

from memory_palace.embedding.e5 import E5Embedder
from memory_palace.embedding.minilm import MiniLMEmbedder
from memory_palace.embedding.registry import E5, MINILM, cache_folder


@pytest.fixture(scope="session")
def minilm_cache() -> Path:
    """Return the user's cache, which holds the weights."""
    cache = cache_folder(os.environ)
    if not MINILM.is_present(cache):
        pytest.skip(f"the weights of minilm are not here; run `{MINILM.fetch_command}`")
    return cache


@pytest.fixture(scope="session")
def minilm_weights(minilm_cache: Path) -> Path:
    """Return the folder of the weights."""
    return MINILM.find(minilm_cache)


@pytest.fixture(scope="session")
def minilm(minilm_cache: Path) -> MiniLMEmbedder:
    """Return one embedder for all tests; it keeps nothing of what it embeds."""
    return MiniLMEmbedder(minilm_cache)


@pytest.fixture(scope="session")
def e5() -> E5Embedder:
    """Return the other model, where its weights are here."""
    cache = cache_folder(os.environ)
    if not E5.is_present(cache):
        pytest.skip(f"the weights of e5 are not here; run `{E5.fetch_command}`")
    return E5Embedder(cache)
