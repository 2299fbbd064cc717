"""The plug-ins of agents' harnesses, as each harness has published their shape.

``plugin_texts/HARNESS.json`` names the files of each, with the records or the texts in them.
``references/agents.md`` says which version of each harness was read and tried.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_palace import __version__
from memory_palace.features.agents.plugin_tree import to_text

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
