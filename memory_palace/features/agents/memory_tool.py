"""The memory tool of Anthropic's Messages API, in one folder of the palace.

Commands and messages are those of its documentation and ``anthropic`` 2.14.0, read on 2026-11-29.
A file is a note, so that it is indexed: ``plan.txt`` is stored as ``plan.txt.md``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from memory_palace.changes.changing import Plan, change_notes, reindex, write_file
from memory_palace.changes.journal import Create, Move, Remove, Replace, check_inside
from memory_palace.errors import CheckFailedError, PalaceError, UsageError
from memory_palace.features.agents.tools import speak_of_tools
from memory_palace.language.visible import visible
from memory_palace.notes.discovery import SUFFIXES
from memory_palace.notes.document import parse_document, set_fields
from memory_palace.notes.note import decode_note, decode_stored, excerpt, leave_out, withhold
from memory_palace.palace import Palace
from memory_palace.tools import read_now, shorten

FIELDS: Mapping[str, Mapping[str, Any]] = {
    "view": {"path": str, "view_range": list | None},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "new_str": str, "old_str": str},
    "insert": {"path": str, "insert_text": str, "insert_line": int},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
_ROOT = "/memories"
_NAMES = re.compile(
    r"((?:/(?!(?:con(?:in\$|out\$)?|prn|aux|nul|(?:com|lpt)[\d¹²³]) *(?:[./]|\Z)|[. ])"
    r'(?!node_modules(?:/|\Z)|[^/]*%[0-9a-f]{2})[^\x00-\x1f\x7f/\\:*?"<>|#^\[\]]+(?<![. ]))+)/?',
    re.IGNORECASE,
)
"""Names that any system and any link can have: not hidden, reserved or percent-encoded."""
_HEAD = b"---\norigin: agent\n---\n"
"""Front matter of a note that was given none; it is not shown."""


class PalaceMemoryTool:
    """The memory tool of Anthropic's Messages API; ``/memories`` is a folder of the notes.

    With the SDK it goes into the ``tools`` of ``client.beta.messages.tool_runner``; without, send
    ``to_dict()`` and answer the ``input`` of a ``tool_use`` with ``call``. A write is one change.
    Secrets and private spans are neither written nor shown; private notes do not exist for it.
    """

    name = "memory"

    def __init__(self, palace: Palace, *, folder: str = "memories") -> None:
        self.palace, self.folder = palace, palace.paths.prefix + folder
        self._home = palace.paths.root / self.folder
        check_inside(palace.paths, self.folder)

    def to_dict(self) -> dict[str, str]:
        """Return the entry of ``tools`` in a request."""
        return {"type": "memory_20250818", "name": self.name}

    def call(self, input: object) -> str:
        """Run a command, a mapping or a value of the SDK; an error is returned, as one line."""
        given = input if isinstance(input, Mapping) else getattr(input, "__dict__", {})
        command = str(given.get("command"))
        try:
            if command not in FIELDS:
                raise UsageError(f"Unknown command: {command}; use one of {', '.join(FIELDS)}")
            for name, kind in FIELDS[command].items():
                if not isinstance(given.get(name), kind) or isinstance(given.get(name), bool):
                    raise UsageError(f"Invalid `{name}` parameter: {given.get(name)!r}")
            run = getattr(self, f"_{command}", partial(self._edit, command))
            return "\n".join(filter(None, run(*map(given.get, FIELDS[command]))))
        except (PalaceError, OSError, ValueError) as error:  # ValueError: a lone surrogate
            told = speak_of_tools(getattr(error, "strerror", None) or str(error))
        is_worded = told.startswith(("Error: ", "The path ", "No replacement "))
        return shorten(visible(told if is_worded else f"Error: {told}"), 400)

    execute = view = create = str_replace = insert = delete = rename = call

    def _view(self, path: str, view_range: list[object] | None) -> list[str]:
        notes, top = self._notes(), path.removesuffix("/")
        place = self.folder if top == _ROOT else self._place(path)
        names = _at(place, notes)
        if names == [_file(place)]:
            match view_range or [1, -1]:
                case [int(first), int(last)] if first > 0 and (last == -1 or last >= first):
                    body, until = notes[names[0]].removeprefix(_HEAD), last if last > 0 else None
                    lines = excerpt(path, body, first_line=first, last_line=until).text.split("\n")
                    told = f"Here's the content of {path} with line numbers:"
                    return [told, *_number(lines, first)]
            raise UsageError(f"Invalid `view_range` parameter: {view_range}")
        if not names and top != _ROOT:
            raise UsageError(f"The path {path} does not exist. Please provide a valid path.")
        sizes = Counter({"": 0})
        for name in names:
            parts = re.sub(r"(\.\w+)\.md\Z", r"\1", name.removeprefix(place)).split("/")
            for depth in range(1, min(len(parts), 3) + 1):
                end = "/" if 1 < depth < len(parts) else ""
                sizes["/".join(parts[:depth]) + end] += len(notes[name].removeprefix(_HEAD))
        told = f"Here're the files and directories up to 2 levels deep in {top}, excluding hidden "
        listed = (f"{max(n / 1024, 0.1):.1f}K\t{top}{name}" for name, n in sorted(sizes.items()))
        return [f"{told}items and node_modules:", *listed]

    def _edit(self, command: str, path: str, given: str, *more: Any) -> list[str]:
        """Write a note, composed of its text and the given one; return what to tell."""
        place, told = _file(self._place(path)), list[str]()
        new, left = leave_out(decode_note(given.encode(), path)[0])

        def make() -> Create | Replace:
            before = self._notes().get(place)
            if command == "create":
                self._place(path, f"Error: File {path} already exists")
            elif before is None:
                valid = ". Please provide a valid path." if command == "str_replace" else ""
                raise UsageError(f"Error: The path {path} does not exist{valid}")
            old = decode_stored(path, (before or b"").removeprefix(_HEAD))
            text, told[:] = _EDITS[command](path, old, new, *more)
            data = set_fields(path, text.encode(), {"origin": "agent"})
            is_large = len(data) > self.palace.config.max_note_bytes
            if is_large or withhold(f"{old}\n{text}", path)[1] or not parse_document(path, data):
                raise CheckFailedError(f"{path} would be too large, private or hold a secret")
            return Create(place, data) if before is None else Replace(place, before, data)

        write_file(self.palace, make, command="memory-tool", reason=f"{command} {path}")
        return [*told, *map(str, left), reindex(self.palace)]

    def _rename(self, path: str, new_path: str | None = None) -> list[str]:
        """Move the notes at a path to another one; without it, delete them."""
        verb, told = ("delete", path) if new_path is None else ("rename", f"{path} to {new_path}")

        def plan(library: object) -> Plan:
            place, notes = self._place(path), self._notes()
            names, change = _at(place, notes), list[Move | Remove]()
            if not names:
                raise UsageError(f"Error: The path {path} does not exist")
            if new_path is None:
                change += [Remove(name, notes[name]) for name in names]
            else:
                new = self._place(new_path, f"Error: The destination {new_path} already exists")
                if names == [_file(place)]:
                    place, new = names[0], _file(new)
                change += [Move(name, new + name.removeprefix(place)) for name in names]
            return Plan(change, f"{verb} {told}", edited=frozenset(names))

        done = change_notes(self.palace, plan, command="memory-tool", apply=True)
        return [f"Successfully {verb}d {told}", done.remark or ""]

    _delete = _rename

    def _notes(self) -> dict[str, bytes]:
        """Return the notes of the folder that are not private, by path relative to the root."""
        below = sorted(file.relative_to(self._home).as_posix() for file in self._home.rglob("*"))
        plain = [name for name in below if name == _file(name) and _NAMES.fullmatch(f"/{name}")]
        documents = read_now(self.palace, [f"{self.folder}/{name}" for name in plain])
        return {document.path: document.data for document in documents}

    def _place(self, path: str, taken: str = "") -> str:
        """Return a path of plain names relative to the root; raise ``taken`` where it exists."""
        found = _NAMES.fullmatch(path.removeprefix(_ROOT)) if path.startswith(_ROOT) else None
        if not found or visible(path) != path or withhold(path, "")[1]:
            raise UsageError(f"Path must be of plain names below /memories, got: {path}")
        place, notes = self.folder + found[1], self._notes() if taken else {}
        if (self.palace.paths.root / place).resolve() != self._home.resolve() / found[1][1:]:
            raise UsageError(f"Path leads through a link: {path}")
        if _at(place, notes) or any(place.startswith(f"{name}/") for name in notes):
            raise UsageError(taken)
        return place


def memory_tool(palace: Palace, *, folder: str = "memories") -> PalaceMemoryTool:
    """Return Claude's memory tool for a folder of the notes; the runner of its SDK takes it."""
    with suppress(ImportError):
        from anthropic.lib.tools import BetaAbstractMemoryTool  # delayed: it takes three seconds

        BetaAbstractMemoryTool.register(PalaceMemoryTool)
    return PalaceMemoryTool(palace, folder=folder)


