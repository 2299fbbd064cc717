"""The plug-ins of agents' harnesses: a folder of files each, written and never taken from people.

``plugin_texts/HARNESS.json`` names the files of each, with the records or the texts in them.
``references/agents.md`` says which version of each harness was read and tried.
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
"""Of a plug-in, and of the marketplace that it is in."""
RECORD = ".memory-palace.json"
"""What was written into a folder: the version, and the SHA-256 of each file by its path."""
DESCRIPTION = "Long-term memory in Markdown notes: search, recall, remember, tasks, verify."
_TEXTS = Path(__file__).with_name("plugin_texts")


def find_program() -> list[str]:
    """Return the command that starts this program from anywhere, with an absolute path.

    Harnesses have no virtual environment on ``PATH``, and desktop ones not even the user's
    ``~/.local/bin``. A link on ``PATH`` to this very script is preferred: pipx and uv keep it where
    it is when they replace what it leads to.
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
    """Return the files of a harness's plug-in by their paths; ``program`` starts with the palace.

    ``program`` is a list of arguments: a program's absolute path, and ``-C FOLDER`` where one
    palace is meant wherever the harness runs.
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
    """What makes the one of the other."""
    changed: tuple[str, ...]
    """Files in the way that are not as they were written here: somebody else's, or edited."""
    version: str | None
    """Of the plug-in that is there; ``None`` where there is none."""
    palace: str | None
    """The one palace that it is to ask wherever the agent works, if it is to ask one."""

    @property
    def is_current(self) -> bool:
        """Whether every file is as this version writes it."""
        return not self.steps

    @property
    def diff(self) -> str:
        """The steps as git would show them."""
        return render_diff(self.steps)


def find_palace(folder: Path) -> str | None:
    """Return the palace that the plug-in in a folder was made for, if it was made for one."""
    palace = _read_record(folder).get("palace")
    return palace if isinstance(palace, str) else None


def compare_tree(folder: Path, files: Mapping[str, bytes], *, palace: str | None = None) -> Tree:
    """Return what has to be written into a folder so that it holds these files.

    What an earlier version wrote and this one does not is removed, unless somebody changed it.
    Raise ``UsageError`` where a link leads out of the folder.
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
    """Write what is missing or old; the record last, so that an interrupted write is taken up.

    Raise ``PalaceError`` for files that somebody changed, unless they are to be overwritten.
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
    """Return a record as the text of a JSON file that people read."""
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
    """Return a file's bytes; ``None`` where it is not there."""
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
