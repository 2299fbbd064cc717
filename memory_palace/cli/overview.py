"""``palace`` alone: where the palace is, how it is, and what to do next, on one screen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from typer import Context

from memory_palace.cli.options import open_palace
from memory_palace.cli.printing import plural
from memory_palace.cli.registry import Registry, read_registry
from memory_palace.embedding.weights import MINILM, PINNED
from memory_palace.errors import IndexMissingError, NotAPalaceError
from memory_palace.index.status import IndexStatus
from memory_palace.language.visible import visible
from memory_palace.palace import Palace

_MOST_ENTRIES = 20_000
"""Files and folders to look at where there is no palace, so that nobody waits in a large folder."""


def show_overview(ctx: Context) -> None:
    """Print where the palace is, how it is, and what to do next."""
    registry = read_registry()
    try:
        palace = open_palace(ctx)
    except NotAPalaceError:
        if ctx.obj is not None:  # the palace that was asked for is not there
            raise
        lines = _without_palace(Path.cwd(), registry)
    else:
        lines = _of_palace(palace, registry)
    for line in lines:
        print(visible(line))


def _of_palace(palace: Palace, registry: Registry) -> Iterator[str]:
    yield f"palace     {_place(palace.paths.root, registry)}"
    try:
        status = palace.status()
    except IndexMissingError:
        yield "index      none yet"
        yield from _next(("palace index", "read the notes"), *_model_steps(palace))
        return
    yield f"notes      {_notes(status)}"
    yield f"model      {status.embedder if status.dimension else 'none: words only, no meaning'}"
    built = datetime.fromtimestamp(status.built_ns / 1e9, UTC)
    yield f"index      {_freshness(status)}, built {built:%Y-%m-%d %H:%M} UTC"
    failed = sum(problem.is_failure for problem in status.problems)
    if failed:
        yield f"problems   {plural(failed, 'note')} could not be read; `palace status` names them"
    yield from _next(*_steps(palace, status))


def _steps(palace: Palace, status: IndexStatus) -> Iterator[tuple[str, str]]:
    if not status.notes:
        yield 'palace new "A title"', "write a first note"
    if not status.dimension:
        yield from _model_steps(palace)
    if status.freshness.state == "stale":
        yield "palace index", "take in what has changed"
    if status.notes:
        yield 'palace query "a question"', "ask the notes"


def _model_steps(palace: Palace) -> Iterator[tuple[str, str]]:
    awaited = palace.awaited_model()
    if awaited is not None and awaited.is_ready:
        yield "palace index", f"find by meaning too: {awaited.name} is here now"
    elif awaited is not None:
        model = PINNED.get(awaited.name, MINILM)
        yield f"palace models fetch {model.name}", f"find by meaning too ({model.download}, once)"


def _next(*steps: tuple[str, str]) -> Iterator[str]:
    rows: dict[str, str] = {}
    for command, what in (*steps, ("palace --help", "all verbs")):
        rows.setdefault(command, what)
    width = max(map(len, rows))
    yield ""
    yield from (f"  {command:<{width}}  {what}" for command, what in rows.items())


def _place(root: Path, registry: Registry) -> str:
    home = root.resolve()
    names = [name for name, folder in registry.palaces.items() if Path(folder) == home]
    marks = [f"{name}, the default" if name == registry.default else name for name in names]
    return f"{home}  ({'; '.join(marks)})" if marks else str(home)


def _notes(status: IndexStatus) -> str:
    archived = f" ({status.cold:,} archived)" if status.cold else ""
    noun = "passage" if status.chunks == 1 else "passages"
    return f"{status.notes:,}{archived}, in {status.chunks:,} {noun}"


def _freshness(status: IndexStatus) -> str:
    if status.freshness.state == "current":
        return "up to date"
    behind = status.freshness.behind
    return f"{plural(behind, 'note')} behind" if behind else "not compared with the notes"


def _without_palace(folder: Path, registry: Registry) -> Iterator[str]:
    found, is_whole = _count_notes(folder)
    yield f"There is no palace in {folder} or above it."
    if found:
        noun = "Markdown file" if found == 1 else "Markdown files"
        yield f"The folder holds {found:,}{'' if is_whole else ' or more'} {noun}."
    steps = [("palace init", "make a new palace here, with seven rooms")]
    if found:
        steps.insert(0, ("palace init --here", "take these notes as they are, where they are"))
    steps += [(f"palace -C {name}", f"go to {place}") for name, place in registry.palaces.items()]
    yield from _next(*steps)


def _count_notes(folder: Path) -> tuple[int, bool]:
    """Count the Markdown files below a folder, and say whether all of it was looked at."""
    found = entries = 0
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        entries += len(folders) + len(files)
        found += sum(name.endswith((".md", ".markdown")) for name in files)
        if entries > _MOST_ENTRIES:
            return found, False
    return found, True
