"""A long-term memory that is nothing but Markdown files.

``Palace`` is the way in: it joins notes, index and retrieval. It is imported on first use, so
that ``import memory_palace`` costs next to nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

# Read when numpy loads: on a busy machine a second BLAS thread made one query 40 times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    from memory_palace.palace import Palace

__version__ = "0.1.0"
__all__ = ["Palace", "__version__"]


def __getattr__(name: str) -> object:
    """Import the public class when it is first asked for (PEP 562)."""
    if name == "Palace":
        from memory_palace.palace import Palace

        return Palace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
