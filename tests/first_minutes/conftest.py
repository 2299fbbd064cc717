"""An empty home, in which commands run as a person or cron types them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from memory_palace.embedding.registry import MINILM, cache_folder, is_available

ROOT = Path(__file__).parent.parent.parent
PALACE = Path(sys.executable).parent / "palace"
"""The command as an installation puts it beside its interpreter."""
CACHE = Path(".cache/memory-palace")


@dataclass(frozen=True)
class Home:
    """A home folder with nothing in it but, where this machine has it, the model."""

    path: Path

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.path), "PATH": "/usr/bin:/bin", "TMPDIR": str(self.path / "tmp")}
        return own | {"LANG": "C.UTF-8", "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}

    def run(
        self, *command: object, cwd: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def palace(self, *arguments: object, cwd: Path) -> str:
        """Run ``palace``; return what it prints, and fail where it does."""
        done = self.run(PALACE, *arguments, cwd=cwd)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose model cache leads to that of this machine, if the model is there."""
    home = tmp_path / "home"
    (home / "tmp").mkdir(parents=True)
    if is_available("minilm"):
        there = MINILM.folder(home / CACHE)
        there.parent.mkdir(parents=True)
        there.symlink_to(MINILM.folder(cache_folder(os.environ)))
    return Home(home)


def take_state(folder: Path, *, leave_out: frozenset[str] = frozenset()) -> dict[str, object]:
    """Return the bytes, mode and times of everything below a folder, by its relative path."""
    state: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] not in leave_out:
            stat = path.lstat()
            digest = sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            times = (stat.st_mtime_ns, stat.st_ctime_ns) if path.is_file() else ()
            state[name.as_posix()] = (digest, stat.st_mode, times)
    return state
