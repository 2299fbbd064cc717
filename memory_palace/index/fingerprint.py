"""The name of the recipe that an index was made by."""

from __future__ import annotations

from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.index.commit import Commit
from memory_palace.index.recipes import CHUNKER, ENRICHED, TOKENIZER, facts_recipe


def index_fingerprint(embedder: Embedder, *, is_enriched: bool = False) -> str:
    """Name the recipe of an index; two indexes with one fingerprint may share vectors."""
    recipe = f"{embedder.fingerprint}|{CHUNKER}|{TOKENIZER}|{facts_recipe()}"
    return f"{recipe}|{ENRICHED}" if is_enriched else recipe


def is_enriched(fingerprint: str) -> bool:
    """Whether an index of that recipe has a second vector per chunk, of what describes it."""
    return fingerprint.rpartition("|")[2].startswith(ENRICHED.partition("-")[0])


def check_fingerprint(embedder: Embedder, commit: Commit) -> None:
    """Raise ``WrongEmbedderError`` where the index was made by another recipe."""
    recipe = index_fingerprint(embedder, is_enriched=is_enriched(commit.fingerprint))
    if recipe != commit.fingerprint:
        raise WrongEmbedderError(
            f"the index was built with another version of {commit.embedder} or of the chunker; "
            "run `palace index --force` to build it again"
        )


def choose_enrichment(commit: Commit | None, *, asked: bool | None, force: bool) -> bool:
    """Say whether a build describes its chunks: as asked, else as the index has it.

    Raise ``UsageError`` where only building anew could do what is asked.
    """
    committed = is_enriched(commit.fingerprint) if commit else False
    if asked is None or asked == committed:
        return committed
    if commit is not None and not force:
        flag = "--enrich" if asked else "--no-enrich"
        has = "no second vectors" if asked else "second vectors"
        raise UsageError(f"the index has {has}; run `palace index --force {flag}` to change that")
    return asked
