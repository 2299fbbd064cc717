"""The Markdown that agents' tools keep, as sources of the palace ``agents``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memory_palace.cli.registry import read_registry, write_registry
from memory_palace.config import NoteSource
from memory_palace.errors import UsageError
from memory_palace.notes.discovery import discover_notes, make_palace
from memory_palace.notes.sources import count_notes, read_sources, sources_path
from memory_palace.palace import Palace
from memory_palace.storage import make_folder, write_atomic

NAME = "agents"
TOOLS = {
    "claude .claude": "CLAUDE.md rules/**/*.md projects/*/memory/**/*.md agent-memory/**/*.md",
    "codex .codex": "AGENTS.md AGENTS.override.md memories/MEMORY.md memories/memory_summary.md "
    "memories/rollout_summaries/*.md memories/skills/**/*.md",
    "openclaw .openclaw/workspace": "*.md memory/**/*.md",
    "letta .letta": "agents/*/memory/**/*.md lc-local-backend/memfs/*/memory/**/*.md",
    "gemini .gemini": "GEMINI.md",
    "claude": "CLAUDE.md CLAUDE.local.md .claude/CLAUDE.md .claude/rules/**/*.md "
    ".claude/agent-memory/**/*.md .claude/agent-memory-local/**/*.md",
    "agents": "AGENTS.md",
    "cursor": ".cursor/rules/**/*.mdc",
    "gemini": "GEMINI.md",
    "copilot": ".github/copilot-instructions.md .github/instructions/**/*.instructions.md",
}
"""Tool and its folder below the home, else a tool in a project's folder; patterns of its notes.

``references/agents.md`` has the document and the date of each row."""


def make_agents_palace(projects: Sequence[Path]) -> list[str]:
    """Make the palace ``agents`` of the tools found, of earlier projects and of these.

    Return its folder and a line for each source, to be printed. Raise ``UsageError`` for a missing
    folder, without any source, and if the name is taken.
    """
    from platformdirs import user_data_dir  # delayed: a few verbs need it

    root = Path(user_data_dir("memory-palace", appauthor=False), NAME)
    registry = read_registry()
    if (taken := registry.palaces.get(NAME, str(root))) != str(root):
        raise UsageError(f"{taken} is {NAME!r}; `palace config register {NAME} --remove` frees it")
    if missing := [path for path in projects if not path.is_dir()]:
        raise UsageError(f"there is no folder {missing[0]}")
    sources = [*_find_sources(read_sources(root), projects)]
    if not sources:
        raise UsageError("no tool of agents has a folder here; name the folder of a project")
    make_folder(root)
    own = make_palace(root, here=True)
    if not own.settings.exists():  # tools delete notes, and lines for them would stay
        write_atomic(own.settings, b"manifest: frozen\n")
    write_registry(registry.add(NAME, folder=root))
    write_sources(root, sources)
    paths = Palace(root).paths
    counted = count_notes(paths, (file.path for file in discover_notes(paths).files))
    return [str(paths.own), *map(str, counted)]


def _find_sources(known: Sequence[NoteSource], projects: Sequence[Path]) -> Iterator[NoteSource]:
    """Yield the sources that are there; projects keep their names, new ones get a free one."""
    names = {one.folder: one.prefix.partition("/")[2] for one in known if "/" in one.prefix}
    taken = {pattern.partition("/")[0] for row in TOOLS.values() for pattern in row.split()}
    for folder in map(os.path.realpath, projects):
        stem = Path(folder).name.strip(".") or "project"
        numbered = (stem, *(f"{stem}-{number}" for number in range(2, len(names) + 3)))
        free = (name for name in numbered if name not in {*taken, *names.values()})
        names.setdefault(folder, next(free))
    for row, patterns in TOOLS.items():
        tool, _, below = row.partition(" ")
        found = {f"{tool}/{name}": folder for folder, name in names.items()}
        found = {tool: os.path.realpath(Path.home() / below)} if below else found
        for prefix, folder in found.items():
            if Path(folder).is_dir():
                yield NoteSource(prefix, folder, tuple(patterns.split()))


def write_sources(root: Path, sources: Iterable[NoteSource]) -> None:
    """Write the list of the sources of the palace at a root."""
    path = sources_path()
    make_folder(path.parent, mode=0o700)
    rows = {one.prefix: {"folder": one.folder, "notes": one.patterns} for one in sources}
    text = json.dumps({"palace": os.path.realpath(root), "sources": rows}, indent=2)
    write_atomic(path, text.encode())
