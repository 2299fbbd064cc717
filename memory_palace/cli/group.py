"""How a verb is declared: a typed function from a palace and options to a value that is shown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, get_args, get_type_hints

import typer.main
from typer import Context, Option, Typer
from typer.core import TyperCommand, TyperGroup

from memory_palace.cli.options import (
    Json,
    NoServe,
    Root,
    completed,
    open_palace,
    open_palace_if_any,
    show_dash,
)
from memory_palace.language.moments import Moment
from memory_palace.query import Flag, Names, Query
from memory_palace.shown import Shown
from memory_palace.table import BELOW, load

if TYPE_CHECKING:
    from memory_palace.palace import Palace

P = ParamSpec("P")
R = TypeVar("R", bound="Shown | Iterator[Shown] | None")


class Group(Typer):
    """Verbs of one noun; without ``help`` they stand at the top, each by itself.

    A verb is a function whose first parameter, ``palace``, is the palace that is meant, where it
    has one; of the type ``Palace | None`` it may be ``None`` where ``-C`` names none. A parameter
    ``place`` is the folder that ``-C`` names. The others are the options and arguments; ``-C`` and
    ``--no-serve`` are added, and ``--json`` where its value is a ``Shown``. A function
    that yields values goes on when each is shown; one that returns ``None`` prints by itself.
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
        """Make a verb of a function; ``json=False`` where its lines are all there is."""

        def declare(function: Callable[P, R]) -> Callable[P, R]:
            hints = get_type_hints(function, include_extras=True)
            has_json = json and hints.get("return") is not type(None)
            run = _wrap(function, hints, has_json=has_json)
            self.command(name, help=_write_help(function))(run)
            return function

        return declare


def _hold_root(root: Root = None, no_serve: NoServe = False) -> None:
    """Take ``-C`` before the verb of a group too."""


def _write_help(function: Callable[..., Any]) -> str:
    """Return the docstring with its example in a paragraph of its own."""
    return re.sub(r"\s+Example: ", "\n\nExample: ", inspect.getdoc(function) or "")


def _wrap(
    function: Callable[..., Any], hints: dict[str, Any], *, has_json: bool
) -> Callable[..., None]:
    """Return what Typer calls: it opens the palace, reads the options and shows the value."""
    parameters, made = [_parameter("ctx", Context)], dict[str, Callable[..., Any]]()
    for one in inspect.signature(function).parameters.values():
        if one.name == "palace":
            is_sure = type(None) not in get_args(hints["palace"])
            made["palace"] = _open if is_sure else _open_if_any
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


def _open(ctx: Context, options: object) -> Palace:
    return open_palace(ctx)


def _open_if_any(ctx: Context, options: object) -> Palace | None:
    return open_palace_if_any(ctx)


class Fields:
    """Fields of a value of options, each an option of the verb that takes the value."""

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
        """Return the value, and take its fields from the options."""
        return self._kind(**{name: options.pop(name) for name in self._names})


def fields_of(kind: type[Query], names: str) -> Any:
    """Return the default of a parameter whose options are fields of ``kind``."""
    return Fields(kind, names)


def _option(hint: Any, flag: Flag) -> Any:
    """Return a field as Typer reads it; a moment is text, and several names are repeated."""
    kinds: dict[Any, Any] = {Names: list[str] | None, Moment | None: str | None}
    settings: dict[str, Any] = {"help": flag.help, "rich_help_panel": flag.panel}
    settings |= {"metavar": flag.value, "min": flag.least, "max": flag.most}
    if flag.completed:
        settings["autocompletion"] = completed(flag.completed)
    return Annotated[kinds.get(hint, hint), Option(*flag.names.split(), **settings)]


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


class VerbGroup(TyperGroup):
    """A group whose verbs are known by name, and imported when one of them is typed."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.places: dict[str, str] = {}
        """Verbs that are not imported yet, and where they stand."""

    def know(
        self, name: str, place: str, summary: str, panel: str | None = None, *, hidden: bool = False
    ) -> None:
        """Add a verb by its place; its help text is all that the list of verbs needs."""
        self.add_command(TyperCommand(name, help=summary, rich_help_panel=panel, hidden=hidden))
        self.places[name] = place

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the verb that is typed first; raise Typer's error where there is none."""
        if args[0] in self.places:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> Any:
        """Return a verb, imported."""
        if place := self.places.pop(name, None):
            known: Any = self.commands[name]
            found = build(name, load(place))
            found.rich_help_panel = known.rich_help_panel
            self.add_command(found, name)
        return self.commands[name]


def build(name: str, group: Group) -> Any:
    """Return the command of a group, or the verb of that name in a group without a help text."""
    found: Any = typer.main.get_group(group)
    if not group.info.help:
        return found.commands[name]
    found.name = name
    for words, (place, summary) in BELOW.items():
        above, _, below = words.partition(" ")
        if above == name:
            found.know(below, place, summary)
    return found
