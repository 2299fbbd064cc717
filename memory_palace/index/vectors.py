"""Make the vectors that a build lacks, in slices that are kept should it be killed or stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memory_palace.embedding.base import find_parts
from memory_palace.embedding.pair import join_parts
from memory_palace.embedding.workers import HERE, Promise, Workers
from memory_palace.index.context import EMBEDDING, BuildContext
from memory_palace.index.known import KnownVectors
from memory_palace.index.tally import Tally
from memory_palace.index.writing import write_checkpoint
from memory_palace.models import Matrix, Vector

_SLICE = 32
"""Texts embedded at a time, but for the first: 512 at a time take as long (21 CPU s for 256)."""
_KEPT = 512
"""Vectors that are kept as one file, should the build be killed."""


class VectorMaker:
    """Embeds texts, here or by the workers of a build, and counts them."""

    def __init__(
        self, context: BuildContext, known: KnownVectors, tally: Tally, workers: Workers
    ) -> None:
        self._context, self._known, self._tally = context, known, tally
        self._workers = workers

    def make(self, missing: Sequence[bytes], texts: dict[bytes, str]) -> dict[bytes, Vector]:
        """Embed in slices, and keep what is made should the build be killed or stopped."""
        made: dict[bytes, Vector] = {}
        kept = start = 0
        try:
            self._report(len(missing))
            for part, vectors in self._make_slices(missing, texts):
                made.update(zip(part, vectors, strict=True))
                start += len(part)
                self._report(len(missing) - start)
                if start - kept >= _KEPT and start < len(missing):
                    self._keep(missing[kept:start], made)
                    kept = start
        finally:
            if kept < start < len(missing):
                self._keep(missing[kept:start], made)
        return made

    def _make_slices(
        self, missing: Sequence[bytes], texts: Mapping[bytes, str]
    ) -> Iterator[tuple[Sequence[bytes], Matrix]]:
        """Yield slices and their vectors in order. Who embeds them does not change a slice.

        So vectors are the same to the last bit: texts of one slice run together.
        """
        # To start a worker takes as long as the first slice.
        workers = self._workers if len(missing) > _SLICE else HERE
        waiting: deque[tuple[Sequence[bytes], Promise]] = deque()
        start = 0
        while start < len(missing) or waiting:
            if start < len(missing) and len(waiting) < workers.ahead:
                # The first slices are small, so that the rate is known within the first second.
                part = missing[start : start + min(max(start, 1), _SLICE)]
                waiting.append((part, self._ask(part, texts, workers)))
                start += len(part)
            else:
                part, answer = waiting.popleft()
                yield part, answer()

    def _ask(
        self, digests: Sequence[bytes], texts: Mapping[bytes, str], workers: Workers
    ) -> Promise:
        """Ask for a vector for each digest; of two embedders one may have made its half before."""
        embedder, halves = self._context.embedder, self._known.halves
        if not halves:
            return workers.ask(embedder, [texts[digest] for digest in digests])
        asked: list[tuple[dict[bytes, Vector], list[bytes], Promise]] = []
        for part in find_parts(embedder):
            found = halves[part.name].find(digests) if part.name in halves else {}
            missing = [digest for digest in digests if digest not in found]
            self._tally.reused_halves += len(digests) - len(missing)
            who = workers if missing else HERE
            asked.append((found, missing, who.ask(part, [texts[d] for d in missing])))

        def join() -> Matrix:
            for found, missing, answer in asked:
                if missing:
                    found |= zip(missing, answer(), strict=True)
            return join_parts([np.stack([found[d] for d in digests]) for found, _, _ in asked])

        return join

    def _keep(self, digests: Sequence[bytes], made: Mapping[bytes, Vector]) -> None:
        context = self._context
        if context.embedder.dimension:
            matrix = np.stack([made[digest] for digest in digests])
            write_checkpoint(context.paths.index, digests, matrix, fingerprint=context.fingerprint)

    def _report(self, left: int) -> None:
        if not self._context.embedder.dimension:
            return
        tally = self._tally
        done = tally.texts - left
        share = tally.bytes_done / tally.bytes_total if tally.bytes_total else 1.0
        total = max(tally.texts, round(tally.texts / max(share, 1e-9)))
        self._context.progress(EMBEDDING, done, total)
