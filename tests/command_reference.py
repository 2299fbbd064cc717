"""Print ``references/cli.md``, the command tree: ``make docs``."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from memory_palace.cli.group import build_tree
from memory_palace.table import HIDDEN

_HEAD = """# The palace command

Made by `make docs` from the program's own help; do not edit.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 no palace, 4 no index or another embedder,
5 index locked, 6 index damaged, 7 some notes failed (the others are indexed), 8 a check failed,
9 an optional part is missing, 10 a store in a database refuses or cannot be reached.

What the system refuses (no permission, no space, a name too long, output that cannot be written) is
one line with the file and what to do, and exits 1. A note or folder that cannot be read is named on
stderr; the rest goes on.

Data goes to stdout, remarks to stderr. `--json` prints one object with `"schema": 2`, 3
for `query`; its shape is in `references/schemas/VERB.json` (`graph-neighbors.json`, say).
Later versions add keys; they do not rename any.

`palace` alone is `palace status`; where there is no palace it is `palace --help`.

Every verb takes `-h` for help and `-C NAME|FOLDER` for the palace to use. It is the one that `-C`
names, else `PALACE_ROOT`, else the nearest at or above the working folder, else the default of
`palace config register`. A registered name goes before a folder of that name; `./NAME` is the
folder.

`query`, `recall`, `show` and `verify` are answered by the resident server of the palace where one
runs (`palace serve`); `--no-serve`, which every verb takes, or `PALACE_NO_SERVE=1` goes past it.

A verb that changes notes shows the change, and makes it with `--apply`. Verbs that print an answer
take `--json`.
"""
_SHARED = frozenset(("--root", "--no-serve", "--json", "--apply"))
"""Options that mean the same everywhere; the head says it once."""


def write_reference() -> Iterator[str]:
    """Yield the reference in Markdown, line by line."""
    yield _HEAD
    for words, command in walk_verbs():
        if words in HIDDEN:
            continue
        yield f"## {' '.join(('palace', words)).rstrip()}\n"
        yield inspect.cleandoc(command.help or "") + "\n"
        rows = list(_rows(words, command))
        if rows:
            yield "| parameter | what |\n|---|---|"
            yield from rows
            yield ""


def walk_verbs() -> Iterator[tuple[str, Any]]:
    """Yield every command with the words that are typed for it, those of a group after it."""
    yield from _walk("", build_tree())


def _walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name in list(getattr(command, "commands", ())):
        yield from _walk(f"{words} {name}".lstrip(), command.load(name))


def _rows(words: str, command: Any) -> Iterator[str]:
    """Yield a row for each parameter of a command, without those that are the same for all."""
    for parameter in command.params:
        text = (parameter.help or "").strip()
        is_shared = bool(words) and not _SHARED.isdisjoint(parameter.opts)
        if "--help" in parameter.opts or is_shared:
            continue
        default = parameter.default
        if default not in (None, False, "", (), []) and not callable(default):
            text += f" Default: {default}."
        named, value = [str(parameter.name).upper()], ""
        if parameter.param_type_name != "argument":
            named = [*parameter.opts, *parameter.secondary_opts]
            if not parameter.is_flag:
                choices = parameter.type_descriptor.choices or ()
                value = parameter.metavar or "|".join(map(str, choices))
        named[-1] = f"{named[-1]} {value}".rstrip()
        names = ", ".join(f"`{name}`" for name in named).replace("|", "\\|")
        yield f"| {names} | {text} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join(write_reference()).rstrip() + "\n")
