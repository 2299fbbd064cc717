"""Options and arguments that several verbs share, declared once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option

from memory_palace.errors import NotAPalaceError, UsageError
from memory_palace.places import is_path
from memory_palace.table import STORES, load

if TYPE_CHECKING:
    from memory_palace.config import Rooms
    from memory_palace.palace import Palace
    from memory_palace.query import Query


def completed(kind: str) -> Callable[[Context, str], list[str]]:
    """Return what Tab asks for the names of a kind; ``cli.completing`` has the kinds."""

    def complete(ctx: Context, incomplete: str) -> list[str]:
        from memory_palace.cli.completing import complete_names  # delayed: only Tab needs it

        return complete_names(kind, ctx, incomplete)

    return complete


Note = Annotated[
    str,
    Argument(
        help="Path, file name, slug, title or alias of a note.", autocompletion=completed("notes")
    ),
]
Json = Annotated[bool, Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, Option("-q", "--quiet", help="Print only errors.")]
Limit = Annotated[int, Option("-k", "--top-k", min=1, help="Maximum number of results.")]
IncludeCold = Annotated[bool, Option("--include-cold", help="Include archived notes.")]
Budget = Annotated[
    int | None,
    Option("--budget", min=1, help="Maximum size of the text, in UTF-8 bytes."),
]
SHORT_WAIT_SECONDS = 2.0
"""Most writers end sooner; one that does not is named."""
Wait = Annotated[
    float,
    Option("--wait", min=0.0, help="Seconds to wait for another writer to finish."),
]
Apply = Annotated[bool, Option("--apply", help="Make the change; without this it is only shown.")]
Tags = Annotated[
    list[str] | None,
    Option("--tag", metavar="TAG", help="Tag; repeatable.", autocompletion=completed("tags")),
]


_DASHED = re.compile(r"\A-(?![^\W\d_])[^= ]*+ ")
_DASH = "\ue000"
"""Stands for the dash of a text while Typer reads a line; it is a character of private use."""


def hide_dashes(words: Sequence[str]) -> list[str]:
    """Return a line in which ``- an item``, which no option can be, does not begin like one."""
    return [_DASH + word[1:] if _DASHED.match(word) else word for word in words]


def show_dash(value: Any) -> Any:
    """Return the value of an option or argument with its dash."""
    if isinstance(value, list):
        return [show_dash(one) for one in value]
    return value.replace(_DASH, "-", 1) if isinstance(value, str) and value[:1] == _DASH else value


def take_root(ctx: Context, value: str | None) -> None:
    """Keep what ``-C`` says, for this verb and those below it."""
    if value is not None:
        ctx.obj = locate(show_dash(value))


Root = Annotated[
    str | None,
    Option(
        "-C",
        "--root",
        metavar="NAME|FOLDER",
        autocompletion=completed("palaces"),
        callback=take_root,
        expose_value=False,
        help="Palace to use.",
    ),
]


NoServe = Annotated[
    bool,
    Option(
        "--no-serve",
        expose_value=False,
        hidden=True,
        help="Answer without the resident server.",
    ),
]
"""It is obeyed before a verb is imported, by ``places.find_server``; here it is only known."""


def locate(place: str) -> Path:
    """Return the folder that ``-C`` names: a registered palace, else a folder."""
    if is_path(place):
        return Path(place).expanduser()
    from memory_palace.cli.registry import read_registry  # delayed: few give a name

    registry = read_registry()
    return registry.folder_of(place) if place in registry.palaces else Path(place)


lend: Callable[[Palace], None] | None = None
"""Hook: the resident server lends a palace that a command opens its open index and models."""


def open_palace(ctx: Context) -> Palace:
    """Open the palace that ``-C`` or ``PALACE_ROOT`` names, else the nearest, else the default.

    The nearest is the working folder or the first of its parents that is a palace; the default is
    the user's own (``palace config register NAME --default``). Files and folders that cannot be
    read are named on stderr when the command has ended.
    """
    palace = find_palace(ctx.obj)
    palace.agent = os.environ.get("PALACE_AGENT", "")
    if lend is not None:
        lend(palace)
    ctx.call_on_close(lambda: _name_unread(palace))
    return palace


def open_palace_if_any(ctx: Context) -> Palace | None:
    """Open the palace that is meant; ``None`` where none is named and none is here."""
    try:
        return open_palace(ctx)
    except NotAPalaceError:
        if ctx.obj is not None:
            raise
        return None


def _name_unread(palace: Palace) -> None:
    if palace.unread:
        from memory_palace.shown import say  # delayed: it is seldom needed

        for problem in palace.unread.values():
            say(str(problem))


def find_palace(folder: Path | None) -> Palace:
    """Open the palace of a folder; ``None`` is the nearest, else the user's default."""
    from memory_palace.palace import Palace  # delayed: help and completion need no numpy

    if folder is None:
        try:
            return Palace.discover(Path.cwd())
        except NotAPalaceError:
            from memory_palace.cli.registry import read_registry  # delayed: most stand in a palace

            default = read_registry().default_folder
            if default is None:
                raise
            return Palace(default)
    if not folder.is_dir():
        from memory_palace.cli.registry import explain_unknown

        raise NotAPalaceError(explain_unknown(folder))
    return Palace.discover(folder)


