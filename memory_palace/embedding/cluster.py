"""A Ray cluster that embeds passages: texts go out, vectors come back, one core each."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from functools import partial
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np

from memory_palace.embedding.base import Embedder
from memory_palace.embedding.workers import Promise, make_vectors
from memory_palace.errors import MissingPartError, PalaceError
from memory_palace.libraries import install_command
from memory_palace.models import Matrix

ADDRESS = "RAY_ADDRESS"
_KNOCK_SECONDS = 5.0
_RESUME = "what was embedded is kept: run `palace index --workers ray` to go on"


class RayCluster:
    """The cluster that ``RAY_ADDRESS`` names, or the one that runs on this machine.

    Its machines need this package, its weights and nothing of the palace. Ray gives a text to
    another machine where one is lost.
    """

    def __init__(self) -> None:
        """Connect; raise ``MissingPartError`` without Ray, ``PalaceError`` without a cluster."""
        try:
            import ray
        except ImportError:
            raise MissingPartError(
                f"--workers ray needs Ray; run `{install_command('ray')}`"
            ) from None
        address = os.environ.get(ADDRESS) or "auto"
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "error")
        threads = {"env_vars": {"OPENBLAS_NUM_THREADS": "1"}}
        try:
            _knock(address)
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, runtime_env=threads)
        except (OSError, ValueError, RuntimeError) as error:
            raise PalaceError(
                f"no Ray cluster answers at {address!r}; start one with `ray start --head`, or set "
                f"{ADDRESS} to HOST:PORT"
            ) from error
        self._ray: Any = ray
        self._remote = ray.remote(make_vectors).options(num_cpus=1)
        self.count = int(self._ray.cluster_resources().get("CPU", 1))
        self.ahead, self.peak_mib = 2 * self.count, 0.0

    def ask(
        self, embedder: Embedder, texts: Sequence[str], *, are_questions: bool = False
    ) -> Promise:
        """Send the texts to the next core that is free."""
        task = (embedder.name, embedder.fingerprint, list(texts), are_questions)
        return partial(self._wait, self._remote.remote(*task))

    def _wait(self, reference: Any) -> Matrix:
        failures = self._ray.exceptions
        try:
            made = self._ray.get(reference)
        except failures.RayTaskError as error:
            if isinstance(error.cause, PalaceError):
                raise error.cause from None
            raise PalaceError(f"a Ray worker failed: {error.cause}; {_RESUME}") from error
        except failures.RayError as error:
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise PalaceError(f"Ray lost a worker: {why}; {_RESUME}") from error
        self.peak_mib = max(self.peak_mib, made.peak_mib)
        return np.array(made.vectors)  # Ray's own lie in memory that it frees late

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: object) -> None:
        """Leave the cluster, which ends what still runs for this build."""
        self._ray.shutdown()


def _knock(address: str) -> None:
    """Raise ``OSError`` where nobody listens: Ray itself would try for two minutes."""
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.hostname and place.port:
        socket.create_connection((place.hostname, place.port), timeout=_KNOCK_SECONDS).close()