def _create(path: str, old: str, new: str) -> tuple[str, list[str]]:
    return new, [f"File created successfully at: {path}"]


def _replace(path: str, old: str, new: str, old_str: str) -> tuple[str, list[str]]:
    found = re.finditer(re.escape(old_str or "\0"), old)
    lines = [old.count("\n", 0, one.start()) + 1 for one in found]
    if len(lines) == 1:
        text, first = old.replace(old_str, new), max(lines[0] - 3, 0)
        shown = text.split("\n")[first : lines[0] + new.count("\n") + 2]
        return text, ["The memory file has been edited.", *_number(shown, first + 1)]
    why = f", old_str `{old_str}` did not appear verbatim in {path}."
    if lines:
        why = f". Multiple occurrences of old_str `{old_str}` in lines: "
        why += f"{', '.join(map(str, lines))}. Please ensure it is unique"
    raise UsageError(f"No replacement was performed{why}")


def _insert(path: str, old: str, new: str, line: int) -> tuple[str, list[str]]:
    lines = old.removesuffix("\n").split("\n") if old else []
    if not 0 <= line <= len(lines):
        why = f"It should be within the range of lines of the file: [0, {len(lines)}]"
        raise UsageError(f"Error: Invalid `insert_line` parameter: {line}. {why}")
    lines.insert(line, new.removesuffix("\n"))
    return "\n".join([*lines, ""]), [f"The file {path} has been edited."]


_EDITS: Mapping[str, Any] = {"create": _create, "str_replace": _replace, "insert": _insert}


def _file(place: str) -> str:
    return place if place.lower().endswith(SUFFIXES) else f"{place}.md"


def _at(place: str, notes: Mapping[str, bytes]) -> list[str]:
    """Return the notes in a folder, else the one of this name, else none."""
    inside = [name for name in notes if name.startswith(f"{place}/")]
    return inside or [name for name in [_file(place)] if name in notes]


def _number(lines: list[str], first: int) -> list[str]:
    return [f"{number:6}\t{visible(line)}" for number, line in enumerate(lines, first)]
