"""The command tree. A verb's module is imported when the verb is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memory_palace import __version__
from memory_palace.cli.options import VALUES, NoServe, Root, completed, take_root
from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import SERVED


class _Formatter(typer.Context.formatter_class):  # type: ignore[misc,valid-type]
    """Plain text within 80 columns; headings are bold on a terminal that may show it."""

    def write_heading(self, heading: str) -> None:
        from memory_palace.cli.helping import embolden  # delayed: only help needs it

        self.write(f"{embolden(heading)}\n")


class _Context(TyperGroup.context_class):  # type: ignore[misc,valid-type]
    """What all verbs share: the look of their help."""

    formatter_class = _Formatter


def _is_text(word: str) -> bool:
    """Whether a word that begins like an option has a form that no option has."""
    is_long = word.startswith("--")
    return any(map(str.isspace, word.partition("=")[0])) if is_long else not word[1].isalpha()


class VerbCommand(TyperCommand):
    """A verb."""

    context_class = _Context

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what the usage line shows, with arguments as they are named below it."""
        return [re.sub("[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def make_parser(self, ctx: Any) -> Any:
        """Return a parser for which ``- an item`` and ``-5 at night`` are text, not options."""
        parser: Any = super().make_parser(ctx)
        read_option = parser._process_opts

        def read(word: str, state: Any) -> None:
            if _is_text(word):
                state.largs.append(word)
            else:
                read_option(word, state)

        parser._process_opts = read
        return parser

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        from memory_palace.cli.helping import write_parameters  # delayed: only help needs it

        write_parameters(self, ctx, formatter)


class VerbGroup(TyperGroup):
    """A group that suggests verbs for one that it does not have."""

    context_class = _Context

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is typed first; raise ``UsageError`` where there is none."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            from memory_palace.cli.helping import explain_verb  # delayed: only a mistake needs it

            raise UsageError(explain_verb(args[0], known, ctx.command_path))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help on stderr and exit 2 where a verb is missing."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True, color=ctx.color)
            raise typer.Exit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs, with the first sentence of their help, and the options."""
        from memory_palace.cli.helping import write_verbs

        write_verbs(self, ctx, formatter)


PANELS = {
    "Every day": {
        "query": ("query:query_notes", "Find the notes that answer a question."),
        "show": ("show:show_note", "Print a note, or some of its lines."),
        "list": ("listing:list_notes", "List notes by type, tag, folder, date or link."),
        "new": ("new:new_note", "Create a note."),
        "undo": ("changes:undo_change", "Take back the last change of the notes, or an older one."),
        "index": ("index:index_notes", "Bring the index up to date with the notes."),
        "status": ("status:show_status", "Show what the index holds and how fresh it is."),
    },
    "Keep": {
        "init": ("init:init_palace", "Make a folder a palace."),
        "serve": ("serve:serve_palace", "Answer at once, from a process that stays."),
        "doctor": ("doctor:run_doctor", "Check that notes and index match."),
        "models": ("models:app", "Fetch and check embedding models."),
        "config": ("settings:app", "Show the settings, name palaces, keep them in stores."),
        "graph": ("graph:app", "Follow and check links, and terms that lead to notes."),
    },
    "Work": {
        "task": ("task:app", "Manage task cards."),
        "conflict": ("conflict:app", "Record and resolve claims that contradict each other."),
        "metabolism": ("metabolism:app", "Keep what outlives a project; archive the rest."),
        "view": ("view:view_palace", "Draw the palace as a page to walk through."),
    },
    "Agents": {
        "remember": ("remember:remember_text", "Keep what was said, where it is found again."),
        "import": ("importing:import_file", "Import conversations and notes of other programs."),
        "recall": ("recall:recall_notes", "Say unasked what the notes have on what was said."),
        "verify": ("verify:verify_answer", "Check an answer against the notes."),
        "plugin": ("plugin:make_plugin", "Write the plug-in of an agent's harness."),
        "mcp": ("mcp:serve_agents", "Let agents search, read and write, by MCP."),
        "seek": ("seek:app", "Pursue a goal over several steps."),
    },
    "Study": {
        "memory": ("memory:app", "Write, check and review memories."),
        "redqueen": ("redqueen:app", "Find what would be forgotten; keep golden questions."),
    },
}
"""The verbs as ``palace --help`` shows them: module below ``memory_palace.cli``, the function or
group in it, and what it does in at most 56 characters."""

COMMANDS = {name: row[0] for verbs in PANELS.values() for name, row in verbs.items()}
HIDDEN = "hook"
"""A verb of no panel: a harness calls it, as ``palace plugin`` has written."""
COMMANDS[HIDDEN] = "hook:run_hook"
MOVED: dict[str, str] = {
    "register": "palace config register",
    "watch": "palace index --watch",
    "append": "palace remember TEXT --to NOTE",
    "golden": "palace redqueen add|list|check",
    "bench": "python -m benchmarks",
    "locus": "palace seek locus",
    "cold": "palace metabolism archive|restore|cold",
    "map": "palace graph map",
    "store": "palace config store",
    "anchors": "palace graph anchors",
}
"""Verbs of earlier versions, each with the words to type instead."""


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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is typed first; raise ``UsageError`` for one that has moved."""
        if args[0] in MOVED and not ctx.resilient_parsing:
            raise UsageError(f"`palace {args[0]}` has moved; type `{MOVED[args[0]]}` instead")
        return super().resolve_command(ctx, args)

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
        for group in (found, *_groups_below(found)):
            for info in group.registered_commands:
                info.cls = VerbCommand
        found.info.name = name
        return _furnish(typer.main.get_group(found))  # get_command would add completion to it
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, cls=VerbCommand)(found)
    command = _furnish(typer.main.get_command(single))
    command.params[-1].hidden = name not in SERVED
    return command


def _groups_below(found: typer.Typer) -> Iterator[typer.Typer]:
    """Yield the groups that stand below another one, made ready as it is."""
    for below in found.registered_groups:
        below.cls, below.subcommand_metavar = VerbGroup, "VERB ..."
        if below.typer_instance:
            below.typer_instance.rich_markup_mode = None
            yield below.typer_instance


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
