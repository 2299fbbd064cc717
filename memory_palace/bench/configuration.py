"""What a run's answers depend on, in one digest: they are never reused where it differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path

import memory_palace
from memory_palace.bench.datasets.items import Collection, EvalDocument, EvalQuestion
from memory_palace.retrieval.profiles import Profile

_LENGTH, _SHORT = 24, 8
_INDEXING = ("language", "notes", "embedding", "index", "facts")
"""Packages that decide what is in an index."""
_SCORING = (
    *("bench/datasets", "bench/corpora.py", "bench/systems.py", "bench/metrics.py"),
    *("bench/product.py", "ranking.py"),
)
_RANKING = (
    *_INDEXING,
    "graph",
    "anchors",
    "retrieval",
    "engine.py",
    "palace.py",
    "ranking.py",
    *_SCORING,
)
"""Packages and modules that decide how it is ranked and scored."""


def digest_run(collections: Iterable[Collection], system: str | Profile, fingerprint: str) -> str:
    """Digest everything that can change an answer: data, profile, embedder, and our own code."""
    told = f"{fingerprint}\n{_digest_code(_RANKING)}\n{_recipe(system)}\n"
    return sha256(f"{told}{_digest_collections(collections)}".encode()).hexdigest()[:_LENGTH]


def digest_data(collections: Iterable[Collection]) -> str:
    """Digest what is asked of what, in a few letters for the name of a file."""
    return _digest_collections(collections)[:_SHORT]


def digest_index(collection: Collection, fingerprint: str) -> str:
    """Digest everything that can change the index of a collection."""
    whole = sha256(f"{fingerprint}\n{_digest_code(_INDEXING)}\n".encode())
    for document in collection.documents:
        whole.update(json.dumps(asdict(document)).encode())
    return whole.hexdigest()[:_LENGTH]


def _digest_collections(collections: Iterable[Collection]) -> str:
    whole = sha256()
    for collection in collections:
        whole.update(f"{collection.group}{collection.ranks_passages}".encode())
        parts: list[EvalDocument | EvalQuestion] = [*collection.documents, *collection.questions]
        for part in parts:
            whole.update(json.dumps(asdict(part), default=sorted).encode())
    return whole.hexdigest()


def _recipe(system: str | Profile) -> str:
    if isinstance(system, str):
        return system
    weights = sorted(system.weights.items())
    guards = sorted(system.capped), system.cap, system.preserves_rank, sorted(system.gated)
    return json.dumps([weights, *guards])


@cache
def _digest_code(parts: Sequence[str]) -> str:
    """Digest source code, so that a changed signal is never answered for by old rankings.

    ``recipes`` counts the versions of what is written into an index; it is bumped when a change
    is finished, and measuring is what one does before.
    """
    home = Path(memory_palace.__file__).parent
    whole = sha256()
    for part in parts:
        found = home / part
        for path in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
            whole.update(f"{path.relative_to(home).as_posix()}\n".encode() + path.read_bytes())
    return whole.hexdigest()
