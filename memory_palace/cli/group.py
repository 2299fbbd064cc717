"""The command line: shared options, the declaration of verbs, and the tree of all verbs.

A verb is a typed function from a palace and options to a value that is shown. Its module is
imported when the verb is typed.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, get_args, get_type_hints

import typer.main
from typer import Argument, Context, Option, Typer
from typer.core import TyperCommand, TyperGroup

from memory_palace import __version__
from memory_palace.errors import NotAPalaceError, PalaceError, UsageError
from memory_palace.places import find_verb, is_path
from memory_palace.query import Flag, Moment, Names, Query
from memory_palace.shown import Shown, say
from memory_palace.table import ALONE, BELOW, HIDDEN, MOVED, STORES, VERBS, load

if TYPE_CHECKING:
    from memory_palace.config import Rooms
    from memory_palace.palace import Palace

P = ParamSpec("P")
R = TypeVar("R", bound="Shown | Iterator[Shown] | None")


def completed(kind: str) -> Callable[[Context, str], list[str]]:
    """Return a completion callback for a kind of names of ``cli.completing``."""

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
    int | None, Option("--budget", min=1, help="Maximum size of the text, in UTF-8 bytes.")
]
SHORT_WAIT_SECONDS = 2.0
"""Default wait for the writer's lock; most writers finish sooner."""
Wait = Annotated[
    float, Option("--wait", min=0.0, help="Seconds to wait for another writer to finish.")
]
Apply = Annotated[bool, Option("--apply", help="Make the change; without this it is only shown.")]
Tags = Annotated[
    list[str] | None,
    Option("--tag", metavar="TAG", help="Tag; repeatable.", autocompletion=completed("tags")),
]


_DASHED = re.compile(r"\A-(?![^\W\d_])[^= ]*+ ")
_DASH = "\ue000"
"""Private-use character that replaces the dash of a text while Typer parses a line."""


def hide_dashes(words: Sequence[str]) -> list[str]:
    """Return the words with ``_DASH`` in place of the dash of a text such as ``- an item``."""
    return [_DASH + word[1:] if _DASHED.match(word) else word for word in words]


def show_dash(value: Any) -> Any:
    """Return the value of an option or argument with its dash restored."""
    if isinstance(value, list):
        return [show_dash(one) for one in value]
    return value.replace(_DASH, "-", 1) if isinstance(value, str) and value[:1] == _DASH else value


def take_root(ctx: Context, value: str | None) -> None:
    """Store the folder that ``-C`` names in the context, for this verb and those below it."""
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
        "--no-serve", expose_value=False, hidden=True, help="Answer without the resident server."
    ),
]
"""Handled by ``places.find_server`` before a verb is imported; declared so that it parses."""


def locate(place: str) -> Path:
    """Return the folder of the registered palace of this name, else the folder itself."""
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
    """Open the palace; ``None`` if ``-C`` names none and none is found."""
    try:
        return open_palace(ctx)
    except NotAPalaceError:
        if ctx.obj is not None:
            raise
        return None


def _name_unread(palace: Palace) -> None:
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

            registry = read_registry()
            if registry.default is None:
                raise
            return Palace(registry.folder_of(registry.default))
    if not folder.is_dir():
        from memory_palace.cli.registry import read_registry

        hint = read_registry().hint(str(folder))
        raise NotAPalaceError(f"{str(folder)!r} is neither a folder nor a registered palace{hint}")
    return Palace.discover(folder)


def folders_below(palace: Palace, given: Sequence[str] | None) -> list[str]:
    """Return folders relative to the root, given relative to the working folder or the root.

    Raise ``UsageError`` for an empty name, and for an absolute path outside the palace.
    """
    root, found = str(palace.paths.root.resolve()), []
    for name in given or ():
        path = Path(name).expanduser()
        here = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as written
        is_inside = here.is_relative_to(root)
        if not name.strip() or (path.is_absolute() and not is_inside):
            raise UsageError(f"{name!r} is not a folder of the palace {root}")
        is_folder = is_inside and here.is_dir()
        found.append("/".join(here.relative_to(root).parts) if is_folder else name)
    return found


def note_below(palace: Palace, name: str) -> str:
    """Return the name of a note; an absolute or ``./`` path becomes relative to the root."""
    name = name.replace(os.sep, "/")
    if not name.startswith(("~", "./", "../")) and not Path(name).is_absolute():
        return name
    here, root = Path(name).expanduser(), palace.paths.root.resolve()
    place = here.parent.resolve() / here.name
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else name


