"""Who embeds the passages of a build: this process, several of this machine, or a Ray cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeAlias

from memory_palace.embedding.base import Embedder, find_parts
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.models import Matrix

Promise: TypeAlias = Callable[[], Matrix]
"""Waits for the vectors that were asked for, and returns them."""
RAY = "ray"


class Workers(Protocol):
    """What embeds texts that it is given, until the block ends that they are entered for."""

    count: int
    """How many processes work at once, other than this; 0 where none does."""
    ahead: int
    """How many answers may be waited for at once."""
    peak_mib: float
    """Memory of the largest process so far, with the weights that all of them share."""

    def ask(
        self, embedder: Embedder, texts: Sequence[str], *, are_questions: bool = False
    ) -> Promise:
        """Have texts embedded; the answer raises ``PalaceError`` where that failed."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *what: object) -> None: ...


class Here:
    """The process of the build, which embeds texts when their vectors are wanted."""

    count, ahead, peak_mib = 0, 1, 0.0

    def ask(
        self, embedder: Embedder, texts: Sequence[str], *, are_questions: bool = False
    ) -> Promise:
        """Return what embeds the texts."""
        return partial(_embed, embedder, texts, are_questions=are_questions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: object) -> None:
        """End nothing."""


HERE = Here()


class OneThread(Here):
    """The process of the build, with one thread, so that the other cores are left to others."""

    def __enter__(self) -> Self:
        from memory_palace.embedding import forward  # delayed: not every embedder needs it

        self._before, forward.THREADS = forward.THREADS, 1
        return self

    def __exit__(self, *what: object) -> None:
        from memory_palace.embedding import forward

        forward.THREADS = self._before


class Made(NamedTuple):
    """Vectors that a worker made, and the most memory that it has taken."""

    vectors: Matrix
    peak_mib: float


def open_workers(asked: int | str | None, embedder: Embedder) -> Workers:
    """Return the workers of a build: so many processes, ``ray``, or this process for ``None``.

    Nothing is started before there is work. Raise ``UsageError`` for another word or number, and
    for processes of a model that takes every core by itself.
    """
    if asked is None:
        return HERE
    if asked == RAY:
        from memory_palace.embedding.cluster import RayCluster  # delayed: an extra

        return RayCluster()
    count = _read_count(asked)
    for part in find_parts(embedder):
        if getattr(part, "takes_all_cores", False):
            raise UsageError(
                f"{part.name} works on every core or on a graphics card by itself, and takes "
                "gigabytes a process; index without --workers, or with --workers ray"
            )
    if count == 1:
        return OneThread()
    from memory_palace.embedding.processes import Processes  # delayed: most builds have none

    return Processes(count)


def _read_count(asked: int | str) -> int:
    cores = os.cpu_count() or 1
    word = str(asked)
    if not (word.isascii() and word.isdecimal() and len(word) < 5 and 1 <= int(word) <= cores):
        raise UsageError(
            f"--workers {word[:20]}: this machine has {cores} processors; give a number from 1 to "
            f"{cores}, or {RAY} for the cluster that RAY_ADDRESS names"
        )
    return int(word)


def make_vectors(
    name: str, fingerprint: str, texts: Sequence[str], are_questions: bool = False
) -> Made:
    """Embed texts in a worker. Raise ``WrongEmbedderError`` where its model is another."""
    embedder = _load(name)
    if embedder.fingerprint != fingerprint:
        from socket import gethostname  # delayed: no other path needs it

        raise WrongEmbedderError(
            f"{name} on {gethostname()} is {embedder.fingerprint}, and {fingerprint} here; "
            "install the same version of memory-palace and the same weights on both"
        )
    vectors = _embed(embedder, texts, are_questions=are_questions)
    return Made(vectors, measure_peak_mib())


def _embed(embedder: Embedder, texts: Sequence[str], *, are_questions: bool) -> Matrix:
    return (embedder.embed_queries if are_questions else embedder.embed_passages)(texts)


@cache
def _load(name: str) -> Embedder:
    """Return an embedder that works in one thread: the others have a process of their own."""
    from memory_palace.embedding import forward

    forward.THREADS = 1
    return get_embedder(name)


def measure_peak_mib() -> float:
    """Return the most memory that this process has held.

    ``ru_maxrss`` of a process that Linux has just started is that of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = (line.split() for line in status.read_text("ascii", "replace").splitlines())
        return next((int(line[1]) / 1024 for line in lines if line[:1] == ["VmHWM:"]), 0.0)
    import resource  # delayed: Windows has none

    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
