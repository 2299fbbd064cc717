"""Names of what decides the content of an index besides the embedder.

They are part of its fingerprint. They stand apart from the code they name, because a question
needs the names alone.
"""

from __future__ import annotations

CHUNKER = "sections-3"
"""Bump it whenever ``notes.chunking`` can cut elsewhere or embed another text."""

TOKENIZER = "words-1"
"""Bump it whenever ``language.tokens`` can give other tokens for a text."""

FACTS = "facts-1"
"""Bump it whenever ``facts`` can extract something else from a text."""
