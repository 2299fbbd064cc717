"""The weights of MiniLM on this machine: where they are, and whether they are the pinned ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from memory_palace.embedding.weight_digest import digest_weights
from memory_palace.errors import CheckFailedError, MissingPartError
from memory_palace.storage.atomic import write_atomic

FETCH = "palace models fetch minilm"


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file that is the same wherever it comes from."""

    name: str
    size_bytes: int
    sha256: str


MODEL = WeightFile(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER = WeightFile(
    "tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
VOCABULARY = WeightFile(
    "vocab.txt",
    231_508,
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)
"""Derived from ``tokenizer.json``, which takes 20 ms longer to read."""
MINILM_FILES = (TOKENIZER, MODEL)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for models: ``PALACE_CACHE``, else the platform's user cache."""
    if folder := environ.get("PALACE_CACHE"):
        return Path(folder).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("memory-palace", appauthor=False))


def minilm_folder(cache: Path) -> Path:
    """Return where the weights of MiniLM are kept."""
    return cache / "models" / "minilm"


def is_minilm_present(cache: Path) -> bool:
    """Whether both files are there in full length. Loading them compares their digests."""
    folder = minilm_folder(cache)
    return all(_size(folder / file.name) == file.size_bytes for file in MINILM_FILES)


def find_minilm(cache: Path) -> Path:
    """Return the folder of the weights, proved to be the pinned ones.

    The large file's digest is remembered under its stat, so this costs a query 1 ms. Raise
    ``MissingPartError`` where the weights are absent or others.
    """
    folder = minilm_folder(cache)
    if not is_minilm_present(cache):
        raise MissingPartError(f"the weights of minilm are not in {folder}; run `{FETCH}`")
    if digest_weights(folder / MODEL.name, cache=cache) != MODEL.sha256:
        raise MissingPartError(
            f"{folder / MODEL.name} is damaged: its SHA-256 is not the pinned one; run `{FETCH}`"
        )
    return folder


def verify_minilm(cache: Path) -> None:
    """Read both files in full and compare their digests.

    Raise ``MissingPartError`` where they are absent, ``CheckFailedError`` where one is damaged.
    """
    folder = minilm_folder(cache)
    if not folder.is_dir():
        raise MissingPartError(f"the weights of minilm are not in {folder}; run `{FETCH}`")
    for file in MINILM_FILES:
        path = folder / file.name
        if not path.is_file():
            raise MissingPartError(f"{path} is missing; run `{FETCH}`")
        with path.open("rb") as opened:
            found = file_digest(opened, "sha256").hexdigest()
        if found != file.sha256:
            raise CheckFailedError(
                f"{path} has SHA-256 {found}, expected {file.sha256}; run `{FETCH}`"
            )


def read_vocabulary(folder: Path) -> list[str]:
    """Return MiniLM's pieces in order of id; ``vocab.txt`` is written if it does not verify."""
    path = folder / VOCABULARY.name
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    if sha256(data).hexdigest() != VOCABULARY.sha256:
        data = _derive_vocabulary(folder / TOKENIZER.name)
        # A read-only cache costs every start 20 ms, never the answer.
        with suppress(OSError):
            write_atomic(path, data)
    return data.decode().removesuffix("\n").split("\n")


def _derive_vocabulary(path: Path) -> bytes:
    data = path.read_bytes()
    if sha256(data).hexdigest() != TOKENIZER.sha256:
        raise MissingPartError(
            f"{path} is damaged: its SHA-256 is not the pinned one; run `{FETCH}`"
        )
    ids = json.loads(data)["model"]["vocab"]
    return "".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__)).encode()


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None
