"""Give a palace the folder of a room that it has none for, and say so in its settings."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from memory_palace.changes.operations import Replace, render_diff
from memory_palace.engine import Engine
from memory_palace.errors import ConfigError, UsageError
from memory_palace.settings import map_rooms, parse_settings
from memory_palace.storage.atomic import write_atomic

_ROOMS = re.compile(
    r"^rooms:[ \t]*(?:#[^\n]*)?\n(?P<below>(?:[ \t]*+(?:#[^\n]*+)?\n)*+(?P<indent>[ \t]+)(?=\S))?",
    re.MULTILINE,
)


def make_room(engine: Engine, room: str, folder: str) -> str:
    """Make the folder of a room and add its line to the settings; return the diff.

    Every other byte of the settings stays. Raise ``UsageError`` where the line cannot be added
    without rewriting what is there.
    """
    path = engine.paths.settings
    before = path.read_text("utf-8") if path.exists() else ""
    after = _add_line(before, f"{folder}: {room}")
    source = engine.paths.shown(path)
    config = replace(engine.config, rooms={**engine.config.rooms, folder: room})
    paths = map_rooms(engine.paths, config.rooms)
    with suppress(ConfigError):
        if parse_settings(after, source).rooms == config.rooms:
            _write(engine, folder, after.encode())
            engine.config, engine.paths = config, paths
            return render_diff([Replace(source, before.encode(), after.encode())])
    raise UsageError(f"{source} could not be extended; add `{folder}: {room}` to its rooms")


def _write(engine: Engine, folder: str, settings: bytes) -> None:
    path = engine.paths.settings
    (engine.paths.notes / folder).mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    write_atomic(path, settings, mode=mode)


def _add_line(text: str, line: str) -> str:
    """Put a line first below ``rooms:``, or at the end below a new ``rooms:``."""
    found = _ROOMS.search(text if text.endswith("\n") else f"{text}\n")
    if found is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}rooms:\n  {line}\n"
    start = found.start("indent") if found["below"] else found.end()
    return f"{text[:start]}{found['indent'] or '  '}{line}\n{text[start:]}"
