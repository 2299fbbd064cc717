"""What there is to measure with: data, weights, an earlier commit; and what says that it lacks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import memory_palace
from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.runs import Progress
from memory_palace.bench.shown import Draw
from memory_palace.bench.timing import Measured
from memory_palace.embedding.registry import is_available
from memory_palace.errors import MissingPartError

BASE = "1722493"
"""The commit that ``before`` is of."""
HOME = Path(memory_palace.__file__).parent
GARDEN = "vaults/jackyzha0-garden"
AskServer: TypeAlias = Callable[[Sequence[str]], bytes]
"""Sends a command line to the server of a palace, and returns its reply, which is not read."""
Connect: TypeAlias = Callable[[Path], AbstractContextManager[AskServer]]
"""Connects with that server."""
_HIDDEN = shutil.ignore_patterns(".*")


def connect_nowhere(root: Path) -> AbstractContextManager[AskServer]:
    """Raise ``MissingPartError``: what measures has not said how a server is talked to."""
    raise MissingPartError("needs a server, which `palace bench` talks to")


@dataclass(frozen=True, slots=True)
class Given:
    """What is at hand to measure with."""

    data: Path | None
    """A folder of question sets and vaults, laid out as references/performance.md says."""
    base: Path | None
    """A checkout of the commit ``BASE``."""
    cache: Path
    """Where vectors, indexes and runs are kept."""
    runs: int = 5
    progress: Progress = lambda what, done, total: None
    draw: Draw = lambda root, result: ""
    connect: Connect = connect_nowhere

    def find(self, name: str) -> Path:
        """Return a file or folder of the data; raise ``MissingPartError`` where it is not."""
        if self.data is None or not (self.data / name).exists():
            raise MissingPartError(f"needs --data with {name}")
        return self.data / name

    def find_talks(self) -> tuple[Path, Path]:
        """Return LoCoMo's file and its labels."""
        return self.find("locomo/locomo_dev.json"), self.find("locomo/gold_dev.jsonl")


def at_least(
    what: str, value: float, unit: str, limit: float | None, before: float | None = None
) -> Measured:
    """Return a figure that may not be less than its limit."""
    return Measured(what, value, unit, limit=limit, at_least=True, before=before)


def need_models(*names: str) -> None:
    """Raise ``MissingPartError`` where the weights of an embedder are not here."""
    for name in names:
        if not is_available(name):
            raise MissingPartError(f"needs {name}; run `palace models fetch {name}`")


def checkout(name: str) -> Path:
    """Return a folder of the project's own checkout."""
    folder = HOME.parent / name
    if not folder.is_dir():
        raise MissingPartError(f"needs a checkout of the project, which has {name}")
    return folder


@contextmanager
def sample_palace() -> Iterator[Path]:
    """Give a copy of the sample palace; it is gone afterwards."""
    with scratch_folder() as root:
        shutil.copytree(checkout("palace"), root / "palace", ignore=_HIDDEN)
        yield root


@contextmanager
def garden(given: Given) -> Iterator[Path]:
    """Give a copy of the garden; it is gone afterwards."""
    with scratch_folder() as root:
        copy_vault(given.find(GARDEN), root)
        yield root
