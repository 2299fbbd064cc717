"""Print ``references/cli.md`` from the command tree: ``python -m memory_palace.cli.reference``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from memory_palace.cli.commands import COMMANDS, app

_HEAD = """# The palace command

Made by `make docs` from the program's own help; do not edit.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 no palace, 4 no index or another embedder,
5 index locked, 6 index damaged, 7 some notes failed (the others are indexed), 8 a check failed,
9 an optional part is missing.

Data goes to stdout, remarks to stderr. `--json` prints one object with `"schema": 2`; its shape is
in `references/schemas/VERB.json` (`graph-neighbors.json`, say), and `bench` prints a row per line.
Later versions add keys; they do not rename any.

Every verb takes `-h` for help and `-C NAME|FOLDER` for the palace to use. It is the one that `-C`
names, else `PALACE_ROOT`, else the nearest at or above the working folder, else the default of
`palace register`. A registered name goes before a folder of that name; `./NAME` is the folder.
"""


def write_reference() -> Iterator[str]:
    """Yield the reference line by line."""
    yield _HEAD
    root: Any = typer.main.get_command(app)
    context = root.context_class(root, info_name="palace")
    yield from _command("palace", root)
    for name in COMMANDS:
        command = root.get_command(context, name)
        yield from _command(f"palace {name}", command)
        for verb, below in getattr(command, "commands", {}).items():
            yield from _command(f"palace {name} {verb}", below)


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}\n"
    yield inspect.cleandoc(command.help or "") + "\n"
    own = command.params if name == "palace" else [p for p in command.params if p.name != "root"]
    rows = [row for row in map(_parameter, own) if row]
    if rows:
        yield "| parameter | what |\n|---|---|"
        yield from rows
        yield ""


def _parameter(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if not getattr(parameter, "is_flag", False):
        choices = parameter.type_descriptor.choices or ()
        value = parameter.metavar or "|".join(map(str, choices))
        names = f"{names.removesuffix('`')} {value}`".replace("|", "\\|")
    if parameter.param_type_name == "argument":
        names = f"`{parameter.name.upper()}`"
    text = (getattr(parameter, "help", None) or "").strip()
    if not text or "--help" in parameter.opts:
        return ""
    default = parameter.default
    if default not in (None, False, "", (), []) and not callable(default):
        text += f" Default: {default}."
    return f"| {names} | {text} |"


if __name__ == "__main__":
    print("\n".join(write_reference()).rstrip())
