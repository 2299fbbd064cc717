"""The data, weights and checkout that a measurement needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import memory_palace
from benchmarks.generate import scratch_folder
from benchmarks.golden import copy_vault
from benchmarks.runs import Progress
from memory_palace.embedding.registry import is_available
from memory_palace.errors import MissingPartError

HOME = Path(memory_palace.__file__).parent
GARDEN = "vaults/jackyzha0-garden"
_HIDDEN = shutil.ignore_patterns(".*")


@dataclass(frozen=True, slots=True)
class Given:
    """What is at hand to measure with."""

    data: Path | None
    """A folder of question sets and vaults, laid out as references/measurements.md says."""
    cache: Path
    """Where vectors, indexes and runs are kept."""
    runs: int = 5
    progress: Progress = lambda what, done, total: None

    def find(self, name: str) -> Path:
        """Return a file or folder of the data; raise ``MissingPartError`` where it is not."""
        if self.data is None or not (self.data / name).exists():
            raise MissingPartError(f"needs --data with {name}")
        return self.data / name

    def find_talks(self) -> tuple[Path, Path]:
        """Return LoCoMo's file and its labels."""
        return self.find("locomo/locomo_dev.json"), self.find("locomo/gold_dev.jsonl")


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
