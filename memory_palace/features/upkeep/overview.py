"""``palace`` alone: where the palace is, how it is, and what to do next, on one screen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from typer import Context

from memory_palace.cli.options import open_palace
from memory_palace.cli.registry import Registry, read_registry
from memory_palace.errors import IndexMissingError, NotAPalaceError
from memory_palace.features.upkeep.standing import (
    Step,
    describe_freshness,
    describe_model,
    describe_notes,
    lay_steps,
    next_steps,
    steps_without_index,
)
from memory_palace.language.visible import visible
from memory_palace.palace import Palace
from memory_palace.shown import plural

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
        yield from _next(*steps_without_index(palace))
        return
    yield f"notes      {describe_notes(status)}"
    yield f"model      {describe_model(status)}"
    yield f"index      {describe_freshness(status)}"
    failed = sum(problem.is_failure for problem in status.problems)
    if failed:
        yield f"problems   {plural(failed, 'note')} could not be read; `palace status` names them"
    ask = [('palace query "a question"', "ask the notes")] if status.notes else []
    yield from _next(*next_steps(palace, status), *ask)


def _next(*steps: Step) -> Iterator[str]:
    return lay_steps((*steps, ("palace --help", "all verbs")))


def _place(root: Path, registry: Registry) -> str:
    home = root.resolve()
    names = [name for name, folder in registry.palaces.items() if Path(folder) == home]
    marks = [f"{name}, the default" if name == registry.default else name for name in names]
    return f"{home}  ({'; '.join(marks)})" if marks else str(home)


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
