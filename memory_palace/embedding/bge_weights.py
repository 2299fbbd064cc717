"""Where the weights of bge-m3 are on this machine, checked before anything is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from memory_palace.errors import MissingPartError

MODEL_ID = "BAAI/bge-m3"
VARIABLE = "PALACE_BGE_M3"
ENCODERS = ("model.safetensors", "pytorch_model.bin")
"""Either holds the encoder; transformers prefers the first, and the hub has the second."""
REQUIRED = ("config.json", "tokenizer.json", "sparse_linear.pt", "colbert_linear.pt")
"""Without both head files FlagEmbedding fills the heads with random numbers and says nothing."""


def find_bge_m3(environ: Mapping[str, str], cache: Path) -> Path:
    """Return a complete folder of weights, or raise ``MissingPartError`` with the steps.

    It looks where ``PALACE_BGE_M3`` points, and nowhere else if that is set; then in
    ``models/bge-m3`` of ``cache``; then in the Hugging Face hub's cache.
    """
    if named := environ.get(VARIABLE):
        folder = Path(named).expanduser()
        check_bge_m3(folder, f"{VARIABLE} points to {folder}")
        return folder
    own = cache / "models" / "bge-m3"
    for folder in (own, *_hub_snapshots(environ)):
        if folder.is_dir() and not missing_files(folder):
            return folder
    raise MissingPartError(
        f"the weights of bge-m3 are not on this machine (looked in {own} and the Hugging Face "
        f"cache); run `hf download {MODEL_ID} --exclude 'onnx/*'`, or copy that folder from "
        f"another machine and set {VARIABLE} to it"
    )


def check_bge_m3(folder: Path, where: str) -> None:
    """Raise ``MissingPartError`` unless ``folder`` holds every file the model is made of.

    FlagEmbedding takes a path that does not exist for the name of a model to download.
    """
    if not folder.is_dir():
        raise MissingPartError(f"{where}, which is not a folder; it must hold {MODEL_ID}'s files")
    if missing := missing_files(folder):
        raise MissingPartError(
            f"{where}, which lacks {', '.join(missing)}; copy the whole of {MODEL_ID} there "
            f"(`hf download {MODEL_ID} --exclude 'onnx/*' --local-dir {folder}`)"
        )


def missing_files(folder: Path) -> tuple[str, ...]:
    """Name the files of the model that ``folder`` lacks."""
    missing = [name for name in REQUIRED if not (folder / name).is_file()]
    if find_encoder(folder) is None:
        missing.append(" or ".join(ENCODERS))
    return tuple(missing)


def find_encoder(folder: Path) -> Path | None:
    """Return the file of encoder weights that is loaded from ``folder``."""
    return next((folder / name for name in ENCODERS if (folder / name).is_file()), None)


def _hub_snapshots(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the downloaded revisions, the one that ``main`` names first.

    The layout is read here because importing ``huggingface_hub`` for it costs 0.3 s.
    """
    repository = _hub_cache(environ) / f"models--{MODEL_ID.replace('/', '--')}"
    snapshots = repository / "snapshots"
    main = repository / "refs" / "main"
    if main.is_file():
        yield snapshots / main.read_text("utf-8").strip()
    if snapshots.is_dir():
        yield from sorted(snapshots.iterdir())


def _hub_cache(environ: Mapping[str, str]) -> Path:
    if folder := environ.get("HF_HUB_CACHE"):
        return Path(folder).expanduser()
    if folder := environ.get("HF_HOME"):
        return Path(folder).expanduser() / "hub"
    caches = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "huggingface" / "hub"
