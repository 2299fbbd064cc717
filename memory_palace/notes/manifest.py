"""Facts about notes from other sources: the manifest, and git's commit times.

``watchdog_manifest_v1.jsonl`` lists the indexed notes, with type and priority. People edit it:
indexing adds and renames lines of its own only, and keeps all other bytes. Git is only read, and
never by a program that a repository chose.
"""

from __future__ import annotations

import codecs
import json
import re
import subprocess
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from memory_palace.config import SEVEN, PalacePaths
from memory_palace.errors import ConfigError
from memory_palace.models import Priority, Problem
from memory_palace.system import read_file

PRIORITIES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A valid line of the manifest."""

    path: str
    type: str | None
    priority: Priority | None
    line: int
    """1-based; 0 for an entry that is not in the file yet."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Keys unknown to this program, and an invalid ``priority``; they are kept."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parsed manifest."""

    entries: Mapping[str, ManifestEntry]
    """Entries by NFC path; the last line of a path wins."""
    problems: tuple[Problem, ...]
    digest: str
    """SHA-256 of the bytes and of any configured rooms, since both decide the types of notes."""


def read_manifest(paths: PalacePaths) -> Manifest:
    """Return the manifest, empty if the file is missing; invalid lines become problems."""
    data = _read_bytes(paths.manifest)
    entries: dict[str, ManifestEntry] = {}
    problems: list[Problem] = []
    where = paths.shown(paths.manifest)
    for number, line in enumerate(data.split(b"\n"), start=1):
        entry = _read_line(line, number, paths.prefix)
        if entry is None:
            continue
        if isinstance(entry, str):
            problems.append(Problem(where, number, "manifest", entry, is_failure=True))
            continue
        before = entries.get(manifest_key(entry.path))
        if before is not None:
            message = f"lists {entry.path} again (first on line {before.line}); this line is used"
            problems.append(Problem(where, number, "manifest", message))
        if "priority" in entry.extra:
            given = entry.extra["priority"]
            message = f"priority {given!r} is not high, medium or low; it is ignored"
            problems.append(Problem(where, number, "manifest", message))
        entries[manifest_key(entry.path)] = entry
    rooms = b"" if paths.rooms == SEVEN else repr(paths.rooms.folders).encode()
    return Manifest(entries, tuple(problems), sha256(data + rooms).hexdigest())


def add_lines(data: bytes, new: Sequence[ManifestEntry]) -> bytes:
    """Return ``data`` with one line per entry appended, in the file's own line ends."""
    end = b"\r\n" if data.partition(b"\n")[0].endswith(b"\r") else b"\n"
    gap = b"" if not data or data.endswith(b"\n") else end
    return data + gap + b"".join(_line(entry) + end for entry in new)


def own_line(path: str) -> bytes:
    """Return the manifest line of a path without type, priority or any other key."""
    return _line(ManifestEntry(path, None, None, 0))


def return_lines(paths: PalacePaths, places: Mapping[str, str | None]) -> bytes | None:
    """Return the manifest after an undo, ``places`` mapping paths to the earlier ones or ``None``.

    A path's line is renamed to the earlier path, or removed if that is listed or ``None``. Lines of
    people and of archived notes stay. Return ``None`` if nothing changes.
    """
    lines: dict[bytes, bytes] = {}
    entries, before = read_manifest(paths).entries, _read_bytes(paths.manifest)
    for new, old in places.items():
        listed = entries.get(manifest_key(old or ""))
        if listed is not None:
            lines[_line(replace(listed, path=new))] = b""
        elif old is None or not paths.rooms.is_archived(old):
            lines[own_line(new)] = own_line(old) if old else b""
    after = swap_lines(before, lines)
    return after if after != before else None


def swap_lines(data: bytes, instead: Mapping[bytes, bytes]) -> bytes:
    """Return ``data`` with lines replaced, or removed for ``b""``; every other byte stays."""
    swapped = []
    for line in data.splitlines(keepends=True):
        text = line.rstrip(b"\r\n")
        if instead.get(text) != b"":
            swapped.append(instead.get(text, text) + line[len(text) :])
    return b"".join(swapped)


def drop_lines(data: bytes, is_unwanted: Callable[[str], bool]) -> bytes:
    """Return ``data`` without the lines of unwanted paths; invalid lines and other bytes stay."""
    kept = []
    for line in data.splitlines(keepends=True):
        entry = _read_line(line, 0, "")
        if not isinstance(entry, ManifestEntry) or not is_unwanted(entry.path):
            kept.append(line)
    return b"".join(kept)


