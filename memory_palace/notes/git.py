"""Ask git, where it is there, when notes were committed and which differ from that.

Read only, and never by a program that a repository chose.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

_SECONDS = 30
_OPTIONS = ("--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false")
"""Status must not rewrite git's index, a name such as ``a[1].md`` is not a pattern, and a
repository must not choose a program to run."""
_MOST_PATHS = 100
_LOG_OPTIONS = (
    "--format=%x01%ct%d --decorate-refs=- --name-only -z --no-renames --diff-filter=AMR".split()
)
"""Of a shallow clone ``%d`` marks the first commit, which has every file."""


def git_head(root: Path) -> str | None:
    """Return the commit that is checked out, or ``None`` outside a repository."""
    if not _is_in_repository(root):
        return None
    out = _run(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return out.strip() or None if out else None


def git_commit_times(root: Path, paths: Collection[str]) -> dict[str, float]:
    """Return the time of the last commit of those paths that are tracked and clean.

    One pass over the log and one over the status, whatever the number of paths.
    """
    if not _is_in_repository(root):
        return {}
    prefix = (_run(root, "rev-parse", "--show-prefix") or "").strip("\n")
    changed = _run(root, "status", "--porcelain", "-z", "--no-renames", "--", ".")
    asked = sorted(paths) if len(paths) <= _MOST_PATHS else ["."]
    log = _run(root, "log", *_LOG_OPTIONS, "--", *asked)
    if changed is None or log is None:
        return {}
    dirty = _paths_of(changed)
    times: dict[str, float] = {}
    for block in log.split("\x01")[1:]:
        stamp, *names = block.replace("\n", "\0").split("\0")
        if not stamp.isdigit():
            continue  # grafted, or a file name holds the mark
        for name in names:
            if name.startswith(prefix) and name:
                times.setdefault(name[len(prefix) :], float(stamp))
    return {p: times[p] for p in paths if p in times and prefix + p not in dirty}


def uncommitted(root: Path, paths: Sequence[str]) -> list[str]:
    """Return those paths that git tracks and whose bytes differ from the last commit.

    An untracked note has no committed state that it could differ from.
    """
    if not paths or not _is_in_repository(root):
        return []
    prefix = (_run(root, "rev-parse", "--show-prefix") or "").strip("\n")
    asked = sorted(paths) if len(paths) <= _MOST_PATHS else ["."]
    status = _run(
        root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--", *asked
    )
    changed = _paths_of(status or "")
    return [path for path in sorted(set(paths)) if prefix + path in changed]


def _is_in_repository(root: Path) -> bool:
    """Say whether a folder is in a work tree, without starting git."""
    absolute = root.absolute()
    return any((folder / ".git").exists() for folder in (absolute, *absolute.parents))


def _run(root: Path, *arguments: str) -> str | None:
    """Run git and return what it printed, or ``None`` where it failed or is not there."""
    command = ["git", "-C", str(root), *_OPTIONS, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def _paths_of(status: str) -> set[str]:
    return {entry[3:] for entry in status.split("\0") if len(entry) > 3}
