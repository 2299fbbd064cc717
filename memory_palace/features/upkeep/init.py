"""``palace init``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Context, Option

from memory_palace.config import PalacePaths, find_paths
from memory_palace.notes.making import count_outside, make_palace
from memory_palace.shown import plural, say


def init_palace(
    ctx: Context,
    folder: Annotated[
        Path | None, Argument(help="Folder to make a palace of; the current one by default.")
    ] = None,
    here: Annotated[
        bool,
        Option("--here", help="Take the folder as it stands: notes stay, only .palace/ is made."),
    ] = False,
) -> None:
    """Make FOLDER a palace: palace/ with the seven rooms, or the folder as it stands.

    No note is touched, and running it again changes nothing. Where there are notes outside
    palace/, a terminal is asked which of the two is meant. Example: palace init --here ~/notes
    """
    root = (folder or ctx.obj or Path.cwd()).resolve()
    is_new = not here and find_paths(root) is None
    if is_new and sys.stdin.isatty() and (outside := describe_outside(root)):
        question = f"{outside}.\nTake the folder as it stands? Its notes stay where they are"
        here = typer.confirm(question, True)
    paths = make_palace(root, here=here)
    print(paths.notes if paths.is_classic else paths.own)
    say_outside(paths)
    if not paths.commit.exists():
        from memory_palace.features.upkeep.models import (
            offer_missing,  # delayed, as init is to be quick
        )

        offer_missing(paths.root)
    say_next(paths.root, "index")


def say_next(root: Path, command: str) -> None:
    """Say on a terminal which command comes next, with -C where one stands elsewhere."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        where = "" if Path.cwd().is_relative_to(root) else f" -C {shlex.quote(str(root))}"
        say(f"next: palace{where} {command}")


def say_outside(paths: PalacePaths) -> None:
    """Say on stderr how many notes are not part of a classic palace, and how they would be."""
    outside = describe_outside(paths.root) if paths.is_classic else ""
    if outside:
        say(f"{outside}; `palace init --here` takes the folder as it stands")


def describe_outside(root: Path) -> str:
    """Say how many notes are below a folder and not in ``palace/``; nothing where none are."""
    count, is_all = count_outside(root)
    more, verb = "" if is_all else "more than ", "is" if count == 1 else "are"
    return f"{more}{plural(count, 'note')} in {root} {verb} outside palace/" if count else ""
