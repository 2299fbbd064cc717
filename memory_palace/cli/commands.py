"""The command tree, from the table of verbs. A verb's module is imported when the verb is typed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from memory_palace import __version__
from memory_palace.cli.group import VerbGroup
from memory_palace.cli.options import NoServe, completed, hide_dashes, open_palace_if_any, take_root
from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import find_verb
from memory_palace.table import ALONE, HIDDEN, MOVED, VERBS, load


class _Root(VerbGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for panel, verbs in VERBS.items():
            for name, (place, summary) in verbs.items():
                self.know(name, place, summary, panel)
        for name, (place, summary) in HIDDEN.items():
            self.know(name, place, summary, hidden=True)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the line; ``- an item`` is text."""
        return super().parse_args(ctx, hide_dashes(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is typed first; raise ``UsageError`` for one that has moved."""
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
    """Return the command ``palace``, made once."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; raise ``UsageError`` for one that is wrong."""
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
