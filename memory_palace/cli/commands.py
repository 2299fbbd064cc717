"""The command tree. A verb's module is imported when the verb is typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memory_palace import __version__
from memory_palace.cli.options import VALUES, NoServe, Root, completed, take_root
from memory_palace.cli.verbs import VerbCommand, VerbGroup
from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import SERVED

PANELS = {
    "Every day": {
        "query": ("query:query_notes", "Find the notes that answer a question."),
        "show": ("show:show_note", "Print a note, or some of its lines."),
        "list": ("listing:list_notes", "List notes by type, tag, folder, date or link."),
        "new": ("new:new_note", "Create a note."),
        "append": ("append:append_text", "Add text to a note."),
        "undo": ("changes:undo_change", "Take back the last change of the notes, or an older one."),
        "index": ("index:index_notes", "Bring the index up to date with the notes."),
        "status": ("status:show_status", "Show what the index holds and how fresh it is."),
    },
    "Keep": {
        "init": ("init:init_palace", "Make a folder a palace."),
        "watch": ("watch:watch_notes", "Index notes as they change."),
        "serve": ("serve:serve_palace", "Answer at once, from a process that stays."),
        "doctor": ("doctor:run_doctor", "Check that notes and index match."),
        "register": ("register:register_palace", "Give palaces names, for -C NAME."),
        "models": ("models:app", "Fetch and check embedding models."),
        "config": ("settings:app", "Show the settings."),
        "graph": ("graph:app", "Follow and check the links between notes."),
        "cold": ("cold:app", "Archive notes, and keep the archive out of answers."),
        "store": ("store:app", "Keep palaces in PostgreSQL, for many to read."),
    },
    "Work": {
        "task": ("task:app", "Manage task cards."),
        "golden": ("golden:app", "Keep questions that must go on being answered."),
        "conflict": ("conflict:app", "Record and resolve claims that contradict each other."),
        "metabolism": ("metabolism:app", "Keep what outlives a project; archive the rest."),
        "view": ("view:view_palace", "Draw the palace as a page to walk through."),
        "map": ("map:map_palace", "Write an overview into the control panel."),
    },
    "Agents": {
        "remember": ("remember:remember_text", "Keep what was said, where it is found again."),
        "import": ("importing:import_file", "Import conversations and notes of other programs."),
        "recall": ("recall:recall_notes", "Say unasked what the notes have on what was said."),
        "hook": ("hook:run_hook", "Answer the hooks of an agent's harness."),
        "verify": ("verify:verify_answer", "Check an answer against the notes."),
        "plugin": ("plugin:make_plugin", "Write the plug-in of an agent's harness."),
        "mcp": ("mcp:serve_agents", "Let agents search, read and write, by MCP."),
        "anchors": ("anchors:app", "Build and ask the terms that lead to passages."),
        "seek": ("seek:app", "Pursue a goal over several steps."),
        "locus": ("locus:app", "Manage notes that have a place."),
    },
    "Study": {
        "memory": ("memory:app", "Write, check and review memories."),
        "redqueen": ("redqueen:app", "Find what would be forgotten, and strengthen it."),
        "bench": ("bench:app", "Measure answers, time and memory."),
    },
}
"""The verbs as ``palace --help`` shows them: module below ``memory_palace.cli``, the function or
group in it, and what it does in at most 56 characters."""

COMMANDS = {name: row[0] for verbs in PANELS.values() for name, row in verbs.items()}


class LazyGroup(VerbGroup):
    """Knows the names of all verbs and imports only the one that runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a verb; ``None`` where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        found = getattr(import_module(f"memory_palace.cli.{module}"), name)
        return _build(cmd_name, found)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write all verbs, a line each, and the options; nothing is imported for it."""
        from memory_palace.cli.helping import write_panels

        write_panels(self, ctx, formatter, PANELS)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the verbs that begin as ``incomplete`` does, without importing them."""
        pairs = (pair for verbs in PANELS.values() for pair in verbs.items())
        verbs = [(verb, row) for verb, row in pairs if verb.startswith(incomplete)]
        return [
            *(SimpleNamespace(value=v, type="plain", help=row[1]) for v, row in verbs),
            *super(TyperGroup, self).shell_complete(ctx, incomplete),
        ]


