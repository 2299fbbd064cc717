"""Ask git, where it is there: read only, and never by a program that a repository chose."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 30
_OPTIONS = ("--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false")
"""Status must not rewrite git's index, a name such as ``a[1].md`` is not a pattern, and a
repository must not choose a program to run."""
PATHS_ON_A_COMMAND_LINE = 100


def is_in_repository(root: Path) -> bool:
    """Say whether a folder is in a work tree, without starting git."""
    absolute = root.absolute()
    return any((folder / ".git").exists() for folder in (absolute, *absolute.parents))


def run_git(root: Path, *arguments: str) -> str | None:
    """Run git and return what it printed, or ``None`` where it failed or is not there."""
    command = ["git", "-C", str(root), *_OPTIONS, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def uncommitted(root: Path, paths: Sequence[str]) -> list[str]:
    """Return those paths that git tracks and whose bytes differ from the last commit.

    An untracked note has no committed state that it could differ from.
    """
    if not paths or not is_in_repository(root):
        return []
    prefix = (run_git(root, "rev-parse", "--show-prefix") or "").strip("\n")
    asked = sorted(paths) if len(paths) <= PATHS_ON_A_COMMAND_LINE else ["."]
    status = run_git(
        root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--", *asked
    )
    changed = {entry[3:] for entry in (status or "").split("\0") if len(entry) > 3}
    return [path for path in sorted(set(paths)) if prefix + path in changed]
