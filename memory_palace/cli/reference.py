"""Print the command tree for reading: ``python -m memory_palace.cli.reference [man]``.

``references/cli.md`` is one form, the manual page ``references/palace.1`` the other.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from memory_palace import __version__
from memory_palace.cli.commands import COMMANDS, app

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

`palace` alone prints where the palace is, how it is and what to do next, and exits 0, where
there is no palace too.

Every verb takes `-h` for help and `-C NAME|FOLDER` for the palace to use. It is the one that `-C`
names, else `PALACE_ROOT`, else the nearest at or above the working folder, else the default of
`palace register`. A registered name goes before a folder of that name; `./NAME` is the folder.

`query`, `recall`, `show` and `verify` are answered by the resident server of the palace where one
runs (`palace serve`); `--no-serve`, which every verb takes, or `PALACE_NO_SERVE=1` goes past it.
"""


_ABOUT = r""".SH NAME
palace \- a long\-term memory that is nothing but Markdown files
.SH SYNOPSIS
\fBpalace\fR [\fB\-C\fR \fINAME|FOLDER\fR] [\fIVERB\fR ...]
.SH DESCRIPTION
Finds the notes that answer a question, and keeps an index of them that may be deleted at any time.
Without a verb it prints where the palace is, how it is, and what to do next, and exits 0, where
there is no palace too.
.PP
The palace is the one that \fB\-C\fR names, else \fBPALACE_ROOT\fR, else the nearest at or above the
working folder, else the default of \fBpalace register\fR. A registered name goes before a folder of
that name; ./NAME is the folder. Every verb takes \fB\-C\fR and \fB\-h\fR.
.PP
Data goes to standard output, remarks to standard error."""

_AFTER = r""".SH EXIT STATUS
0 success, 1 failure, 2 wrong usage, 3 no palace, 4 no index or another embedder, 5 index locked,
6 index damaged, 7 some notes failed (the others are indexed), 8 a check failed, 9 an optional part
is missing, 10 a store in a database refuses or cannot be reached.
.SH ENVIRONMENT
.TP
\fBPALACE_ROOT\fR
Palace to use where \fB\-C\fR is not given: a registered name or a folder.
.TP
\fBPALACE_CACHE\fR
Folder for the weights of models.
.TP
\fBXDG_CONFIG_HOME\fR
Folder of the user's configuration; ~/.config where it is not set.
.TP
\fBNO_COLOR\fR
No color, whatever its value.
.TP
\fBEDITOR\fR
What opens a note.
.SH FILES
.TP
\fI.palace/\fR, \fIpalace/\fR
What belongs to a folder that was taken as it stands; a palace with rooms.
.TP
\fI~/.config/memory\-palace/palaces.json\fR
Names of palaces, written by \fBpalace register\fR alone.
.SH SEE ALSO
.BR grep (1),
.BR rg (1)"""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """An argument or option as a reader needs it."""

    names: tuple[str, ...]
    value: str
    """What stands for its value; empty for a switch."""
    text: str


def write_reference() -> Iterator[str]:
    """Yield the reference in Markdown, line by line."""
    yield _HEAD
    for name, command in _walk():
        yield f"## {name}\n"
        yield inspect.cleandoc(command.help or "") + "\n"
        rows = list(_parameters(name, command))
        if rows:
            yield "| parameter | what |\n|---|---|"
            yield from map(_row, rows)
            yield ""


def write_manual() -> Iterator[str]:
    """Yield the manual page for ``man``, line by line."""
    yield f'.TH PALACE 1 "" "memory-palace {__version__}" "User Commands"'
    yield _ABOUT
    for name, command in _walk():
        if name == "palace":
            yield ".SH OPTIONS"
        else:
            yield f'.SS "{name}"'
            for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
                yield f".PP\n{_roff(' '.join(paragraph.split()))}"
        for row in _parameters(name, command):
            named = ", ".join(f"\\fB{_roff(name)}\\fR" for name in row.names)
            yield f".TP\n{named}" + (f" \\fI{_roff(row.value)}\\fR" if row.value else "")
            yield _roff(row.text)
        if name == "palace":
            yield ".SH VERBS"
    yield _AFTER


def _walk() -> Iterator[tuple[str, Any]]:
    """Yield every command with its name, those of a group after the group."""
    root: Any = typer.main.get_command(app)
    context = root.context_class(root, info_name="palace")
    yield "palace", root
    for name in COMMANDS:
        command = root.get_command(context, name)
        yield f"palace {name}", command
        for verb, below in getattr(command, "commands", {}).items():
            yield f"palace {name} {verb}", below


def _parameters(name: str, command: Any) -> Iterator[_Parameter]:
    """Yield what a command takes, without what every verb takes."""
    for parameter in command.params:
        text = (parameter.help or "").strip()
        is_shared = parameter.name == "root" and name != "palace"
        is_shared |= parameter.name == "no_serve" and parameter.hidden
        if "--help" in parameter.opts or is_shared:
            continue
        default = parameter.default
        if default not in (None, False, "", (), []) and not callable(default):
            text += f" Default: {default}."
        if parameter.param_type_name == "argument":
            yield _Parameter((str(parameter.name).upper(),), "", text)
            continue
        value = ""
        if not parameter.is_flag:
            choices = parameter.type_descriptor.choices or ()
            value = parameter.metavar or "|".join(map(str, choices))
        yield _Parameter((*parameter.opts, *parameter.secondary_opts), value, text)


def _row(parameter: _Parameter) -> str:
    *others, last = parameter.names
    named = [*others, f"{last} {parameter.value}".rstrip()]
    names = ", ".join(f"`{name}`" for name in named).replace("|", "\\|")
    return f"| {names} | {parameter.text} |"


def _roff(text: str) -> str:
    """Return text as troff prints it: no escapes, hyphens as they are typed, no requests."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    lines = write_manual() if sys.argv[1:] == ["man"] else write_reference()
    print("\n".join(lines).rstrip())