def folders_below(palace: Palace, given: Sequence[str] | None) -> list[str]:
    """Return folders relative to the root, as they are seen from the working folder or the root.

    Raise ``UsageError`` for one that is outside the palace.
    """
    root, found = str(palace.paths.root.resolve()), []
    for name in given or ():
        path = Path(name).expanduser()
        here = os.path.abspath(path)  # noqa: PTH100 - links stay as written
        below = Path(os.path.relpath(here, root))
        is_inside = below.parts[:1] != (os.pardir,)
        if not name.strip() or (path.is_absolute() and not is_inside):
            raise UsageError(f"{name!r} is not a folder of the palace {root}")
        found.append("/".join(below.parts) if is_inside and Path(here).is_dir() else name)
    return found


def note_below(palace: Palace, name: str) -> str:
    """Return the name of a note; a path from the working folder or ``/`` as one from the root."""
    if not name.startswith(("/", "~", "./", "../")):
        return name
    root = palace.paths.root.resolve()
    here = Path(name).expanduser()
    below = os.path.relpath(here.parent.resolve() / here.name, root)
    return name if below.startswith(os.pardir) else Path(below).as_posix()


def check_cold(rooms: Rooms, asked: Query, folders: Sequence[str]) -> None:
    """Raise ``UsageError`` where ``--room`` or ``--in`` name the archive and nothing lets it in.

    It stays out unless asked for, and "nothing found" would be taken for an empty archive.
    """
    if asked.include_cold:
        return
    known = {folder.casefold(): folder for folder in rooms.folders}
    names = [(name, known.get(name.casefold(), name)) for name in folders]
    names += [(name, name.casefold()) for name in (asked.room,) if name]
    for name, folder in names:
        if rooms.is_archived(folder):
            raise UsageError(f"{name} is archived, and left out; add --include-cold to look there")


def reach_store(what: str) -> Callable[..., Any]:
    """Return the function of a store that asks it or pushes to it; the table has both."""
    if what not in STORES:
        raise UsageError("this installation has no stores: leave out --store")
    found: Callable[..., Any] = load(STORES[what])
    return found


def read_input(file: str, *, hint: str = "") -> str:
    """Return the text of a file; ``-`` is standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text("utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}{hint}") from error


def read_text(given: Sequence[str] | None, *, most: int | None = None) -> str:
    """Return what an argument of several words says; without it, or with ``-``, standard input.

    Raise ``UsageError`` where that is a terminal, has more than ``most`` bytes, or is not UTF-8:
    what is written must be exact.
    """
    if given and given != ["-"]:
        return " ".join(given)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("there is no text: give one, or pipe it in")
    if not hasattr(sys.stdin, "buffer"):  # it was read for a server that did not answer
        return sys.stdin.read()
    data = sys.stdin.buffer.read(-1 if most is None else most + 1)
    if most is not None and len(data) > most:
        raise UsageError(f"standard input has more than {most:,} bytes; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 at byte {error.start + 1}") from error
