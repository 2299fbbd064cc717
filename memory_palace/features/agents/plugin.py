"""Plug-ins of agents' harnesses: each a folder of generated files; edited files are preserved.

``plugin_texts/HARNESS.json`` lists the files of each, as JSON records or names of templates.
``references/agents.md`` says which version of each harness was tested.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace import __version__
from memory_palace.changes.changing import render_diff
from memory_palace.changes.journal import Create, Operation, Remove, Replace
from memory_palace.errors import PalaceError, UsageError
from memory_palace.storage import naming, write_atomic

NAME = "memory-palace"
"""Name of the plug-in, and of the marketplace that contains it."""
RECORD = ".memory-palace.json"
"""The record of the files written into a folder: the version, and SHA-256 by path."""
DESCRIPTION = "Long-term memory in Markdown notes: search, recall, remember, tasks, verify."
_TEXTS = Path(__file__).with_name("plugin_texts")


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
    palace wherever the harness runs.
    """
    values = {"PALACE": shlex.join(program), "VERSION": __version__, "DESCRIPTION": DESCRIPTION}
    arguments = [*program[1:], "mcp"]

    def fill(value: Any) -> Any:
        match value:
            case dict():
                return {key: fill(one) for key, one in value.items()}
            case ["@ARGS@"]:
                return arguments
            case list():
                return [fill(one) for one in value]
            case "@PROGRAM@":
                return program[0]
            case str():
                return _fill(value, values)
        return value

    files: dict[str, Any] = json.loads((_TEXTS / f"{harness}.json").read_text("utf-8"))
    texts = {**values, "PROGRAM": json.dumps(list(program))}
    return {
        path: _fill((_TEXTS / inside).read_text("utf-8"), texts).encode()
        if isinstance(inside, str)
        else to_text(fill(inside))
        for path, inside in files.items()
    }


def _fill(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a plug-in compared with those on disk."""

    folder: Path
    files: Mapping[str, bytes]
    """By path below the folder, with ``/``."""
    steps: tuple[Operation, ...]
    """The operations that turn the files on disk into these."""
    changed: tuple[str, ...]
    """Existing files that were not written by this program, or were edited since."""
    version: str | None
    """Version of the plug-in on disk; ``None`` if there is none."""
    palace: str | None
    """Root of the palace that the plug-in uses wherever the agent works, if bound to one."""

    @property
    def is_current(self) -> bool:
        """Whether every file is as this version writes it."""
        return not self.steps

    @property
    def diff(self) -> str:
        """The steps as a git diff."""
        return render_diff(self.steps)


def find_palace(folder: Path) -> str | None:
    """Return the palace to which the plug-in in a folder is bound, or ``None``."""
    palace = _read_record(folder).get("palace")
    return palace if isinstance(palace, str) else None


def compare_tree(folder: Path, files: Mapping[str, bytes], *, palace: str | None = None) -> Tree:
    """Compare a folder with the files of a plug-in.

    Files that an earlier version wrote and this one does not are removed, unless they were edited.
    Raise ``UsageError`` for a symbolic link.
    """
    record = _read_record(folder)
    written: Mapping[str, str] = record.get("files", {})
    steps: list[Operation] = []
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
    version = record.get("version")
    return Tree(folder, files, tuple(steps), tuple(changed), version, palace)


def write_tree(tree: Tree, *, overwrite: bool = False) -> None:
    """Write missing and outdated files, the record last, so that an interrupted write is resumed.

    Raise ``PalaceError`` for edited files, unless ``overwrite``.
    """
    if tree.changed and not overwrite:
        raise PalaceError(
            f"not written by this program, or changed since: {', '.join(tree.changed)} in "
            f"{tree.folder}; nothing was written. Look at the diff without --apply, then move "
            "them away or add --overwrite"
        )
    for step in tree.steps:
        match step:
            case Create(path, data) | Replace(path, _, data):
                target = tree.folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(target, data, mode=0o644)
            case Remove(path, _):
                (tree.folder / path).unlink(missing_ok=True)
    if tree.steps or tree.version != __version__:
        record = {
            "version": __version__,
            "palace": tree.palace,
            "files": {path: _digest(data) for path, data in tree.files.items()},
        }
        write_atomic(tree.folder / RECORD, to_text(record), mode=0o644)


def to_text(record: object) -> bytes:
    """Return a record as the indented text of a JSON file."""
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode()


def _read_record(folder: Path) -> dict[str, Any]:
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
