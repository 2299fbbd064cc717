"""The plug-ins of agents' harnesses, as each harness has published their shape.

``references/agents.md`` says which version of each was read and tried.
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
from memory_palace.features.agents.plugin_tree import NAME, to_text

SERVER = "palace"
"""Of the MCP server: tools are called ``mcp__plugin_memory-palace_palace__search`` and the like."""
DESCRIPTION = "Long-term memory in Markdown notes: search, recall, remember, tasks, verify."
_HOOKS = {
    "SessionStart": ("session-start", 10),
    "UserPromptSubmit": ("prompt", 10),
    "PreCompact": ("pre-compact", 30),
    "Stop": ("stop", 30),
}
"""Verbs of ``palace hook`` by event, and the seconds after which the harness gives up on them; each
gives up by itself before that."""


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
    return {"claude": _for_claude, "codex": _for_codex, "openclaw": _for_openclaw}[harness](program)


def _for_claude(program: Sequence[str]) -> dict[str, bytes]:
    market = {
        "name": NAME,
        "owner": {"name": "Memory Palace"},
        "metadata": {"description": DESCRIPTION, "version": __version__},
        "plugins": [
            {
                "name": NAME,
                "source": f"./{NAME}",
                "description": DESCRIPTION,
                "version": __version__,
                "category": "productivity",
            }
        ],
    }
    return {
        ".claude-plugin/marketplace.json": to_text(market),
        f"{NAME}/.claude-plugin/plugin.json": to_text(_manifest()),
        f"{NAME}/.mcp.json": _servers(program),
        f"{NAME}/hooks/hooks.json": _hooks("claude", program),
        f"{NAME}/skills/{NAME}/SKILL.md": _fill("SKILL.md", program),
        f"{NAME}/README.md": _fill("README.md", program),
        f"{NAME}/commands/recall.md": _fill("recall.md", program),
        f"{NAME}/commands/remember.md": _fill("remember.md", program),
    }


def _for_codex(program: Sequence[str]) -> dict[str, bytes]:
    market = {
        "name": NAME,
        "interface": {"displayName": "Memory Palace"},
        "plugins": [
            {
                "name": NAME,
                "source": {"source": "local", "path": f"./{NAME}"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }
        ],
    }
    manifest = _manifest() | {
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/hooks.json",
        "interface": {
            "displayName": "Memory Palace",
            "shortDescription": DESCRIPTION,
            "developerName": "Memory Palace",
            "category": "Productivity",
            "capabilities": ["Read", "Write"],
        },
    }
    return {
        ".agents/plugins/marketplace.json": to_text(market),
        f"{NAME}/.codex-plugin/plugin.json": to_text(manifest),
        f"{NAME}/.mcp.json": _servers(program),
        f"{NAME}/hooks/hooks.json": _hooks("codex", program),
        f"{NAME}/skills/{NAME}/SKILL.md": _fill("SKILL.md", program),
        f"{NAME}/README.md": _fill("README.md", program),
        "AGENTS.md": _fill("AGENTS.md", program),
    }


def _for_openclaw(program: Sequence[str]) -> dict[str, bytes]:
    package = {
        "name": NAME,
        "version": __version__,
        "private": True,
        "type": "module",
        "openclaw": {"extensions": ["./index.js"]},
    }
    manifest = {
        "id": NAME,
        "name": "Memory Palace",
        "description": DESCRIPTION,
        "version": __version__,
        "kind": "memory",
        "categories": ["memory"],
        "activation": {"onStartup": True},
        "contracts": {"tools": ["memory_search", "memory_get"]},
        "mcpServers": {
            SERVER: {"transport": "stdio", "command": program[0], "args": [*program[1:], "mcp"]}
        },
        "skills": ["./skills"],
        "configSchema": {"type": "object", "additionalProperties": False, "properties": {}},
    }
    return {
        "package.json": to_text(package),
        "openclaw.plugin.json": to_text(manifest),
        "README.md": _fill("README.md", program),
        "index.js": _fill("index.js", program),
        f"skills/{NAME}/SKILL.md": _fill("SKILL.md", program),
    }


def _manifest() -> dict[str, Any]:
    return {
        "name": NAME,
        "version": __version__,
        "description": DESCRIPTION,
        "author": {"name": "Memory Palace"},
        "license": "MIT",
        "keywords": ["memory", "notes", "markdown", "search"],
    }


def _servers(program: Sequence[str]) -> bytes:
    server = {"command": program[0], "args": [*program[1:], "mcp"]}
    return to_text({"mcpServers": {SERVER: server}})


def _hooks(harness: str, program: Sequence[str]) -> bytes:
    """Return the hooks of Claude Code and Codex; a shell reads the command lines."""
    groups = {}
    for event, (verb, seconds) in _HOOKS.items():
        line = shlex.join([*program, "hook", verb, "--harness", harness])
        hook = {"type": "command", "command": line, "timeout": seconds}
        groups[event] = [{"hooks": [hook]}]
    return to_text({"hooks": groups})


def _fill(template: str, program: Sequence[str]) -> bytes:
    """Return a text of ``plugin_texts/`` with the palace's command and the version in it."""
    text = Path(__file__).with_name("plugin_texts").joinpath(template).read_text("utf-8")
    values = {
        "@PALACE@": shlex.join(program),
        "@PROGRAM@": json.dumps(list(program)),
        "@VERSION@": __version__,
    }
    for name, value in values.items():
        text = text.replace(name, value)
    return text.encode()