def ask_below(palace: Palace, asked: Query) -> Query:
    """Return a question with its folders relative to the root; raise ``UsageError`` for others."""
    asked = replace(asked, folder=folders_below(palace, asked.folder))
    check_cold(palace.paths.rooms, asked)
    return asked


def check_cold(rooms: Rooms, asked: Query) -> None:
    """Raise ``UsageError`` if ``--room`` or ``--in`` name the archive without ``--include-cold``.

    Otherwise "nothing found" would suggest that the archive is empty.
    """
    if asked.include_cold:
        return
    known = {folder.casefold(): folder for folder in rooms.folders}
    names = [(name, known.get(name.casefold(), name)) for name in asked.folder or ()]
    names += [(name, name.casefold()) for name in (asked.room,) if name]
    for name, folder in names:
        if rooms.is_archived(folder):
            raise UsageError(f"{name} is archived, and left out; add --include-cold to look there")


def reach_store(what: str) -> Callable[..., Any]:
    """Return the operation ``ask`` or ``push`` of a store; raise ``UsageError`` without one."""
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
    """Return the words of an argument, joined; without words, or for ``-``, read standard input.

    Raise ``UsageError`` if standard input is a terminal, exceeds ``most`` bytes, or is not UTF-8.
    """
    if given and given != ["-"]:
        return " ".join(given)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("there is no text: give one, or pipe it in")
    if not hasattr(sys.stdin, "buffer"):  # already read, for a server that did not answer
        return sys.stdin.read()
    data = sys.stdin.buffer.read(-1 if most is None else most + 1)
    if most is not None and len(data) > most:
        raise UsageError(f"standard input has more than {most:,} bytes; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 at byte {error.start + 1}") from error


