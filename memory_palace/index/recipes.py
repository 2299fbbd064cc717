"""Names of what decides the content of an index besides the embedder.

They are part of its fingerprint. They stand apart from the code they name, because a question
needs the names alone.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points, version
from importlib.util import find_spec

CHUNKER = "sections-4"
"""Bump it whenever ``notes.chunking`` can cut elsewhere or embed another text."""

TOKENIZER = "words-1"
"""Bump it whenever ``language.tokens`` can give other tokens for a text."""

FACTS = "facts-1"
"""Bump it whenever ``facts`` can extract something else from a text."""


ENRICHED = "enriched-1"
"""Bump it whenever ``facts.enrich`` can describe the same facts in other words."""


@cache
def english_pipeline() -> str | None:
    """Return the package of the English spaCy pipeline that is installed, the first by name.

    spaCy itself is not imported: that takes seconds.
    """
    if find_spec("spacy") is None:
        return None
    names = sorted(entry.name for entry in entry_points(group="spacy_models"))
    return next((name for name in names if name.startswith("en_")), None)


def facts_recipe() -> str:
    """Name what facts are extracted by: the built-in patterns, or spaCy and its pipeline."""
    pipeline = english_pipeline()
    if pipeline is None:
        return f"{FACTS}+patterns-1"
    return f"{FACTS}+spacy-{version('spacy')}+{pipeline}-{version(pipeline)}"
