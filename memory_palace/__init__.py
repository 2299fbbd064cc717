"""A long-term memory that consists only of Markdown files.

``Palace`` is the entry point; the other names are types of its parameters, results and errors. Each
is imported on first use (PEP 562), so that ``import memory_palace`` is cheap.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # type checkers take it for true; to import typing takes 3 ms

# Read when numpy loads: on a busy machine a second BLAS thread made one query 40 times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    from memory_palace.config import Config
    from memory_palace.errors import (
        CheckFailedError,
        ConfigError,
        IndexDamagedError,
        IndexLockedError,
        IndexMissingError,
        MissingPartError,
        NotAPalaceError,
        NotesFailedError,
        PalaceError,
        StoreError,
        UsageError,
        WrongEmbedderError,
    )
    from memory_palace.index.values import IndexReport
    from memory_palace.models import (
        ChunkRecord,
        Contribution,
        Hit,
        NoteDate,
        NoteRecord,
        Problem,
        QueryResult,
        Recollection,
    )
    from memory_palace.palace import Palace
    from memory_palace.query import Query

__version__ = "0.2.0"
__all__ = [
    "CheckFailedError",
    "ChunkRecord",
    "Config",
    "ConfigError",
    "Contribution",
    "Hit",
    "IndexDamagedError",
    "IndexLockedError",
    "IndexMissingError",
    "IndexReport",
    "MissingPartError",
    "NotAPalaceError",
    "NoteDate",
    "NoteRecord",
    "NotesFailedError",
    "Palace",
    "PalaceError",
    "Problem",
    "Query",
    "QueryResult",
    "Recollection",
    "StoreError",
    "UsageError",
    "WrongEmbedderError",
    "__version__",
]
_HOMES = (
    "memory_palace.errors",
    "memory_palace.config",
    "memory_palace.models",
    "memory_palace.query",
    "memory_palace.index.values",
    "memory_palace.palace",
)
"""Modules that are searched for a public name, the cheapest import first."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    from importlib import import_module  # delayed: it takes as long as all the rest

    if name in __all__:
        for home in _HOMES:
            module = import_module(home)
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
