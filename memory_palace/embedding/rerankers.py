"""Cross-encoders known by name, and where the model is that a name or a folder stands for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from memory_palace.embedding.weights import (
    PinnedModel,
    WeightFile,
    cache_folder,
    hub_cache,
    hub_snapshots,
)
from memory_palace.errors import MissingPartError, UsageError

FILES = ("config.json", "tokenizer.json", "model.safetensors")
"""Of a model, as the Hugging Face hub has it."""
_CONFIG, _TOKENIZER, _WEIGHTS = FILES
RERANKERS: Mapping[str, PinnedModel] = {
    "ms-marco-minilm": PinnedModel(
        "ms-marco-minilm",
        (
            WeightFile(
                _CONFIG,
                794,
                "380e02c93f431831be65d99a4e7e5f67c133985bf2e77d9d4eba46847190bacc",
            ),
            WeightFile(
                _TOKENIZER,
                711_396,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
            WeightFile(
                _WEIGHTS,
                90_870_598,
                "821d1aa69520101d6e0737f78a042ae25b19e5cb9160701909d10434f4aeb0ae",
            ),
        ),
        download="92 MB",
        repository="cross-encoder/ms-marco-MiniLM-L6-v2",
        revision="c5ee24cb16019beea0893ab7796b1df96625c6b8",
    ),
    "bge-reranker-v2-m3": PinnedModel(
        "bge-reranker-v2-m3",
        (
            WeightFile(
                _CONFIG,
                795,
                "13dcd6c31d9fec9d1d8e158702072f62d7fa7d312a64b9fe057bec9a08cfe41a",
            ),
            WeightFile(
                _TOKENIZER,
                17_098_273,
                "69564b696052886ed0ac63fa393e928384e0f8caada38c1f4864a9bfbf379c15",
            ),
            WeightFile(
                _WEIGHTS,
                2_271_071_852,
                "d9e3e081faff1eefb84019509b2f5558fd74c1a05a2c7db22f74174fcedb5286",
            ),
        ),
        download="2.3 GB",
        repository="BAAI/bge-reranker-v2-m3",
        revision="953dc6f6f85a1b2dbfca4c34a2796e7dde08d41e",
    ),
}
"""Sizes and digests are those that several people who have the files wrote down, all of them alike;
here they were never downloaded. A file that differs is refused."""
ABOUT: Mapping[str, str] = {
    "ms-marco-minilm": "reranks English, quick; 92 MB (ms-marco-MiniLM-L6-v2, Apache-2.0)",
    "bge-reranker-v2-m3": "reranks a hundred languages, slow; 2.3 GB (BAAI, Apache-2.0)",
}


def is_reranker_here(name: str, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a reranker of ``RERANKERS`` can be used without fetching it."""
    return _find_pinned(RERANKERS[name], environ) is not None


def find_cross_encoder(
    name: str,
    *,
    named: Mapping[str, PinnedModel] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Path:
    """Return the folder of a model: one that is ``named``, a folder, or ``ORGANIZATION/NAME``.

    ``RERANKERS`` are named by default. The last is looked up in the Hugging Face cache. Raise
    ``MissingPartError`` where it is not on this machine, ``UsageError`` for a name that stands for
    nothing.
    """
    named = RERANKERS if named is None else named
    if (pinned := named.get(name)) is not None:
        folder = _find_pinned(pinned, environ)
        if folder is not None:
            return folder
        raise MissingPartError(
            f"the weights of {name} are not on this machine; run `{pinned.fetch_command}` "
            f"({pinned.download}), or give the folder of a model"
        )
    try:
        folder = Path(name).expanduser()
        if name and folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError) as error:  # too long, nobody's home, a zero byte
        raise UsageError(f"there is no folder {name!r:.80}: {error}") from error
    if name.count("/") == 1 and not name.startswith((".", "~", "/")):
        for snapshot in _list_snapshots(name, environ):
            return snapshot
        raise MissingPartError(
            f"there is no folder {name}, and {hub_cache(environ)} does not have that model; run "
            f"`hf download {name}`, or give the folder of a model"
        )
    if not named:
        raise UsageError(
            f"there is no folder {name!r:.80}; give that of a model, or ORGANIZATION/NAME of one "
            "in the cache of the Hugging Face hub"
        )
    near = get_close_matches(name, named, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(
        f"there is no folder {name!r:.80}, and no reranker of that name{hint} "
        f"(known: {', '.join(named)}; see `palace models list`)"
    )


def _find_pinned(model: PinnedModel, environ: Mapping[str, str]) -> Path | None:
    """Return where the files of a model are: fetched and proved, else in the Hugging Face cache."""
    cache = cache_folder(environ)
    if model.is_present(cache):
        return model.find(cache)
    return next(filter(_is_whole, _list_snapshots(model.repository, environ)), None)


def _list_snapshots(repository: str, environ: Mapping[str, str]) -> list[Path]:
    """Return the downloaded revisions of a model, those that are whole first."""
    try:
        found = [folder for folder in hub_snapshots(environ, repository) if folder.is_dir()]
    except (OSError, ValueError):  # a cache that cannot be read has no model
        return []
    return sorted(found, key=_is_whole, reverse=True)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)