@cache
def _build(name: str, found: Any) -> Any:
    """Return the command of a function, or the group of a Typer application; made once."""
    if isinstance(found, typer.Typer):
        found.info.cls = VerbGroup
        found.info.subcommand_metavar = "VERB ..."
        found.rich_markup_mode = None  # brackets are text, and a help text needs no library
        for info in found.registered_commands:
            info.cls = VerbCommand
        found.info.name = name
        return _furnish(typer.main.get_group(found))  # get_command would add completion to it
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, cls=VerbCommand)(found)
    command = _furnish(typer.main.get_command(single))
    command.params[-1].hidden = name not in SERVED
    return command


def _furnish(command: Any) -> Any:
    """Give a command and those below it what all of them have."""
    command.help = re.sub(r"\s+Example: ", "\n\nExample: ", command.help or "")
    for parameter in command.params:
        if parameter.metavar is None:
            parameter.metavar = _placeholder(parameter)
    command.params += [copy(parameter) for parameter in _everywhere.params]
    for below in getattr(command, "commands", {}).values():
        _furnish(below)
    return command


def _placeholder(parameter: Any) -> str | None:
    """Return the word that stands for a value in help and usage; choices stand for themselves."""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    kind, word = parameter.type_descriptor, max(parameter.opts, key=len).rpartition("-")[2]
    if kind.is_choice or word in VALUES:
        return VALUES.get(word)
    text = "PATH" if kind.is_path else word.upper()
    return {"int": "N", "float": "X"}.get(parameter.bare_type(), text)


_holder = typer.Typer(add_completion=False)


@_holder.command()
def _hold(root: Root = None, no_serve: NoServe = False) -> None:
    """Hold ``-C`` and ``--no-serve``, which every verb takes too."""


_everywhere: Any = typer.main.get_command(_holder)

app = typer.Typer(
    cls=LazyGroup,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool | None) -> None:
    if value:
        print(__version__)
        raise typer.Exit


def _complete(ctx: typer.Context, param: typer.CallbackParam, value: bool | None) -> None:
    if value:
        from typer import completion  # delayed: it looks for the shell

        install = param.name == "install_completion"
        (completion.install_callback if install else completion.show_callback)(ctx, param, value)


def _flag(name: str, do: Any, text: str, *, hidden: bool = False) -> Any:
    return typer.Option(name, callback=do, is_eager=True, hidden=hidden, help=text)


_INSTALL = _flag("--install-completion", _complete, "Complete verbs and names with Tab.")
_SHOW = _flag("--show-completion", _complete, "Print what Tab needs in this shell.", hidden=True)


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
    version: Annotated[bool | None, _flag("--version", _version, "Print the version.")] = None,
    install_completion: Annotated[bool | None, _INSTALL] = None,
    show_completion: Annotated[bool | None, _SHOW] = None,
) -> None:
    """Keep a long-term memory of Markdown files. Without a verb: what to do next."""
    if ctx.invoked_subcommand is None:
        from memory_palace.cli.overview import show_overview  # delayed: it is for people

        show_overview(ctx)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; raise ``UsageError`` for one that is wrong."""
    try:
        status = _build_tree()(list(arguments), prog_name="palace", standalone_mode=False)
    except typer.Abort as error:
        raise PalaceError("stopped; nothing was decided") from error
    except _MISTYPED as error:
        from memory_palace.cli.helping import explain

        raise UsageError(explain(error, arguments, COMMANDS)) from error
    return status if isinstance(status, int) else 0


@cache
def _build_tree() -> Any:
    return typer.main.get_command(app)


_MISTYPED: Any = typer.BadParameter.__mro__[1]
"""What Typer raises for a command line that it cannot read; it keeps the class to itself."""