class Group(Typer):
    """A group of verbs; without ``help`` they are top-level verbs.

    A verb is a function. Its parameter ``palace`` receives the open palace; with the type ``Palace
    | None`` it is ``None`` if none is found. ``place`` receives the folder of ``-C``. The others
    are options and arguments; ``-C`` and ``--no-serve`` are added, and ``--json`` if it returns a
    ``Shown``. A generator's values are shown one by one; ``None`` is not shown.
    """

    def __init__(self, help: str = "") -> None:
        super().__init__(
            cls=VerbGroup,
            help=help,
            callback=_hold_root if help else None,
            no_args_is_help=True,
            add_completion=False,
            rich_markup_mode="markdown",
        )

    def verb(self, name: str, *, json: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Return a decorator that registers a verb; ``json=False`` omits ``--json``."""

        def declare(function: Callable[P, R]) -> Callable[P, R]:
            hints = get_type_hints(function, include_extras=True)
            has_json = json and hints.get("return") is not type(None)
            run = _wrap(function, hints, has_json=has_json)
            text = re.sub(r"\s+Example: ", "\n\nExample: ", inspect.getdoc(function) or "")
            self.command(name, help=text)(run)
            return function

        return declare


def _hold_root(root: Root = None, no_serve: NoServe = False) -> None:
    """Take ``-C`` before the verb of a group too."""


def _wrap(
    function: Callable[..., Any], hints: dict[str, Any], *, has_json: bool
) -> Callable[..., None]:
    """Return the function for Typer: it opens the palace, collects options and shows the value."""
    parameters, made = [_parameter("ctx", Context)], dict[str, Callable[..., Any]]()
    for one in inspect.signature(function).parameters.values():
        if one.name == "palace":
            is_sure = type(None) not in get_args(hints["palace"])
            opens = open_palace if is_sure else open_palace_if_any
            made["palace"] = lambda ctx, options, opens=opens: opens(ctx)
        elif one.name == "place":
            made["place"] = lambda ctx, options: ctx.obj
        elif isinstance(one.default, Fields):
            parameters += one.default.parameters()
            made[one.name] = one.default.take
        else:
            parameters.append(_parameter(one.name, hints[one.name], one.default))
    added: dict[str, tuple[Any, Any]] = {"root": (Root, None), "no_serve": (NoServe, False)}
    if has_json and "as_json" not in hints:
        added = {"as_json": (Json, False), **added}
    parameters += [_parameter(key, kind, default) for key, (kind, default) in added.items()]

    @wraps(function)
    def run(ctx: Context, **options: Any) -> None:
        as_json = options.get("as_json", False)
        options = {name: show_dash(value) for name, value in options.items() if name not in added}
        value = function(**{name: make(ctx, options) for name, make in made.items()}, **options)
        for shown in value if inspect.isgenerator(value) else (value,):
            if shown is not None:
                shown.show(as_json=as_json)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


class Fields:
    """Default of a verb's parameter that holds a query: the named fields become options."""

    def __init__(self, kind: type[Query], names: str) -> None:
        self._kind, self._names = kind, names.split()

    def parameters(self) -> list[inspect.Parameter]:
        """Return a parameter for each field."""
        defaults = {one.name: one.default for one in fields(self._kind)}
        hints = get_type_hints(self._kind)
        return [
            _parameter(name, _option(hints[name], self._kind.flags[name]), defaults[name])
            for name in self._names
        ]

    def take(self, ctx: Context, options: dict[str, Any]) -> Query:
        """Return the query built from its fields, which are removed from the options."""
        return self._kind(**{name: options.pop(name) for name in self._names})


def fields_of(kind: type[Query], names: str) -> Any:
    """Return the default of a parameter; the named fields of ``kind`` become its options."""
    return Fields(kind, names)


def _option(hint: Any, flag: Flag) -> Any:
    """Return the Typer annotation of a field: moments are text, options of ``Names`` repeatable."""
    kinds: dict[Any, Any] = {Names: list[str] | None, Moment | None: str | None}
    settings: dict[str, Any] = {"help": flag.help, "rich_help_panel": flag.panel}
    settings |= {"metavar": flag.value, "min": flag.least, "max": flag.most}
    if flag.completed:
        settings["autocompletion"] = completed(flag.completed)
    return Annotated[kinds.get(hint, hint), Option(*flag.names.split(), **settings)]


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


class VerbGroup(TyperGroup):
    """A group of verbs that are imported only when typed."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.places: dict[str, str] = {}
        """The places of verbs that are not imported yet."""

    def know(
        self, name: str, place: str, summary: str, panel: str | None = None, *, hidden: bool = False
    ) -> None:
        """Register a verb by its place, with its summary for the list of verbs."""
        self.add_command(TyperCommand(name, help=summary, rich_help_panel=panel, hidden=hidden))
        self.places[name] = place

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import and return the typed verb; raise Typer's error for an unknown one."""
        if args[0] in self.places:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> Any:
        """Return the command of a verb, imported if necessary."""
        if place := self.places.pop(name, None):
            known: Any = self.commands[name]
            found = build(name, load(place))
            found.rich_help_panel = known.rich_help_panel
            self.add_command(found, name)
        return self.commands[name]


def build(name: str, group: Group) -> Any:
    """Return the command of a group; for a group without help, that of its verb ``name``."""
    found: Any = typer.main.get_group(group)
    if not group.info.help:
        return found.commands[name]
    found.name = name
    for words, (place, summary) in BELOW.items():
        above, _, below = words.partition(" ")
        if above == name:
            found.know(below, place, summary)
    return found


class _Root(VerbGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for panel, verbs in VERBS.items():
            for name, (place, summary) in verbs.items():
                self.know(name, place, summary, panel)
        for name, (place, summary) in HIDDEN.items():
            self.know(name, place, summary, hidden=True)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the command line; words such as ``- an item`` are text."""
        return super().parse_args(ctx, hide_dashes(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the typed verb; raise ``UsageError`` for one that has moved."""
        if args[0] in MOVED and not ctx.resilient_parsing:
            raise UsageError(f"`palace {args[0]}` has moved; type `{MOVED[args[0]]}` instead")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Root,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool | None) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def palace(
    ctx: typer.Context,
    root: Annotated[
        str | None,
        typer.Option(
            "-C",
            "--root",
            envvar="PALACE_ROOT",
            show_envvar=False,
            metavar="NAME|FOLDER",
            autocompletion=completed("palaces"),
            callback=take_root,
            help="Palace to use, before or after the verb.",
        ),
    ] = None,
    no_serve: NoServe = False,
    version: Annotated[
        bool | None,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = None,
) -> None:
    """Keep a long-term memory of Markdown files. Without a verb: the state of the palace."""
    if ctx.invoked_subcommand is None:
        palace = open_palace_if_any(ctx)
        if palace is None:
            print(ctx.get_help())
        else:
            load(ALONE)(palace).show(as_json=False)


@cache
def build_tree() -> Any:
    """Return the command ``palace``, built once."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; raise ``UsageError`` for an invalid one."""
    try:
        status = build_tree()(list(arguments), prog_name="palace", standalone_mode=False)
    except typer.Abort as error:
        raise PalaceError("stopped; nothing was decided") from error
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        if not message:  # a group without a verb has shown its help
            return UsageError.exit_code
        verb = find_verb(arguments)
        words = f"palace {verb}" if verb in build_tree().commands else "palace"
        raise UsageError(f"{message}\n`{words} --help` shows how it is used") from error
    return status if isinstance(status, int) else 0
