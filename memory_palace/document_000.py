"""The old name of ``memory_palace.documents``, which goes with the next version."""

from __future__ import annotations

import warnings

from memory_palace import documents


def __getattr__(name: str) -> object:
    """Return a name of the document from where it is now, with a warning."""
    if name not in documents.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    text = f"import {name} from memory_palace.documents; document_000 goes with the next version"
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return getattr(documents, name)
