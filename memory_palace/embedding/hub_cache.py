"""Where the Hugging Face hub's own tools keep what they have downloaded.

The layout is read here because importing ``huggingface_hub`` for it costs 0.3 s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path


def hub_cache(environ: Mapping[str, str]) -> Path:
    """Return the folder of all models, by the rules that ``huggingface_hub`` documents."""
    if folder := environ.get("HF_HUB_CACHE"):
        return Path(folder).expanduser()
    if folder := environ.get("HF_HOME"):
        return Path(folder).expanduser() / "hub"
    caches = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "huggingface" / "hub"


def hub_snapshots(environ: Mapping[str, str], model_id: str) -> Iterator[Path]:
    """Yield the downloaded revisions of a model, the one that ``main`` names first."""
    repository = hub_cache(environ) / f"models--{model_id.replace('/', '--')}"
    snapshots = repository / "snapshots"
    main = repository / "refs" / "main"
    if main.is_file():
        yield snapshots / main.read_text("utf-8").strip()
    if snapshots.is_dir():
        yield from sorted(snapshots.iterdir())
