"""The name of the recipe that an index was made by."""

from __future__ import annotations

from memory_palace.embedding.base import Embedder
from memory_palace.errors import WrongEmbedderError
from memory_palace.index.commit import Commit
from memory_palace.recipes import CHUNKER, TOKENIZER, facts_recipe


def index_fingerprint(embedder: Embedder) -> str:
    """Name the recipe of an index; two indexes with one fingerprint may share vectors."""
    return f"{embedder.fingerprint}|{CHUNKER}|{TOKENIZER}|{facts_recipe()}"


def check_fingerprint(embedder: Embedder, commit: Commit) -> None:
    """Raise ``WrongEmbedderError`` where the index was made by another recipe."""
    if index_fingerprint(embedder) != commit.fingerprint:
        raise WrongEmbedderError(
            f"the index was built with another version of {commit.embedder} or of the chunker; "
            "run `palace index --force` to build it again"
        )
