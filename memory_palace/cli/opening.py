"""Open a hit in the person's editor, at its line."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from memory_palace.cli.answers import Entry, Shown
from memory_palace.errors import PalaceError, UsageError
from memory_palace.palace import Palace

_BY_COLON = ("{file}:{line}",)
_SYNTAX: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor", "windsurf"), ("-g", *_BY_COLON)),
    **dict.fromkeys(("subl", "sublime_text", "hx", "helix", "zed"), _BY_COLON),
    **dict.fromkeys(("kate", "kwrite", "mate"), ("-l", "{line}", "{file}")),
    **dict.fromkeys(("idea", "pycharm", "webstorm"), ("--line", "{line}", "{file}")),
}
"""Editors that do not take ``+LINE FILE``, as ``vi`` and most others do, and what they take."""


def open_in_editor(file: Path, line: int, environ: Mapping[str, str]) -> None:
    """Run ``$VISUAL`` or ``$EDITOR`` at a line of a file, without a shell, and wait for it.

    Raise ``UsageError`` where neither is set, and ``PalaceError`` where it cannot run or fails.
    """
    editor = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        program, *options = shlex.split(editor)
    except ValueError as error:
        missing = "no editor is set" if not editor.strip() else f"EDITOR is {editor!r}"
        raise UsageError(f"{missing}; name one, such as `export EDITOR=nano`") from error
    syntax = _SYNTAX.get(Path(program).name, ("+{line}", "{file}"))
    arguments = [part.format(line=line, file=file) for part in syntax]
    try:
        done = subprocess.run([program, *options, *arguments], check=False)
    except OSError as error:
        raise PalaceError(f"cannot run the editor {program!r}: {error.strerror}") from error
    if done.returncode:
        raise PalaceError(f"the editor {program!r} ended with status {done.returncode}")


def open_entry(palace: Palace, entry: Entry, environ: Mapping[str, str]) -> None:
    """Open a hit, which counts as use of its note."""
    open_in_editor(entry.file, entry.line, environ)
    root = palace.paths.root.resolve()
    palace.note_use("opened", entry.file.relative_to(root).as_posix())


def open_hit(
    palaces: Mapping[str, Palace], shown: Shown, number: int, environ: Mapping[str, str]
) -> None:
    """Open the hit of that number; raise ``UsageError`` where there is none."""
    found = [entry for entry in shown.entries if entry.mark == str(number)]
    if not found:
        count = sum(entry.mark.isdigit() for entry in shown.entries)
        raise UsageError(f"there is no hit {number} to open, only {count}")
    if not found[0].is_here:
        raise UsageError(f"hit {number} is of a store: --open needs its note here")
    open_entry(palaces[found[0].palace], found[0], environ)
