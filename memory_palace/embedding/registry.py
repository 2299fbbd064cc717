"""Embedders: what one can do, and all of them by name.

Each is a module here and a line of ``EMBEDDERS``; nothing heavy is imported before it is asked for.
The module has ``load(model, environ)``, where ``model`` is what follows the colon of the name;
``is_available(environ)`` unless it always is; and ``find_weights(environ)`` if it has weights,
but for the pinned models, whose place and files ``weights`` knows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from memory_palace.embedding.weights import PINNED, cache_folder
from memory_palace.errors import UsageError, WrongEmbedderError, did_you_mean
from memory_palace.models import Matrix

EMBEDDERS: Mapping[str, tuple[str, str]] = {
    "minilm": ("minilm", "English, quick; 91 MB (all-MiniLM-L6-v2, Apache-2.0)"),
    "e5": (
        "e5",
        "a hundred languages; 91 MB, 163 MB on disk (multilingual-e5-small in 4 bits, MIT)",
    ),
    "bge-m3": ("bge_m3", "a hundred languages, slow; 2.3 GB, the extra [bge] (BAAI/bge-m3, MIT)"),
    "hashing": ("hashing", "for tests: compares words and letters, not what they mean"),
    "none": ("none", "no vectors: words alone answer; what an index gets without a model"),
    "llm:MODEL": ("llm_models", "a model of the llm library, often of a service; the extra [llm]"),
    "st:MODEL": (
        "st_models",
        "your own: a sentence-transformers folder, or a name of the hub; the extra [st]",
    ),
}
"""By name: the module, and what it is in one line. ``MODEL`` stands for the name of any model."""
DEFAULT, NO_VECTORS = "minilm", "none"
MULTILINGUAL = ("e5", "bge-m3")
"""Those that know other languages than English; the first is the one to recommend."""
OFFERED = (DEFAULT, MULTILINGUAL[0])
"""Those that `palace models fetch` brings, and an index takes where nobody chose."""


class Embedder(Protocol):
    """Turns texts into unit vectors. Building one is cheap; weights load on first use."""

    @property
    def name(self) -> str:
        """The name it is chosen by, such as ``minilm`` or ``llm:MODEL``."""
        ...

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        ...

    @property
    def token_limit(self) -> int:
        """How many tokens of a passage it sees, special tokens not counted."""
        ...

    @property
    def fingerprint(self) -> str:
        """Everything that changes its vectors: model, weights digest, pooling, prefix, limit."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count tokens the way the model does, without special tokens and without a limit."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question, shape ``(len(texts), dimension)``."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without any token."""
        ...


class Choice(NamedTuple):
    """The embedder that a build uses."""

    name: str
    waits_for: str = ""
    """The one that it stands in for until that is here; empty where it was chosen."""


def get_embedder(name: str, *, environ: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder of that name. It is cheap: weights load when the first text comes.

    Raises ``UsageError`` for an unknown name, ``MissingPartError`` for a missing extra.
    """
    module, model = _find(name)
    embedder: Embedder = module.load(model, environ)
    return embedder


def is_available(name: str, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the packages and weights of an embedder are here; imports none."""
    if name in PINNED:
        return PINNED[name].is_present(cache_folder(environ))
    module, _ = _find(name)
    return not hasattr(module, "is_available") or bool(module.is_available(environ))


def reads_english_alone(name: str) -> bool:
    """Whether an embedder knows English and no other language."""
    return name == DEFAULT


def find_ready(preferred: Sequence[str], *, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the first embedder that is here, of those that would serve the notes."""
    return next((name for name in preferred if is_available(name, environ=environ)), None)


def find_weights(name: str, *, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of an embedder's weights; ``None`` where it has none of its own."""
    if name in PINNED:
        return PINNED[name].folder(cache_folder(environ))
    module, _ = _find(name)
    folder: Path | None = module.find_weights(environ) if hasattr(module, "find_weights") else None
    return folder


def choose_embedder(
    *,
    asked: str | None,
    configured: str | None,
    committed: str | None,
    waits_for: str = "",
    preferred: Sequence[str] = OFFERED,
    force: bool,
    takes_up: bool = True,
) -> Choice:
    """Choose the embedder to build with.

    ``asked`` is the flag, ``configured`` what ``palace.yaml`` says, ``committed`` what the index
    was built with. Another one than the committed needs ``force``: vectors of two models do not
    mix. Without any of them it is the first of the ``preferred`` ones whose weights are here; if
    none is, there are no vectors and the index ``waits_for`` the first: the build that
    ``takes_up`` models makes them once it is here. An index whose embedder somebody chose waits
    for nothing.
    """
    wanted = asked or configured
    if committed is None or (waits_for and wanted is None):
        ready = wanted or find_ready(preferred)
        if ready and (wanted or takes_up or committed is None):
            return Choice(ready)
        return Choice(committed or NO_VECTORS, preferred[0])
    if force or wanted in (None, committed, waits_for):
        return Choice(wanted or committed)
    raise WrongEmbedderError(
        f"the index was built with {committed}, not {wanted}; keep it, or run "
        f"`palace index --force --embedder {wanted}` to build it again"
    )


def _find(name: str) -> tuple[Any, str]:
    """Return the module of an embedder, and the model its name asks for."""
    kind, _, model = name.partition(":")
    entry = EMBEDDERS.get(f"{kind}:MODEL" if model else name)
    if entry is None:
        hint = did_you_mean(name, EMBEDDERS)
        raise UsageError(f"unknown embedder {name!r}{hint} (known: {', '.join(EMBEDDERS)})")
    return import_module(f"memory_palace.embedding.{entry[0]}"), model
