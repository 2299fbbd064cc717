"""Memories: notes with an image, a content and a token that proves that they were read.

The names of source document 000 can be imported from here; each is loaded when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Memory": "memory_palace.mnemonics.values",
    "calculate_retrieval_score": "memory_palace.mnemonics.confidence",
    "cosine_similarity": "memory_palace.mnemonics.confidence",
    "HierarchicalIndex": "memory_palace.mnemonics.hierarchy",
    "VerificationChecker": "memory_palace.mnemonics.verification",
    "run_red_queen": "memory_palace.redqueen.session",
    "Strategy": "memory_palace.redqueen.values",
    "Question": "memory_palace.redqueen.values",
    "Evaluation": "memory_palace.redqueen.values",
}
"""The Red Queen stands above this layer: it is only imported for who asks for it by this way."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
