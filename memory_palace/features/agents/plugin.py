"""Plug-ins of agents' harnesses: each a folder of generated files; edited files are preserved.

``plugin_texts/HARNESS.json`` lists the files of each, as JSON records or names of templates.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace import __version__
from memory_palace.changes.journal import Create, Remove, Replace
from memory_palace.errors import UsageError
from memory_palace.storage import naming, write_atomic

NAME = "memory-palace"
"""Name of the plug-in, and of the marketplace that contains it."""
RECORD = ".memory-palace.json"
"""The record of the files written into a folder: the version, and SHA-256 by path."""
DESCRIPTION = "Long-term memory in Markdown notes: search, recall, remember, tasks, verify."
TEXTS = Path(__file__).with_name("plugin_texts")
Step = Create | Replace | Remove


def find_program() -> list[str]:
    """Return the command that starts this program from anywhere, with an absolute path.

    Harnesses have no virtual environment on ``PATH``, and desktop ones not even the user's
    ``~/.local/bin``. A link on ``PATH`` to this script is preferred: pipx and uv keep its path when
    they replace its target.
    """
    called = Path(sys.argv[0])
    suffix = ".exe" if sys.platform == "win32" else ""
    script = Path(sysconfig.get_path("scripts"), f"palace{suffix}")
    if called.stem == "palace" and called.is_file():
        script = called
    if not script.is_file():
        return [sys.executable, "-m", "memory_palace"]
    on_path = shutil.which("palace")
    found = Path(on_path) if on_path and script.samefile(on_path) else script
    return [str(found.absolute())]


def make_files(harness: str, program: Sequence[str]) -> dict[str, bytes]:
    """Return the files of a harness's plug-in by path; ``program`` is the command of the palace.

    ``program`` is a list of arguments: a program's absolute path, and ``-C FOLDER`` to use one
    palace wherever the harness runs. A harness without a plug-in has no files.
    """
    listed = TEXTS / f"{harness}.json"
    files: dict[str, Any] = json.loads(listed.read_text("utf-8")) if listed.exists() else {}
    return {
        path: _fill((TEXTS / inside).read_text("utf-8"), program, json.dumps(list(program)))
        if isinstance(inside, str)
        else to_text(fill_record(inside, program))
        for path, inside in files.items()
    }


def fill_record(value: Any, program: Sequence[str]) -> Any:
    """Return a JSON value with the command of the palace in its places."""
    match value:
        case dict():
            return {key: fill_record(one, program) for key, one in value.items()}
        case [*first, "@ARGS@"]:
            return [*fill_record(first, program), *program[1:], "mcp"]
        case list():
            return [fill_record(one, program) for one in value]
        case str():
            return _fill(value, program, program[0]).decode()
    return value


def _fill(text: str, program: Sequence[str], first: str) -> bytes:
    values = {"PALACE": shlex.join(program), "VERSION": __version__, "DESCRIPTION": DESCRIPTION}
    for name, value in {**values, "PROGRAM": first}.items():
        text = text.replace(f"@{name}@", value)
    return text.encode()


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a plug-in compared with those on disk."""

    folder: Path
    files: Mapping[str, bytes]
    """By path below the folder, with ``/``."""
    steps: tuple[Step, ...]
    """The operations that turn the files on disk into these."""
    changed: tuple[str, ...]
    """Existing files that were not written by this program, or were edited since."""
    record: Mapping[str, Any]
    """The record on disk; empty if there is none."""


def compare_tree(folder: Path, files: Mapping[str, bytes]) -> Tree:
    """Compare a folder with the files of a plug-in.

    Files that an earlier version wrote and this one does not are removed, unless they were edited.
    Raise ``UsageError`` for a symbolic link.
    """
    record = read_record(folder)
    written: Mapping[str, str] = record.get("files", {})
    steps: list[Step] = []
    changed = []
    for path, data in sorted(files.items()):
        before = _read(folder, path)
        if before is None:
            steps.append(Create(path, data))
        elif before != data:
            steps.append(Replace(path, before, data))
            changed += [] if written.get(path) == _digest(before) else [path]
    for path in sorted(written.keys() - files.keys()):
        before = _read(folder, path)
        if before is not None and written[path] == _digest(before):
            steps.append(Remove(path, before))
    return Tree(folder, files, tuple(steps), tuple(changed), record)


def write_tree(tree: Tree, record: Mapping[str, object]) -> None:
    """Write missing and outdated files, the record last, so that an interrupted write is resumed.

    With an empty record it goes too, and so do folders without another file.
    """
    for step in tree.steps:
        target = tree.folder / step.path
        if step.after is None:
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, step.after, mode=0o644)
    target = tree.folder / RECORD
    if record:
        record = {**record, "files": {path: _digest(data) for path, data in tree.files.items()}}
        if record != tree.record:
            tree.folder.mkdir(parents=True, exist_ok=True)
            write_atomic(target, to_text(record), mode=0o644)
        return
    target.unlink(missing_ok=True)
    for path in (target, *(tree.folder / step.path for step in tree.steps)):
        for folder in path.parents[: len(path.relative_to(tree.folder).parts)]:
            with suppress(OSError):  # it has other files, or is gone
                folder.rmdir()


def to_text(record: object) -> bytes:
    """Return a record as the indented text of a JSON file."""
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode()


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record of a folder; empty without one, or if it is damaged."""
    raw = _read(folder, RECORD)
    try:
        record = json.loads(raw or b"{}")
    except ValueError:
        record = {}
    files = record.get("files") if isinstance(record, dict) else None
    return record if isinstance(files, dict) else {}


def _read(folder: Path, path: str) -> bytes | None:
    """Return a file's bytes, or ``None`` if missing; raise ``UsageError`` for a symbolic link."""
    target = folder / path
    if not target.resolve().is_relative_to(folder.resolve()) or target.is_symlink():
        raise UsageError(f"{target} is a link; it is left alone")
    with naming(target):
        try:
            return target.read_bytes()
        except FileNotFoundError:
            return None


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