def _read_bytes(path: Path) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}); make it a readable file or remove it"
        raise ConfigError(message) from error


def _read_line(line: bytes, number: int, prefix: str) -> ManifestEntry | str | None:
    """Return an entry, an error message, or ``None`` for a blank line or a comment."""
    try:
        text = line.removeprefix(codecs.BOM_UTF8).decode().strip()
    except UnicodeDecodeError:
        return "is not UTF-8; correct or delete the line"
    if not text or text.startswith("#"):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"is not valid JSON ({error}); correct or delete the line"
    if not isinstance(record, dict) or not isinstance(record.get("path"), str):
        return 'has no "path"; correct or delete the line'
    path = record.pop("path")
    below = path.removeprefix(prefix)
    is_below = path.startswith(prefix) and below and not below.startswith("/")
    is_name = not re.search("[\0\ud800-\udfff]", path)  # no NUL, no lone surrogate
    if not is_below or not is_name or ".." in path.split("/"):
        return f"names {path!r}, which is not a path below {prefix or 'this folder'}"
    kind, priority = record.pop("type", None), record.pop("priority", None)
    known = str(priority).lower() if priority is not None else None
    if known is not None and known not in PRIORITIES:
        record["priority"], known = priority, None
    kind = str(kind) if kind is not None else None
    return ManifestEntry(path, kind, cast("Priority | None", known), number, record)


def _line(entry: ManifestEntry) -> bytes:
    record: dict[str, Any] = {"path": entry.path}
    if entry.type is not None:
        record["type"] = entry.type
    if entry.priority is not None:
        record["priority"] = entry.priority
    # A lone surrogate becomes the escape that JSON has for it.
    return json.dumps({**record, **entry.extra}, ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )


def manifest_key(path: str) -> str:
    """Return the key of a path among the entries: the path in NFC."""
    return unicodedata.normalize("NFC", path)


_OPTIONS = ("--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false")
"""Status must not rewrite git's index, a name such as ``a[1].md`` is not a pattern, and a
repository must not choose a program to run."""
_MOST_PATHS = 100
_LOG_OPTIONS = (
    "--format=%x01%ct%d --decorate-refs=- --name-only -z --no-renames --diff-filter=AMR".split()
)
"""``%d`` marks the oldest commit of a shallow clone, which lists every file."""


def git_head(root: Path) -> str | None:
    """Return the commit that is checked out, or ``None`` outside a repository."""
    if not _is_in_repository(root):
        return None
    out = _run(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return out.strip() or None if out else None


def git_commit_times(root: Path, paths: Collection[str]) -> dict[str, float]:
    """Return the last commit's epoch seconds for each path that is tracked and unmodified.

    Runs ``git log`` and ``git status`` once each, whatever the number of paths.
    """
    if not _is_in_repository(root):
        return {}
    prefix = (_run(root, "rev-parse", "--show-prefix") or "").strip("\n")
    dirty = _read_status(root, "--", ".")
    asked = sorted(paths) if len(paths) <= _MOST_PATHS else ["."]
    log = _run(root, "log", *_LOG_OPTIONS, "--", *asked)
    if dirty is None or log is None:
        return {}
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
    """Return the tracked paths whose bytes differ from the last commit.

    Untracked notes are left out: they have no committed state.
    """
    if not paths or not _is_in_repository(root):
        return []
    prefix = (_run(root, "rev-parse", "--show-prefix") or "").strip("\n")
    asked = sorted(paths) if len(paths) <= _MOST_PATHS else ["."]
    changed = _read_status(root, "--untracked-files=no", "--", *asked) or set()
    return [path for path in sorted(set(paths)) if prefix + path in changed]


def _is_in_repository(root: Path) -> bool:
    """Whether a folder is in a git work tree, without starting git."""
    absolute = root.absolute()
    return any((folder / ".git").exists() for folder in (absolute, *absolute.parents))


def _run(root: Path, *arguments: str) -> str | None:
    """Run git and return its stdout; ``None`` if it fails or is not installed."""
    command = ["git", "-C", str(root), *_OPTIONS, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=30, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def _read_status(root: Path, *arguments: str) -> set[str] | None:
    """Return the paths ``git status`` lists, from the repository's top; ``None`` if it fails."""
    out = _run(root, "status", "--porcelain", "-z", "--no-renames", *arguments)
    return None if out is None else {entry[3:] for entry in out.split("\0") if len(entry) > 3}
